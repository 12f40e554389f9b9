//! Finds the consultation or run that a user names. Reads the index and file names only, however
//! many there are.

use std::fmt::Display;
use std::io;
use std::path::Path;

use rusqlite::Connection;

use crate::domain::ids::ConsultationId;

use super::files::{ID_PREFIX, consultations_newest_first};
use super::history;

/// The name of the newest.
const LAST: &str = "last";

/// The reason why a name does not identify one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookupError<T> {
    NotFound,
    /// The name fits several; newest first.
    Ambiguous(Vec<T>),
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
) -> io::Result<Result<ConsultationId, LookupError<ConsultationId>>> {
    // An index that fails counts as an empty one.
    let indexed = index
        .and_then(|index| in_index(index, file_stem(name)).ok())
        .unwrap_or_default();
    match among(indexed, ID_PREFIX, name) {
        Err(LookupError::NotFound) => Ok(among(consultations_newest_first(logs)?, ID_PREFIX, name)),
        found => Ok(found),
    }
}

/// Returns the name of a file without its folder and suffix, that of its folder for a file of a
/// run, any other name as it is.
fn file_stem(name: &str) -> &str {
    let path = Path::new(name);
    let is_in_run = path.ends_with("log.jsonl") || path.ends_with("state.json");
    let named = path.parent().filter(|_| is_in_run).unwrap_or(path);
    let name = named
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
    suffixes
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix))
        .unwrap_or(name)
}

fn in_index(index: &Connection, name: &str) -> rusqlite::Result<Vec<ConsultationId>> {
    if name == LAST {
        return Ok(history::newest(index)?.into_iter().collect());
    }
    let name = name.to_ascii_lowercase();
    let unique = name.strip_prefix(ID_PREFIX).unwrap_or(&name);
    history::with_prefix(index, &format!("{ID_PREFIX}{unique}"))
}

/// An id or a prefix of it, with or without the prefix of all ids, one of its files, or `last`. A
/// whole id wins over longer ones that begin with it.
pub fn among<T: Display>(
    mut newest_first: Vec<T>,
    id_prefix: &str,
    name: &str,
) -> Result<T, LookupError<T>> {
    let name = file_stem(name);
    if name == LAST {
        return newest_first.into_iter().next().ok_or(LookupError::NotFound);
    }
    let unique = |id: &str| {
        let id = id.to_ascii_lowercase();
        id.strip_prefix(id_prefix).unwrap_or(&id).to_owned()
    };
    let name = unique(name);
    if name.is_empty() {
        return Err(LookupError::NotFound);
    }
    newest_first.retain(|id| unique(&id.to_string()).starts_with(&name));
    let exact = newest_first
        .iter()
        .position(|id| unique(&id.to_string()) == name);
    match (exact, newest_first.len()) {
        (_, 0) => Err(LookupError::NotFound),
        (Some(at), _) => Ok(newest_first.swap_remove(at)),
        (None, 1) => Ok(newest_first.swap_remove(0)),
        (None, _) => Err(LookupError::Ambiguous(newest_first)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(names: &[&str]) -> Vec<ConsultationId> {
        names
            .iter()
            .map(|name| ConsultationId::from_unique(name))
            .collect()
    }

    fn named(stored: &[&str], name: &str) -> Result<String, LookupError<ConsultationId>> {
        among(ids(stored), ID_PREFIX, name).map(|id| id.to_string())
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
            "01ka1/log.jsonl",
            "/x/consult-01ka1/state.json",
            "/x/consult-01ka1/",
        ] {
            assert_eq!(named(&stored, name).unwrap(), "consult-01ka1", "{name}");
        }
        assert_eq!(named(&stored, "last").unwrap(), "consult-01kb2");
        assert_eq!(
            named(&stored, "01kb"),
            Err(LookupError::Ambiguous(ids(&["01kb2", "01kb1"])))
        );
        for name in ["02", "", "consult-", "/", "..", "last2"] {
            assert_eq!(named(&stored, name), Err(LookupError::NotFound), "{name}");
        }
        assert_eq!(named(&[], "last"), Err(LookupError::NotFound));
    }

    #[test]
    fn whole_id_wins_over_longer_ids_with_that_prefix() {
        assert_eq!(named(&["01kb2", "01kb"], "01kb").unwrap(), "consult-01kb");
    }
}
