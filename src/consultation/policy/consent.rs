//! Decides whether an estimate is approved without asking, needs the person's consent, or is
//! refused.

use serde::{Deserialize, Serialize};

use crate::consultation::policy::estimate::{Consent, Estimate, GateReason};
use crate::consultation::policy::fitting::SmallestCeilings;
use crate::domain::cost::money::{Cost, MicroUsd};

/// The number of tokens above which a context is large: its cost and duration deserve a question.
pub const LARGE_CONTEXT: u64 = 10_000;

/// The user's settings for consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsentRule {
    /// Estimates strictly below this are approved without asking; zero means always ask.
    pub always_allow_under: MicroUsd,
    pub consent_mode: ConsentMode,
    /// The monthly budget, if the user has set one.
    pub month: Option<Month>,
    /// True if nothing has been spent so far and the user has not set the threshold: a person is
    /// asked about the first cost, however low it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks_first_cost: bool,
}

/// The monthly budget, and the part that is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Month {
    pub budget: MicroUsd,
    pub spent: Cost,
}

/// Whether a person can be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConsentMode {
    /// The user consented in advance with a flag.
    PreApproved,
    /// There is a terminal to ask on.
    Interactive,
    /// There is no person to ask.
    #[default]
    NonInteractive,
}

/// The decision on an estimate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    Pass(Consent),
    /// It needs consent, for these reasons.
    Ask(Vec<GateReason>),
    Refuse(Vec<GateReason>),
    /// The ceiling does not pay for it, even with the shortest answers.
    AboveCeiling,
}

impl Month {
    pub fn is_exceeded_by(&self, estimate: Cost) -> bool {
        self.spent.known + estimate.known > self.budget
    }

    /// Returns whether four fifths of the budget are spent.
    pub fn is_nearly_spent(&self) -> bool {
        u128::from(self.spent.known.0) * 5 >= u128::from(self.budget.0) * 4
    }
}

impl ConsentRule {
    /// A lower bound always needs consent, because the rest is unknown. A free consultation never
    /// does.
    pub fn decide(&self, estimate: &Estimate, ceiling: Option<MicroUsd>) -> Gate {
        let cost = estimate.cost;
        if cost.is_unbilled() && estimate.high.is_unbilled() {
            return Gate::Pass(Consent::AutoApproved);
        }
        let least = SmallestCeilings::of([estimate]).short;
        if ceiling.is_some_and(|ceiling| least > ceiling) {
            return Gate::AboveCeiling;
        }
        let why = self.why(estimate);
        let below_ceiling =
            ceiling.is_some_and(|ceiling| cost.known <= ceiling && !cost.lower_bound);
        match self.consent_mode {
            ConsentMode::Interactive if why.is_empty() && self.asks_first_cost => {
                Gate::Ask(vec![GateReason::FirstCost])
            }
            _ if why.is_empty() => Gate::Pass(Consent::AutoApproved),
            ConsentMode::PreApproved => Gate::Pass(Consent::Flag),
            ConsentMode::Interactive => Gate::Ask(why),
            // A ceiling is consent to all costs below it; a monthly budget is not.
            ConsentMode::NonInteractive
                if below_ceiling && !why.contains(&GateReason::MonthlyBudget) =>
            {
                Gate::Pass(Consent::Ceiling)
            }
            ConsentMode::NonInteractive => Gate::Refuse(why),
        }
    }

    fn why(&self, estimate: &Estimate) -> Vec<GateReason> {
        let reasons = [
            (GateReason::Unpriced, estimate.cost.lower_bound),
            (
                GateReason::Cost,
                !estimate.cost.lower_bound && estimate.cost.known >= self.always_allow_under,
            ),
            (
                GateReason::MonthlyBudget,
                self.month
                    .is_some_and(|month| month.is_exceeded_by(estimate.cost)),
            ),
            (
                GateReason::LargeContext,
                estimate.context_tokens > LARGE_CONTEXT,
            ),
        ];
        reasons
            .into_iter()
            .filter_map(|(reason, holds)| holds.then_some(reason))
            .collect()
    }
}

/// Says why there is no consent without a terminal; `ceiling` is what is left under it.
pub fn refusal(estimate: &Estimate, ceiling: Option<MicroUsd>) -> String {
    let (cost, why) = (estimate.cost, "and there is no terminal to ask on");
    match ceiling {
        Some(ceiling) if ceiling < cost.known => {
            format!("The ceiling of {ceiling:.2} is below the estimate of {cost:.2}, {why}")
        }
        Some(_) | None => format!("The estimated cost needs consent, {why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(under: u64, consent_mode: ConsentMode) -> ConsentRule {
        ConsentRule {
            always_allow_under: MicroUsd(under),
            consent_mode,
            month: None,
            asks_first_cost: false,
        }
    }

    fn estimate(cost: Cost) -> Estimate {
        Estimate {
            cost,
            low: cost,
            high: cost,
            ..Estimate::default()
        }
    }

    fn exactly(micro: u64) -> Estimate {
        estimate(Cost::exactly(MicroUsd(micro)))
    }

    const AUTO_APPROVED: Gate = Gate::Pass(Consent::AutoApproved);

    #[test]
    fn only_estimates_below_the_threshold_are_approved_without_asking() {
        let half = rule(500_000, ConsentMode::Interactive);
        let unpriced = estimate(Cost::at_least(MicroUsd(1)));
        let cases = [
            (exactly(499_999), AUTO_APPROVED),
            (exactly(500_000), Gate::Ask(vec![GateReason::Cost])),
            (unpriced, Gate::Ask(vec![GateReason::Unpriced])),
        ];
        for (estimate, gate) in cases {
            assert_eq!(half.decide(&estimate, None), gate);
        }
    }

    #[test]
    fn a_person_is_asked_about_the_first_cost_however_low() {
        let first = |consent_mode| ConsentRule {
            asks_first_cost: true,
            ..rule(500_000, consent_mode)
        };
        let asked = first(ConsentMode::Interactive);
        let expected = Gate::Ask(vec![GateReason::FirstCost]);
        assert_eq!(asked.decide(&exactly(1), None), expected);
        assert_eq!(asked.decide(&exactly(0), None), AUTO_APPROVED);
        let expected = Gate::Ask(vec![GateReason::Cost]);
        assert_eq!(asked.decide(&exactly(500_000), None), expected);
        for consent_mode in [ConsentMode::NonInteractive, ConsentMode::PreApproved] {
            assert_eq!(first(consent_mode).decide(&exactly(1), None), AUTO_APPROVED);
        }
    }

    #[test]
    fn a_zero_threshold_always_asks_except_for_free_runs() {
        let zero = rule(0, ConsentMode::Interactive);
        let asked = Gate::Ask(vec![GateReason::Cost]);
        assert_eq!(zero.decide(&exactly(1), None), asked);
        let free = Estimate {
            context_tokens: 50_000,
            ..exactly(0)
        };
        assert_eq!(zero.decide(&free, Some(MicroUsd::ZERO)), AUTO_APPROVED);
    }

    #[test]
    fn non_interactive_mode_needs_prior_consent_or_a_higher_ceiling() {
        let cost = exactly(900_000);
        let wide = Estimate {
            high: Cost::exactly(MicroUsd(2_000_000)),
            ..cost.clone()
        };
        let short = Estimate {
            low: Cost::exactly(MicroUsd(500_000)),
            ..cost.clone()
        };
        let unattended = rule(500_000, ConsentMode::NonInteractive);
        let refused = Gate::Refuse(vec![GateReason::Cost]);
        assert_eq!(unattended.decide(&cost, None), refused);
        assert_eq!(unattended.decide(&short, Some(MicroUsd(800_000))), refused);
        for estimate in [&cost, &wide] {
            let below = unattended.decide(estimate, Some(MicroUsd(900_000)));
            assert_eq!(below, Gate::Pass(Consent::Ceiling));
        }
        // A ceiling cannot hold what has no price.
        let unpriced = estimate(Cost::at_least(MicroUsd(900_000)));
        let refused = Gate::Refuse(vec![GateReason::Unpriced]);
        assert_eq!(
            unattended.decide(&unpriced, Some(MicroUsd(900_000))),
            refused
        );
        let pre_approved = rule(500_000, ConsentMode::PreApproved).decide(&cost, None);
        assert_eq!(pre_approved, Gate::Pass(Consent::Flag));
    }

    #[test]
    fn a_ceiling_below_the_lowest_cost_is_refused_before_anything_is_spent() {
        for consent_mode in [
            ConsentMode::PreApproved,
            ConsentMode::Interactive,
            ConsentMode::NonInteractive,
        ] {
            let gate = rule(500_000, consent_mode).decide(&exactly(10), Some(MicroUsd(9)));
            assert_eq!(gate, Gate::AboveCeiling);
        }
    }

    #[test]
    fn a_spent_month_and_a_large_context_need_consent_at_any_cost() {
        let month = Month {
            budget: MicroUsd(100),
            spent: Cost::exactly(MicroUsd(80)),
        };
        let rule = ConsentRule {
            month: Some(month),
            ..rule(1_000, ConsentMode::Interactive)
        };
        assert!(month.is_nearly_spent());
        assert_eq!(rule.decide(&exactly(20), None), AUTO_APPROVED);
        let large = Estimate {
            context_tokens: 10_001,
            ..exactly(21)
        };
        let reasons = vec![GateReason::MonthlyBudget, GateReason::LargeContext];
        assert_eq!(rule.decide(&large, None), Gate::Ask(reasons));
        let unattended = ConsentRule {
            consent_mode: ConsentMode::NonInteractive,
            ..rule
        };
        let gate = unattended.decide(&large, Some(MicroUsd(1_000)));
        assert!(matches!(gate, Gate::Refuse(_)));
    }
}
