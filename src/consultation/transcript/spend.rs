//! Tokens and cost of calls, together and by whatever they have in common.

use std::collections::BTreeMap;

use crate::domain::ids::{AgentId, CallId, ModelRef, ProviderId};
use crate::domain::money::Cost;
use crate::domain::tokens::Usage;

use super::Transcript;
use crate::consultation::event::CallFinished;
use crate::domain::pricing::CostSource;

/// Tokens and cost of some of the calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spend {
    /// Those that came back.
    pub calls: u64,
    pub tokens: Usage,
    pub cost: Cost,
}

/// A call that went out and never came back: cancelled, or cut off by the end of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostCall {
    pub call: CallId,
    pub agent_id: AgentId,
    pub round_number: u8,
    pub model: ModelRef,
}

/// What a call is grouped by: whose work it was, when, and which model was asked.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub agent_id: &'a AgentId,
    pub round_number: u8,
    pub model: &'a ModelRef,
}

impl Transcript {
    /// All calls together. Calls that never came back make the cost a lower bound, unless they are
    /// free.
    pub fn total(&self) -> Spend {
        self.spend_by(|_| ())
            .into_values()
            .next()
            .unwrap_or_default()
    }

    /// The calls' tokens and cost, grouped by what `key` says of each. The groups add up to the
    /// total, lower bounds included.
    pub fn spend_by<K: Ord>(&self, key: impl Fn(Asked<'_>) -> K) -> BTreeMap<K, Spend> {
        let mut groups: BTreeMap<K, Spend> = BTreeMap::new();
        for call in &self.calls {
            let asked = Asked {
                agent_id: &call.agent_id,
                round_number: call.round_number,
                model: &call.model,
            };
            groups.entry(key(asked)).or_default().add(call);
        }
        for lost in &self.lost_calls {
            let asked = Asked {
                agent_id: &lost.agent_id,
                round_number: lost.round_number,
                model: &lost.model,
            };
            groups.entry(key(asked)).or_default().cost.lower_bound |= !self.is_free(&lost.model);
        }
        groups
    }

    pub fn spend_by_provider(&self) -> BTreeMap<ProviderId, Spend> {
        self.spend_by(|asked| asked.model.provider.clone())
    }

    /// A model that was known to cost nothing: by the terms, as the estimate had it, or as a call
    /// of its own says.
    fn is_free(&self, model: &ModelRef) -> bool {
        if self
            .terms
            .plan
            .as_deref()
            .is_some_and(|plan| plan.terms(model).free)
        {
            return true;
        }
        let mut estimated = self
            .estimate
            .iter()
            .flat_map(|estimate| &estimate.calls)
            .filter(|call| call.model == *model)
            .peekable();
        let by_estimate =
            estimated.peek().is_some() && estimated.all(|call| call.cost == Cost::FREE);
        by_estimate
            || self
                .calls
                .iter()
                .any(|call| call.model == *model && call.cost_source == CostSource::Free)
    }
}

impl Spend {
    fn add(&mut self, call: &CallFinished) {
        self.calls += 1;
        self.tokens += call.tokens;
        self.cost += call.cost;
    }
}
