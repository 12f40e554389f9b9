//! Each figure over a few records, computed by hand.

use conclave::domain::cost::money::{Cost, MicroUsd};
use conclave::domain::record::statistics::{Progress, Span, Statistics};
use conclave::records::index::Index;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::cases::{NOW, SCHEMA, TARGETS, ask, completed, day, put};
use crate::support::schema;

/// Returns a completed consultation with these fields.
fn record(number: usize, fields: Value) -> Value {
    let mut record = completed(number, NOW.0);
    let Value::Object(fields) = fields else {
        panic!("{fields}")
    };
    record.as_object_mut().unwrap().extend(fields);
    record
}

/// Returns the statistics of a span over these records, which keep to the schema.
fn of_span(records: &[Value], span: Span) -> Statistics {
    let mut index = Index::in_memory().unwrap();
    for record in records {
        put(&index.connection, record);
    }
    let found = ask(&mut index.connection, span, &TimeZone::UTC, NOW);
    schema::check(SCHEMA, &json!(found));
    found
}

fn of(records: &[Value]) -> Statistics {
    of_span(records, Span::AllTime)
}

fn cost(micro_usd: u64, lower_bound: bool) -> Value {
    json!({ "micro_usd": micro_usd, "lower_bound": lower_bound })
}

#[test]
fn percentiles_and_extremes_are_those_of_completed_consultations() {
    let duration = |number: usize| record(number, json!({ "duration_ms": 10 * number }));
    let mut records: Vec<Value> = (1..=100).map(duration).collect();
    records.push(record(101, json!({ "duration_ms": 5, "state": "Aborted" })));
    records.push(record(102, json!({})));
    assert_eq!(
        json!(of(&records).performance),
        json!({
            "measured": 100,
            "p50": 500,
            "p95": 950,
            "p99": 990,
            "avg_duration": 505,
            "fastest_consultation": { "id": "consult-0001", "duration_ms": 10 },
            "slowest_consultation": { "id": "consult-0100", "duration_ms": 1_000 },
        })
    );
}

#[test]
fn earliest_of_equal_consultations_is_named() {
    let fields = || json!({ "cost": cost(7, false), "duration_ms": 9 });
    let mut records = [1, 2, 3].map(|number| record(number, fields()));
    records[1]["timestamp"] = json!("2026-11-20T00:00:00Z");
    let Statistics {
        cost, performance, ..
    } = of(&records);
    let priced = [cost.most_expensive, cost.cheapest].map(|one| one.unwrap().id);
    assert_eq!(priced, ["consult-0002"; 2]);
    let timed = [
        performance.fastest_consultation,
        performance.slowest_consultation,
    ];
    assert_eq!(timed.map(|one| one.unwrap().id), ["consult-0002"; 2]);
}

#[test]
fn costs_of_all_states_add_up() {
    let spent = |number, state, micro_usd, lower_bound, tokens| {
        let mut cost = cost(micro_usd, lower_bound);
        cost["tokens"] = json!({ "total": tokens });
        record(number, json!({ "state": state, "cost": cost }))
    };
    let mut records = [
        spent(1, "Complete", 10, false, 100),
        spent(2, "Complete", 5, true, 50),
        spent(3, "Aborted", 20, false, 7),
        record(4, json!({ "state": "CrossExam" })),
    ];
    assert_eq!(of(&records).cost.caching, None);
    records[0]["cost"]["caching"] = json!({ "saved_micro_usd": 4, "incomplete": false });
    records[2]["cost"]["caching"] = json!({ "saved_micro_usd": -1, "incomplete": true });
    assert_eq!(
        json!(of(&records).cost),
        json!({
            "total": 0.000_035,
            "total_micro_usd": 35,
            "lower_bound": true,
            // Rounded half up.
            "avg_per_consultation": 0.000_018,
            "avg_per_consultation_micro_usd": 18,
            "total_tokens": 157,
            "by_provider": {},
            "caching": { "saved": 0.000_003, "saved_micro_usd": 3, "incomplete": true },
            "most_expensive": {
                "id": "consult-0003", "cost": 0.000_02, "cost_micro_usd": 20, "lower_bound": false,
            },
            "cheapest": {
                "id": "consult-0001", "cost": 0.000_01, "cost_micro_usd": 10, "lower_bound": false,
            },
        })
    );
}

#[test]
fn calls_are_counted_by_model_and_by_provider() {
    let attempt = |model: &str, cost: Value, tokens: [u64; 2], latency: Option<u64>| {
        let mut attempt = json!({
            "call": 1,
            "purpose": "answer",
            "model": model,
            "tokens": {
                "input": tokens[0], "output": tokens[1], "total": tokens[0] + tokens[1],
            },
            "latency_ms": latency,
            "stop": "end",
        });
        if !cost.is_null() {
            attempt["cost"] = cost;
        }
        attempt
    };
    let mut failed = attempt("openai:gpt-6.1-sol", Value::Null, [1, 0], Some(300));
    failed["error"] = json!({ "class": "overload", "message": "busy" });
    failed["stop"] = Value::Null;
    let mut hedge = attempt("openai:gpt-6.1-mini", cost(2, false), [3, 4], None);
    hedge["purpose"] = json!("hedge");
    let attempts = [
        attempt("openai:gpt-6.1-sol", cost(30, false), [10, 5], Some(100)),
        failed,
        hedge,
        attempt(
            "anthropic:claude-opus-5",
            cost(40, true),
            [20, 2],
            Some(200),
        ),
        attempt("local:qwen3:0.6b", cost(0, false), [9, 9], Some(50)),
    ];
    let agents = json!([{ "agent_id": "security", "attempts": attempts }]);
    let records = [record(
        1,
        json!({ "responses": { "round_1": { "agents": agents } } }),
    )];
    let found = of(&records);
    let models = found.models.iter().map(|of| {
        let words = [of.model.to_string(), format!("{:?}", of.cost)];
        let numbers = [of.calls, of.failures, of.hedges_won, of.tokens];
        let times = [of.first_token_p50_ms, of.first_token_p95_ms];
        (words, numbers, times, of.demonstration)
    });
    let words = |model: &str, cost: Cost| [model.to_owned(), format!("{cost:?}")];
    let (exactly, at_least) = (
        |micro| Cost::exactly(MicroUsd(micro)),
        |micro| Cost::at_least(MicroUsd(micro)),
    );
    assert_eq!(
        models.collect::<Vec<_>>(),
        [
            (
                words("anthropic:claude-opus-5", at_least(40)),
                [1, 0, 0, 22],
                [Some(200); 2],
                false
            ),
            (
                words("openai:gpt-6.1-sol", at_least(30)),
                [2, 1, 0, 16],
                [Some(100), Some(300)],
                false
            ),
            (
                words("openai:gpt-6.1-mini", exactly(2)),
                [1, 0, 1, 7],
                [None; 2],
                false
            ),
            (
                words("local:qwen3:0.6b", exactly(0)),
                [1, 0, 0, 18],
                [Some(50); 2],
                true
            ),
        ]
    );
    let providers = found.cost.by_provider.iter();
    let providers = providers.map(|(id, of)| (id.as_str(), of.cost, of.tokens, of.calls));
    assert_eq!(
        providers.collect::<Vec<_>>(),
        [
            ("anthropic", at_least(40), 22, 1),
            ("openai", at_least(32), 23, 3),
            ("local", exactly(0), 18, 1),
        ]
    );
}

#[test]
fn quality_is_that_of_completed_consultations() {
    let dissent = json!([{ "agent": "Security", "concern": "No." }]);
    let records = [
        json!({ "confidence": 0.85, "agreement": 1.0, "dissent": dissent, "status": "degraded" }),
        json!({ "confidence": 0.849_999_9 }),
        json!({ "confidence": 0.7, "agreement": 0.5, "dissent": [] }),
        json!({ "confidence": 0.699_999_9 }),
        json!({}),
        json!({ "confidence": 0.99, "agreement": 1.0, "dissent": dissent, "state": "Aborted" }),
    ];
    let numbered = records.into_iter().enumerate();
    let records = numbered.map(|(number, fields)| {
        let mut record = record(number, fields);
        record["recommendation"] = json!("This.");
        record
    });
    let records: Vec<_> = records.collect();
    assert_eq!(
        json!(of(&records).quality),
        json!({
            "with_confidence": 4,
            "avg_confidence": 0.775,
            "high_confidence": 1,
            "low_confidence": 1,
            "with_dissent": 1,
            "with_agreement": 2,
            "avg_agreement": 0.75,
            "by_agreement": [
                {"percent": 100, "consultations": 1},
                {"percent": 50, "consultations": 1},
            ],
            "degraded": 1,
        })
    );
}

#[test]
fn debates_count_what_changed() {
    let analysis = |status: &str, compared: u64, verdict: Option<bool>, cost| {
        json!({
            "status": status,
            "total_agents": 3,
            "agents_compared": compared,
            "verdict_changed_after_round_2": verdict,
            "rounds_3_4_cost": cost,
        })
    };
    let held = |changed: Option<bool>, before: f64, after: Option<f64>| {
        json!({
            "agent_id": "a", "changed": changed, "confidence": before, "revised_confidence": after,
        })
    };
    let first = json!({
        "debate_value_analysis": analysis("compared", 3, Some(true), cost(40, false)),
        "perspectives": [
            held(Some(true), 0.5, Some(0.75)),
            held(Some(true), 0.5, None),
            held(Some(false), 0.1, Some(0.4)),
        ],
    });
    let mut aborted = first.clone();
    aborted["state"] = json!("Aborted");
    let records = [
        record(1, first),
        record(2, aborted),
        record(
            3,
            json!({
                "debate_value_analysis": analysis("compared", 2, Some(false), cost(2, true)),
                "perspectives": [held(Some(true), 0.75, Some(0.8))],
            }),
        ),
        record(
            4,
            json!({ "debate_value_analysis": analysis("skipped", 0, None, cost(9, false)) }),
        ),
    ];
    assert_eq!(
        json!(of(&records).debate_value),
        json!({
            "debates": 2,
            "agents_changed_mind": 3,
            "total_agents": 5,
            "change_rate": 0.6,
            "avg_confidence_increase": 0.2,
            "high_value_debates": 1,
            "verdicts_compared": 2,
            "verdicts_changed": 1,
            "later_rounds_cost": 0.000_042,
            "later_rounds_cost_micro_usd": 42,
            "lower_bound": true,
        })
    );
}

#[test]
fn early_terminations_save_at_least_what_is_known() {
    let early = |number, is_early: bool, saved: Option<f64>, lower_bound| {
        record(
            number,
            json!({
                "early_termination": is_early,
                "estimated_cost_saved": saved,
                "cost": cost(7, lower_bound),
            }),
        )
    };
    let saved = |records: &[Value]| {
        let found = of(records).early_termination;
        (found.count, found.saved)
    };
    let known = early(1, true, Some(0.5), false);
    let half = MicroUsd(500_000);
    let not_early = early(2, false, Some(0.25), false);
    assert_eq!(saved(&[known.clone(), not_early]), (1, Cost::exactly(half)));
    let unknown = early(3, true, None, false);
    assert_eq!(saved(&[known, unknown]), (2, Cost::at_least(half)));
    let beside_a_lower_bound = early(4, true, Some(0.5), true);
    assert_eq!(saved(&[beside_a_lower_bound]), (1, Cost::at_least(half)));
}

#[test]
fn usage_counts_states_and_days() {
    let at = |number, day: &str, state: &str, abort_reason: Option<&str>| {
        let fields = json!({
            "timestamp": format!("{day}T12:00:00Z"), "state": state, "abort_reason": abort_reason,
        });
        record(number, fields)
    };
    let records = [
        at(1, "2026-08-01", "Complete", None),
        at(2, "2026-10-22", "Complete", None),
        at(3, "2026-10-23", "Aborted", None),
        at(4, "2026-11-01", "Complete", None),
        at(5, "2026-11-01", "CrossExam", None),
        at(6, "2026-11-20", "Aborted", Some("declined")),
    ];
    let found = of(&records);
    assert_eq!(
        json!(found.usage),
        json!({
            "total": 5,
            "date_range": { "start": "2026-08-01", "end": "2026-11-01", "total_days": 93 },
            "active_days": 4,
            "avg_per_day": 1.25,
            "by_state": { "completed": 3, "aborted": 1, "declined": 1, "unfinished": 1 },
        })
    );
    assert_eq!(found.per_day.len(), 60, "the newest");
    assert_eq!(found.per_day[0].date, day("2026-09-23"));
    assert_eq!(found.success_criteria.usage.runs_in_thirty_days, 3);
    let days = |since, until| Span::Days { since, until };
    for (span, total) in [
        (Span::Week, 0),
        (Span::Month(day("2026-10-15")), 2),
        (Span::Month(day("2026-11-30")), 2),
        (days(None, Some(day("2026-10-22"))), 2),
        (days(Some(day("2026-10-23")), None), 3),
    ] {
        assert_eq!(of_span(&records, span).usage.total, total, "{span:?}");
    }
}

#[test]
fn targets_are_met_by_what_is_known() {
    let progress = |runs, median, month| {
        let progress = Progress::new(TARGETS, runs, median, month);
        (progress.usage.met, progress.speed.met, progress.cost.met)
    };
    let cost = |micro, lower_bound| Cost {
        known: MicroUsd(micro),
        lower_bound,
        by_plan: false,
    };
    for (runs, median, month, met) in [
        (
            3,
            Some(19),
            cost(199_999, false),
            (true, Some(true), Some(true)),
        ),
        (
            2,
            Some(20),
            cost(200_000, false),
            (false, Some(false), Some(false)),
        ),
        (2, None, cost(199_999, true), (false, None, None)),
        (2, None, cost(200_000, true), (false, None, Some(false))),
    ] {
        assert_eq!(progress(runs, median, month), met);
    }
}

#[test]
fn what_a_plan_pays_for_makes_no_average_and_is_not_the_cheapest() {
    let by_plan = |micro: u64| json!({ "micro_usd": micro, "by_plan": true });
    let with = |number, cost| record(number, json!({ "cost": cost }));
    let billed = with(1, cost(300_000, false));
    let found = of(&[billed, with(2, by_plan(0)), with(3, by_plan(100_000))]).cost;
    assert_eq!(
        found.avg_per_consultation_micro_usd,
        Some(MicroUsd(200_000))
    );
    assert_eq!(found.total.to_string(), "$0.4000 + plan");
    assert_eq!(found.cheapest.unwrap().id, "consult-0001");
    let alone = of(&[with(1, by_plan(0))]).cost;
    let shown = (
        alone.avg_per_consultation_micro_usd,
        alone.total.to_string(),
    );
    assert_eq!(shown, (None, "plan".to_owned()));
}
