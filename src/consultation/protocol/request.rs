//! The machine's request to make a call, and the possible decisions. The machine cannot see whether
//! a provider is free, or whether the ceilings above the consultation's own allow the call.

use serde::{Deserialize, Serialize};

use crate::domain::ids::{AgentId, ProviderId};
use crate::domain::money::{Cost, MicroUsd};

use super::answer::AnswerKind;

/// A call to be made as soon as it is allowed.
///
/// It changes nothing in the machine, which asks again whenever something has happened; a request
/// under the key of one that still waits takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRequest {
    pub key: RequestKey,
    /// The possible providers, best first; the first free one is taken. A single one unless it is a
    /// hedge.
    pub options: Vec<RequestOption>,
    /// Whether the person has agreed to exceed the monthly budget.
    pub beyond_month: bool,
}

/// What a request is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestKey {
    /// The next attempt of a task. It waits until it may go out.
    Attempt { agent: AgentId, answer: AnswerKind },
    /// The same call elsewhere, beside one that is slow. It goes out now or not at all.
    Hedge { agent: AgentId },
}

/// A provider that the call could go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestOption {
    pub provider: ProviderId,
    /// The most that the call can cost there. [`Cost::FREE`] counts against no budget; a lower
    /// bound fits in none.
    pub worst_case: Cost,
}

/// Why a call may not go out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotAdmitted {
    /// No provider is free, and the request does not wait.
    Busy,
    /// A ceiling above the consultation's own does not allow it.
    Budget {
        /// The budget's name for people: `monthly budget`.
        budget: String,
        /// In micro-dollars, as `spent`.
        limit: MicroUsd,
        spent: MicroUsd,
    },
}

impl NotAdmitted {
    /// Returns a decision about a budget without its figures.
    pub fn unnamed_budget() -> Self {
        Self::Budget {
            budget: String::new(),
            limit: MicroUsd::ZERO,
            spent: MicroUsd::ZERO,
        }
    }
}

impl CallRequest {
    /// Whether it goes to the same providers, in the same order.
    pub fn goes_to_the_same_as(&self, other: &Self) -> bool {
        let providers = |request: &Self| -> Vec<ProviderId> {
            let options = request.options.iter();
            options.map(|option| option.provider.clone()).collect()
        };
        providers(self) == providers(other)
    }
}

impl RequestKey {
    /// Whether the request waits until it may go out.
    pub fn waits(&self) -> bool {
        match self {
            Self::Attempt { .. } => true,
            Self::Hedge { .. } => false,
        }
    }
}
