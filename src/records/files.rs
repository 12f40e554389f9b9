//! The files of a consultation: their names, and writing its results.

use std::error::Error;
use std::path::{Path, PathBuf};

use crate::domain::ids::ConsultationId;
use crate::domain::stored_record::StoredRecord;
use crate::domain::text::pretty_json;
use crate::files::write::{Access, Durability, WriteError, replace, sync_folder};

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
        let json = pretty_json(record)
            .map_err(|error| WriteError::new(&self.record, error.into()))?
            + "\n";
        let failed = |path| move |error| WriteError::new(path, error);
        let folder = replace(
            &self.record,
            json.as_bytes(),
            Access::Own,
            Durability::Synced,
        )
        .map_err(failed(&self.record))?;
        let rest = replace(
            &self.markdown,
            markdown.as_bytes(),
            Access::Own,
            Durability::Synced,
        )
        .map_err(failed(&self.markdown));
        // Both lie in one folder: one sync makes both renames durable.
        folder
            .map_or(Ok(()), |folder| sync_folder(&folder))
            .map_err(failed(&self.record))?;
        rest.map(drop)
    }
}

/// Returns the line for the user about a file of a consultation that could not be written: the
/// answer is unharmed, its log is lost.
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
