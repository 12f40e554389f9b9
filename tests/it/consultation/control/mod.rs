//! Slow, failing and expensive models, and the user's decisions about them.

mod hedging;
mod fallbacks;
mod health;
mod cost;
mod pulse;
mod pacing;

use std::collections::BTreeMap;

use conclave::consultation::event::{HealthUpdate, WhySubstituted};
use conclave::consultation::policy::health::HealthStatus;
use conclave::consultation::policy::hedging::HedgeRule;
use conclave::domain::ids::ProviderId;

use crate::consultation::prelude::*;

fn grok() -> ModelRef {
    ModelRef::new("xai", "grok-4.7")
}

fn mistral() -> ModelRef {
    ModelRef::new("mistral", "mistral-large")
}

/// Returns the plan of three seats, each with the same two fallbacks of other vendors at the same
/// price, and hedging after 30 s.
fn plan_with_fallbacks() -> Plan {
    let mut plan = plan();
    let price = *plan.prices.0.values().next().unwrap();
    plan.prices.0.extend([(grok(), price), (mistral(), price)]);
    plan.fallbacks = plan
        .panel
        .seats
        .iter()
        .map(|seat| (seat.id.clone(), vec![grok(), mistral()]))
        .collect::<BTreeMap<_, _>>();
    plan.control.hedge = HedgeRule::default();
    plan
}

fn substitutions(player: &Player) -> Vec<(String, ModelRef, WhySubstituted)> {
    let mut substitutions = Vec::new();
    for record in fold(player).substitutions {
        let agent = record.agent_id.as_str().to_owned();
        substitutions.push((agent, record.substitute, record.reason));
    }
    substitutions
}

fn answer_at(player: &mut Player, provider: &str) {
    let at = place(player, |ask| is_at(ask, provider)).unwrap();
    let kind = player.open[at].answer;
    player.answer(at, reply(good_text(kind)));
}

/// Answers all calls except those to one provider.
fn answer_all_but(player: &mut Player, provider: &str) {
    while let Some(at) = place(player, |ask| !is_at(ask, provider)) {
        let kind = player.open[at].answer;
        player.answer(at, reply(good_text(kind)));
    }
}

fn unhealthy(provider: &str) -> HealthUpdate {
    HealthUpdate {
        provider: ProviderId::new(provider),
        status: HealthStatus::Unhealthy,
        latency_ms: None,
        error_rate: 1.0,
        consecutive_failures: 3,
        none_healthy: false,
    }
}
