//! Random records, ranges and time zones.

use std::path::Path;

use conclave::domain::money::MicroUsd;
use conclave::domain::statistics::{Span, Statistics, Targets};
use conclave::domain::time::Timestamp;
use conclave::records::statistics::{calendar, statistics};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use proptest::prelude::*;
use proptest::sample::select;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use super::expected;
use super::generated_records::{
    self, DAYS, ZONES, delete, moment, read, record, save, with_start, zone,
};
use crate::support::schema;

pub(super) const SCHEMA: &str = include_str!("../../../../schemas/consult_stats.schema.json");

pub(super) const TARGETS: Targets = Targets {
    runs: 3,
    median_ms: 20,
    month: MicroUsd(200_000),
};

fn a_day() -> impl Strategy<Value = Date> {
    select(&DAYS[..]).prop_map(|day| day.parse().unwrap())
}

fn a_span() -> impl Strategy<Value = Span> {
    prop_oneof![
        Just(Span::Week),
        Just(Span::AllTime),
        a_day().prop_map(Span::Month),
        (proptest::option::of(a_day()), proptest::option::of(a_day())).prop_map(|(one, other)| {
            match (one, other) {
                (Some(one), Some(other)) => Span::Days {
                    since: Some(one.min(other)),
                    until: Some(one.max(other)),
                },
                (since, until) => Span::Days { since, until },
            }
        }),
        a_day().prop_map(|day| Span::Days {
            since: Some(day),
            until: Some(day)
        }),
    ]
}

/// A time zone, the current time in it, the ranges to query, records with their start times, and
/// later changes of some records.
#[derive(Clone, Debug)]
struct Case {
    zone: &'static str,
    now: i64,
    spans: Vec<Span>,
    records: Vec<(i64, Value)>,
    /// The changes, in the order of the records: deleted, or replaced with another time and
    /// content.
    changes: Vec<Option<(bool, i64, Value)>>,
}

fn a_case() -> impl Strategy<Value = Case> {
    select(&ZONES[..]).prop_flat_map(|name| {
        let at = || moment(zone(name));
        let change = proptest::option::weighted(0.3, (any::<bool>(), at(), record()));
        (
            at(),
            proptest::collection::vec(a_span(), 4),
            prop_oneof![
                1 => proptest::collection::vec((at(), record()), 0..3),
                4 => proptest::collection::vec((at(), record()), 10..50),
            ],
            proptest::collection::vec(change, 20),
        )
            .prop_map(move |(now, spans, records, changes)| Case {
                zone: name,
                now,
                spans,
                records,
                changes,
            })
    })
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

/// Checks the statistics of all ranges against an independent count.
fn check(case: &Case, connection: &mut Connection, logs: &Path) {
    let (zone, now, records) = (zone(case.zone), Timestamp(case.now), read(logs));
    for span in &case.spans {
        let found = ask(connection, *span, &zone, now);
        expected::check(&found, &records, *span, &zone, now, TARGETS);
        schema::check(SCHEMA, &json!(found));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn statistics_equal_the_records_after_changes(case in a_case()) {
        let home = tempfile::tempdir().unwrap();
        let (logs, database) = (home.path().join("logs"), home.path().join("index.db"));
        std::fs::create_dir(&logs).unwrap();
        let mut index = generated_records::index(&database);
        let transaction = index.transaction().unwrap();
        let records: Vec<Value> = case
            .records
            .iter()
            .enumerate()
            .map(|(number, (at, record))| with_start(record.clone(), number, *at))
            .collect();
        for record in &records {
            save(record, &logs, &transaction);
        }
        transaction.commit().unwrap();
        check(&case, &mut index, &logs);

        let transaction = index.transaction().unwrap();
        for (number, (record, change)) in records.iter().zip(&case.changes).enumerate() {
            match change {
                Some((true, _, _)) => delete(record, &logs, &transaction),
                Some((false, at, other)) => {
                    save(&with_start(other.clone(), number, *at), &logs, &transaction);
                }
                None => {}
            }
        }
        transaction.commit().unwrap();
        let mut unwritable =
            Connection::open_with_flags(&database, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        check(&case, &mut unwritable, &logs);
    }
}
