//! The record of one consultation, loaded from the best of its files.

use std::error::Error as StdError;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::config::paths::Home;
use crate::consultation::prompt::prior_consultation::PriorConsultation;
use crate::consultation::transcript::Transcript;
use crate::domain::context::Context;
use crate::domain::ids::ConsultationId;
use crate::domain::record::stored_record::spend::{ConsultationSpend, spend};
use crate::domain::record::stored_record::{StoredContext, StoredRecord};
use crate::error::Error;
use crate::files::{self, SizeLimit};
use crate::records::files::ConsultationFiles;
use crate::records::files::context_file;
use crate::records::journal::{is_being_written, read_journal};
use crate::records::outcomes;
use crate::records::stored::{self, RecordReadError};
use crate::setup::context::earlier::EarlierContext;
use crate::text::clean::pretty_json;

/// The journal if there is no record, or if the journal is newer.
pub fn load(logs: &Path, found: &ConsultationId) -> Result<StoredRecord, Error> {
    let files = ConsultationFiles::in_folder(logs, found);
    let from_journal = || {
        let transcript = Transcript::fold(&read_journal(&files.journal).ok()?)?;
        Some(transcript.stored_record())
    };
    let newer = is_journal_newer(&files).then(from_journal).flatten();
    let record = newer
        .or_else(|| stored::read_file(&files.record).ok())
        .or_else(from_journal);
    let mut record = record.ok_or_else(|| unreadable(&files, found))?;
    record.grade = outcomes::read(logs, found);
    Ok(record)
}

/// As it is stored, where it may have fields of a later version, with the consultations that follow
/// it up.
pub fn json(logs: &Path, found: &ConsultationId, record: &StoredRecord) -> Result<String, Error> {
    let files = ConsultationFiles::in_folder(logs, found);
    let bytes = files::read(&files.record, SizeLimit::RECORD).ok();
    let stored = bytes
        .filter(|bytes| !is_journal_newer(&files) && stored::read(bytes).is_ok())
        .and_then(|bytes| serde_json::from_slice::<Map<String, Value>>(&bytes).ok());
    let Some(mut stored) = stored else {
        return pretty_json(record).map_err(Error::failed);
    };
    if !record.follow_ups.is_empty() {
        stored.insert("follow_ups".to_owned(), json!(record.follow_ups));
    }
    pretty_json(&stored).map_err(Error::failed)
}

/// `None` if it left no readable files.
pub fn record_of(home: &Home, id: &ConsultationId) -> Option<StoredRecord> {
    load(&home.logs_folder(), id).ok()
}

/// Nothing if it left none.
pub fn spend_of(home: &Home, id: &ConsultationId) -> ConsultationSpend {
    spend(&record_of(home, id))
}

/// A record for models: with the texts as they were written, which name the experts by their
/// labels. Only the journal has them.
#[derive(Debug)]
pub struct RecordForModels {
    pub record: StoredRecord,
    /// The consultation that its question follows up, as its prompts quoted it.
    pub follows_up: Option<Box<PriorConsultation>>,
    /// The context of its question, or why it cannot be sent again; `None` without one.
    pub context: Option<Result<EarlierContext, Box<dyn StdError + Send + Sync>>>,
}

pub fn load_for_models(logs: &Path, found: &ConsultationId) -> Result<RecordForModels, Error> {
    let record = load(logs, found)?;
    let files = ConsultationFiles::in_folder(logs, found);
    let journal = read_journal(&files.journal);
    let transcript = journal.ok().and_then(|events| Transcript::fold(&events));
    let Some(transcript) = transcript else {
        let context = record.context.as_ref().and_then(StoredContext::context);
        let context = context.map(|context| earlier_context(context, &record, &files));
        return Ok(RecordForModels {
            record,
            follows_up: None,
            context,
        });
    };
    let plan = transcript.terms.plan.as_deref();
    let context = plan.and_then(|plan| plan.context.as_deref().cloned());
    let context = context.map(|context| earlier_context(context, &record, &files));
    Ok(RecordForModels {
        record: StoredRecord {
            responses: transcript.labelled_record().responses,
            ..record
        },
        follows_up: transcript
            .terms
            .plan
            .and_then(|plan| plan.debate.follows_up),
        context,
    })
}

fn earlier_context(
    context: Context,
    record: &StoredRecord,
    files: &ConsultationFiles,
) -> Result<EarlierContext, Box<dyn StdError + Send + Sync>> {
    let text = context_file::read(&files.context, &context)?;
    let context = Context { text, ..context };
    EarlierContext::of(&context, record.project_context.as_ref())
        .ok_or_else(|| "another version of the program stored the context".into())
}

fn is_journal_newer(files: &ConsultationFiles) -> bool {
    let written = |path: &Path| fs::metadata(path)?.modified();
    let (recorded, journalled) = (written(&files.record), written(&files.journal));
    recorded.is_ok_and(|recorded| journalled.is_ok_and(|journalled| journalled > recorded))
}

/// The record cannot be read, and there is no journal in its place.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the record of {}", id.short())]
struct UnreadableRecordError {
    id: ConsultationId,
    source: RecordReadError,
}

fn unreadable(files: &ConsultationFiles, found: &ConsultationId) -> Error {
    if files.record.exists()
        && let Err(source) = stored::read_file(&files.record)
    {
        let id = found.clone();
        return Error::failed(UnreadableRecordError { id, source })
            .hint(format!("look at the file: {}", files.record.display()));
    }
    let found = found.short();
    if is_being_written(&files.journal) {
        // A journal of this instant: its first event is not there yet.
        return Error::failed(format!("{found} has only just begun")).hint(format!(
            "show it when it has ended with `conclave history show {found}`"
        ));
    }
    match read_journal(&files.journal) {
        Err(error) if files.journal.exists() => {
            Error::failed(error).hint("the file can still be read: it has one JSON object per line")
        }
        Err(_) => Error::failed(format!("the files of {found} no longer exist")).hint(format!(
            "remove it from the list with `conclave history rm {found}`"
        )),
        Ok(_) => Error::failed(format!("{found} has no events: its journal is empty")),
    }
}
