//! The spending of a calendar month, added up from the records, and from the journals of
//! consultations without a record.
//!
//! Runs with `--no-log` are missing. Only files that were written in the month are read.
//!
//! A call that was in flight when its process was killed may have been billed. It counts at the
//! most that it could cost, or at its high estimate if there was no ceiling. Cancelled calls, and
//! those of a process that still runs, are not counted here: they are in the monthly budget's
//! files.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::ops::Range;
use std::path::Path;

use jiff::tz::TimeZone;
use serde::Deserialize;

use crate::consultation::policy::estimate::{CallEstimate, Estimate};
use crate::consultation::protocol::answer::AnswerKind;
use crate::domain::ids::{AgentId, CallId, RecordName};
use crate::domain::money::{Cost, MicroUsd};
use crate::domain::time::Timestamp;
use crate::files::SizeLimit;
use crate::files::write::written_at;

use super::files::ConsultationFiles;
use super::journal::is_being_written;
use super::lookup::consultations_newest_first;
use super::stored;

/// Returns the spending in the calendar month of a moment, by the calendar of a time zone.
pub fn spent_in_month(logs: &Path, now: Timestamp, zone: &TimeZone) -> Cost {
    let month = month_of(now, zone);
    let consultations = consultations_newest_first(logs).unwrap_or_default();
    consultations
        .iter()
        .map(|consultation| spent_on(logs, &consultation.stem, &month))
        .sum()
}

/// Returns the part of a consultation's cost that lies in the month.
fn spent_on(logs: &Path, stem: &RecordName, month: &Range<Timestamp>) -> Cost {
    let files = ConsultationFiles::with_stem(logs, stem);
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
    let record = if is_last {
        stored::read_file(&files.record).ok()
    } else {
        None
    };
    let by_record = record.as_ref().and_then(|record| {
        let (began, cost) = record.at.zip(record.total_cost())?;
        month.contains(&began).then_some(cost)
    });
    // A record has no figure for lost calls.
    let lost_calls = record.and_then(|record| record.cost?.lost_calls);
    match by_record {
        Some(cost) if lost_calls.unwrap_or_default() == 0 => cost,
        // A consultation that began in an earlier month is split call by call.
        Some(_) | None => match crate::files::open(&files.journal, SizeLimit::JOURNAL) {
            Err(error) => {
                let cost = by_record.unwrap_or_default();
                let is_unreadable = error.kind() != io::ErrorKind::NotFound;
                Cost {
                    lower_bound: cost.lower_bound || is_unreadable,
                    ..cost
                }
            }
            Ok(file) => {
                let writer = if is_being_written(&files.journal) {
                    JournalWriter::Running
                } else {
                    JournalWriter::Ended
                };
                journalled_in(BufReader::new(file), month, writer)
            }
        },
    }
}

/// The process that writes a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JournalWriter {
    /// Its calls in flight are reserved in the monthly budget.
    Running,
    Ended,
}

/// Returns the cost of the calls in a journal that finished in the month, or began in it and were
/// lost. Lines that are no events are skipped: the last one may be torn.
fn journalled_in(
    mut journal: impl BufRead,
    month: &Range<Timestamp>,
    writer: JournalWriter,
) -> Cost {
    let mut cost = Cost::FREE;
    let mut open: BTreeMap<CallId, MicroUsd> = BTreeMap::new();
    let mut estimate = Vec::new();
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
        let Ok(event) = serde_json::from_slice::<CallLine>(&line) else {
            continue;
        };
        if event.kind == "consultation:cost_estimated"
            && let Ok(EstimateLine { data }) = serde_json::from_slice(&line)
        {
            estimate = data.calls;
        }
        if !month.contains(&event.at) {
            continue;
        }
        match (event.kind.as_str(), event.data.call) {
            ("call:started", Some(call)) => {
                open.insert(call, event.data.most(&estimate));
            }
            ("call:cancelled", Some(call)) => {
                open.remove(&call);
                cost.lower_bound = true;
            }
            ("call:finished", Some(call)) => {
                open.remove(&call);
                cost += event.data.cost.unwrap_or(Cost {
                    lower_bound: true,
                    ..Cost::FREE
                });
            }
            _ => {}
        }
    }
    let lost = match writer {
        JournalWriter::Running => MicroUsd::ZERO,
        JournalWriter::Ended => open.values().copied().sum(),
    };
    Cost {
        known: cost.known + lost,
        lower_bound: cost.lower_bound || !open.is_empty(),
    }
}

/// Returns the month of a moment: from its first moment to that of the next month.
fn month_of(now: Timestamp, zone: &TimeZone) -> Range<Timestamp> {
    let borders = || {
        let first = jiff::Timestamp::from_millisecond(now.0)?
            .to_zoned(zone.clone())
            .first_of_month()?
            .start_of_day()?;
        let next = first
            .checked_add(jiff::Span::new().try_months(1)?)?
            .start_of_day()?;
        Ok::<_, jiff::Error>(
            Timestamp(first.timestamp().as_millisecond())
                ..Timestamp(next.timestamp().as_millisecond()),
        )
    };
    // Beyond the range of the calendar, everything counts.
    borders().unwrap_or(Timestamp(i64::MIN)..Timestamp(i64::MAX))
}

/// The fields of an event that are read here.
#[derive(Deserialize)]
struct CallLine {
    at: Timestamp,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    data: CallData,
}

#[derive(Default, Deserialize)]
struct CallData {
    #[serde(default)]
    call: Option<CallId>,
    #[serde(default)]
    cost: Option<Cost>,
    #[serde(default)]
    agent_id: Option<AgentId>,
    #[serde(default)]
    answer: Option<AnswerKind>,
    #[serde(default)]
    worst_case: Option<Cost>,
}

impl CallData {
    /// Returns the most that a started call can cost: as it was reserved, else as it was estimated.
    fn most(&self, estimate: &[CallEstimate]) -> MicroUsd {
        if let Some(worst_case) = self.worst_case {
            return worst_case.known;
        }
        let is_this = |call: &&CallEstimate| {
            Some(&call.agent_id) == self.agent_id.as_ref() && Some(call.answer) == self.answer
        };
        let estimated = estimate.iter().find(is_this);
        estimated.map_or(MicroUsd::ZERO, |call| call.high.known)
    }
}

#[derive(Deserialize)]
struct EstimateLine {
    data: Estimate,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::money::MicroUsd;

    fn at(text: &str) -> Timestamp {
        serde_json::from_value(text.into()).unwrap()
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
        let journal = r#"{"at":"2026-10-31T23:59:59Z","type":"call:finished","data":{"call":1,"cost":{"micro_usd":1,"lower_bound":false}}}
{"at":"2026-11-01T00:00:00Z","type":"call:started","data":{"call":2}}
{"at":"2026-11-01T00:00:01Z","type":"call:finished","data":{"call":2,"cost":{"micro_usd":20,"lower_bound":false}}}
not an event
{"at":"2026-11-01T00:00:02Z","type":"agent:completed","data":{"cost":{"micro_usd":20,"lower_bound":false}}}
{"at":"2026-11-01T00:00:03Z","type":"round:started"}"#;
        let november = month_of(at("2026-11-21T00:00:00Z"), &TimeZone::UTC);
        let spent =
            |journal: &str| journalled_in(journal.as_bytes(), &november, JournalWriter::Ended);
        assert_eq!(spent(journal), Cost::exactly(MicroUsd(20)));
        let lost = format!(
            "{journal}\n{{\"at\":\"2026-11-01T00:00:04Z\",\"type\":\"call:started\",\"data\":{{\"call\":3}}}}\n{{\"at\":"
        );
        assert_eq!(spent(&lost), Cost::at_least(MicroUsd(20)));
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
    fn lost_calls_count_at_their_worst_case_or_high_estimate() {
        let estimate = r#"{"at":"2026-10-31T23:59:58Z","type":"consultation:cost_estimated","data":{"low":{"micro_usd":1,"lower_bound":false},"high":{"micro_usd":1,"lower_bound":false},"context_tokens":0,"cost":{"micro_usd":5,"lower_bound":false},"input_tokens":1,"output_tokens":1,"calls":[{"round_number":1,"agent_id":"security","answer":"independent","model":"a:b","input_tokens":1,"output_tokens":1,"cost":{"micro_usd":5,"lower_bound":false},"low":{"micro_usd":1,"lower_bound":false},"high":{"micro_usd":7,"lower_bound":false}}]}}"#;
        let started = r#"{"at":"2026-11-01T00:00:00Z","type":"call:started","data":{"call":1,"agent_id":"security","answer":"independent"}}"#;
        let reserved = r#"{"at":"2026-11-01T00:00:00Z","type":"call:started","data":{"call":2,"agent_id":"security","answer":"independent","worst_case":{"micro_usd":300,"lower_bound":false}}}"#;
        let cancelled =
            r#"{"at":"2026-11-01T00:00:00Z","type":"call:cancelled","data":{"call":2}}"#;
        let november = month_of(at("2026-11-21T00:00:00Z"), &TimeZone::UTC);
        for (lines, writer, known) in [
            (vec![estimate, started], JournalWriter::Ended, 7),
            (vec![estimate, started, reserved], JournalWriter::Ended, 307),
            (
                vec![estimate, started, reserved, cancelled],
                JournalWriter::Ended,
                7,
            ),
            (vec![estimate, started, reserved], JournalWriter::Running, 0),
            (vec![started], JournalWriter::Ended, 0),
        ] {
            let cost = journalled_in(lines.join("\n").as_bytes(), &november, writer);
            assert_eq!(cost, Cost::at_least(MicroUsd(known)), "{lines:?}");
        }
    }
}
