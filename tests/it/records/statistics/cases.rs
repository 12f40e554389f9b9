//! Single cases: no records, one record, day boundaries, a database that another process writes to,
//! and many records as the program writes them.

use conclave::domain::money::{Cost, MicroUsd};
use conclave::domain::statistics::{PricedConsultation, Span};
use conclave::domain::time::Timestamp;
use conclave::records::index::{Index, store};
use conclave::records::statistics::calendar;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use rusqlite::Connection;
use serde_json::{Value, json};

use super::expected;
use super::generated_records::{self, DAYS, ZONES, midnight, read, with_start, zone};
use super::properties::{SCHEMA, TARGETS, ask};
use crate::records::index::rows;
use crate::support::generated::{self, Length};
use crate::support::schema;

/// 2026-11-21T08:30:00Z.
const NOW: Timestamp = Timestamp(1_795_249_800_000);

fn put(connection: &Connection, record: &Value) {
    let bytes = record.to_string();
    store::put(connection, &rows(bytes.as_bytes(), NOW).unwrap()).unwrap();
}

fn completed(number: usize, at: i64) -> Value {
    with_start(
        json!({ "tool_version": "0.1.0", "question": "Which?", "state": "Complete" }),
        number,
        at,
    )
}

fn day(text: &str) -> Date {
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
    let week = ask(
        &mut index.connection,
        Span::Week,
        &zone("Europe/Berlin"),
        NOW,
    );
    assert_eq!(week.usage.date_range.total_days, 7);
    assert_eq!(week.per_day.len(), 7);
    assert_eq!(week.per_day[0].date, day("2026-11-15"));
    assert_eq!(week.per_day[6].date, day("2026-11-21"));
    let month = ask(
        &mut index.connection,
        Span::Month(day("2026-11-30")),
        &TimeZone::UTC,
        NOW,
    );
    assert_eq!(month.usage.date_range.total_days, 21);
    assert_eq!(month.per_day.len(), 21);
    let to_come = ask(
        &mut index.connection,
        Span::Month(day("2026-12-01")),
        &TimeZone::UTC,
        NOW,
    );
    assert_eq!(to_come.usage.date_range.total_days, 0);
    assert_eq!(to_come.per_day.len(), 0);
}

#[test]
fn aborted_consultation_counts_only_its_cost() {
    let mut index = Index::in_memory().unwrap();
    let mut record = completed(1, NOW.0);
    record["state"] = json!("Aborted");
    record["cost"] = json!({ "micro_usd": 7, "lower_bound": true });
    (record["duration_ms"], record["confidence"]) = (json!(9), json!(0.9));
    put(&index.connection, &record);
    let found = ask(&mut index.connection, Span::AllTime, &TimeZone::UTC, NOW);
    assert_eq!(found.usage.total, 1);
    assert_eq!(found.usage.by_state.aborted, 1);
    assert_eq!(found.usage.by_state.completed, 0);
    assert_eq!(found.cost.total, Cost::at_least(MicroUsd(7)));
    assert_eq!(
        found.cost.most_expensive,
        Some(PricedConsultation {
            id: "consult-0001".to_owned(),
            cost: Cost::at_least(MicroUsd(7)),
        })
    );
    assert_eq!(found.cost.avg_per_consultation_micro_usd, None);
    assert_eq!(found.cost.cheapest, None);
    assert_eq!(found.performance.p50, None);
    assert_eq!(found.performance.measured, 0);
    assert_eq!(found.quality.with_confidence, 0);
    assert_eq!(
        found.success_criteria.cost.month,
        Cost::at_least(MicroUsd(7))
    );
    assert_eq!(found.success_criteria.cost.met, None);
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
fn days_are_23_or_25_hours_long_when_clocks_change() {
    let hours = |name: &str, date: &str| {
        let (zone, date) = (zone(name), day(date));
        let range = calendar::range(
            Span::Days {
                since: Some(date),
                until: Some(date),
            },
            &zone,
            NOW,
        );
        range
            .until
            .unwrap()
            .since(range.from.unwrap())
            .as_secs_f64()
            / 3600.0
    };
    for (name, date, length) in [
        ("Europe/Berlin", "2026-03-29", 23.0),
        ("Europe/Berlin", "2026-10-25", 25.0),
        ("America/New_York", "2026-03-08", 23.0),
        ("America/New_York", "2026-11-01", 25.0),
        ("Australia/Lord_Howe", "2026-04-05", 24.5),
        ("Australia/Lord_Howe", "2026-10-04", 23.5),
        ("Asia/Kathmandu", "2026-10-25", 24.0),
        // Midnight itself is left out there, and a whole day of 2011.
        ("Africa/Cairo", "2026-04-24", 23.0),
        ("Pacific/Apia", "2011-12-30", 0.0),
    ] {
        assert!(
            (hours(name, date) - length).abs() < 1e-9,
            "{name} {date}: {}",
            hours(name, date)
        );
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
        let error = calendar::month(text).unwrap_err().to_string();
        assert_eq!(
            error,
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
        "yesterday",
    ] {
        let error = calendar::day(text).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("`{text}` is not a day; write it as year, month and day, such as `2026-11-21`")
        );
    }
    let (one, other) = (day("2026-11-20"), day("2026-11-21"));
    assert_eq!(
        calendar::days(Some(one), Some(one)),
        Ok(Span::Days {
            since: Some(one),
            until: Some(one)
        })
    );
    assert_eq!(calendar::days(None, None), Ok(Span::AllTime));
    let error = calendar::days(Some(other), Some(one))
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "the first day `2026-11-21` is after the last `2026-11-20`"
    );
}

#[test]
fn database_is_readable_while_another_process_writes() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("index.db");
    let (mut reader, writer) = (
        generated_records::index(&path),
        Connection::open(&path).unwrap(),
    );
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
    for _ in 0..2 {
        assert_eq!(
            ask(
                &mut index.connection,
                Span::AllTime,
                &zone("America/New_York"),
                NOW
            )
            .usage
            .total,
            4
        );
    }
}

#[test]
fn statistics_equal_an_independent_count_over_many_records() {
    let home = tempfile::tempdir().unwrap();
    generated::write(home.path(), 5, 120, Length::Short);
    let mut index = Index::in_memory().unwrap();
    let records = read(home.path());
    for record in &records {
        put(&index.connection, record);
    }
    for name in ZONES {
        let zone = zone(name);
        for span in [
            Span::AllTime,
            Span::Week,
            Span::Month(day("2026-10-01")),
            Span::Month(day("2026-03-01")),
            Span::Days {
                since: None,
                until: Some(day("2025-12-31")),
            },
            Span::Days {
                since: Some(day("2026-03-29")),
                until: None,
            },
        ] {
            let found = ask(&mut index.connection, span, &zone, NOW);
            expected::check(&found, &records, span, &zone, NOW, TARGETS);
            schema::check(SCHEMA, &json!(found));
        }
    }
}
