//! The choice of a consultation to resume, and its journal.

use std::path::Path;

use crate::consultation::event::{AbortReason, Envelope};
use crate::domain::ids::ConsultationId;
use crate::domain::record::stored_record::Completion;
use crate::engine::ports::Face;
use crate::error::{Error, whole};
use crate::files::log::{LockPolicy, LogError};
use crate::records::files::{ConsultationFiles, consultations_newest_first, log_notice};
use crate::records::index::Index;
use crate::records::journal::ends::{self, JournalEnding};
use crate::records::journal::{Journal, is_being_written, read_journal};
use crate::records::stored;
use crate::session::lookup::find;
use crate::session::storage::Storage;
use crate::text::clean::count;

use super::{InterruptedConsultation, context};

/// A journal that is open to be continued: its events, and where the next ones are stored.
type OpenJournal = (Vec<Envelope>, Storage);

/// Without a lock it is only read: nothing is locked, repaired or stored.
pub fn open(
    logs: &Path,
    index: Option<&Index>,
    name: Option<&str>,
    locks: Option<LockPolicy>,
    face: &dyn Face,
) -> Result<InterruptedConsultation, Error> {
    match name {
        Some(name) => {
            let found = find(index, logs, name)?;
            open_id(found, logs, locks, face)
        }
        None => newest(logs, locks, face),
    }
}

pub fn open_id(
    id: ConsultationId,
    logs: &Path,
    locks: Option<LockPolicy>,
    face: &dyn Face,
) -> Result<InterruptedConsultation, Error> {
    let files = ConsultationFiles::in_folder(logs, &id);
    let short = id.short();
    let ending = ends::ending(&files.journal)
        .map_err(|error| Error::usage(format!("cannot read the journal of {short}: {error}")))?;
    check(&id, &files, ending)?;
    let (mut events, storage) = reopen(&id, files.clone(), locks, face)?
        .map_err(|busy| Error::usage(busy).hint("wait until that process has ended, or end it"))?;
    context::load(&id, &mut events, &files)?;
    InterruptedConsultation::restore(id, events, storage)
}

fn newest(
    logs: &Path,
    locks: Option<LockPolicy>,
    face: &dyn Face,
) -> Result<InterruptedConsultation, Error> {
    let stored = consultations_newest_first(logs)
        .map_err(|error| Error::usage(format!("cannot read `{}`: {error}", logs.display())))?;
    let (mut busy, mut without_context) = (0, None::<Error>);
    for id in stored {
        let files = ConsultationFiles::in_folder(logs, &id);
        if ends::ending(&files.journal).is_ok_and(|ending| check(&id, &files, ending).is_ok()) {
            let Ok((mut events, storage)) = reopen(&id, files.clone(), locks, face)? else {
                busy += 1;
                continue;
            };
            match context::load(&id, &mut events, &files) {
                Ok(()) => {
                    // Without a word, the older one would pass for the one that was asked last.
                    if let Some(error) = without_context {
                        face.warning(&format!("Warning: {}", whole(error.source())));
                    }
                    return InterruptedConsultation::restore(id, events, storage);
                }
                Err(error) => {
                    without_context.get_or_insert(error);
                }
            }
        }
    }
    if let Some(error) = without_context {
        return Err(error);
    }
    let nothing = Error::usage("there is no consultation to resume");
    Err(match busy {
        0 => nothing.hint("ask something with `conclave consult \"…\"`"),
        _ => nothing.hint(format!(
            "another process is running {}",
            count(busy, "consultation")
        )),
    })
}

/// Returns whether a consultation is complete. A complete record ends it, even if its journal ends
/// early: the disk may have been full for a moment. A complete journal without a record does not:
/// the process may have ended before it wrote the results.
pub fn is_complete(files: &ConsultationFiles, ending: JournalEnding) -> bool {
    if ending == JournalEnding::Complete {
        return files.record.exists();
    }
    stored::read_file(&files.record)
        .is_ok_and(|record| record.completion() == Completion::Completed)
}

fn check(
    id: &ConsultationId,
    files: &ConsultationFiles,
    ending: JournalEnding,
) -> Result<(), Error> {
    let id = id.short();
    if is_complete(files, ending) {
        let hint = format!("its answer is in {}", files.markdown.display());
        return Err(Error::usage(format!("{id} is complete")).hint(hint));
    }
    let error = match ending {
        JournalEnding::Complete => return Ok(()),
        _ if ending.is_resumable() => return Ok(()),
        JournalEnding::Empty => Error::usage(format!("{id} has no events: its journal is empty")),
        JournalEnding::OtherVersion => Error::usage(format!(
            "{id} was written by another version of conclave and cannot be resumed"
        ))
        .hint(format!("read it with `conclave history show {id}`")),
        JournalEnding::Aborted(AbortReason::Declined) => {
            Error::usage(format!("{id} was declined before anything was asked"))
        }
        JournalEnding::Aborted(_) | JournalEnding::Open => Error::usage(format!(
            "cannot resume {id}: the reason why it ended still applies"
        )),
    };
    Err(error.hint("ask again with `conclave consult \"…\"`"))
}

/// The inner error means that another process writes it. A journal that cannot be written can still
/// be read: then nothing more is stored, and a warning says so.
fn reopen(
    id: &ConsultationId,
    files: ConsultationFiles,
    locks: Option<LockPolicy>,
    face: &dyn Face,
) -> Result<Result<OpenJournal, LogError>, Error> {
    let id = id.short();
    let Some(locks) = locks else {
        if is_being_written(&files.journal) {
            return Ok(Err(LogError::Busy(format!("{id} is being run"))));
        }
        let events = read_journal(&files.journal).map_err(damaged)?;
        return Ok(Ok((events, Storage::Nowhere)));
    };
    match Journal::reopen(&files.journal, locks) {
        Ok((journal, events)) => Ok(Ok((events, Storage::Files(files, journal)))),
        Err(busy @ LogError::Busy(_)) => Ok(Err(busy)),
        Err(LogError::Write(failed)) => {
            let events = read_journal(&files.journal).map_err(damaged)?;
            face.warning(&log_notice(&failed));
            Ok(Ok((events, Storage::Nowhere)))
        }
        Err(no_locks @ LogError::NoLocks { .. }) => Err(Error::usage(no_locks).hint(format!(
            "if no other process runs it, resume it with `conclave resume {id} --force`"
        ))),
        Err(missing @ LogError::Missing(_)) => Err(Error::usage(missing)),
        Err(error) => Err(damaged(error)),
    }
}

fn damaged(error: LogError) -> Error {
    Error::usage(error).hint("the file can still be read: it has one JSON object per line")
}
