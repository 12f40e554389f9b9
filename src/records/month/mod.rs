//! The spending of a calendar month, added up from the records, and from the journals of
//! consultations without a record.
//!
//! Runs with `--no-log` are missing. Only files that were written in the month are read.
//!
//! A call that began and has not finished may have been billed: it counts at the most that it can
//! cost, also while its process runs.

pub mod budget;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::ops::Range;
use std::path::Path;

use jiff::tz::TimeZone;

use crate::consultation::event::{CallEvent, CallStarted, Envelope, Event};
use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::ids::{CallId, ConsultationId};
use crate::domain::record::statistics::Span;
use crate::domain::time::Timestamp;
use crate::files::SizeLimit;
use crate::files::write::written_at;

use super::files::{ConsultationFiles, consultations_newest_first};
use super::statistics::calendar;
use super::stored;

pub fn spent_in_month(logs: &Path, now: Timestamp, zone: &TimeZone) -> Cost {
    let month = month_of(now, zone);
    let consultations = consultations_newest_first(logs).unwrap_or_default();
    let spent = consultations.iter();
    let spent: Cost = spent.map(|one| spent_on(logs, one, &month)).sum();
    // A budget is of what is billed.
    spent.billed()
}

fn spent_on(logs: &Path, id: &ConsultationId, month: &Range<Timestamp>) -> Cost {
    let files = ConsultationFiles::in_folder(logs, id);
    let written = |path: &Path| written_at(&fs::metadata(path).ok()?);
    let (recorded, journalled) = (written(&files.record), written(&files.journal));
    if recorded
        .max(journalled)
        .is_none_or(|last| last < month.start)
    {
        return Cost::FREE;
    }
    // The journal of a consultation that was resumed after its record was written states more.
    let is_last =
        recorded.is_some_and(|recorded| journalled.is_none_or(|journalled| journalled <= recorded));
    let record = is_last.then(|| stored::read_file(&files.record).ok());
    let by_record = record.flatten().and_then(|record| {
        let (began, cost) = record.at.zip(record.total_cost())?;
        let in_doubt = record
            .cost
            .map_or(MicroUsd::ZERO, |cost| cost.in_doubt_micro_usd);
        let counted = Cost {
            known: cost.known + in_doubt,
            ..cost
        };
        month.contains(&began).then_some(counted)
    });
    // A consultation that began in an earlier month is split call by call.
    by_record.unwrap_or_else(
        || match crate::files::open(&files.journal, SizeLimit::JOURNAL) {
            Ok(file) => journalled_in(BufReader::new(file), month),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Cost::FREE,
            Err(_) => Cost::at_least(MicroUsd::ZERO),
        },
    )
}

/// Lines that are no events are skipped: the last one may be torn.
fn journalled_in(mut journal: impl BufRead, month: &Range<Timestamp>) -> Cost {
    let mut cost = Cost::FREE;
    let mut open: BTreeMap<CallId, Cost> = BTreeMap::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        match journal.read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) => {}
            Err(_) => {
                cost.lower_bound = true;
                break;
            }
        }
        let Ok(Envelope { at, event, .. }) = serde_json::from_slice(&line) else {
            continue;
        };
        let Event::Call(event) = event else { continue };
        if !month.contains(&at) {
            continue;
        }
        match event {
            CallEvent::Started(CallStarted {
                call, worst_case, ..
            }) => {
                open.insert(call, worst_case);
            }
            CallEvent::Finished(finished) => {
                open.remove(&finished.call);
                cost += Cost {
                    known: finished.counted(),
                    ..finished.cost
                };
            }
            CallEvent::FirstToken { .. }
            | CallEvent::Retried { .. }
            | CallEvent::Hedged { .. }
            | CallEvent::NotHedged { .. }
            | CallEvent::Cancelled { .. } => {}
        }
    }
    let unknown = open.into_values().map(|worst_case| Cost {
        lower_bound: !worst_case.is_unbilled(),
        ..worst_case
    });
    cost + unknown.sum()
}

/// From the first moment of the month to that of the next.
fn month_of(now: Timestamp, zone: &TimeZone) -> Range<Timestamp> {
    let month = calendar::range(Span::Month(calendar::date_of(now, zone)), zone, now);
    month.from.unwrap_or(Timestamp(i64::MIN))..month.until.unwrap_or(Timestamp(i64::MAX))
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::domain::cost::money::MicroUsd;

    fn at(text: &str) -> Timestamp {
        serde_json::from_value(text.into()).unwrap()
    }

    /// Returns a line of a journal with what every event of its kind has.
    fn line(at: &str, kind: &str, data: Value) -> String {
        let call = json!({
            "agent_id": "security", "round_number": 1, "answer": "independent",
            "purpose": "answer", "model": "a:b",
        });
        let all = match kind {
            "call:started" => json!({ "max_output_tokens": 1, "prompt_sha256": "" }),
            "call:cancelled" => json!({ "reason": "hedge_lost" }),
            _ => json!({
                "text": "", "tokens": { "input": 1, "output": 1 }, "cost_source": "table",
                "duration_ms": 1, "problems": [],
            }),
        };
        let parts = if kind.starts_with("call:") {
            vec![call, all, data]
        } else {
            vec![data]
        };
        let objects = parts.iter().filter_map(Value::as_object).cloned();
        let data: Map<String, Value> = objects.flatten().collect();
        let event = json!({
            "schema_version": "1.0", "seq": 1, "at": at, "consultation_id": "consult-1",
            "type": kind, "data": data,
        });
        serde_json::from_value::<Envelope>(event.clone()).unwrap();
        event.to_string()
    }

    fn cost(micro_usd: u64) -> Value {
        json!({ "micro_usd": micro_usd, "lower_bound": false })
    }

    #[test]
    fn month_follows_the_users_calendar() {
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        let month = |now: &str| {
            let month = month_of(at(now), &berlin);
            (month.start.to_string(), month.end.to_string())
        };
        let october = (
            "2026-09-30T22:00:00.000Z".to_owned(),
            "2026-10-31T23:00:00.000Z".to_owned(),
        );
        assert_eq!(month("2026-10-31T22:59:59.999Z"), october);
        assert_eq!(month("2026-10-31T23:00:00Z").0, "2026-10-31T23:00:00.000Z");
        assert_eq!(
            month_of(at("2026-12-31T23:59:59Z"), &TimeZone::UTC).end,
            at("2027-01-01T00:00:00Z")
        );
    }

    #[test]
    fn calls_count_in_the_month_in_which_they_finish() {
        let finished = |at: &str, call: u32, micro_usd: u64| {
            let data = json!({ "call": call, "cost": cost(micro_usd) });
            line(at, "call:finished", data)
        };
        let started = |at: &str, call: u32| line(at, "call:started", json!({ "call": call }));
        let journal = [
            finished("2026-10-31T23:59:59Z", 1, 1),
            started("2026-11-01T00:00:00Z", 2),
            finished("2026-11-01T00:00:01Z", 2, 20),
            "not an event".to_owned(),
        ];
        let journal = journal.join("\n");
        let november = month_of(at("2026-11-21T00:00:00Z"), &TimeZone::UTC);
        let spent = |journal: &str| journalled_in(journal.as_bytes(), &november);
        assert_eq!(spent(&journal), Cost::exactly(MicroUsd(20)));
        let free = format!(
            "{journal}\n{}\n{{\"at\":",
            started("2026-11-01T00:00:04Z", 3)
        );
        assert_eq!(spent(&free), Cost::exactly(MicroUsd(20)));
    }

    #[test]
    fn journal_that_cannot_be_read_makes_the_month_a_lower_bound() {
        let logs = tempfile::tempdir().unwrap();
        let now = at("2026-11-21T00:00:00Z");
        let written = || spent_in_month(logs.path(), now, &TimeZone::UTC);
        assert_eq!(written(), Cost::FREE);
        let journal = fs::File::create(logs.path().join("consult-01kb.jsonl")).unwrap();
        journal.set_len(300 << 20).unwrap();
        let november = std::time::Duration::from_millis(now.0.unsigned_abs());
        journal
            .set_modified(std::time::UNIX_EPOCH + november)
            .unwrap();
        assert_eq!(written(), Cost::at_least(MicroUsd::ZERO));
    }

    #[test]
    fn calls_without_an_end_or_a_whole_cost_count_at_their_worst_case() {
        let now = "2026-11-01T00:00:00Z";
        let started = line(
            now,
            "call:started",
            json!({ "call": 1, "worst_case": cost(300) }),
        );
        let cancelled = line(now, "call:cancelled", json!({ "call": 1 }));
        let finished = |data: Value| line(now, "call:finished", data);
        let known = finished(json!({ "call": 1, "cost": cost(7) }));
        let partly = json!({ "micro_usd": 7, "lower_bound": true });
        let partly_known = finished(json!({ "call": 1, "cost": partly, "counted": 300 }));
        let november = month_of(at("2026-11-21T00:00:00Z"), &TimeZone::UTC);
        for (lines, expected) in [
            (vec![&started], Cost::at_least(MicroUsd(300))),
            (vec![&started, &cancelled], Cost::at_least(MicroUsd(300))),
            (vec![&started, &known], Cost::exactly(MicroUsd(7))),
            (vec![&started, &partly_known], Cost::at_least(MicroUsd(300))),
        ] {
            let lines: Vec<&str> = lines.into_iter().map(String::as_str).collect();
            let cost = journalled_in(lines.join("\n").as_bytes(), &november);
            assert_eq!(cost, expected, "{lines:?}");
        }
    }
}
