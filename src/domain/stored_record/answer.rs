//! The answer of a record: evidence, objections, each expert's position, and the judge's passes.

use serde::{Deserialize, Serialize};

use crate::domain::artifact::{Magnitude, Severity, Verdict};
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
    /// Whether the verdict held; `None` if unknown.
    pub consistent: Option<bool>,
    /// `None` if the two verdicts were not compared.
    pub magnitude: Option<Magnitude>,
    pub reason: Option<String>,
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
        (self.passes > 1).then(|| SecondPass {
            verdict: self
                .second
                .as_ref()
                .and_then(|second| second.verdict.clone()),
            model: self.second.as_ref().and_then(|second| second.model.clone()),
            expert_order: self.expert_orders.get(1).cloned().unwrap_or_default(),
            held: Held {
                consistent: self.consistent,
                magnitude: self.magnitude,
                reason: self.reason.clone(),
            },
        })
    }
}

/// The rejudgement of an earlier consultation's answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Rejudged {
    /// The earlier consultation's id.
    pub from: String,
    /// Whether its verdict held; `None` if unknown.
    pub consistent: Option<bool>,
    pub magnitude: Option<Magnitude>,
    pub reason: Option<String>,
}

impl Rejudged {
    pub(super) fn held(&self) -> Held {
        Held {
            consistent: self.consistent,
            magnitude: self.magnitude,
            reason: self.reason.clone(),
        }
    }
}
