//! `conclave history rm`: deletes consultations, after asking.
//!
//! Files first, rows of the index last: what a killed process leaves behind is a row whose files
//! are gone, or some of the files, and either is listed and deleted the next time. The other way
//! round a file would be left that no list shows, and that the next index brings back.

use std::time::Duration;

use jiff::tz::TimeZone;
use rusqlite::TransactionBehavior;

use crate::domain::time::Timestamp;
use crate::engine::clock::Clock;
use crate::error::{Error, Exit};
use crate::records::files::ConsultationRef;
use crate::records::history::{self, Filter};
use crate::records::index::store;
use crate::records::removal::{self, RemoveError, RemovedFiles};
use crate::session::index;
use crate::setup::embedded_model;
use crate::terminal::markdown::escape::one_line;
use crate::terminal::output::format::{bytes, count};
use crate::terminal::prompt::{Confirmation, StdinUse, ask_before_harm, can_ask};
use crate::terminal::tables::history::date;

use super::Past;
use super::list::{StateArg, short};

/// Consultations that are named before it is asked about them.
const MOST_NAMED: usize = 10;

/// Consultations whose rows are taken out of the index at once: a process that is killed leaves no
/// more rows without files than these.
const AT_ONCE: usize = 100;

/// Delete consultations: journal, record, Markdown, and what was said of them
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
What is deleted no longer counts, neither in consult-stats nor toward monthly_budget.

Examples:
  conclave history rm 01m7zh45
  conclave history rm --older-than 90d
  conclave history rm --older-than 12w --state aborted --yes")]
pub(super) struct Args {
    /// The consultations: ids, beginnings of ids, files, or `last`
    #[arg(
        value_name = "ID",
        required_unless_present = "older_than",
        conflicts_with = "older_than"
    )]
    ids: Vec<String>,

    /// All that began so long ago: days (90d), weeks (12w) or hours (36h)
    #[arg(long, value_name = "TIME", value_parser = span)]
    older_than: Option<Duration>,

    /// Of these, only those that ended so
    #[arg(
        long,
        value_enum,
        ignore_case = true,
        hide_possible_values = true,
        value_name = "completed|aborted|unfinished",
        requires = "older_than"
    )]
    state: Option<StateArg>,

    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// One to be deleted.
#[derive(Debug)]
struct Doomed {
    found: ConsultationRef,
    /// When it began, and its question, where the index knows.
    told: Option<(Timestamp, String)>,
}

pub(super) fn run(args: &Args, past: &Past<'_>) -> Result<(), Error> {
    let doomed = match args.older_than {
        Some(age) => older(past, age, args.state)?,
        None => named(past, &args.ids)?,
    };
    if doomed.is_empty() {
        past.printer
            .note("Nothing is that old: nothing was deleted");
        return Ok(());
    }
    if !args.yes {
        agree(past, &doomed)?;
    }
    delete(past, &doomed)
}

fn older(past: &Past<'_>, age: Duration, state: Option<StateArg>) -> Result<Vec<Doomed>, Error> {
    let now = Clock::system().now();
    let before = Timestamp(
        now.0
            .saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX)),
    );
    let filter = Filter {
        state: state.map(StateArg::filter),
        before: Some(before),
        ..Filter::default()
    };
    let listed = index::with(&past.home, past.printer, |index| {
        history::list(index.connection(), &filter, None)
    })?;
    let doomed = |listed: history::HistoryEntry| Doomed {
        found: ConsultationRef {
            id: listed.id,
            stem: listed.stem,
        },
        told: Some((listed.at, listed.question)),
    };
    Ok(listed.into_iter().map(doomed).collect())
}

fn named(past: &Past<'_>, names: &[String]) -> Result<Vec<Doomed>, Error> {
    let index = past.names();
    let mut doomed: Vec<Doomed> = Vec::new();
    // All names are looked up before anything is deleted.
    for name in names {
        let found = past.find(name)?;
        if doomed.iter().all(|other| other.found != found) {
            let listed = index
                .as_ref()
                .and_then(|index| history::with_id(index.connection(), &found.id).ok()?);
            doomed.push(Doomed {
                found,
                told: listed.map(|listed| (listed.at, listed.question)),
            });
        }
    }
    Ok(doomed)
}

fn agree(past: &Past<'_>, doomed: &[Doomed]) -> Result<(), Error> {
    let zone = TimeZone::system();
    let index = past.names();
    let line = |doomed: &Doomed| {
        let id = doomed.found.id.as_str();
        let short = index
            .as_ref()
            .and_then(|index| short(index.connection(), id).ok());
        let id = short.as_deref().unwrap_or(id);
        match &doomed.told {
            Some((at, question)) => format!("{id}  {}  {}", date(*at, &zone), one_line(question)),
            None => id.to_owned(),
        }
    };
    let printer = past.printer;
    if !can_ask(printer, StdinUse::Free) {
        let error = Error::usage(format!(
            "{} would be deleted, and there is no terminal to ask on",
            count(doomed.len(), "consultation")
        ));
        return Err(error.hint("agree to it: --yes"));
    }
    let width = printer.err_traits().width.saturating_sub(1);
    let named: Vec<String> = doomed.iter().take(MOST_NAMED).map(line).collect();
    // Nobody is kept from the index while a question is open.
    drop(index);
    for line in named {
        printer.note(&console::truncate_str(&line, width, "…"));
    }
    if let more @ 1.. = doomed.len().saturating_sub(MOST_NAMED) {
        printer.note(&format!("and {more} more"));
    }
    let question = format!(
        "Delete {}{}?",
        count(doomed.len(), "consultation"),
        span_of(doomed, &zone)
    );
    match embedded_model::block_on(ask_before_harm(printer, &question))? {
        Confirmation::Yes => Ok(()),
        Confirmation::No | Confirmation::NoTerminal => {
            Err(Error::new(Exit::Declined, "nothing was deleted"))
        }
    }
}

/// From which day to which.
fn span_of(doomed: &[Doomed], zone: &TimeZone) -> String {
    let times = || {
        doomed
            .iter()
            .filter_map(|doomed| doomed.told.as_ref())
            .map(|(at, _)| *at)
    };
    match times()
        .min()
        .zip(times().max())
        .map(|(first, last)| (date(first, zone), date(last, zone)))
    {
        Some((first, last)) if first == last => format!(" ({first})"),
        Some((first, last)) => format!(" ({first} to {last})"),
        None => String::new(),
    }
}

fn delete(past: &Past<'_>, doomed: &[Doomed]) -> Result<(), Error> {
    let (mut deleted, mut freed, mut kept) = (0, RemovedFiles::default(), Vec::new());
    let mut is_index_told = true;
    for some in doomed.chunks(AT_ONCE) {
        let mut gone = Vec::new();
        for Doomed { found, .. } in some {
            match removal::remove(&past.logs, &found.stem) {
                Ok(removed) => {
                    freed = RemovedFiles {
                        files: freed.files + removed.files,
                        bytes: freed.bytes + removed.bytes,
                    };
                    gone.push(found);
                }
                Err(error) => kept.push((found, error)),
            }
        }
        deleted += gone.len();
        if let Err(error) = removal::sync(&past.logs) {
            past.printer.warning(&format!(
                "{error}: what was deleted may be back after a loss of power"
            ));
        }
        is_index_told &= forget(past, &gone)
            .inspect_err(|error| {
                if is_index_told {
                    past.printer.warning(&format!(
                        "the index still lists what was deleted: {error}; make it anew: conclave consult-stats --rebuild-index"
                    ));
                }
            })
            .is_ok();
    }
    if deleted > 0 {
        let (files, freed) = (count(freed.files, "file"), bytes(freed.bytes));
        past.printer.note(&format!(
            "Deleted {} ({files}, {freed})",
            count(deleted, "consultation")
        ));
    }
    refused(past, kept, doomed.len())
}

/// Takes the rows of consultations out of the index.
fn forget(past: &Past<'_>, gone: &[&ConsultationRef]) -> Result<(), Error> {
    if gone.is_empty() {
        return Ok(());
    }
    let mut index = past.index()?;
    let mut forget = || {
        let transaction = index
            .connection_mut()
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        for found in gone {
            store::remove(&transaction, &found.id)?;
        }
        transaction.commit()
    };
    forget().map_err(|error: rusqlite::Error| Error::failed(error))
}

/// Tells what was not deleted, and why.
fn refused(
    past: &Past<'_>,
    mut kept: Vec<(&ConsultationRef, RemoveError)>,
    of: usize,
) -> Result<(), Error> {
    if kept.is_empty() {
        return Ok(());
    }
    if kept.len() == 1
        && of == 1
        && let Some((found, error)) = kept.pop()
    {
        return Err(Error::failed(NotDeleted {
            id: found.id.clone(),
            source: error,
        }));
    }
    for (found, error) in &kept {
        let cause = std::error::Error::source(error)
            .map(|cause| format!(": {cause}"))
            .unwrap_or_default();
        past.printer
            .warning(&format!("{} was not deleted: {error}{cause}", found.id));
    }
    Err(Error::failed(format!(
        "{} of {} were not deleted",
        kept.len(),
        count(of, "consultation")
    )))
}

#[derive(Debug, thiserror::Error)]
#[error("{id} was not deleted")]
struct NotDeleted {
    id: String,
    source: RemoveError,
}

/// `90d`, `12w`, `36h`.
fn span(text: &str) -> Result<Duration, String> {
    let wanted = || "must be days, weeks or hours: 90d, 12w, 36h".to_owned();
    let text = text.trim();
    let unit = text.chars().next_back().ok_or_else(wanted)?;
    let hours: u64 = match unit {
        'h' => 1,
        'd' => 24,
        'w' => 7 * 24,
        _ => return Err(wanted()),
    };
    let number = text
        .strip_suffix(unit)
        .and_then(|number| number.parse::<u32>().ok())
        .ok_or_else(wanted)?;
    Ok(Duration::from_secs(u64::from(number) * hours * 3600))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_of_hours_days_or_weeks() {
        let hours = |hours: u64| Ok(Duration::from_secs(hours * 3600));
        assert_eq!(
            [span("36h"), span("90d"), span(" 12w ")],
            [hours(36), hours(90 * 24), hours(12 * 7 * 24)]
        );
        for text in [
            "",
            "d",
            "90",
            "6m",
            "-1d",
            "1.5d",
            "90 d",
            "1y",
            "99999999999d",
            "9ü",
        ] {
            assert_eq!(
                span(text).unwrap_err(),
                "must be days, weeks or hours: 90d, 12w, 36h",
                "{text}"
            );
        }
    }
}
