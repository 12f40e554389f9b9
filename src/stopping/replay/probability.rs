//! How likely the answer of a full vote is right, by several methods that are to be compared.
//!
//! What a method has to know of the voters is learned from other questions than those whose
//! probabilities it gives.

use indexmap::IndexMap;
use serde::Serialize;

use super::vote::{AnswerId, RecordedQuestion, Tally};
use crate::stopping::calibration::Level;
use crate::stopping::experience::AgreementExperience;
use crate::stopping::{agreement, number};

/// A way to state how likely the leading answer is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum VoteProbability {
    /// The share of the voters that gave the answer.
    RawShare,
    /// Bayes' rule over the answers that the question offers, as if the voters erred independently
    /// and every wrong answer were as likely as another.
    Independent,
    /// The same with the evidence shrunk by the design effect of errors that correlate by 0.44.
    Shrunk,
    /// As `consult` shows it: how often panels of this size and agreement are right. It knows
    /// nothing of the voters.
    Panels,
    /// As `consult` uses graded answers: how often votes of the same agreement were right.
    Experience,
}

impl VoteProbability {
    pub const ALL: [Self; 5] = [
        Self::RawShare,
        Self::Independent,
        Self::Shrunk,
        Self::Panels,
        Self::Experience,
    ];
}

/// Two models that are both wrong on MMLU-Pro give the same wrong answer in 44 of 100 cases.
const ERROR_CORRELATION: f64 = 0.44;

/// What is known of a panel from questions with known answers.
#[derive(Clone, Debug, PartialEq)]
pub struct PanelKnowledge {
    /// The share of right answers by voter, above 0 and below 1.
    accuracies: Vec<f64>,
    /// `None` with too few questions.
    experience: Option<AgreementExperience>,
}

impl PanelKnowledge {
    /// Learns the accuracy of each voter and of each level of agreement.
    ///
    /// One right and one wrong answer are added to those of a voter (Laplace's rule of succession),
    /// so that no number of answers makes it certain. An answer that was not given is wrong.
    pub fn learn<'a>(
        voters: usize,
        questions: impl Iterator<Item = &'a RecordedQuestion> + Clone,
    ) -> Self {
        let mut right = vec![0; voters];
        let mut levels = vec![(0_usize, 0_usize); voters + 1];
        let mut count = 0;
        for question in questions {
            count += 1;
            for (right, answer) in right.iter_mut().zip(&question.answers) {
                *right += usize::from(*answer == Some(question.gold));
            }
            if let Some(lead) = Tally::of(&question.answers).lead()
                && let Some((votes, right)) = levels.get_mut(lead.votes)
            {
                *votes += 1;
                *right += usize::from(lead.answer == question.gold);
            }
        }
        let share = |right: &usize| number(right + 1) / number(count + 2);
        let level = |(votes, (count, right)): (usize, &(usize, usize))| Level {
            agreement: number(votes) / number(voters.max(1)),
            count: *count,
            mean_right: number(*right) / number((*count).max(1)),
        };
        let levels: Vec<Level> = levels.iter().enumerate().map(level).collect();
        Self {
            accuracies: right.iter().map(share).collect(),
            experience: AgreementExperience::of(&levels),
        }
    }

    /// Returns the probability that the leading answer is right, from 0 to 1, where the question
    /// offers `options` answers; `None` without answers, or where the method knows too little.
    pub fn probability(
        &self,
        method: VoteProbability,
        answers: &[Option<AnswerId>],
        options: usize,
    ) -> Option<f64> {
        let lead = Tally::of(answers).lead()?;
        let agreement = number(lead.votes) / number(answers.len());
        match method {
            VoteProbability::RawShare => Some(agreement),
            VoteProbability::Independent => Some(self.among_options(answers, options, 0.0)),
            VoteProbability::Shrunk => {
                Some(self.among_options(answers, options, ERROR_CORRELATION))
            }
            VoteProbability::Panels => {
                agreement::probability(lead.votes, answers.iter().flatten().count())
            }
            VoteProbability::Experience => self.experience.as_ref()?.right_at(agreement),
        }
    }

    /// Pools the votes over all answers that the question offers.
    ///
    /// A voter that is right with probability p multiplies the odds of its answer against each
    /// other one by p·(k − 1)/(1 − p), where k answers are offered. A voter below chance has no
    /// weight rather than a negative one, so that a vote never speaks against its answer.
    fn among_options(&self, answers: &[Option<AnswerId>], options: usize, correlation: f64) -> f64 {
        let others = number(options.max(2) - 1);
        let mut weights: IndexMap<AnswerId, (f64, usize)> = IndexMap::new();
        for (answer, accuracy) in self.given(answers) {
            let (sum, votes) = weights.entry(answer).or_default();
            *sum += (accuracy * others / (1.0 - accuracy)).ln().max(0.0);
            *votes += 1;
        }
        let given: usize = weights.values().map(|(_, votes)| votes).sum();
        let share = 1.0 / (1.0 + number(given.saturating_sub(1)) * correlation);
        // The leading answer by votes, the first of equals; it need not weigh the most.
        let lead = weights
            .values()
            .rev()
            .max_by_key(|(_, votes)| *votes)
            .map_or(0.0, |(weight, _)| *weight);
        let odds = |weight: f64| (share * (weight - lead)).exp();
        let all: f64 = weights.values().map(|(weight, _)| odds(*weight)).sum();
        let not_given = options.max(2).saturating_sub(weights.len());
        1.0 / (all + number(not_given) * odds(0.0))
    }

    fn given(&self, answers: &[Option<AnswerId>]) -> impl Iterator<Item = (AnswerId, f64)> {
        let voters = answers.iter().zip(&self.accuracies);
        voters.filter_map(|(answer, accuracy)| Some(((*answer)?, *accuracy)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn question(gold: u32, answers: &[u32]) -> RecordedQuestion {
        RecordedQuestion {
            gold: AnswerId(gold),
            answers: keys(answers),
            options: None,
        }
    }

    fn keys(answers: &[u32]) -> Vec<Option<AnswerId>> {
        answers.iter().map(|key| Some(AnswerId(*key))).collect()
    }

    /// Two voters: the first right in 2 of 3, the second in 1 of 3.
    fn two_voters() -> PanelKnowledge {
        let questions = [
            question(0, &[0, 0]),
            question(0, &[0, 1]),
            question(0, &[1, 1]),
        ];
        PanelKnowledge::learn(2, questions.iter())
    }

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-12
    }

    #[test]
    fn accuracies_are_those_of_the_learned_questions() {
        let PanelKnowledge { accuracies, .. } = two_voters();
        assert!(close(accuracies[0], 3.0 / 5.0));
        assert!(close(accuracies[1], 2.0 / 5.0));
    }

    #[test]
    fn independent_votes_follow_the_rule_of_bayes() {
        // Three options. The first voter's odds are 0.6·2/0.4 = 3, the second's 0.4·2/0.6 = 4/3.
        let found = |answers: &[u32]| {
            two_voters()
                .probability(VoteProbability::Independent, &keys(answers), 3)
                .unwrap()
        };
        assert!(close(found(&[0, 0]), 4.0 / (4.0 + 2.0)));
        assert!(close(found(&[0, 1]), 3.0 / (3.0 + 4.0 / 3.0 + 1.0)));
    }

    #[test]
    fn correlated_votes_are_shrunk_by_the_design_effect() {
        let found = two_voters()
            .probability(VoteProbability::Shrunk, &keys(&[0, 0]), 3)
            .unwrap();
        let odds = 4.0_f64.powf(1.0 / 1.44);
        assert!(close(found, odds / (odds + 2.0)));
    }

    #[test]
    fn share_of_the_voters_includes_those_without_an_answer() {
        let answers = [Some(AnswerId(0)), None];
        let found = two_voters().probability(VoteProbability::RawShare, &answers, 3);
        assert!(close(found.unwrap(), 0.5));
    }

    #[test]
    fn few_questions_give_no_experience() {
        let found = two_voters().probability(VoteProbability::Experience, &keys(&[0, 0]), 3);
        assert_eq!(found, None);
    }

    #[test]
    fn many_questions_give_the_share_of_right_votes_by_agreement() {
        // Of 400 votes that agree, 300 are right; of 400 that do not, 100.
        let both = |right| question(0, if right { &[0, 0] } else { &[1, 1] });
        let split = |right| question(if right { 1 } else { 2 }, &[1, 0]);
        let questions: Vec<_> = (0..400)
            .flat_map(|at| [both(at % 4 != 0), split(at % 4 == 0)])
            .collect();
        let panel = PanelKnowledge::learn(2, questions.iter());
        let found = |answers: &[u32]| {
            panel
                .probability(VoteProbability::Experience, &keys(answers), 3)
                .unwrap()
        };
        assert!((found(&[0, 0]) - 0.75).abs() < 0.01);
        assert!((found(&[1, 0]) - 0.25).abs() < 0.01);
    }

    #[test]
    fn no_answers_have_no_probability() {
        for method in VoteProbability::ALL {
            assert_eq!(two_voters().probability(method, &[None, None], 3), None);
        }
    }

    proptest! {
        #[test]
        fn every_method_gives_a_probability(
            questions in prop::collection::vec(
                (0_u32..4, prop::collection::vec(0_u32..4, 5..=5)),
                0..80,
            ),
            answers in prop::collection::vec(prop::option::of(0_u32..4), 5..=5),
            options in 0_usize..12,
        ) {
            let questions: Vec<_> =
                questions.iter().map(|(gold, answers)| question(*gold, answers)).collect();
            let panel = PanelKnowledge::learn(5, questions.iter());
            let answers: Vec<_> = answers.into_iter().map(|key| key.map(AnswerId)).collect();
            for method in VoteProbability::ALL {
                if let Some(found) = panel.probability(method, &answers, options) {
                    prop_assert!((0.0..=1.0).contains(&found), "{method:?}: {found}");
                }
            }
        }
    }
}
