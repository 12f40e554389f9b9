//! Single cases: no records, one record, day boundaries, a database that another process writes to,
//! and many records as the program writes them.

use conclave::domain::cost::money::{Cost, MicroUsd};
use conclave::domain::record::statistics::{Span, Statistics, Targets};
use conclave::domain::time::Timestamp;
use conclave::records::index::{Index, schema as tables, store};
use conclave::records::statistics::{calendar, statistics};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::records::index::rows;
use crate::support::schema;

pub(super) const SCHEMA: &str = include_str!("../../../../schemas/consult_stats.schema.json");

pub(super) const TARGETS: Targets = Targets {
    runs: 3,
    median_ms: 20,
    month: MicroUsd(200_000),
};

/// Days of 2026, with the clock changes of all zones but UTC and Kathmandu.
const DAYS: [&str; 12] = [
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

const ZONES: [&str; 5] = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
];

fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).unwrap()
}

/// The first moment of a local day.
fn midnight(day: Date, zone: &TimeZone) -> i64 {
    zone.to_zoned(day.at(0, 0, 0, 0))
        .unwrap()
        .timestamp()
        .as_millisecond()
}

pub(super) fn ask(
    connection: &mut Connection,
    span: Span,
    zone: &TimeZone,
    now: Timestamp,
) -> Statistics {
    statistics(
        connection,
        &calendar::range(span, zone, now),
        zone,
        now,
        TARGETS,
    )
    .unwrap()
}

/// 2026-11-21T08:30:00Z.
pub(super) const NOW: Timestamp = Timestamp(1_795_249_800_000);

pub(super) fn put(connection: &Connection, record: &Value) {
    let bytes = record.to_string();
    store::put(connection, &rows(bytes.as_bytes(), NOW).unwrap()).unwrap();
}

pub(super) fn completed(number: usize, at: i64) -> Value {
    json!({
        "tool_version": "0.1.0",
        "consultation_id": format!("consult-{number:04}"),
        "timestamp": Timestamp(at),
        "question": "Which?",
        "state": "Complete",
    })
}

pub(super) fn day(text: &str) -> Date {
    text.parse().unwrap()
}

#[test]
fn empty_index_has_zero_counts_and_unknown_values() {
    let mut index = Index::in_memory().unwrap();
    let found = ask(&mut index.connection, Span::AllTime, &TimeZone::UTC, NOW);
    let found = json!(found);
    schema::check(SCHEMA, &found);
    assert_eq!(
        found["usage"],
        json!({
            "total": 0,
            "date_range": { "start": null, "end": null, "total_days": 0 },
            "active_days": 0,
            "avg_per_day": null,
            "by_state": { "completed": 0, "aborted": 0, "declined": 0, "unfinished": 0 },
        })
    );
    assert_eq!(&found["performance"]["p50"], &Value::Null);
    assert_eq!(&found["performance"]["fastest_consultation"], &Value::Null);
    assert_eq!(&found["cost"]["total"], &json!(0.0));
    assert_eq!(&found["cost"]["avg_per_consultation"], &Value::Null);
    assert_eq!(&found["quality"]["avg_confidence"], &Value::Null);
    assert_eq!(&found["quality"]["with_dissent"], &json!(0));
    assert_eq!(&found["per_day"], &json!([]));
    assert_eq!(&found["models"], &json!([]));
    assert_eq!(&found["cost"]["by_provider"], &json!({}));
    assert_eq!(
        found["success_criteria"]["speed"],
        json!({ "median_ms": null, "target_ms": 20, "met": null })
    );
}

#[test]
fn bounded_range_lists_days_without_consultations() {
    let mut index = Index::in_memory().unwrap();
    for (span, name, first, days) in [
        (Span::Week, "Europe/Berlin", Some("2026-11-15"), 7),
        (
            Span::Month(day("2026-11-30")),
            "UTC",
            Some("2026-11-01"),
            21,
        ),
        (Span::Month(day("2026-12-01")), "UTC", None, 0),
    ] {
        let found = ask(&mut index.connection, span, &zone(name), NOW);
        assert_eq!(found.usage.date_range.total_days, days, "{span:?}");
        assert_eq!(found.per_day.len() as u64, days, "{span:?}");
        let listed = found.per_day.first().map(|day| day.date);
        assert_eq!(listed, first.map(day), "{span:?}");
    }
}

#[test]
fn declined_consultation_is_in_no_number_but_its_own() {
    for status in ["declined", "aborted"] {
        let mut index = Index::in_memory().unwrap();
        let mut record = completed(1, NOW.0);
        record["state"] = json!("Aborted");
        record["status"] = json!(status);
        record["abort_reason"] = json!("declined");
        record["cost"] = json!({ "micro_usd": 0, "lower_bound": false });
        record["duration_ms"] = json!(9);
        put(&index.connection, &record);
        let found = ask(&mut index.connection, Span::Week, &TimeZone::UTC, NOW);
        assert_eq!(found.usage.by_state.declined, 1, "{status}");
        assert_eq!(found.usage.total, 0);
        assert_eq!(found.usage.by_state.aborted, 0);
        assert_eq!(found.usage.by_state.unfinished, 0);
        assert_eq!(found.usage.active_days, 0);
        assert_eq!(found.usage.date_range.start, None);
        assert_eq!(found.usage.date_range.end, None);
        assert_eq!(found.cost.most_expensive, None);
        assert_eq!(found.performance.measured, 0);
        assert_eq!(found.success_criteria.usage.runs_in_thirty_days, 0);
        assert_eq!(found.per_day.iter().map(|day| day.runs).sum::<u64>(), 0);
    }
}

#[test]
fn unknown_cost_is_not_zero() {
    let mut index = Index::in_memory().unwrap();
    put(&index.connection, &completed(1, NOW.0));
    let found = ask(&mut index.connection, Span::AllTime, &TimeZone::UTC, NOW);
    assert_eq!(found.cost.total, Cost::at_least(MicroUsd(0)));
    assert_eq!(found.cost.avg_per_consultation_micro_usd, Some(MicroUsd(0)));
    assert_eq!(found.cost.most_expensive, None);
    assert_eq!(found.cost.cheapest, None);
    assert_eq!(found.per_day[0].cost, Cost::at_least(MicroUsd(0)));
    let month = found.success_criteria.cost;
    assert_eq!(
        (month.month, month.met),
        (Cost::at_least(MicroUsd(0)), None)
    );
}

#[test]
fn days_have_exact_bounds_when_clocks_change() {
    for name in ZONES {
        let zone = zone(name);
        for today in DAYS.map(day) {
            let mut index = Index::in_memory().unwrap();
            let (begins, ends) = (
                midnight(today, &zone),
                midnight(today.tomorrow().unwrap(), &zone),
            );
            for (number, at) in [begins - 1, begins, ends - 1, ends].into_iter().enumerate() {
                put(&index.connection, &completed(number, at));
            }
            let span = Span::Days {
                since: Some(today),
                until: Some(today),
            };
            let found = ask(&mut index.connection, span, &zone, Timestamp(begins));
            assert_eq!(found.usage.total, 2, "{name} {today}");
            assert_eq!(found.usage.active_days, 1, "{name} {today}");
            assert_eq!(found.per_day[0].runs, 2, "{name} {today}");
            let all = ask(&mut index.connection, Span::AllTime, &zone, Timestamp(ends));
            assert_eq!(
                all.per_day.iter().map(|day| day.runs).collect::<Vec<_>>(),
                [1, 2, 1],
                "{name} {today}"
            );
        }
    }
}

#[test]
fn days_are_shorter_or_longer_when_clocks_change() {
    for (name, date, minutes) in [
        ("Europe/Berlin", "2026-03-29", 23 * 60),
        ("Europe/Berlin", "2026-10-25", 25 * 60),
        ("Australia/Lord_Howe", "2026-04-05", 24 * 60 + 30),
        ("Asia/Kathmandu", "2026-10-25", 24 * 60),
        // Midnight itself is left out there, and a whole day of 2011.
        ("Africa/Cairo", "2026-04-24", 23 * 60),
        ("Pacific/Apia", "2011-12-30", 0),
    ] {
        let date = Some(day(date));
        let (since, until) = (date, date);
        let range = calendar::range(Span::Days { since, until }, &zone(name), NOW);
        let length = range.until.unwrap().since(range.from.unwrap());
        assert_eq!(length.as_secs(), minutes * 60, "{name} {date:?}");
    }
}

#[test]
fn months_and_days_parse_and_errors_state_the_format() {
    assert_eq!(
        calendar::month("2026-02"),
        Ok(Span::Month(day("2026-02-01")))
    );
    for text in [
        "2026-13",
        "2026-1",
        "2026",
        "26-01-1",
        "2026-01-01",
        "",
        "２０２６-1",
    ] {
        assert_eq!(
            calendar::month(text).unwrap_err().to_string(),
            format!("`{text}` is not a month; write it as year and month, such as `2026-11`")
        );
    }
    assert_eq!(calendar::day("2028-02-29"), Ok(day("2028-02-29")));
    for text in [
        "2026-02-29",
        "2026-11",
        "21.11.2026",
        "20261121",
        "2026-11-21T08:30",
    ] {
        assert_eq!(
            calendar::day(text).unwrap_err().to_string(),
            format!("`{text}` is not a day; write it as year, month and day, such as `2026-11-21`")
        );
    }
    let [one, other] = ["2026-11-20", "2026-11-21"].map(|text| Some(day(text)));
    let (since, until) = (one, one);
    assert_eq!(calendar::days(one, one), Ok(Span::Days { since, until }));
    assert_eq!(calendar::days(None, None), Ok(Span::AllTime));
    assert_eq!(
        calendar::days(other, one).unwrap_err().to_string(),
        "the first day `2026-11-21` is after the last `2026-11-20`"
    );
}

#[test]
fn database_is_readable_while_another_process_writes() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("index.db");
    let (mut reader, writer) = (
        Connection::open(&path).unwrap(),
        Connection::open(&path).unwrap(),
    );
    reader.pragma_update(None, "journal_mode", "WAL").unwrap();
    tables::create(&reader).unwrap();
    put(&reader, &completed(1, NOW.0));
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    put(&writer, &completed(2, NOW.0));
    let patience = |reader: &Connection| {
        reader
            .pragma_query_value(None, "busy_timeout", |row| row.get::<_, u32>(0))
            .unwrap()
    };
    let before = patience(&reader);
    let total =
        |reader: &mut Connection| ask(reader, Span::AllTime, &TimeZone::UTC, NOW).usage.total;
    assert_eq!(total(&mut reader), 1);
    assert_eq!(patience(&reader), before);
    writer.execute_batch("COMMIT").unwrap();
    assert_eq!(total(&mut reader), 2);
}

#[test]
fn absurd_times_are_counted() {
    let mut index = Index::in_memory().unwrap();
    for (number, at) in [
        "0001-01-01T00:00:00Z",
        "1969-12-31T23:59:59.999Z",
        "2999-01-01T00:00:00Z",
        "9999-12-30T00:00:00Z",
    ]
    .iter()
    .enumerate()
    {
        let mut record = completed(number, 0);
        record["timestamp"] = json!(at);
        put(&index.connection, &record);
    }
    let zone = zone("America/New_York");
    let found = ask(&mut index.connection, Span::AllTime, &zone, NOW);
    assert_eq!(found.usage.total, 4);
}
