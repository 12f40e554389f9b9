//! The report of a replay: plain data, which is also its JSON.

use std::fmt;

use serde::{Serialize, Serializer};

use super::table::AnswerColumns;
use crate::benchmark::statistics::Interval;
use crate::stopping::calibration::Reliability;
use crate::stopping::replay::probability::VoteProbability;

/// The figures of all rules on one table of recorded answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayReport {
    pub schema_version: &'static str,
    /// The file, as it was named.
    pub file: String,
    pub columns: AnswerColumns,
    /// Questions in the file.
    pub rows: u64,
    /// Those that were put to all models: all figures are of these.
    pub questions: u64,
    pub left_out: u64,
    /// In the order in which they are asked.
    pub models: Vec<ModelFigures>,
    /// The full vote first.
    pub rules: Vec<RuleFigures>,
    /// By the number of voters that gave the answer of the full vote, the most first.
    pub agreement: Vec<AgreementFigures>,
    pub limits: LimitFigures,
    pub calibration: CalibrationFigures,
}

/// A number of right answers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Accuracy {
    pub right: u64,
    /// From 0 to 1.
    pub accuracy: f64,
    /// Wilson's score interval at 95 %.
    pub interval: Interval,
}

/// One model on its own.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelFigures {
    pub model: String,
    #[serde(flatten)]
    pub accuracy: Accuracy,
    /// Questions that were put to it and that it did not answer. They count as wrong.
    pub unanswered: u64,
    /// Questions of the file that were not put to it: they count for no model.
    pub not_asked: u64,
}

/// The rules of a report. In JSON they are named `full_vote`, `vote_locked`, `unanimous_2`,
/// `beta_0.80`, `first_model` and `best_model`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayRule {
    FullVote,
    VoteLocked,
    Unanimous {
        voters: usize,
    },
    Beta {
        percent: u8,
    },
    FirstModel,
    /// The model that turns out to be right most often.
    BestModel,
}

impl fmt::Display for ReplayRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FullVote => f.write_str("full_vote"),
            Self::VoteLocked => f.write_str("vote_locked"),
            Self::Unanimous { voters } => write!(f, "unanimous_{voters}"),
            Self::Beta { percent } => write!(f, "beta_0.{percent:02}"),
            Self::FirstModel => f.write_str("first_model"),
            Self::BestModel => f.write_str("best_model"),
        }
    }
}

impl Serialize for ReplayRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleFigures {
    pub rule: ReplayRule,
    #[serde(flatten)]
    pub accuracy: Accuracy,
    /// Mean number of voters asked for a question.
    pub asked_per_question: f64,
    /// The share of answers that are not asked for, from 0 to 1.
    pub saved: f64,
    /// The share of questions with the answer of the full vote, from 0 to 1.
    pub same_as_full_vote: f64,
    /// Questions that the rule alone gets right, against the full vote.
    pub better: u64,
    /// Questions that the full vote alone gets right.
    pub worse: u64,
    /// McNemar's exact p, two-sided, of `better` and `worse`.
    pub p: f64,
    /// The rule's accuracy less that of the full vote.
    pub difference: f64,
    /// Newcombe's method 10 at 95 %.
    pub difference_interval: Interval,
}

/// The questions on which this many voters gave the answer of the full vote.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AgreementFigures {
    pub votes: u64,
    pub questions: u64,
    /// Of all questions, from 0 to 1.
    pub share: f64,
    #[serde(flatten)]
    pub accuracy: Accuracy,
}

/// What no rule on these answers can go beyond.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LimitFigures {
    /// Questions on which all voters gave the same wrong answer: no rule can see these.
    pub unanimous_and_wrong: u64,
    /// Questions that at least one voter got right.
    pub any_right: u64,
}

/// How far stated probabilities of the full vote agree with how often it is right.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalibrationFigures {
    /// The correlation of errors that shrinks the evidence.
    pub correlation: f64,
    /// The number of independent voters that carry as much evidence as the panel.
    pub effective_voters: f64,
    /// Answers that a question offers, where the file does not say: the number of different
    /// answers in it.
    pub options: Option<u64>,
    pub methods: Vec<MethodFigures>,
}

/// One way to state how likely the vote is right.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MethodFigures {
    pub method: VoteProbability,
    #[serde(flatten)]
    pub reliability: Reliability,
}
