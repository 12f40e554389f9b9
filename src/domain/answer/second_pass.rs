//! The result of asking the judge a second time with the experts in the opposite order, which shows
//! whether its verdict depends on the order.

use serde::{Deserialize, Serialize};

use super::artifact::{Magnitude, Verdict};
use crate::domain::ids::{ModelRef, SeatId};

/// The second verdict, and whether it agrees with the one that counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SecondPass {
    /// The second verdict, with the experts named as in the first pass.
    pub verdict: Option<Verdict>,
    /// The model that gave it: the judge's or a fallback.
    pub model: Option<ModelRef>,
    /// The seats in the order of their labels `Expert A`, `Expert B`, … in the second pass.
    pub expert_order: Vec<SeatId>,
    #[serde(flatten)]
    pub held: Held,
}

/// Whether a verdict agrees with another one on the same record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Held {
    /// `None` if unknown.
    pub consistent: Option<bool>,
    /// The difference between the two verdicts, which hold up to a minor refinement; `None` if they
    /// were not compared.
    pub magnitude: Option<Magnitude>,
    /// The reason why it held or did not, or why that is unknown.
    pub reason: Option<String>,
}

impl Held {
    pub fn unknown(why: impl Into<String>) -> Self {
        Self {
            reason: Some(why.into()),
            ..Self::default()
        }
    }

    /// Judges agreement by magnitude: two verdicts agree if they lead to the same actions.
    pub fn by(magnitude: Magnitude, reason: Option<String>) -> Self {
        let consistent = match magnitude {
            Magnitude::Same | Magnitude::MinorRefinement => true,
            Magnitude::ModerateShift | Magnitude::SignificantChange => false,
        };
        Self {
            consistent: Some(consistent),
            magnitude: Some(magnitude),
            reason,
        }
    }

    /// Returns a clause with the reason for doubt, to append to a sentence; empty if the texts are
    /// alike.
    pub fn because(&self) -> String {
        let reason = self
            .reason
            .as_deref()
            .filter(|_| self.consistent != Some(true))
            .map(|reason| reason.trim().trim_end_matches('.'));
        reason
            .filter(|reason| !reason.is_empty())
            .map(|reason| format!(": {reason}"))
            .unwrap_or_default()
    }
}

impl Magnitude {
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Same => "the same",
            Self::MinorRefinement => "a minor refinement",
            Self::ModerateShift => "a moderate shift",
            Self::SignificantChange => "a significant change",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refinement_is_still_the_same_verdict_and_a_shift_is_not() {
        let all = [
            Magnitude::Same,
            Magnitude::MinorRefinement,
            Magnitude::ModerateShift,
            Magnitude::SignificantChange,
        ];
        assert_eq!(
            all.map(|magnitude| Held::by(magnitude, None).consistent),
            [Some(true), Some(true), Some(false), Some(false)]
        );
    }
}
