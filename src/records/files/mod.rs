//! The files of consultations: their names, the folder of logs, and writing of results.

pub mod events_file;
pub mod context_file;

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::domain::ids::ConsultationId;
use crate::domain::record::stored_record::StoredRecord;
use crate::files::write::{Access, Durability, WriteError, replace, sync_folder};
use crate::text::clean::pretty_json;

/// The prefix of every consultation's id and files.
pub(super) const ID_PREFIX: &str = "consult-";

/// The files of one consultation in the folder of logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsultationFiles {
    pub journal: PathBuf,
    pub record: PathBuf,
    pub markdown: PathBuf,
    /// The text of its context.
    pub context: PathBuf,
    /// The page that `history export --open` leaves.
    pub page: PathBuf,
}

impl ConsultationFiles {
    /// Names the files of a consultation in `logs`, which is `consult-logs` in the home.
    pub fn in_folder(logs: &Path, id: &ConsultationId) -> Self {
        let named = |suffix: &str| logs.join(format!("{id}.{suffix}"));
        Self {
            journal: named("jsonl"),
            record: named("json"),
            markdown: named("md"),
            context: named("context"),
            page: named("html"),
        }
    }

    /// Writes the record, then the Markdown.
    ///
    /// # Errors
    ///
    /// At the first file that cannot be written; files written before it stay.
    pub fn write_results(&self, record: &StoredRecord, markdown: &str) -> Result<(), WriteError> {
        let failed = |path, error| WriteError::new(path, error);
        let json = pretty_json(record).map_err(|error| failed(&self.record, error.into()))? + "\n";
        let write = |path, text: &str| {
            replace(path, text.as_bytes(), Access::Own, Durability::Synced)
                .map_err(|error| failed(path, error))
        };
        let folder = write(&self.record, &json)?;
        let rest = write(&self.markdown, markdown);
        // Both lie in one folder: one sync makes both renames durable.
        if let Some(folder) = folder {
            sync_folder(&folder).map_err(|error| failed(&self.record, error))?;
        }
        rest.map(drop)
    }
}

/// The answer is unharmed, its log is lost.
pub fn log_notice(error: &WriteError) -> String {
    let cause = error.source().map(|source| format!(": {source}"));
    format!(
        "Failed to write consultation log: {error}{}",
        cause.unwrap_or_default()
    )
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use crate::files::write::write_atomically;

    use super::*;

    #[test]
    fn notice_names_a_full_disk() {
        let failed = write_atomically(Path::new("/dev/full"), b"x", Access::Normal).unwrap_err();
        let notice = log_notice(&failed);
        assert!(
            notice.starts_with(
                "Failed to write consultation log: the disk is full: cannot write `/dev/full`: "
            ),
            "{notice}"
        );
    }
}

/// The contents of the folder of logs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogFolder {
    pub newest_first: Vec<ConsultationId>,
    /// Names of files like a consultation's that are none, each with the reason.
    pub skipped: Vec<(String, String)>,
}

/// Returns the consultations with a journal or a record in the folder of logs, newest first; none
/// without a folder.
pub fn consultations_newest_first(logs: &Path) -> io::Result<Vec<ConsultationId>> {
    list(logs).map(|folder| folder.newest_first)
}

/// Lists the folder of logs by the names of its files.
pub fn list(logs: &Path) -> io::Result<LogFolder> {
    let entries = match fs::read_dir(logs) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(LogFolder::default()),
        entries => entries?,
    };
    let (mut ids, mut skipped) = (BTreeSet::new(), Vec::new());
    for entry in entries {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        let id = name
            .strip_suffix(".jsonl")
            .or_else(|| name.strip_suffix(".json"))
            .filter(|id| id.len() > ID_PREFIX.len() && id.starts_with(ID_PREFIX))
            // Another file of a consultation: its grade.
            .filter(|id| !id.contains('.'));
        match id.map(ConsultationId::parse) {
            Some(Ok(id)) => {
                ids.insert(id);
            }
            Some(Err(error)) => skipped.push((name.clone().into_owned(), error.to_string())),
            None => {}
        }
    }
    Ok(LogFolder {
        newest_first: ids.into_iter().rev().collect(),
        skipped,
    })
}
