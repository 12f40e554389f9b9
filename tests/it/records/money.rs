//! Money from the token to the record: for any usage that providers report, the record's totals are
//! the sum of the calls' costs in every grouping, to the micro-dollar. The expected cost of a call
//! is computed here independently, from the price list's definition.

use std::collections::BTreeMap;

use conclave::consultation::event::{CallEvent, CallStarted, Event};
use conclave::consultation::plan::{ModelTerms, OutputTokens, Plan};
use conclave::consultation::protocol::call::{
    Ask, Failure, FailureClass, Outcome, Reply, StopReason,
};
use conclave::consultation::transcript::Transcript;
use conclave::domain::ids::ModelRef;
use conclave::domain::money::MicroUsd;
use conclave::domain::pricing::{LongContext, Price, PriceList, Rates};
use conclave::domain::tokens::{Usage, UsageSource};
use proptest::prelude::*;
use serde_json::Value;

use crate::support::record_json;
use crate::support::script::{Player, good_text, plan};

/// A price as in the list: for a million tokens, in micro-dollars.
#[derive(Clone, Debug)]
struct ListedPrice {
    rates: [u64; 4],
    tier: Option<(u64, [u64; 4])>,
}

/// How a call ends.
#[derive(Clone, Debug)]
struct Ending {
    usage: [u64; 4],
    estimated: bool,
    reported: Option<u64>,
    served_by_other: bool,
    fails: bool,
}

fn listed() -> impl Strategy<Value = ListedPrice> {
    let rates = || prop::array::uniform4(0..60_000_000u64);
    (rates(), prop::option::of((1..400_000u64, rates())))
        .prop_map(|(rates, tier)| ListedPrice { rates, tier })
}

fn ending() -> impl Strategy<Value = Ending> {
    let usage = prop::array::uniform4(prop_oneof![Just(0u64), 1..500_000u64]);
    (
        usage,
        prop::bool::weighted(0.1),
        prop::option::weighted(0.2, 0..5_000_000u64),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.15),
    )
        .prop_map(
            |(usage, estimated, reported, served_by_other, fails)| Ending {
                usage,
                estimated,
                reported,
                served_by_other,
                fails,
            },
        )
}

fn rates([input, output, cache_read, cache_write]: [u64; 4]) -> Rates {
    // Zero stands for a rate that the list does not have.
    let own = |rate: u64| (rate > 0).then_some(MicroUsd(rate));
    Rates {
        input: MicroUsd(input),
        output: MicroUsd(output),
        cache_read: own(cache_read),
        cache_write: own(cache_write),
    }
}

/// Micro-dollars, rounded half up once; `None` without a price.
fn expected(listed: Option<&ListedPrice>, [input, output, read, write]: [u64; 4]) -> Option<u64> {
    let listed = listed?;
    let [per_input, per_output, per_read, per_write] = match &listed.tier {
        Some((above, second)) if input + read + write > *above => *second,
        _ => listed.rates,
    };
    let or_input = |rate: u64| if rate == 0 { per_input } else { rate };
    let parts = [
        (input, per_input),
        (output, per_output),
        (read, or_input(per_read)),
        (write, or_input(per_write)),
    ];
    let exact: u128 = parts
        .iter()
        .map(|(tokens, rate)| u128::from(*tokens) * u128::from(*rate))
        .sum();
    Some(u64::try_from((2 * exact + 1_000_000) / 2_000_000).unwrap())
}

/// The model that answers in place of the requested one.
const OTHER: &str = "another-model";

fn priced(prices: &[ListedPrice]) -> (Plan, BTreeMap<ModelRef, ListedPrice>) {
    let mut plan = plan();
    // The third seat's model has no price.
    let mut models = vec![
        plan.panel.seats[0].model.clone(),
        plan.panel.seats[1].model.clone(),
    ];
    models.push(ModelRef::new("anthropic", OTHER));
    let table: BTreeMap<_, _> = models.into_iter().zip(prices.iter().cloned()).collect();
    let price = |listed: &ListedPrice| Price {
        base: rates(listed.rates),
        long_context: listed.tier.map(|(above_tokens, second)| LongContext {
            above_tokens,
            rates: rates(second),
        }),
    };
    plan.prices = PriceList(
        table
            .iter()
            .map(|(model, listed)| (model.clone(), price(listed)))
            .collect(),
    );
    plan.control.consent.consent_mode =
        conclave::consultation::policy::consent::ConsentMode::PreApproved;
    // Answers of any length are within the estimate.
    let any_length = ModelTerms {
        max_output_tokens: 100_000_000,
        expected_output: OutputTokens {
            high: 100_000_000,
            ..OutputTokens::USUAL
        },
        ..ModelTerms::default()
    };
    let models = plan.panel.models().cloned();
    plan.models = models.map(|model| (model, any_length)).collect();
    (plan, table)
}

fn outcome(ask: &Ask, ending: &Ending) -> Outcome {
    let [input, output, cache_read, cache_write] = ending.usage;
    let source = if ending.estimated {
        UsageSource::Estimated
    } else {
        UsageSource::Reported
    };
    let usage = Usage {
        input,
        cache_read,
        cache_write,
        output,
        source,
        ..Usage::default()
    };
    let reported_cost = ending.reported.map(MicroUsd);
    if ending.fails {
        return Err(Failure {
            usage: Some(Box::new(usage)),
            reported_cost,
            ..Failure::new(FailureClass::Overload, "busy")
        });
    }
    let served_model = ending.served_by_other.then(|| OTHER.to_owned());
    Ok(Reply {
        text: good_text(ask.answer).to_owned(),
        stop: StopReason::End,
        usage,
        served_model,
        reported_cost,
    })
}

/// Returns the cost of a call, and whether it is a lower bound.
fn expected_cost(
    ask: &Ask,
    ending: &Ending,
    table: &BTreeMap<ModelRef, ListedPrice>,
) -> (u64, bool) {
    if let Some(reported) = ending.reported {
        return (reported, false);
    }
    let of_asked = table.get(&ask.model);
    let is_other = ending.served_by_other && !ending.fails;
    let of_served = if is_other {
        table.get(&ModelRef {
            provider: ask.model.provider.clone(),
            model: OTHER.to_owned(),
        })
    } else {
        of_asked
    };
    match expected(of_served.or(of_asked), ending.usage) {
        Some(cost) => (cost, ending.estimated || of_served.is_none()),
        None => (0, true),
    }
}

fn sums(cost: &Value) -> (u64, bool) {
    (
        cost["micro_usd"].as_u64().unwrap(),
        cost["lower_bound"].as_bool().unwrap(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_records_totals_are_the_sum_of_its_calls_in_every_grouping(
        prices in prop::collection::vec(listed(), 3),
        endings in prop::collection::vec(ending(), 40),
    ) {
        let (plan, table) = priced(&prices);
        let mut player = Player::started(plan);
        let mut costs = BTreeMap::new();
        let mut next = endings.iter().cycle();
        player.finish(|ask| {
            let ending = next.next().unwrap();
            costs.insert(ask.call, expected_cost(ask, ending, &table));
            outcome(ask, ending)
        });
        let written = record_json(&Transcript::fold(&player.log).unwrap());
        let mut groups: BTreeMap<(&str, String), (u64, bool)> = BTreeMap::new();
        for envelope in &player.log {
            let Event::Call(CallEvent::Started(CallStarted {
                call,
                agent_id,
                round_number,
                model,
                ..
            })) = &envelope.event
            else {
                continue;
            };
            // A call that an abort cancels may have cost anything.
            let (cost, more) = costs.get(call).copied().unwrap_or((0, true));
            let keys = [
                ("by_provider", model.provider.to_string()),
                ("by_model", model.to_string()),
                ("by_agent", agent_id.to_string()),
                ("by_round", format!("round_{round_number}")),
                ("", String::new()),
            ];
            for key in keys {
                let group = groups.entry(key).or_default();
                *group = (group.0 + cost, group.1 || more);
            }
        }
        for ((grouping, key), sum) in &groups {
            let group = if grouping.is_empty() {
                &written["cost"]
            } else {
                &written["cost"][grouping][key]
            };
            prop_assert_eq!(sums(group), *sum, "{} {}", grouping, key);
        }
        for grouping in ["by_provider", "by_model", "by_agent", "by_round"] {
            let known = groups.keys().filter(|(of, _)| *of == grouping).count();
            prop_assert_eq!(written["cost"][grouping].as_object().unwrap().len(), known);
        }
    }
}
