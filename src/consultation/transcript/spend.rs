//! Tokens and cost of calls, in total and by group.

use std::collections::BTreeMap;

use crate::domain::cost::money::{Cost, MicroUsd, Saving};
use crate::domain::cost::tokens::{Usage, UsageSource};
use crate::domain::ids::{AgentId, ModelRef};
use crate::domain::record::stored_record::StoredCaching;

use super::Transcript;
use crate::consultation::event::CallFinished;
use crate::domain::cost::pricing::CostSource;

/// Tokens and cost of a group of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spend {
    /// The number of finished calls.
    pub calls: u64,
    pub tokens: Usage,
    pub cost: Cost,
}

impl Transcript {
    /// Calls that never came back make the cost a lower bound, unless they are free.
    pub fn total(&self) -> Spend {
        self.spend_by(|_, _, _| ())
            .into_values()
            .next()
            .unwrap_or_default()
    }

    /// Calls that never came back, or whose cost is known only in part, at their worst case.
    pub fn in_doubt(&self) -> MicroUsd {
        let lost = self.lost_calls.iter().map(|lost| lost.worst_case.known);
        let partly_known = self
            .calls
            .iter()
            .map(|call| MicroUsd(call.counted().0.saturating_sub(call.cost.known.0)));
        lost.chain(partly_known).sum()
    }

    /// The groups add up to the total, lower bounds included.
    pub fn spend_by<K: Ord>(
        &self,
        key: impl Fn(&AgentId, u8, &ModelRef) -> K,
    ) -> BTreeMap<K, Spend> {
        let mut groups: BTreeMap<K, Spend> = BTreeMap::new();
        for call in &self.calls {
            let key = key(&call.agent_id, call.round_number, &call.model);
            groups.entry(key).or_default().add(call);
        }
        for lost in &self.lost_calls {
            let key = key(&lost.agent_id, lost.round_number, &lost.model);
            let plan = self.terms.plan.as_deref();
            let cost = &mut groups.entry(key).or_default().cost;
            cost.lower_bound |= !self.is_free(&lost.model);
            cost.by_plan |= plan.is_some_and(|plan| plan.is_by_plan(&lost.model));
        }
        groups
    }

    /// `None` if no paid call reported any.
    pub fn caching(&self) -> Option<StoredCaching> {
        let mut sum = None;
        for call in &self.calls {
            let usage = &call.tokens;
            let is_reported = usage.source == UsageSource::Reported;
            let is_cached = usage.cache_read > 0 || usage.cache_write > 0;
            if is_reported
                && is_cached
                && matches!(call.cost_source, CostSource::Provider | CostSource::Table)
            {
                sum.get_or_insert_with(StoredCaching::default)
                    .add(usage, self.cache_saving(call));
            }
        }
        sum
    }

    /// `None` if it is unknown, because the cost is not by the price table.
    fn cache_saving(&self, call: &CallFinished) -> Option<Saving> {
        let plan = self.terms.plan.as_deref()?;
        let is_known = call.cost_source == CostSource::Table && !call.cost.lower_bound;
        let served = call.served_model.as_deref();
        is_known
            .then(|| plan.cache_saving(&call.model, served, &call.tokens))
            .flatten()
    }

    /// By the terms, by the estimate, or by one of its calls.
    fn is_free(&self, model: &ModelRef) -> bool {
        let plan = self.terms.plan.as_deref();
        let by_terms = plan.is_some_and(|plan| !plan.terms(model).billing.is_metered());
        let estimated = self.estimate.iter().flat_map(|estimate| &estimate.calls);
        let mut estimated = estimated.filter(|call| call.model == *model).peekable();
        let by_estimate =
            estimated.peek().is_some() && estimated.all(|call| call.cost.is_unbilled());
        let is_free = |call: &CallFinished| {
            call.model == *model && matches!(call.cost_source, CostSource::Free | CostSource::Plan)
        };
        by_terms || by_estimate || self.calls.iter().any(is_free)
    }
}

impl Spend {
    pub(super) fn add(&mut self, call: &CallFinished) {
        self.calls += 1;
        self.tokens += call.tokens;
        self.cost += call.cost;
    }
}
