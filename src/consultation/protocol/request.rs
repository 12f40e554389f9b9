//! The machine's request to make a call, and the possible decisions. The machine does not know
//! whether a provider is free, or whether higher ceilings than its own allow the call.

use serde::{Deserialize, Serialize};

use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::ids::{AgentId, ProviderId};

use super::answer::AnswerKind;

/// A call to be made as soon as it is allowed.
///
/// A request changes nothing in the machine, which repeats it whenever something has happened; a
/// new request replaces a waiting one with the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRequest {
    pub key: RequestKey,
    /// The possible providers, best first; the first free one is used. Only hedges have more than
    /// one.
    pub options: Vec<RequestOption>,
    /// Whether the person has agreed to exceed the monthly budget.
    pub beyond_month: bool,
}

/// The purpose of a request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestKey {
    /// The next attempt of a task; waits until it is admitted.
    Attempt { agent: AgentId, answer: AnswerKind },
    /// The hedge of a slow call; goes out now or not at all.
    Hedge { agent: AgentId },
}

/// A possible provider of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestOption {
    pub provider: ProviderId,
    /// The most that the call can cost there. [`Cost::FREE`] counts against no budget; a lower
    /// bound fits into none.
    pub worst_case: Cost,
    /// The least that is worth a call: a budget that does not allow the worst case grants what it
    /// has left, if it is this much.
    pub least: Cost,
}

/// Reason why a call is not admitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotAdmitted {
    /// No provider is free, and the request cannot wait.
    Busy,
    /// A ceiling above the consultation's own does not allow the call.
    Budget {
        /// The budget's display name: `monthly budget`.
        budget: String,
        /// The budget's limit.
        limit: MicroUsd,
        spent: MicroUsd,
    },
}

impl NotAdmitted {
    pub fn unnamed_budget() -> Self {
        Self::Budget {
            budget: String::new(),
            limit: MicroUsd::ZERO,
            spent: MicroUsd::ZERO,
        }
    }
}

impl CallRequest {
    /// Returns whether both requests go to the same providers in the same order.
    pub fn goes_to_the_same_as(&self, other: &Self) -> bool {
        let own = self.options.iter().map(|option| &option.provider);
        own.eq(other.options.iter().map(|option| &option.provider))
    }
}

impl RequestKey {
    pub fn waits(&self) -> bool {
        match self {
            Self::Attempt { .. } => true,
            Self::Hedge { .. } => false,
        }
    }
}
