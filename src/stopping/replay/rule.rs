//! The rules, and what each decides on the answers to one question.

use super::vote::{AnswerId, Tally};
use crate::stopping::number;

/// When to stop asking the voters of a panel, who are asked in a fixed order. The answer is then
/// the leading one of those asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StopRule {
    /// Asks all.
    FullVote,
    /// Stops once the voters not yet asked cannot change the vote. It never changes an answer.
    VoteLocked,
    /// Asks the first `voters`; if all of them give the same answer, stops, else asks all.
    Unanimous { voters: usize },
    /// Stops once the leading answer is likely the majority against the next one: the adaptive
    /// consistency of Aggarwal et al. (EMNLP 2023). `threshold` is above 0.5 and below 1.
    Beta { threshold: f64 },
    /// Asks one voter, by its place in the order.
    Single { voter: usize },
}

/// What a rule decides on one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleDecision {
    /// `None` if none of those asked has answered.
    pub answer: Option<AnswerId>,
    pub asked: usize,
}

impl StopRule {
    /// Decides by the answers of the voters in the order in which they are asked.
    pub fn decide(self, answers: &[Option<AnswerId>]) -> RuleDecision {
        match self {
            Self::FullVote => stop(&Tally::of(answers), answers.len()),
            Self::VoteLocked => first_stop(answers, |tally, asked| {
                tally.is_locked(answers.len() - asked)
            }),
            Self::Unanimous { voters } => first_stop(answers, |tally, asked| {
                let votes = tally.lead().map_or(0, |lead| lead.votes);
                asked == voters && votes == asked
            }),
            Self::Beta { threshold } => first_stop(answers, |tally, _| {
                tally.lead().is_some_and(|lead| {
                    majority_probability(lead.votes, lead.runner_up) >= threshold
                })
            }),
            Self::Single { voter } => RuleDecision {
                answer: answers.get(voter).copied().flatten(),
                asked: 1,
            },
        }
    }
}

fn first_stop(answers: &[Option<AnswerId>], stops: impl Fn(&Tally, usize) -> bool) -> RuleDecision {
    let mut tally = Tally::default();
    for (before, answer) in answers.iter().enumerate() {
        tally.add(*answer);
        if stops(&tally, before + 1) {
            return stop(&tally, before + 1);
        }
    }
    stop(&tally, answers.len())
}

fn stop(tally: &Tally, asked: usize) -> RuleDecision {
    RuleDecision {
        answer: tally.lead().map(|lead| lead.answer),
        asked,
    }
}

/// Returns the probability that an answer with `votes` is the majority against one with `others`:
/// that a share with the distribution Beta(votes + 1, others + 1) is above one half. For whole
/// numbers it is a sum of binomial coefficients. Exact for up to 50 votes; up to 1,000 are allowed.
fn majority_probability(votes: usize, others: usize) -> f64 {
    let tosses = votes + others + 1;
    // Each tail is summed from its end; halving by tosses keeps the terms in range.
    let mut term = 0.5_f64.powi(i32::try_from(tosses).unwrap_or(i32::MAX));
    let mut sum = term;
    for heads in 1..=votes {
        term *= number(tosses + 1 - heads) / number(heads);
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn answers(keys: &str) -> Vec<Option<AnswerId>> {
        let key = |c: char| (c != '-').then_some(AnswerId(u32::from(c)));
        keys.chars().map(key).collect()
    }

    /// Returns the answer and the number asked: `B3`.
    fn decide(rule: StopRule, keys: &str) -> String {
        let RuleDecision { answer, asked } = rule.decide(&answers(keys));
        let letter = answer.map_or('-', |AnswerId(key)| char::from_u32(key).unwrap());
        format!("{letter}{asked}")
    }

    #[test]
    fn rules_ask_as_many_as_they_need() {
        use StopRule::{Beta, FullVote, Single, Unanimous, VoteLocked};
        for (rule, answers, expected) in [
            (FullVote, "ABBAC", "A5"),
            (FullVote, "---", "-3"),
            (VoteLocked, "AAAABCD", "A4"),
            // Two more votes for B would only draw level with A, which was given first.
            (VoteLocked, "ABAACAB", "A5"),
            (VoteLocked, "ABBCBAA", "A7"),
            (VoteLocked, "--AB", "A3"),
            (VoteLocked, "-AA-", "A3"),
            (Unanimous { voters: 2 }, "AABBB", "A2"),
            (Unanimous { voters: 3 }, "AABBB", "B5"),
            (Unanimous { voters: 2 }, "A-AAA", "A5"),
            (Unanimous { voters: 3 }, "AAB", "A3"),
            // 2 to 0 is 0.875; 4 to 0 is 0.969; 3 to 1 is 0.8125.
            (Beta { threshold: 0.80 }, "AABBB", "A2"),
            (Beta { threshold: 0.80 }, "ABAAB", "A4"),
            (Beta { threshold: 0.95 }, "AAAAB", "A4"),
            (Beta { threshold: 0.95 }, "AAAB", "A4"),
            (Single { voter: 0 }, "ABB", "A1"),
            (Single { voter: 2 }, "ABB", "B1"),
            (Single { voter: 1 }, "A-B", "-1"),
        ] {
            assert_eq!(decide(rule, answers), expected, "{rule:?} of {answers}");
        }
    }

    #[test]
    fn probability_of_a_majority_matches_known_values() {
        let known = [
            (0, 0, 0.5),
            (1, 0, 0.75),
            (2, 0, 0.875),
            (3, 1, 0.8125),
            (4, 0, 0.968_75),
            (2, 2, 0.5),
        ];
        for (votes, others, probability) in known {
            let found = majority_probability(votes, others);
            assert!((found - probability).abs() < 1e-12, "{votes} to {others}");
        }
        assert!(majority_probability(500, 100) > 0.999_999);
    }

    /// Returns recorded answers of up to nine voters.
    fn panel() -> impl Strategy<Value = Vec<Option<AnswerId>>> {
        let answer = prop::option::weighted(0.9, (0_u32..4).prop_map(AnswerId));
        prop::collection::vec(answer, 1..10)
    }

    proptest! {
        #[test]
        fn locked_vote_always_equals_the_full_vote(answers in panel()) {
            let (locked, full) =
                (StopRule::VoteLocked.decide(&answers), StopRule::FullVote.decide(&answers));
            prop_assert_eq!(locked.answer, full.answer);
        }

        /// What a rule decides does not depend on voters it did not ask, apart from their number.
        #[test]
        fn answers_of_voters_not_asked_change_nothing(
            answers in panel(),
            others in panel(),
            threshold in 0.5..1.0_f64,
        ) {
            for rule in [
                StopRule::VoteLocked,
                StopRule::Unanimous { voters: 2 },
                StopRule::Beta { threshold },
            ] {
                let decision = rule.decide(&answers);
                let mut changed = answers.clone();
                let rest = changed.iter_mut().skip(decision.asked);
                for (answer, other) in rest.zip(&others) {
                    *answer = *other;
                }
                prop_assert_eq!(rule.decide(&changed), decision);
            }
        }

        #[test]
        fn another_vote_for_the_leader_never_makes_it_less_likely(
            votes in 0_usize..60,
            others in 0_usize..60,
        ) {
            let before = majority_probability(votes, others);
            prop_assert!(majority_probability(votes + 1, others) >= before - 1e-12);
            prop_assert!(majority_probability(votes, others + 1) <= before + 1e-12);
            let mirror = majority_probability(others, votes);
            prop_assert!((before + mirror - 1.0).abs() < 1e-12);
        }
    }
}
