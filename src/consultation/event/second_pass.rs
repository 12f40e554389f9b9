//! What came of asking the judge a second time, with the experts in the opposite order.

use serde::{Deserialize, Serialize};

use crate::domain::artifact::{Magnitude, Verdict};
use crate::domain::ids::{ModelRef, SeatId};

/// The second verdict beside the one that counts, and whether it says the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SecondPass {
    /// With the experts named as in the first pass. `None` when there is none.
    pub verdict: Option<Verdict>,
    /// Who gave it: the judge, or who stood in for it.
    pub model: Option<ModelRef>,
    /// The seats in the order in which they were `Expert A`, `Expert B`, … the second time.
    pub expert_order: Vec<SeatId>,
    /// Whether the verdict held; `None` when that is not known.
    pub consistent: Option<bool>,
    /// How far apart the two verdicts are; `None` when nobody has compared them.
    pub magnitude: Option<Magnitude>,
    /// Why it held or did not, or why that is not known.
    pub reason: Option<String>,
}
