//! `judge:…`: the stability of the verdict.

use serde::{Deserialize, Serialize};

use crate::domain::second_pass::{Held, SecondPass};

/// Event of a second verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum JudgeEvent {
    /// The result of the judge's second pass, with the experts in the opposite order.
    #[serde(rename = "judge:second_pass")]
    SecondPass(Box<SecondPass>),
    /// Whether an earlier consultation's verdict held when its answers were judged again.
    #[serde(rename = "judge:rejudged")]
    Rejudged(Held),
}
