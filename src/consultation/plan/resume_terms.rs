//! The terms on which an interrupted consultation is resumed: today's limits and prices, and the
//! consent to what remains.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Control, Plan};
use crate::consultation::policy::estimate::{Consent, Estimate};
use crate::domain::ids::ModelRef;
use crate::domain::pricing::PriceList;

/// The terms of one resumption. They replace those of the plan from then on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResumeTerms {
    pub control: Control,
    /// `None` for the prices that were in force before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pricing: Option<Pricing>,
    /// What was spent and what remains at today's prices, if that is more than was agreed to. It
    /// replaces the estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    /// How consent to the rest was given; `None` if the earlier consent covers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent: Option<Consent>,
    /// Whether that consent is to exceed the monthly budget.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beyond_month: bool,
}

/// What the models of a plan cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pricing {
    pub prices: PriceList,
    /// The models that cost nothing, because they run on the user's own machine.
    pub free: BTreeSet<ModelRef>,
}

impl From<Control> for ResumeTerms {
    fn from(control: Control) -> Self {
        Self {
            control,
            pricing: None,
            estimate: None,
            consent: None,
            beyond_month: false,
        }
    }
}

impl Plan {
    /// Replaces limits and prices by those of a resumption.
    pub fn apply(&mut self, terms: &ResumeTerms) {
        self.control = terms.control.clone();
        if let Some(pricing) = &terms.pricing {
            self.set_pricing(pricing.clone());
        }
    }

    /// Replaces the prices.
    pub fn set_pricing(&mut self, pricing: Pricing) {
        for (model, terms) in &mut self.models {
            terms.free = pricing.free.contains(model);
        }
        self.prices = pricing.prices;
    }
}
