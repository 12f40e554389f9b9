//! Which consultation is gone on with, and opening its journal.

use std::path::Path;

use crate::consultation::event::{AbortReason, Envelope};
use crate::domain::ids::ConsultationId;
use crate::error::Error;
use crate::records::files::ConsultationFiles;
use crate::records::index::Index;
use crate::records::journal::ends::{self, JournalEnding};
use crate::records::journal::{Journal, NoLockPolicy, ReopenError, read_journal};
use crate::records::lookup;
use crate::session::find;
use crate::session::finish::Keeping;
use crate::terminal::output::format::count;
use crate::terminal::output::printer::Printer;

/// A consultation to go on with.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) id: ConsultationId,
    /// All that its journal holds.
    pub(super) events: Vec<Envelope>,
    pub(super) keeping: Keeping,
}

/// Takes the consultation of this name, or the newest that can be gone on with and that no other
/// process is at.
pub(super) fn choose(
    logs: &Path,
    index: Option<&Index>,
    name: Option<&str>,
    unlocked: NoLockPolicy,
    printer: &Printer,
) -> Result<Chosen, Error> {
    match name {
        Some(name) => {
            let found = find::find(index, logs, name)?;
            let Some(id) = found.ours() else {
                return Err(Error::usage(format!(
                    "cannot go on with {}: it was written by another program",
                    found.id
                ))
                .hint(format!("read it: conclave history show {}", found.id)));
            };
            let files = ConsultationFiles::in_folder(logs, &id);
            let ending = ends::ending(&files.journal).map_err(|error| {
                Error::usage(format!("cannot read the journal of {id}: {error}"))
            })?;
            check(&id, &files, ending)?;
            open(id, files, unlocked, printer)?.map_err(|busy| {
                Error::usage(busy).hint("wait until that process has ended, or end it")
            })
        }
        None => newest(logs, unlocked, printer),
    }
}

fn newest(logs: &Path, unlocked: NoLockPolicy, printer: &Printer) -> Result<Chosen, Error> {
    let kept = lookup::journals_newest_first(logs)
        .map_err(|error| Error::usage(format!("cannot read `{}`: {error}", logs.display())))?;
    let mut busy = 0;
    for id in kept {
        let files = ConsultationFiles::in_folder(logs, &id);
        if ends::ending(&files.journal).is_ok_and(|ending| check(&id, &files, ending).is_ok()) {
            match open(id, files, unlocked, printer)? {
                Ok(chosen) => return Ok(chosen),
                Err(_) => busy += 1,
            }
        }
    }
    let nothing = Error::usage("there is no consultation to go on with");
    Err(match busy {
        0 => nothing.hint("ask something: conclave consult \"…\""),
        _ => nothing.hint(format!(
            "another process is at work on {}",
            count(busy, "consultation")
        )),
    })
}

/// Refuses what there is nothing to go on with in. A process may end between the last event and the
/// results: these can still be written.
fn check(
    id: &ConsultationId,
    files: &ConsultationFiles,
    ending: JournalEnding,
) -> Result<(), Error> {
    let ask_again = |error: Error| error.hint("ask again: conclave consult \"…\"");
    match ending {
        _ if ending.is_resumable() => Ok(()),
        JournalEnding::Complete if !files.record.exists() => Ok(()),
        JournalEnding::Complete => Err(Error::usage(format!("{id} is complete"))
            .hint(format!("its answer is in {}", files.markdown.display()))),
        JournalEnding::Empty => Err(ask_again(Error::usage(format!(
            "{id} had not begun when it ended: its journal is empty"
        )))),
        JournalEnding::TooOld => Err(ask_again(Error::usage(format!(
            "cannot go on with {id}: it was written by a version that did not keep enough to go on from"
        )))),
        JournalEnding::Aborted(AbortReason::Declined) => Err(ask_again(Error::usage(format!(
            "{id} was declined before anything was asked"
        )))),
        JournalEnding::Aborted(_) | JournalEnding::Open => Err(ask_again(Error::usage(format!(
            "{id} ended for a reason that goes on"
        )))),
    }
}

/// Opens a journal to go on with it; the inner error says that another process is at it. A journal
/// that cannot be written can still be read: then nothing more is kept, which is told.
fn open(
    id: ConsultationId,
    files: ConsultationFiles,
    unlocked: NoLockPolicy,
    printer: &Printer,
) -> Result<Result<Chosen, ReopenError>, Error> {
    match Journal::reopen(&files.journal, unlocked) {
        Ok((journal, events)) => Ok(Ok(Chosen {
            id,
            events,
            keeping: Keeping::All(files, journal),
        })),
        Err(busy @ ReopenError::Busy { .. }) => Ok(Err(busy)),
        Err(ReopenError::Unwritable(failed)) => {
            let events = read_journal(&files.journal).map_err(damaged)?.events;
            printer.warning(&failed.notice());
            Ok(Ok(Chosen {
                id,
                events,
                keeping: Keeping::Nothing,
            }))
        }
        Err(no_locks @ ReopenError::NoLocks { .. }) => Err(Error::usage(no_locks).hint(format!(
            "when no other process is at it: conclave resume {id} --force"
        ))),
        Err(ReopenError::Unreadable(error)) => Err(damaged(error)),
        Err(missing @ ReopenError::Missing { .. }) => Err(Error::usage(missing)),
    }
}

fn damaged(error: crate::records::journal::JournalReadError) -> Error {
    Error::usage(error).hint("what is left of it can be read: it is one JSON object a line")
}
