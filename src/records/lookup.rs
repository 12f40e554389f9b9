//! Finds the consultation that a user names, and lists the consultations of a folder, newest first.
//! Reads the index and file names only, however many there are.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use rusqlite::Connection;

use crate::domain::ids::RecordName;

use super::files::{ConsultationRef, ID_PREFIX};
use super::history;

/// The reason why a name does not identify one consultation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookupError {
    NotFound,
    /// The name fits several; newest first.
    Ambiguous(Vec<ConsultationRef>),
}

/// Finds the consultation that a user names: by its id, a prefix of it with or without `consult-`,
/// one of its files, or `last`.
///
/// Asks the index where there is one, which is fast among any number of consultations; what the
/// index lacks is looked up in the folder.
///
/// # Errors
///
/// When the folder cannot be read.
pub fn find(
    index: Option<&Connection>,
    logs: &Path,
    name: &str,
) -> io::Result<Result<ConsultationRef, LookupError>> {
    let Some(name) = ConsultationName::parse(name) else {
        return Ok(Err(LookupError::NotFound));
    };
    // An index that fails counts as an empty one.
    let indexed = index
        .and_then(|index| name.in_index(index).ok())
        .unwrap_or(Err(LookupError::NotFound));
    match indexed {
        Err(LookupError::NotFound) => Ok(name.among(consultations_newest_first(logs)?)),
        Ok(_) | Err(LookupError::Ambiguous(_)) => Ok(indexed),
    }
}

/// The contents of the folder of logs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogFolder {
    pub newest_first: Vec<ConsultationRef>,
    /// Names of files like a consultation's that are none, each with the reason.
    pub skipped: Vec<(String, String)>,
}

/// Returns the consultations with a journal or a record in the folder of logs, newest first; none
/// without a folder.
pub fn consultations_newest_first(logs: &Path) -> io::Result<Vec<ConsultationRef>> {
    list(logs).map(|folder| folder.newest_first)
}

/// Lists the folder of logs by the names of its files.
pub fn list(logs: &Path) -> io::Result<LogFolder> {
    let entries = match fs::read_dir(logs) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(LogFolder::default()),
        entries => entries?,
    };
    let (mut stems, mut skipped) = (BTreeSet::new(), Vec::new());
    for entry in entries {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        let stem = name
            .strip_suffix(".jsonl")
            .or_else(|| name.strip_suffix(".json"))
            .filter(|stem| stem.len() > ID_PREFIX.len() && stem.starts_with(ID_PREFIX))
            // Another file of a consultation: its grade.
            .filter(|stem| !stem.contains('.'));
        match stem.map(RecordName::parse) {
            Some(Ok(stem)) => {
                stems.insert(stem);
            }
            Some(Err(error)) => skipped.push((name.clone().into_owned(), error.to_string())),
            None => {}
        }
    }
    let consultation = |stem: RecordName| ConsultationRef {
        id: stem.clone(),
        stem,
    };
    Ok(LogFolder {
        newest_first: stems.into_iter().rev().map(consultation).collect(),
        skipped,
    })
}

/// A user's name for a consultation.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ConsultationName {
    Last,
    /// A prefix of the part behind `consult-`.
    Prefix(String),
}

impl ConsultationName {
    fn parse(name: &str) -> Option<Self> {
        if name == "last" {
            return Some(Self::Last);
        }
        let name = Path::new(name)
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let suffixes = [
            ".jsonl",
            ".outcome.json",
            ".json",
            ".md",
            ".html",
            ".context",
        ];
        let name = suffixes
            .iter()
            .find_map(|suffix| name.strip_suffix(suffix))
            .unwrap_or(name);
        let name = name.trim_start_matches(ID_PREFIX);
        (!name.is_empty()).then(|| Self::Prefix(name.to_owned()))
    }

    fn in_index(
        &self,
        index: &Connection,
    ) -> rusqlite::Result<Result<ConsultationRef, LookupError>> {
        let Self::Prefix(prefix) = self else {
            return Ok(history::newest(index)?.ok_or(LookupError::NotFound));
        };
        // Our ids are lower-case; those of other programs need not be.
        let mut candidates = history::with_prefix(index, &format!("{ID_PREFIX}{prefix}"))?;
        let lower = prefix.to_ascii_lowercase();
        if candidates.is_empty() && lower != *prefix {
            candidates = history::with_prefix(index, &format!("{ID_PREFIX}{lower}"))?;
        }
        Ok(self.among(candidates))
    }

    /// Returns the one candidate that the name fits. A whole id wins over longer ones that begin
    /// with it.
    fn among(&self, newest_first: Vec<ConsultationRef>) -> Result<ConsultationRef, LookupError> {
        let Self::Prefix(prefix) = self else {
            return newest_first.into_iter().next().ok_or(LookupError::NotFound);
        };
        let unique = |candidate: &ConsultationRef| {
            candidate
                .id
                .as_str()
                .trim_start_matches(ID_PREFIX)
                .to_ascii_lowercase()
        };
        let prefix = prefix.to_ascii_lowercase();
        let mut candidates: Vec<ConsultationRef> = newest_first
            .into_iter()
            .filter(|candidate| unique(candidate).starts_with(&prefix))
            .collect();
        let exact = candidates
            .iter()
            .position(|candidate| unique(candidate) == prefix);
        match (exact, candidates.len()) {
            (_, 0) => Err(LookupError::NotFound),
            (Some(at), _) => Ok(candidates.swap_remove(at)),
            (None, 1) => Ok(candidates.swap_remove(0)),
            (None, _) => Err(LookupError::Ambiguous(candidates)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::ConsultationId;

    fn refs(names: &[&str]) -> Vec<ConsultationRef> {
        names
            .iter()
            .map(|name| ConsultationRef::of(&ConsultationId::from_unique(name)))
            .collect()
    }

    fn named(stored: &[&str], name: &str) -> Result<String, LookupError> {
        ConsultationName::parse(name)
            .ok_or(LookupError::NotFound)?
            .among(refs(stored))
            .map(|consultation| consultation.id.to_string())
    }

    #[test]
    fn ids_prefixes_files_and_last_name_a_consultation() {
        let stored = ["01kb2", "01kb1", "01ka1"];
        for name in [
            "consult-01ka1",
            "01ka1",
            "01KA",
            "consult-01ka",
            "logs/consult-01ka1.json",
            "/x/consult-01ka1.jsonl",
            "01ka1.md",
            "logs/consult-01ka1.context",
        ] {
            assert_eq!(named(&stored, name).unwrap(), "consult-01ka1", "{name}");
        }
        assert_eq!(named(&stored, "last").unwrap(), "consult-01kb2");
        assert_eq!(
            named(&stored, "01kb"),
            Err(LookupError::Ambiguous(refs(&["01kb2", "01kb1"])))
        );
        for name in ["02", "", "consult-", "/", "last2"] {
            assert_eq!(named(&stored, name), Err(LookupError::NotFound), "{name}");
        }
        assert_eq!(named(&[], "last"), Err(LookupError::NotFound));
    }

    #[test]
    fn whole_id_wins_over_longer_ids_with_that_prefix() {
        assert_eq!(named(&["01kb2", "01kb"], "01kb").unwrap(), "consult-01kb");
    }
}
