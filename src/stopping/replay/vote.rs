//! Recorded answers, and the count of a vote under way.
//!
//! The answer with the most votes leads. Of answers with equally many, the one that was given first
//! leads, so a tie goes to the voter that is asked first. Voters without an answer count for none.

use indexmap::IndexMap;

/// Votes by answer, in the order in which the answers were first given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    counts: IndexMap<AnswerId, usize>,
}

/// The leading answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lead {
    pub answer: AnswerId,
    pub votes: usize,
    /// The most votes of another answer.
    pub runner_up: usize,
}

impl Tally {
    pub fn of(answers: &[Option<AnswerId>]) -> Self {
        let mut tally = Self::default();
        for answer in answers {
            tally.add(*answer);
        }
        tally
    }

    pub fn add(&mut self, answer: Option<AnswerId>) {
        if let Some(answer) = answer {
            *self.counts.entry(answer).or_default() += 1;
        }
    }

    /// `None` without votes.
    pub fn lead(&self) -> Option<Lead> {
        let mut lead: Option<Lead> = None;
        for (&answer, &votes) in &self.counts {
            lead = Some(match lead {
                Some(lead) if votes <= lead.votes => Lead {
                    runner_up: lead.runner_up.max(votes),
                    ..lead
                },
                before => Lead {
                    answer,
                    votes,
                    runner_up: before.map_or(0, |before| before.votes),
                },
            });
        }
        lead
    }

    /// Returns whether this many further voters, whatever they answer, leave the leading answer in
    /// the lead. Without votes it holds only if no voters are left.
    pub fn is_locked(&self, left: usize) -> bool {
        let Some(lead) = self.lead() else {
            return left == 0;
        };
        let place = self.counts.get_index_of(&lead.answer);
        let stays_behind = |(at, votes): (usize, &usize)| {
            let most = votes + left;
            Some(at) == place || most < lead.votes || (most == lead.votes && Some(at) > place)
        };
        // A new answer comes after the leading one, so it needs more votes.
        left <= lead.votes && self.counts.values().enumerate().all(stays_behind)
    }
}

/// An answer, as the number that a table of answers has given it: equal answers have equal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnswerId(pub u32);

/// One question with its right answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedQuestion {
    pub gold: AnswerId,
    /// One entry for each voter; `None` for a voter that was asked and gave no answer.
    pub answers: Vec<Option<AnswerId>>,
    /// The number of answers that the question offers, if known.
    pub options: Option<usize>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tally(answers: &[u32]) -> Tally {
        let answers: Vec<_> = answers.iter().map(|key| Some(AnswerId(*key))).collect();
        Tally::of(&answers)
    }

    #[test]
    fn tie_goes_to_the_answer_given_first() {
        let lead = tally(&[3, 1, 1, 3]).lead().unwrap();
        assert_eq!(
            lead,
            Lead {
                answer: AnswerId(3),
                votes: 2,
                runner_up: 2
            }
        );
    }

    #[test]
    fn voters_without_an_answer_count_for_none() {
        assert_eq!(Tally::of(&[None, None]).lead(), None);
        let lead = Tally::of(&[None, Some(AnswerId(7)), None]).lead().unwrap();
        assert_eq!(lead.votes, 1);
        assert_eq!(lead.runner_up, 0);
    }

    #[test]
    fn vote_without_answers_is_open_until_the_last_voter() {
        assert!(!Tally::default().is_locked(1));
        assert!(Tally::default().is_locked(0));
    }

    #[test]
    fn later_answer_that_can_only_draw_level_leaves_the_lead() {
        assert!(tally(&[0, 0]).is_locked(2), "a new answer draws level");
        assert!(tally(&[0, 0, 1]).is_locked(1), "and so does a known one");
    }

    #[test]
    fn earlier_answer_that_can_draw_level_takes_the_lead() {
        assert!(!tally(&[1, 0, 0]).is_locked(1));
        assert!(tally(&[1, 0, 0]).is_locked(0));
        assert!(tally(&[1, 0, 0, 0]).is_locked(1));
    }

    /// Returns whether some answers of `left` more voters change the lead.
    fn can_change(tally: &Tally, left: usize) -> bool {
        let before = tally.lead().map(|lead| lead.answer);
        let all = [None, Some(0), Some(1), Some(2), Some(9)];
        left > 0
            && all.into_iter().any(|next| {
                let mut with = tally.clone();
                with.add(next.map(AnswerId));
                let now = with.lead().map(|lead| lead.answer);
                now != before || can_change(&with, left - 1)
            })
    }

    proptest! {
        #[test]
        fn vote_is_locked_exactly_if_no_answers_can_change_it(
            asked in prop::collection::vec(prop::option::weighted(0.8, 0_u32..3), 0..6),
            left in 0_usize..4,
        ) {
            let asked: Vec<_> = asked.into_iter().map(|key| key.map(AnswerId)).collect();
            let tally = Tally::of(&asked);
            prop_assert_eq!(tally.is_locked(left), !can_change(&tally, left));
        }
    }
}
