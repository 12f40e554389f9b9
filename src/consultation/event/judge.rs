//! `judge:…`: whether the judge's verdict held in a second pass.

use serde::{Deserialize, Serialize};

use crate::domain::second_pass::{Held, SecondPass};

/// The results of judging twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum JudgeEvent {
    /// The judge was to decide twice, the second time with the experts in the opposite order.
    #[serde(rename = "judge:second_pass")]
    SecondPass(Box<SecondPass>),
    /// The answers of an earlier consultation were judged again: whether its verdict held.
    #[serde(rename = "judge:rejudged")]
    Rejudged(Held),
}
