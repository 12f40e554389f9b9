//! The files of one consultation: the text of its context before its first event, its journal
//! while it runs, its record and report at its end.
//!
//! A failure to write is reported once, and harms neither what was written before nor the answer.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::config::paths::Home;
use crate::consultation::event::Envelope;
use crate::consultation::plan::Plan;
use crate::domain::context::ContextStorage;
use crate::domain::ids::ConsultationId;
use crate::domain::record::stored_record::StoredRecord;
use crate::engine::ports::{Face, Subscriber as _};
use crate::files::write::{WriteError, create_private_dir};
use crate::records::files::context_file;
use crate::records::files::{ConsultationFiles, log_notice};
use crate::records::journal::Journal;

/// The storage of a consultation.
#[derive(Debug)]
pub enum Storage {
    Nowhere,
    Files(ConsultationFiles, Journal),
}

/// The files with the results of a consultation.
#[derive(Debug)]
pub struct StoredFiles {
    pub record: PathBuf,
    /// No event is missing from the journal, so that the consultation can be resumed.
    pub is_journal_complete: bool,
}

impl Storage {
    pub fn create(home: &Home, id: &ConsultationId) -> Result<Self, WriteError> {
        let logs = home.logs_folder();
        let files = ConsultationFiles::in_folder(&logs, id);
        create_private_dir(home.path())?;
        create_private_dir(&logs)?;
        let journal = Journal::create(&files.journal)?;
        Ok(Self::Files(files, journal))
    }

    /// Creates the files of a consultation that ran elsewhere. Those of its earlier ends are
    /// replaced: the events are all that it has. Also returns what could not be written.
    pub(super) fn copy(
        home: &Home,
        plan: &mut Plan,
        events: &[Envelope],
    ) -> Result<(Self, Option<String>), WriteError> {
        let earlier = ConsultationFiles::in_folder(&home.logs_folder(), &plan.id).journal;
        match fs::remove_file(&earlier) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(WriteError::new(&earlier, error));
            }
            Ok(()) | Err(_) => {}
        }
        let mut storage = Self::create(home, &plan.id)?;
        let context = storage.write_context(plan).err();
        let mut journal = storage.journal().into_iter();
        let failed = journal.find_map(|journal| {
            let mut events = events.iter();
            events.find_map(|event| journal.event(event).err())
        });
        let failed = failed.map(|failed| failed.to_string());
        Ok((storage, failed.or(context.as_ref().map(log_notice))))
    }

    /// Without a journal, nothing is stored; without the file, the consultation cannot be resumed.
    pub fn begin(home: &Home, plan: &mut Plan, face: &dyn Face) -> Self {
        let storage = match Self::create(home, &plan.id) {
            Ok(storage) => storage,
            Err(failure) => {
                face.warning(&log_notice(&failure));
                return Self::nowhere(plan);
            }
        };
        if let Err(failure) = storage.write_context(plan) {
            let notice = log_notice(&failure);
            face.warning(&format!("{notice}; the consultation cannot be resumed"));
        }
        storage
    }

    /// Returns the storage of a consultation that leaves no files, and notes in its plan that the
    /// text of its context is not stored.
    pub fn nowhere(plan: &mut Plan) -> Self {
        if let Some(context) = plan.context.as_deref_mut() {
            context.storage = ContextStorage::Off;
        }
        Self::Nowhere
    }

    /// Stores the text of the context, if the plan says so; if that fails, notes it in the plan.
    /// The journal exists already, so that a killed process leaves no context without a
    /// consultation.
    pub fn write_context(&self, plan: &mut Plan) -> Result<(), WriteError> {
        let (Self::Files(files, _), Some(context)) = (self, plan.context.as_deref_mut()) else {
            return Ok(());
        };
        if context.storage != ContextStorage::Stored || context.bytes == 0 {
            return Ok(());
        }
        context_file::write(&files.context, context)
            .inspect_err(|_| context.storage = ContextStorage::Failed)
    }

    /// `None` if nothing of the consultation is stored.
    pub(super) fn journal(&mut self) -> Option<&mut Journal> {
        match self {
            Self::Files(_, journal) => Some(journal),
            Self::Nowhere => None,
        }
    }

    /// Returns the files, and a warning about the first failure that was not reported before.
    pub(super) fn write(
        self,
        record: &StoredRecord,
        report: &str,
    ) -> (Option<StoredFiles>, Option<String>) {
        let Self::Files(files, mut journal) = self else {
            return (None, None);
        };
        let has_failed = journal.has_failed();
        let synced = journal.finish();
        let is_journal_complete = !has_failed && synced.is_ok();
        let written = files.write_results(record, report);
        let stored = written.is_ok().then_some(StoredFiles {
            record: files.record,
            is_journal_complete,
        });
        let failure = synced.err().or(written.err());
        let warning = failure
            .filter(|_| !has_failed)
            .map(|failure| log_notice(&failure));
        (stored, warning)
    }
}
