//! The cost of a month: each consultation counts once, by its record, or by its journal if that is
//! newer.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use conclave::domain::cost::money::{Cost, MicroUsd};
use conclave::domain::time::Timestamp;
use conclave::records::month::spent_in_month;
use jiff::tz::TimeZone;
use serde_json::json;

const NOVEMBER: &str = "2026-11-10T12:00:00Z";
const OCTOBER: &str = "2026-10-10T12:00:00Z";

fn at(text: &str) -> Timestamp {
    serde_json::from_value(text.into()).unwrap()
}

fn exactly(micro: u64) -> Cost {
    Cost::exactly(MicroUsd(micro))
}

/// Writes a file with its modification time this many seconds after `at`.
fn write(logs: &Path, name: &str, text: &str, at: &str, seconds: u64) {
    let path = logs.join(name);
    fs::write(&path, text).unwrap();
    let started = Duration::from_millis(self::at(at).0.unsigned_abs());
    let moment = UNIX_EPOCH + started + Duration::from_secs(seconds);
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(moment).unwrap();
}

/// Returns a journal line of one call.
fn journal(finished: &str, cost: u64) -> String {
    let call = json!({
        "call": 1, "agent_id": "security", "round_number": 1, "answer": "independent",
        "purpose": "answer", "model": "a:b", "text": "", "tokens": { "input": 1, "output": 1 },
        "cost": exactly(cost), "cost_source": "table", "duration_ms": 1, "problems": [],
    });
    let event = json!({
        "schema_version": "1.0", "seq": 1, "at": finished, "consultation_id": "consult-1",
        "type": "call:finished", "data": call,
    });
    event.to_string() + "\n"
}

fn spent(logs: &Path) -> Cost {
    spent_in_month(logs, at("2026-11-21T00:00:00Z"), &TimeZone::UTC)
}

#[test]
fn every_consultation_of_the_month_counts_once() {
    assert_eq!(spent(Path::new("/nowhere")), Cost::FREE);
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path();
    let record = |name: &str, started: &str, cost: Cost, at: &str, seconds| {
        let text = json!({
            "schema_version": "1.0", "consultation_id": name, "timestamp": started, "cost": cost,
        });
        write(
            logs,
            &format!("{name}.json"),
            &text.to_string(),
            at,
            seconds,
        );
    };
    let journal = |name: &str, calls: &[(&str, u64)], at: &str, seconds| {
        let lines: String = calls.iter().map(|(at, cost)| journal(at, *cost)).collect();
        write(logs, &format!("{name}.jsonl"), &lines, at, seconds);
    };
    record("consult-a", NOVEMBER, exactly(1), NOVEMBER, 2);
    journal("consult-a", &[(NOVEMBER, 1)], NOVEMBER, 1);
    record("consult-b", OCTOBER, exactly(10), OCTOBER, 2);
    journal("consult-b", &[(OCTOBER, 10)], OCTOBER, 1);
    record("other", NOVEMBER, exactly(100), NOVEMBER, 0);
    assert_eq!(spent(logs), exactly(1));
    // Killed, without a record.
    journal("consult-c", &[(NOVEMBER, 3)], NOVEMBER, 0);
    assert_eq!(spent(logs), exactly(4));
    // Resumed and killed again: the record is older than the journal.
    record("consult-d", NOVEMBER, exactly(10), NOVEMBER, 0);
    journal("consult-d", &[(NOVEMBER, 10), (NOVEMBER, 20)], NOVEMBER, 60);
    assert_eq!(spent(logs), exactly(34));
    write(logs, "consult-e.json", "damaged", NOVEMBER, 60);
    journal("consult-e", &[(NOVEMBER, 100)], NOVEMBER, 0);
    assert_eq!(spent(logs), exactly(134));
    // Begun in an earlier month: only the calls of this one count.
    record("consult-f", OCTOBER, exactly(12), NOVEMBER, 2);
    journal("consult-f", &[(OCTOBER, 10), (NOVEMBER, 2)], NOVEMBER, 1);
    assert_eq!(spent(logs), exactly(136));
    // A record counts without a journal too.
    record(
        "consult-g",
        NOVEMBER,
        Cost::at_least(MicroUsd(1_000)),
        NOVEMBER,
        2,
    );
    assert_eq!(spent(logs), Cost::at_least(MicroUsd(1_136)));
}
