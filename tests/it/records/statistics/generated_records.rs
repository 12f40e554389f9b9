//! Random records with the fields that statistics read, each present or missing, at times around
//! midnight.

use std::fs;
use std::path::Path;

use conclave::domain::time::Timestamp;
use conclave::records::index::{schema, store};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use proptest::prelude::*;
use proptest::sample::select;
use rusqlite::Connection;
use serde_json::{Map, Value, json};

use crate::records::index::rows;

/// Days of 2026, with the clock changes of all zones but UTC and Kathmandu.
pub(super) const DAYS: [&str; 12] = [
    // Clocks go forward in New York, Berlin and Lord Howe (by half an hour), then back in reverse.
    "2026-03-08",
    "2026-03-29",
    "2026-10-04",
    "2026-04-05",
    "2026-10-25",
    "2026-11-01",
    // Ends of months and of a year.
    "2026-02-28",
    "2026-10-31",
    "2026-12-31",
    // Ordinary days.
    "2026-11-20",
    "2026-11-18",
    "2026-09-14",
];

pub(super) const ZONES: [&str; 5] = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
];

pub(super) fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).unwrap()
}

/// The first moment of a local day.
pub(super) fn midnight(day: Date, zone: &TimeZone) -> i64 {
    zone.to_zoned(day.at(0, 0, 0, 0))
        .unwrap()
        .timestamp()
        .as_millisecond()
}

/// A time at midnight, a millisecond before it, or anywhere in a day.
pub(super) fn moment(zone: TimeZone) -> impl Strategy<Value = i64> {
    let at = prop_oneof![
        Just((0, -1i64)),
        Just((0, 0)),
        Just((1, -1)),
        Just((1, 0)),
        (0..1500i64).prop_map(|minutes| (0, minutes * 60_000)),
        // Few values, so that some records start in the same millisecond.
        (0..3i64).prop_map(|milliseconds| (0, 36_000_000 + milliseconds)),
    ];
    (select(&DAYS[..]), at).prop_map(move |(day, (later, milliseconds))| {
        let day: Date = day.parse().unwrap();
        midnight(
            if later == 0 {
                day
            } else {
                day.tomorrow().unwrap()
            },
            &zone,
        ) + milliseconds
    })
}

fn maybe<T: std::fmt::Debug + Clone + 'static>(
    value: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Option<T>> {
    prop_oneof![1 => Just(None), 4 => value.prop_map(Some)]
}

/// A confidence, often at the limits of high and low.
fn share() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.85),
        Just(0.70),
        Just(0.849_999_9),
        Just(0.699_999_9),
        Just(1.0),
        Just(0.0),
        0.0..=1.0f64
    ]
}

/// An amount out of a few, so that some are equal.
fn money() -> impl Strategy<Value = Value> {
    (0..6u64, any::<bool>()).prop_map(|(amount, lower_bound)| {
        json!({
            "usd": 1.0,
            "micro_usd": amount * 40_001,
            "lower_bound": lower_bound,
        })
    })
}

fn attempt() -> impl Strategy<Value = Value> {
    const MODELS: [&str; 4] = [
        "anthropic:claude-sonnet-5-5",
        "openai:gpt-6.1-sol",
        "openai:gpt-6.1-mini",
        "local:qwen3:0.6b",
    ];
    let purpose = select(&["ask", "hedge", "retry"][..]);
    (
        select(&MODELS[..]),
        purpose,
        maybe(money()),
        0..3000u64,
        0..500u64,
        maybe(0..40u64),
        any::<bool>(),
    )
        .prop_map(|(model, purpose, cost, input, output, latency, failed)| {
            let mut written = json!({
                "purpose": purpose,
                "model": model,
                "tokens": { "input": input, "output": output, "total": input + output },
                "latency_ms": latency,
                "stop": if failed { Value::Null } else { json!("end") },
                "error": if failed { json!({ "class": "overload", "message": "busy" }) } else { Value::Null },
            });
            if let Some(cost) = cost {
                written["cost"] = cost;
            }
            written
        })
}

/// The seats of the perspectives, at most as many.
const SEATS: [&str; 3] = ["security", "architecture", "pragmatic"];

fn perspective() -> impl Strategy<Value = Value> {
    (maybe(any::<bool>()), maybe(share()), maybe(share())).prop_map(
        |(changed, confidence, revised)| {
            json!({
                "confidence": confidence,
                "revised_confidence": revised,
                "changed": changed,
            })
        },
    )
}

/// The analysis of a debate, compared or not.
fn analysis() -> impl Strategy<Value = Value> {
    (
        select(&["compared", "compared", "failed", "skipped"][..]),
        0..4u64,
        0..4u64,
        maybe(any::<bool>()),
        maybe(money()),
    )
        .prop_map(|(status, compared, changed, verdict_changed, cost)| {
            let compared = if status == "compared" { compared } else { 0 };
            json!({
                "status": status,
                "total_agents": 3,
                "agents_compared": compared,
                "agents_changed_position": changed.min(compared),
                "avg_confidence_increase": 0.5,
                "verdict_changed_after_round_2": verdict_changed,
                "rounds_3_4_cost": cost,
            })
        })
}

/// A record without its id and its time.
pub(super) fn record() -> impl Strategy<Value = Value> {
    const ENDS: [(&str, &str); 6] = [
        ("Complete", "complete"),
        ("Complete", "complete"),
        ("Complete", "degraded"),
        ("Aborted", "aborted"),
        ("Aborted", "declined"),
        ("CrossExam", "aborted"),
    ];
    let terms = (
        select(&ENDS[..]),
        maybe(share()),
        maybe(0..50u64),
        maybe(money()),
        maybe(0..9000u64),
    );
    let quality = (
        maybe(0..3usize),
        maybe(share()),
        proptest::collection::vec(perspective(), 0..=SEATS.len()),
    );
    let rounds = proptest::collection::vec(
        (
            1..=4u8,
            maybe(money()),
            proptest::collection::vec(attempt(), 0..3),
        ),
        0..4,
    );
    let later = (maybe(any::<bool>()), maybe(0..4u32), maybe(analysis()));
    (terms, quality, rounds, later).prop_map(|(terms, quality, rounds, later)| {
        let ((state, status), confidence, duration, cost, tokens) = terms;
        let (dissent, agreement, mut perspectives) = quality;
        for (perspective, seat) in perspectives.iter_mut().zip(SEATS) {
            perspective["agent_id"] = json!(seat);
        }
        let (early_termination, saved, analysis) = later;
        let mut written = json!({
            "@type": "Report",
            "tool_version": "0.1.0",
            "schema_version": "1.0",
            "question": "Which?",
            "mode": "explore",
            "state": state,
            "status": status,
            "recommendation": "This.",
            "confidence": confidence,
            "duration_ms": duration,
            "agreement": agreement,
            "perspectives": perspectives,
            "early_termination": early_termination.unwrap_or_default(),
            "estimated_cost_saved": saved.map(|saved| f64::from(saved) / 8.0),
        });
        if let Some(analysis) = analysis {
            written["debate_value_analysis"] = analysis;
        }
        if let Some(dissent) = dissent {
            written["dissent"] = json!(vec![
                json!({ "agent": "Security", "concern": "No." });
                dissent
            ]);
        }
        let (mut responses, mut by_round) = (Map::new(), Map::new());
        for (number, spent, attempts) in rounds {
            responses.insert(
                format!("round_{number}"),
                json!({ "agents": [{ "agent_id": "security", "attempts": attempts }] }),
            );
            match spent {
                Some(spent) => by_round.insert(format!("round_{number}"), spent),
                None => by_round.remove(&format!("round_{number}")),
            };
        }
        let mut cost = cost;
        if status == "declined" {
            // Nothing was asked or spent.
            written["abort_reason"] = json!("declined");
            responses.clear();
            by_round.clear();
            cost = Some(json!({ "micro_usd": 0, "lower_bound": false }));
        }
        let mut number = 0;
        for attempt in responses
            .values_mut()
            .flat_map(|round| round["agents"][0]["attempts"].as_array_mut().unwrap())
        {
            number += 1;
            attempt["call"] = json!(number);
        }
        written["responses"] = Value::Object(responses);
        if let Some(mut cost) = cost {
            cost["by_round"] = Value::Object(by_round);
            cost["tokens"] = tokens
                .filter(|_| status != "declined")
                .map_or(json!({}), |total| json!({ "total": total }));
            written["cost"] = cost;
        }
        written
    })
}

/// Sets the id and the start time of a record.
pub(super) fn with_start(mut record: Value, number: usize, at: i64) -> Value {
    record["consultation_id"] = json!(format!("consult-{number:04}"));
    record["timestamp"] = json!(Timestamp(at));
    record
}

/// Creates an index as the program does.
pub(super) fn index(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection
        .pragma_update(None, "journal_mode", "WAL")
        .unwrap();
    schema::create(&connection).unwrap();
    connection
}

fn id(record: &Value) -> &str {
    record["consultation_id"].as_str().unwrap()
}

/// Writes a record into a folder and reads it from there into the index.
pub(super) fn save(record: &Value, logs: &Path, connection: &Connection) {
    let path = logs.join(format!("{}.json", id(record)));
    fs::write(&path, record.to_string()).unwrap();
    let bytes = fs::read(&path).unwrap();
    store::put(connection, &rows(&bytes, Timestamp(0)).unwrap()).unwrap();
}

/// Deletes a record from the folder and the index.
pub(super) fn delete(record: &Value, logs: &Path, connection: &Connection) {
    fs::remove_file(logs.join(format!("{}.json", id(record)))).unwrap();
    assert!(store::remove(connection, id(record)).unwrap());
}

/// Returns all records of a folder.
pub(super) fn read(logs: &Path) -> Vec<Value> {
    let files = fs::read_dir(logs)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"));
    files
        .map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap())
        .collect()
}
