//! The recorded answers of a replay, and its report: plain data, which is also its JSON.

use serde::Serialize;

use crate::benchmark::statistics::Interval;
use crate::stopping::calibration::Reliability;
use crate::stopping::replay::probability::VoteProbability;
use crate::stopping::replay::vote::RecordedQuestion;

/// The figures of all rules on one table of recorded answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReplayReport {
    #[cfg_attr(test, schemars(extend("const" = "1.0")))]
    pub schema_version: &'static str,
    /// The file, as it was named.
    pub file: String,
    pub columns: AnswerColumns,
    /// Questions in the file.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub rows: u64,
    /// Questions that were put to all models; all figures are of these.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub questions: u64,
    /// `rows` less `questions`.
    pub left_out: u64,
    /// Each model alone, in the order in which they are asked.
    #[cfg_attr(test, schemars(length(min = 2)))]
    pub models: Vec<ModelFigures>,
    /// The full vote first; without the rules that would always ask all.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub rules: Vec<RuleFigures>,
    /// By the number of voters that gave the answer of the full vote, the most first.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub agreement: Vec<AgreementFigures>,
    pub limits: LimitFigures,
    pub calibration: CalibrationFigures,
}

/// A number of right answers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Accuracy"))]
pub struct ReplayAccuracy {
    pub right: u64,
    /// From 0 to 1.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub accuracy: f64,
    /// Wilson's score interval at 95 %.
    #[cfg_attr(test, schemars(extend("properties" = {"low": {"minimum": 0}, "high": {"minimum": 0}})))]
    pub interval: Interval,
}

/// One model on its own.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ModelFigures {
    pub model: String,
    #[serde(flatten)]
    pub accuracy: ReplayAccuracy,
    /// Questions that were put to it and that it did not answer. They count as wrong.
    pub unanswered: u64,
    /// Questions of the file that were not put to it: they count for no model.
    pub not_asked: u64,
}

/// The rules of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReplayRule {
    FullVote,
    VoteLocked,
    #[serde(rename = "unanimous_3")]
    UnanimousThree,
    #[serde(rename = "unanimous_2")]
    UnanimousTwo,
    #[serde(rename = "beta_0.95")]
    Beta95,
    #[serde(rename = "beta_0.80")]
    Beta80,
    FirstModel,
    /// The model that turns out to be right most often.
    BestModel,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RuleFigures {
    pub rule: ReplayRule,
    #[serde(flatten)]
    pub accuracy: ReplayAccuracy,
    /// Mean number of voters asked for a question.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub asked_per_question: f64,
    /// The share of answers that are not asked for, from 0 to 1.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub saved: f64,
    /// The share of questions with the answer of the full vote, from 0 to 1.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub same_as_full_vote: f64,
    /// Questions that the rule alone gets right, against the full vote.
    pub better: u64,
    /// Questions that the full vote alone gets right.
    pub worse: u64,
    /// McNemar's exact p, two-sided, of `better` and `worse`.
    #[cfg_attr(test, schemars(extend("exclusiveMinimum" = 0, "maximum" = 1)))]
    pub p: f64,
    /// The rule's accuracy less that of the full vote, from -1 to 1.
    #[cfg_attr(test, schemars(range(min = -1, max = 1)))]
    pub difference: f64,
    /// Method 10 of Newcombe (1998) for paired data, at 95 %.
    pub difference_interval: Interval,
}

/// The questions on which this many voters gave the answer of the full vote.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AgreementFigures {
    pub votes: u64,
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub questions: u64,
    /// Of all questions, from 0 to 1.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub share: f64,
    #[serde(flatten)]
    pub accuracy: ReplayAccuracy,
}

/// What no rule on these answers can go beyond.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LimitFigures {
    /// Questions on which all voters gave the same wrong answer: no rule can see these.
    pub unanimous_and_wrong: u64,
    /// Questions that at least one voter got right.
    pub any_right: u64,
}

/// How far stated probabilities of the full vote agree with how often it is right.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CalibrationFigures {
    /// The answers that a question is taken to offer: the number of different answers in the file;
    /// `None` if a column says.
    pub options: Option<u64>,
    pub methods: Vec<MethodFigures>,
}

/// One way to state how likely the vote is right. What it knows of the models is learned from the
/// other half of the questions.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MethodFigures {
    pub method: VoteProbability,
    #[serde(flatten)]
    pub reliability: Reliability,
}

/// Recorded answers of several models to the same questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerTable {
    pub columns: AnswerColumns,
    /// In the order in which they are asked.
    pub models: Vec<RecordedModel>,
    /// The number of questions in the file.
    pub rows: u64,
    /// The questions that were put to all models. Each has an entry for every model.
    pub questions: Vec<RecordedQuestion>,
    /// The number of different answers of the models and of the right ones.
    pub different_answers: usize,
}

/// The columns of the file, apart from those of the models.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AnswerColumns {
    /// The column of the right answers.
    pub gold: String,
    /// The column of the ids; `None` if there is none.
    pub id: Option<String>,
    /// The column with the number of answers that each question offers; `None` if there is none.
    pub options: Option<String>,
}

/// A model whose answers were recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedModel {
    pub name: String,
    /// Questions of the file that were not put to it.
    pub not_asked: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_published() {
        crate::schema::check::<ReplayReport>(
            "replay",
            "What `conclave benchmark --replay CSV --json` prints",
        );
    }
}
