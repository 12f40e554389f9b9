//! The answer of a record: evidence, objections, each expert's position, the judge's passes, and
//! whether the debate ended early.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::account::Amount;
use crate::domain::artifact::{Severity, Verdict};
use crate::domain::confidence::Confidence;
use crate::domain::debate_value::ChangeBasis;
use crate::domain::ids::{ModelRef, SeatId};
use crate::domain::second_pass::{Held, SecondPass};

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
    /// Whether it changed its position: as compared, else as it states itself. `None` if it gave no
    /// answer in Round 3.
    pub changed: Option<bool>,
    /// The basis of `changed`.
    pub change_basis: Option<ChangeBasis>,
}

/// The judge's two passes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct JudgePasses {
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

impl JudgePasses {
    pub(super) fn second_pass(&self) -> Option<SecondPass> {
        let SecondVerdict { model, verdict } = self.second.clone().unwrap_or_default();
        (self.passes > 1).then(|| SecondPass {
            verdict,
            model,
            expert_order: self.expert_orders.get(1).cloned().unwrap_or_default(),
            held: self.held.clone(),
        })
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
