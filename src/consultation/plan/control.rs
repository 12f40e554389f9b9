//! The limits within which a consultation runs by itself: as a person asks for them, and as they
//! are in force, with the settings beneath them.
//!
//! A limit of all runs is declared here twice, read in `setup::plan::limits`, and has its flag in
//! `commands::flags::control`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Plan;
use crate::consultation::policy::consent::{ConsentMode, ConsentRule};
use crate::consultation::policy::estimate::{Consent, Estimate};
use crate::consultation::policy::hedging::{HedgeAfter, HedgeRule};
use crate::consultation::policy::substitution::OnFailure;
use crate::domain::answer::confidence::Confidence;
use crate::domain::cost::money::MicroUsd;
use crate::domain::cost::pricing::PriceList;
use crate::domain::ids::ModelRef;
use crate::domain::model::billing::Billing;
use crate::stopping::early_termination::{Policy, TerminationRule};

/// The limits that are asked for. The settings decide everything that is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ControlRequest {
    /// Whether a person can be asked changes with each process.
    #[serde(skip)]
    pub consent_mode: ConsentMode,
    #[serde(rename = "early_stop", skip_serializing_if = "Option::is_none")]
    pub early_termination: Option<Policy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence_threshold: Option<Confidence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<OnFailure>,
    /// Seconds before a second model is asked, or `off`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "serde_json::Value", extend("type" = ["number", "string"])))]
    pub hedge_after: Option<HedgeAfter>,
    /// The most seconds of a round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_wait: Option<u64>,
    /// Fewer answers than seats end a consultation.
    pub strict: bool,
    /// The ceiling over the whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<MicroUsd>,
    /// The most calls that plans pay for in one consultation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_calls: Option<u32>,
}

impl ControlRequest {
    /// Returns a request that leaves everything to the settings.
    pub fn new(consent_mode: ConsentMode) -> Self {
        Self {
            consent_mode,
            ..Self::default()
        }
    }
}

/// The limits within which a consultation runs by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Control {
    pub consent: ConsentRule,
    /// The ceiling: no call is made that could raise the cost above it.
    pub max_cost: Option<MicroUsd>,
    /// The most calls that plans pay for, retries, repairs and fallbacks included: no ceiling in
    /// dollars holds them.
    #[serde(default = "usual_max_calls")]
    pub max_calls: u32,
    pub on_failure: OnFailure,
    /// Refuses fallbacks and degraded results.
    pub strict: bool,
    pub hedge: HedgeRule,
    /// The time after which a round is reported as slow, and the interval of further reports.
    /// `None` for never.
    pub pulse: Option<Duration>,
    /// The time limit of a round; `None` for no limit.
    pub max_wait: Option<Duration>,
    pub early_termination: TerminationRule,
}

impl Control {
    /// Asks for consent from half a dollar, hedges after 30 s, reports every minute.
    pub fn usual(consent_mode: ConsentMode) -> Self {
        Self {
            consent: ConsentRule {
                always_allow_under: MicroUsd(500_000),
                consent_mode,
                month: None,
                asks_first_cost: false,
            },
            max_cost: None,
            max_calls: usual_max_calls(),
            on_failure: OnFailure::default(),
            strict: false,
            hedge: HedgeRule::default(),
            pulse: Some(Duration::from_secs(60)),
            max_wait: None,
            early_termination: TerminationRule::usual(),
        }
    }
}

/// More than a consultation of nine seats makes, and a small part of any plan.
pub fn usual_max_calls() -> u32 {
    60
}

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
    /// How the models are billed that are not billed by the token.
    pub billing: BTreeMap<ModelRef, Billing>,
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

    pub fn set_pricing(&mut self, pricing: Pricing) {
        for (model, terms) in &mut self.models {
            terms.billing = pricing.billing.get(model).copied().unwrap_or_default();
        }
        self.prices = pricing.prices;
    }
}
