//! Whether an estimate may pass without asking, must be asked about, or cannot be.

use serde::{Deserialize, Serialize};

use crate::consultation::event::Consent;
use crate::domain::money::{Cost, MicroUsd};

/// What the user has said in advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsentRule {
    /// Estimates strictly below this pass by themselves; zero means always ask.
    pub always_allow_under: MicroUsd,
    pub standing: Standing,
}

/// Who can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The user said yes to everything with a flag.
    Granted,
    /// There is a terminal to ask on.
    Askable,
    /// There is nobody to ask.
    Unattended,
}

/// The decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    Pass(Consent),
    Ask,
    Refuse,
}

impl ConsentRule {
    /// Decides on an estimate. A lower bound never passes by itself: what comes on top is unknown.
    pub fn decide(&self, estimate: Cost) -> Gate {
        let small = estimate == Cost::FREE || (!estimate.lower_bound && estimate.known < self.always_allow_under);
        match (small, self.standing) {
            (true, _) => Gate::Pass(Consent::AutoApproved),
            (false, Standing::Granted) => Gate::Pass(Consent::Flag),
            (false, Standing::Askable) => Gate::Ask,
            (false, Standing::Unattended) => Gate::Refuse,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(under: u64, standing: Standing) -> ConsentRule {
        ConsentRule { always_allow_under: MicroUsd(under), standing }
    }

    #[test]
    fn only_an_estimate_below_the_threshold_passes_by_itself() {
        let half = rule(500_000, Standing::Askable);
        assert_eq!(half.decide(Cost::exactly(MicroUsd(499_999))), Gate::Pass(Consent::AutoApproved));
        assert_eq!(half.decide(Cost::exactly(MicroUsd(500_000))), Gate::Ask);
        assert_eq!(half.decide(Cost::at_least(MicroUsd(1))), Gate::Ask);
    }

    #[test]
    fn zero_means_always_ask_except_for_what_is_free() {
        let zero = rule(0, Standing::Askable);
        assert_eq!(zero.decide(Cost::exactly(MicroUsd(1))), Gate::Ask);
        assert_eq!(zero.decide(Cost::FREE), Gate::Pass(Consent::AutoApproved));
    }

    #[test]
    fn without_anyone_to_ask_it_refuses_unless_consent_stands() {
        let cost = Cost::exactly(MicroUsd(900_000));
        assert_eq!(rule(500_000, Standing::Unattended).decide(cost), Gate::Refuse);
        assert_eq!(rule(500_000, Standing::Granted).decide(cost), Gate::Pass(Consent::Flag));
    }
}
