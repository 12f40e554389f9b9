//! `conclave history rm`: deletes consultations, after asking.
//!
//! Files go first, rows of the index last: a killed process leaves rows without files, or some of
//! the files, and both are listed and deleted the next time. The reverse order would leave files
//! that no list shows and that the next rebuild brings back.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::tz::TimeZone;

use crate::commands::block_on;
use crate::commands::completions::ids;
use crate::commands::flags::span_in;
use crate::domain::ids::ConsultationId;
use crate::domain::record::history::HistoryRow;
use crate::domain::time::Timestamp;
use crate::engine::ports::Confirmation;
use crate::error::{Error, whole};
use crate::records::history::{self, Filter};
use crate::records::index::store;
use crate::records::removal::{self, RemovedFiles};
use crate::session::index;
use crate::terminal::output::format::{bytes, count};
use crate::terminal::prompt::{StdinUse, can_ask, confirm};
use crate::terminal::tables::history::date;
use crate::text::clean::one_line;

use super::Archive;
use super::list::{StateArg, short};

/// Most consultations that are named in the question.
const MAX_NAMED: usize = 10;

/// Delete consultations: journal, record, report, context and outcome
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Deleted consultations no longer count in consult-stats or toward monthly_budget.

Examples:
  conclave history rm 01m7zh45
  conclave history rm --older-than 90d
  conclave history rm --older-than 12w --state aborted --yes")]
pub(super) struct Args {
    /// The consultations: ids, unique prefixes, files, or `last`
    #[arg(
        value_name = "ID",
        add = ids::all(),
        conflicts_with = "older_than",
        required_unless_present = "older_than"
    )]
    ids: Vec<String>,

    /// Delete all that began longer ago: days (90d), weeks (12w) or hours (36h)
    #[arg(long, value_name = "TIME", value_parser = span)]
    older_than: Option<Duration>,

    /// With --older-than, delete only consultations with this state
    #[arg(
        long,
        value_enum,
        ignore_case = true,
        hide_possible_values = true,
        value_name = "completed|aborted|declined|unfinished",
        requires = "older_than"
    )]
    state: Option<StateArg>,

    /// Delete without asking
    #[arg(short, long)]
    yes: bool,
}

/// A consultation to delete: when it began, and its question, if the index knows them.
type Deletion = (ConsultationId, Option<(Timestamp, String)>);

pub(super) fn run(args: &Args, archive: &Archive<'_>) -> Result<(), Error> {
    let deletions = match args.older_than {
        Some(age) => older(archive, age, args.state)?,
        None => named(archive, &args.ids)?,
    };
    if deletions.is_empty() {
        let none = "No consultation is that old; nothing was deleted";
        archive.app.printer.note(none);
        return Ok(());
    }
    if !args.yes {
        agree(archive, &deletions)?;
    }
    delete(archive, &deletions)
}

fn older(
    archive: &Archive<'_>,
    age: Duration,
    state: Option<StateArg>,
) -> Result<Vec<Deletion>, Error> {
    let now = archive.app.clock.now();
    let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
    let filter = Filter {
        state: state.map(StateArg::filter),
        before: Some(Timestamp(now.0.saturating_sub(age))),
        ..Filter::default()
    };
    let listed = index::with(&archive.home, archive.app.printer, |index| {
        history::list(&index.connection, &filter, None)
    })?;
    let deletion = |row: HistoryRow| (row.consultation_id, Some((row.timestamp, row.question)));
    Ok(listed.into_iter().map(deletion).collect())
}

fn named(archive: &Archive<'_>, names: &[String]) -> Result<Vec<Deletion>, Error> {
    let index = archive.name_index();
    let mut deletions: Vec<Deletion> = Vec::new();
    // All names are looked up before anything is deleted.
    for name in names {
        let found = archive.find(name)?;
        if deletions.iter().all(|(other, _)| *other != found) {
            let listed = index
                .as_ref()
                .and_then(|index| history::with_id(&index.connection, found.as_str()).ok()?);
            let description = listed.map(|listed| (listed.timestamp, listed.question));
            deletions.push((found, description));
        }
    }
    Ok(deletions)
}

fn agree(archive: &Archive<'_>, deletions: &[Deletion]) -> Result<(), Error> {
    let zone = (archive.app.zone)();
    let index = archive.name_index();
    let line = |(found, description): &Deletion| {
        let id = found.as_str();
        let short = index.as_ref().and_then(|index| short(index, id).ok());
        let id = short.as_deref().unwrap_or(id);
        match description {
            Some((at, question)) => format!("{id}  {}  {}", date(*at, &zone), one_line(question)),
            None => id.to_owned(),
        }
    };
    let printer = archive.app.printer;
    if !can_ask(printer, StdinUse::Free) {
        let error = Error::usage(format!(
            "cannot ask whether to delete {}: there is no terminal",
            count(deletions.len(), "consultation")
        ));
        return Err(error.hint("agree with `--yes`"));
    }
    let width = printer.err_traits().width.saturating_sub(1);
    let named: Vec<String> = deletions.iter().take(MAX_NAMED).map(line).collect();
    // Other processes can use the index while the question is open.
    drop(index);
    let mut lines: Vec<String> = named
        .iter()
        .map(|line| console::truncate_str(line, width, "…").into_owned())
        .collect();
    if let more @ 1.. = deletions.len().saturating_sub(MAX_NAMED) {
        lines.push(format!("and {more} more"));
    }
    let question = format!(
        "Delete {}{}?",
        count(deletions.len(), "consultation"),
        days(deletions, &zone)
    );
    match block_on(confirm(printer, lines, &question, 'n'))? {
        Confirmation::Yes => Ok(()),
        Confirmation::No | Confirmation::NoPerson => Err(Error::declined("nothing was deleted")),
    }
}

fn days(deletions: &[Deletion], zone: &TimeZone) -> String {
    let described = deletions.iter().filter_map(|(_, it)| it.as_ref());
    let times: BTreeSet<Timestamp> = described.map(|(at, _)| *at).collect();
    let [first, last] = [times.first(), times.last()].map(|at| at.map(|at| date(*at, zone)));
    match first.zip(last) {
        Some((first, last)) if first == last => format!(" ({first})"),
        Some((first, last)) => format!(" ({first} to {last})"),
        None => String::new(),
    }
}

fn delete(archive: &Archive<'_>, deletions: &[Deletion]) -> Result<(), Error> {
    let printer = archive.app.printer;
    let (mut gone, mut freed, mut kept) = (Vec::new(), RemovedFiles::default(), Vec::new());
    for (found, _) in deletions {
        match removal::remove(&archive.logs, found) {
            Ok(removed) => {
                freed.files += removed.files;
                freed.bytes += removed.bytes;
                gone.push(found);
            }
            Err(error) => kept.push(format!("{found} was not deleted: {}", whole(&error))),
        }
    }
    if let Err(error) = removal::sync(&archive.logs) {
        printer.warning(&format!(
            "{error}: deleted files may reappear after a power failure"
        ));
    }
    if !gone.is_empty() {
        let forget = |mut index| store::remove_all(&mut index, &gone).map_err(Error::failed);
        if let Err(error) = archive.index().and_then(forget) {
            printer.warning(&format!(
                "the index still lists deleted consultations: {error}; rebuild it with \
                 `conclave consult-stats --rebuild-index`"
            ));
        }
        let (files, freed) = (count(freed.files, "file"), bytes(freed.bytes));
        let deleted = count(gone.len(), "consultation");
        printer.note(&format!("Deleted {deleted} ({files}, {freed})"));
    }
    match kept.as_slice() {
        [] => Ok(()),
        [only] if deletions.len() == 1 => Err(Error::failed(only.as_str())),
        kept => {
            for line in kept {
                printer.warning(line);
            }
            let all = count(deletions.len(), "consultation");
            let error = format!("{} of {all} were not deleted", kept.len());
            Err(Error::failed(error))
        }
    }
}

/// `90d`, `12w` or `36h`.
fn span(text: &str) -> Result<Duration, String> {
    span_in(&[("h", 3600), ("d", 24 * 3600), ("w", 7 * 24 * 3600)], text)
        .ok_or_else(|| "must be days, weeks or hours: 90d, 12w, 36h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_of_hours_days_or_weeks() {
        let hours = |hours: u64| Ok(Duration::from_secs(hours * 3600));
        assert_eq!(span("36h"), hours(36));
        assert_eq!(span("90d"), hours(90 * 24));
        assert_eq!(span(" 12w "), hours(12 * 7 * 24));
        let wrong = ",d,90,6m,-1d,1.5d,90 d,1y,99999999999d,9ü";
        for text in wrong.split(',') {
            let error = span(text).unwrap_err();
            assert_eq!(
                error, "must be days, weeks or hours: 90d, 12w, 36h",
                "{text}"
            );
        }
    }
}
