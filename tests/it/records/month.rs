//! The cost of a month: each consultation counts once, by its record, or by its journal if that is
//! newer.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use conclave::domain::money::{Cost, MicroUsd};
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
    let moment =
        Duration::from_millis(self::at(at).0.try_into().unwrap()) + Duration::from_secs(seconds);
    File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(UNIX_EPOCH + moment)
        .unwrap();
}

fn record(id: &str, started: &str, cost: Cost) -> String {
    json!({"schema_version": "1.0", "consultation_id": id, "timestamp": started, "cost": cost})
        .to_string()
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
fn missing_folder_has_cost_nothing() {
    assert_eq!(spent(Path::new("/nowhere")), Cost::FREE);
}

#[test]
fn every_consultation_of_the_month_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path();
    write(
        logs,
        "consult-a.json",
        &record("consult-a", NOVEMBER, exactly(1)),
        NOVEMBER,
        2,
    );
    write(logs, "consult-a.jsonl", &journal(NOVEMBER, 1), NOVEMBER, 1);
    write(
        logs,
        "consult-b.json",
        &record("consult-b", OCTOBER, exactly(10)),
        OCTOBER,
        2,
    );
    write(logs, "consult-b.jsonl", &journal(OCTOBER, 10), OCTOBER, 1);
    write(
        logs,
        "other.json",
        &record("other", NOVEMBER, exactly(100)),
        NOVEMBER,
        0,
    );
    assert_eq!(spent(logs), exactly(1));
    write(
        logs,
        "consult-c.json",
        &record("consult-c", NOVEMBER, Cost::at_least(MicroUsd(1_000))),
        NOVEMBER,
        2,
    );
    assert_eq!(
        spent(logs),
        Cost::at_least(MicroUsd(1_001)),
        "without a journal too"
    );
}

#[test]
fn killed_consultation_counts_by_its_journal() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path();
    write(logs, "consult-a.jsonl", &journal(NOVEMBER, 3), NOVEMBER, 0);
    assert_eq!(spent(logs), exactly(3));
    // It was resumed and killed again: the record is older than the journal.
    write(
        logs,
        "consult-b.json",
        &record("consult-b", NOVEMBER, exactly(10)),
        NOVEMBER,
        0,
    );
    write(
        logs,
        "consult-b.jsonl",
        &(journal(NOVEMBER, 10) + &journal(NOVEMBER, 20)),
        NOVEMBER,
        60,
    );
    assert_eq!(spent(logs), exactly(33));
    write(logs, "consult-c.json", "damaged", NOVEMBER, 60);
    write(
        logs,
        "consult-c.jsonl",
        &journal(NOVEMBER, 100),
        NOVEMBER,
        0,
    );
    assert_eq!(spent(logs), exactly(133));
}

#[test]
fn consultation_of_an_earlier_month_counts_its_calls_of_this_one() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "consult-a.json",
        &record("consult-a", OCTOBER, exactly(12)),
        NOVEMBER,
        2,
    );
    write(
        folder.path(),
        "consult-a.jsonl",
        &(journal(OCTOBER, 10) + &journal(NOVEMBER, 2)),
        NOVEMBER,
        1,
    );
    assert_eq!(spent(folder.path()), exactly(2));
}
