//! The answer of a record: evidence, objections, each expert's position, the judge's passes, and
//! whether the debate ended early.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::account::Amount;
use crate::domain::answer::artifact::{Severity, Verdict};
use crate::domain::answer::confidence::Confidence;
use crate::domain::answer::second_pass::Held;
use crate::domain::ids::{ModelRef, SeatId};

/// A concern about the recommendation: unresolved points first, then objections, the most severe
/// first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StoredConcern {
    pub text: String,
    /// The name of the expert that raised it; `None` if the judge did.
    pub raised_by: Option<String>,
    /// `None` for points that the judge left unresolved without a severity.
    pub severity: Option<Severity>,
}

/// An expert's position before and after the cross-examination.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StoredPerspective {
    /// The expert's name.
    pub agent: String,
    pub agent_id: SeatId,
    /// The model, without its provider.
    pub model: Option<String>,
    pub opinion: String,
    pub confidence: Option<Confidence>,
    /// `None` if it gave no answer in Round 3.
    pub revised_opinion: Option<String>,
    pub revised_confidence: Option<Confidence>,
    /// Whether it changed its mind: its positions differ by more than a detail. `None` if they were
    /// not compared.
    pub changed: Option<bool>,
    /// Whether it refined its position: it kept it and added a detail. `None` like `changed`.
    pub refined: Option<bool>,
}

/// The judge's two passes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "JudgePasses"))]
#[serde(default)]
pub struct StoredJudgePasses {
    /// The number of passes.
    pub passes: u64,
    #[serde(flatten)]
    pub held: Held,
    /// The second verdict; `None` if there is none.
    pub second: Option<SecondVerdict>,
    /// The seats in the order of their labels `Expert A`, `Expert B`, … in each pass.
    pub expert_orders: Vec<Vec<SeatId>>,
}

/// The verdict of the second pass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SecondVerdict {
    /// The model that gave it.
    pub model: Option<ModelRef>,
    pub verdict: Option<Verdict>,
}

impl StoredJudgePasses {
    /// Describes the result in a sentence without a full stop. `judge` is the model that gave the
    /// verdict that counts.
    pub fn description(&self, judge: Option<&ModelRef>) -> String {
        let found = match self.held.consistent {
            Some(true) => "the verdict held when the experts' order was reversed",
            Some(false) => "the verdict did NOT hold when the experts' order was reversed",
            None => "it is not known whether the verdict holds when the experts' order is reversed",
        };
        let second = self.second.as_ref();
        let by = match (second.and_then(|second| second.model.as_ref()), judge) {
            (Some(second), Some(first)) if second != first => {
                format!(" (the second time by {second})")
            }
            (Some(_) | None, _) => String::new(),
        };
        format!("{found}{by}{}", self.held.because())
    }

    /// Returns the second verdict if it contradicts the one that counts.
    pub fn other_verdict(&self) -> Option<&Verdict> {
        let second = self.second.as_ref();
        let differs = self.held.consistent == Some(false);
        second.filter(|_| differs)?.verdict.as_ref()
    }
}

/// The rejudgement of an earlier consultation's answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Rejudged {
    /// The earlier consultation's id.
    pub from: String,
    #[serde(flatten)]
    pub held: Held,
}

/// The evaluation after Round 2 that decided whether to end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct EarlyTerminationEvaluation {
    pub ended: bool,
    /// What decided: `threshold`, `guards`, `person`, ….
    pub by: Option<String>,
    /// The judge's mean stated confidence in the points of agreement.
    pub confidence: Option<Confidence>,
    pub threshold: Option<Confidence>,
    /// The number of rounds that an early end skips.
    pub rounds_skipped: u64,
    /// The estimated cost of these rounds.
    pub estimated_cost_saved: Amount,
    /// The evaluated rules, as `stopping` writes them.
    pub rules: Vec<Value>,
    /// What follows from the rules, as `stopping` writes it.
    pub decision: Value,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn description_names_the_reason_and_a_different_judge() {
        let judge = ModelRef::new("openai", "gpt-6.1-sol");
        let pass = |consistent, reason: &str, model: &ModelRef| StoredJudgePasses {
            held: Held {
                consistent,
                reason: Some(reason.to_owned()),
                magnitude: None,
            },
            second: Some(SecondVerdict {
                model: Some(model.clone()),
                verdict: None,
            }),
            ..StoredJudgePasses::default()
        };
        let description = |pass: StoredJudgePasses| pass.description(Some(&judge));
        assert_eq!(
            description(pass(Some(true), "Alike.", &judge)),
            "the verdict held when the experts' order was reversed"
        );
        assert_eq!(
            description(pass(Some(false), "JWT instead.", &judge)),
            "the verdict did NOT hold when the experts' order was reversed: JWT instead"
        );
        assert_eq!(
            description(pass(
                None,
                "no model was available",
                &ModelRef::new("xai", "grok-4.7")
            )),
            "it is not known whether the verdict holds when the experts' order is reversed (the \
             second time by xai:grok-4.7): no model was available"
        );
    }
}
