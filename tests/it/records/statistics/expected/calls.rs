//! The count of calls by provider and by model.

use std::collections::BTreeSet;

use conclave::domain::ids::{ModelRef, ProviderId};
use conclave::domain::money::{Cost, MicroUsd};
use conclave::domain::statistics::{ModelNumbers, ProviderNumbers};
use indexmap::IndexMap;
use serde_json::Value;

use super::dated_record::cost;
use super::percentile;

pub(super) fn by_provider(attempts: &[&Value]) -> IndexMap<ProviderId, ProviderNumbers> {
    let names: BTreeSet<ProviderId> = attempts
        .iter()
        .map(|attempt| model_of(attempt).provider)
        .collect();
    let numbers = |name: ProviderId| {
        let calls: Vec<&Value> = attempts
            .iter()
            .copied()
            .filter(|attempt| model_of(attempt).provider == name)
            .collect();
        let (cost, tokens) = spent(&calls);
        (
            name,
            ProviderNumbers {
                cost,
                tokens,
                calls: calls.len() as u64,
            },
        )
    };
    let mut all: Vec<_> = names.into_iter().map(numbers).collect();
    all.sort_by(|(one, numbers), (other, others)| {
        (others.cost.known, one).cmp(&(numbers.cost.known, other))
    });
    all.into_iter().collect()
}

pub(super) fn models(attempts: &[&Value]) -> Vec<ModelNumbers> {
    let names: BTreeSet<ModelRef> = attempts.iter().map(|attempt| model_of(attempt)).collect();
    let numbers = |model: ModelRef| {
        let calls: Vec<&Value> = attempts
            .iter()
            .copied()
            .filter(|attempt| model_of(attempt) == model)
            .collect();
        let (cost, tokens) = spent(&calls);
        let beginnings: Vec<u64> = calls
            .iter()
            .filter_map(|attempt| attempt["latency_ms"].as_u64())
            .collect();
        let count =
            |is: &dyn Fn(&Value) -> bool| calls.iter().filter(|attempt| is(attempt)).count() as u64;
        ModelNumbers {
            calls: calls.len() as u64,
            failures: count(&|attempt| failed(attempt)),
            hedges_won: count(&|attempt| !failed(attempt) && attempt["purpose"] == "hedge"),
            cost,
            tokens,
            first_token_p50_ms: percentile(&beginnings, 50),
            first_token_p95_ms: percentile(&beginnings, 95),
            demonstration: model.provider.as_str() == "local",
            model,
        }
    };
    let mut all: Vec<_> = names.into_iter().map(numbers).collect();
    all.sort_by(|one, other| (other.cost.known, &one.model).cmp(&(one.cost.known, &other.model)));
    all
}

fn model_of(attempt: &Value) -> ModelRef {
    attempt["model"].as_str().unwrap().parse().unwrap()
}

fn failed(attempt: &Value) -> bool {
    !attempt["error"].is_null() || attempt["stop"].is_null()
}

/// Returns the cost and tokens of some calls; a call without a cost makes the sum a lower bound.
fn spent(attempts: &[&Value]) -> (Cost, u64) {
    let costs = attempts
        .iter()
        .map(|attempt| cost(&attempt["cost"]).unwrap_or(Cost::at_least(MicroUsd(0))));
    (
        costs.sum(),
        attempts
            .iter()
            .map(|attempt| attempt["tokens"]["total"].as_u64().unwrap())
            .sum(),
    )
}
