//! Money from the token to the record: for any usage that providers report, the record's totals are
//! the sum of the calls' costs in every grouping, to the micro-dollar.

use std::collections::BTreeMap;

use conclave::consultation::event::{CallEvent, CallStarted, Event};
use conclave::consultation::plan::{ModelTerms, OutputTokens, Plan};
use conclave::consultation::protocol::call::{
    Ask, Failure, FailureClass, Outcome, Reply, StopReason,
};
use conclave::consultation::transcript::Transcript;
use conclave::domain::cost::money::MicroUsd;
use conclave::domain::cost::pricing::{LongContext, Price, PriceList, Rates};
use conclave::domain::cost::tokens::{Usage, UsageSource};
use conclave::domain::ids::ModelRef;
use proptest::prelude::*;
use serde_json::Value;

use crate::support::record_json;
use crate::support::script::{Player, good_text, plan};

/// How a call ends.
#[derive(Clone, Debug)]
struct Ending {
    usage: [u64; 4],
    estimated: bool,
    reported: Option<u64>,
    served_by_other: bool,
    fails: bool,
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

/// The model that answers in place of the requested one.
const OTHER: &str = "another-model";

/// Returns a plan in which the third seat's model has no price, and one has a second tier.
fn priced() -> Plan {
    let mut plan = plan();
    let rates = |input| Rates {
        input: MicroUsd(input),
        output: MicroUsd(5 * input + 1),
        cache_read: Some(MicroUsd(input / 10)),
        cache_write: None,
    };
    let price = |input| Price {
        base: rates(input),
        long_context: None,
    };
    let tiered = Price {
        long_context: Some(LongContext {
            above_tokens: 200_000,
            rates: rates(5_000_001),
        }),
        ..price(2_500_000)
    };
    let [first, second] = [0, 1].map(|seat: usize| plan.panel.seats[seat].model.clone());
    let other = ModelRef::new("anthropic", OTHER);
    let prices = [
        (first, price(3_333_333)),
        (second, tiered),
        (other, price(1_000_000)),
    ];
    plan.prices = PriceList(prices.into());
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
    plan
}

fn usage(ending: &Ending) -> Usage {
    let [input, output, cache_read, cache_write] = ending.usage;
    let source = if ending.estimated {
        UsageSource::Estimated
    } else {
        UsageSource::Reported
    };
    Usage {
        input,
        cache_read,
        cache_write,
        output,
        source,
        ..Usage::default()
    }
}

fn outcome(ask: &Ask, ending: &Ending) -> Outcome {
    let usage = usage(ending);
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
        plan: None,
    })
}

/// Returns the cost of a call, and whether it is a lower bound.
fn expected_cost(ask: &Ask, ending: &Ending, prices: &PriceList) -> (u64, bool) {
    if let Some(reported) = ending.reported {
        return (reported, false);
    }
    let of_asked = prices.0.get(&ask.model);
    let of_served = if ending.served_by_other && !ending.fails {
        let provider = ask.model.provider.clone();
        let model = OTHER.to_owned();
        prices.0.get(&ModelRef { provider, model })
    } else {
        of_asked
    };
    match of_served.or(of_asked) {
        Some(price) => (
            price.cost(&usage(ending)).0,
            ending.estimated || of_served.is_none(),
        ),
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
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_records_totals_are_the_sum_of_its_calls_in_every_grouping(
        endings in prop::collection::vec(ending(), 40),
    ) {
        let plan = priced();
        let prices = plan.prices.clone();
        let mut player = Player::started(plan);
        let mut costs = BTreeMap::new();
        let mut next = endings.iter().cycle();
        player.finish(|ask| {
            let ending = next.next().unwrap();
            costs.insert(ask.call, expected_cost(ask, ending, &prices));
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
            let parts = written["cost"][grouping].as_object().unwrap();
            prop_assert_eq!(parts.len(), known);
            for count in ["/calls", "/tokens/total"] {
                let count = |of: &Value| of.pointer(count).and_then(Value::as_u64).unwrap_or(0);
                prop_assert_eq!(parts.values().map(count).sum::<u64>(), count(&written["cost"]));
            }
        }
    }
}
