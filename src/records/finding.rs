//! Finding kept consultations: by name, and the newest that can be gone on with. Only names and tails are looked at, however many there are.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use serde::Deserialize;

use crate::consultation::event::{AbortReason, SCHEMA_VERSION};
use crate::domain::ids::ConsultationId;
use crate::domain::time::Timestamp;

use super::files::ConsultationFiles;

/// How much of a journal's end is looked at. The events that end a consultation are far shorter.
const TAIL: u64 = 64 * 1024;

/// What all names of consultations begin with.
const PREFIX: &str = "consult-";

/// How a journal ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Nothing whole is in it.
    Nothing,
    /// It was written by a version that did not keep enough to go on from.
    TooOld,
    /// Its process is gone, or still at it.
    Open,
    Complete,
    Aborted(AbortReason),
}

impl Ending {
    /// Whether there is something to go on with.
    pub fn is_resumable(self) -> bool {
        match self {
            Self::Open => true,
            Self::Aborted(reason) => reason.is_resumable(),
            Self::Nothing | Self::TooOld | Self::Complete => false,
        }
    }
}

/// Why a name names no consultation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotFound {
    /// None is called so.
    Nothing,
    /// Several are called so; newest first.
    Several(Vec<ConsultationId>),
}

/// The consultations whose journals are in the folder of logs, newest first. No folder has none.
pub fn newest_first(logs: &Path) -> io::Result<Vec<ConsultationId>> {
    let entries = match fs::read_dir(logs) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        let unique = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(".jsonl"));
        found.extend(unique.filter(|unique| !unique.is_empty()).map(ConsultationId::from_unique));
    }
    // The names begin with the time.
    found.sort_by(|one, other| other.cmp(one));
    Ok(found)
}

/// The consultation that a user means: by its id, a beginning of it with or without `consult-`, one of its files, or `last`.
pub fn named(newest_first: &[ConsultationId], name: &str) -> Result<ConsultationId, NotFound> {
    if name == "last" {
        return newest_first.first().cloned().ok_or(NotFound::Nothing);
    }
    let name = Path::new(name).file_name().and_then(|name| name.to_str()).unwrap_or_default().to_ascii_lowercase();
    let name = [".jsonl", ".json", ".md"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
    let unique = name.strip_prefix(PREFIX).unwrap_or(name);
    if unique.is_empty() {
        return Err(NotFound::Nothing);
    }
    let called = |id: &&ConsultationId| id.as_str().strip_prefix(PREFIX).is_some_and(|found| found.starts_with(unique));
    let found: Vec<ConsultationId> = newest_first.iter().filter(called).cloned().collect();
    let whole = found.iter().find(|id| id.as_str().strip_prefix(PREFIX) == Some(unique));
    match (whole, found.as_slice()) {
        (Some(id), _) | (None, [id]) => Ok(id.clone()),
        (None, []) => Err(NotFound::Nothing),
        (None, [_, _, ..]) => Err(NotFound::Several(found)),
    }
}

/// Looks how a journal ends, at no more than its last lines.
pub fn ending(journal: &Path) -> io::Result<Ending> {
    let mut file = File::open(journal)?;
    let length = file.metadata()?.len();
    let from = length.saturating_sub(TAIL);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail)?;
    let mut lines: Vec<&[u8]> = tail.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    if from > 0 && !lines.is_empty() {
        // It began somewhere before.
        lines.remove(0);
    }
    // A last line that is no event was torn off; one before it that is none is for who reads the whole to complain about.
    let last = lines.iter().rev().take(2).find_map(|line| serde_json::from_slice::<Line>(line).ok());
    Ok(match last {
        None if from == 0 && lines.len() < 2 => Ending::Nothing,
        None => Ending::Open,
        Some(line) if line.schema_version != SCHEMA_VERSION => Ending::TooOld,
        Some(line) => match line.kind.as_str() {
            "consultation:completed" => Ending::Complete,
            "consultation:aborted" => {
                line.data.reason.and_then(|reason| AbortReason::deserialize(reason).ok()).map_or(Ending::Open, Ending::Aborted)
            }
            _ => Ending::Open,
        },
    })
}

/// What a list of consultations shows of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    pub at: Timestamp,
    pub question: String,
}

/// Reads the first line of a journal; `None` when it does not tell.
pub fn opening(files: &ConsultationFiles) -> Option<Opening> {
    let mut line = Vec::new();
    BufReader::new(File::open(&files.journal).ok()?).read_until(b'\n', &mut line).ok()?;
    let line: Line = serde_json::from_slice(&line).ok()?;
    Some(Opening { at: line.at, question: line.data.question? })
}

/// What is looked at of an event.
#[derive(Debug, Deserialize)]
struct Line {
    schema_version: String,
    at: Timestamp,
    #[serde(rename = "type")]
    kind: String,
    data: Data,
}

#[derive(Debug, Deserialize)]
struct Data {
    #[serde(default)]
    question: Option<String>,
    #[serde(default)]
    reason: Option<serde_json::Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(names: &[&str]) -> Vec<ConsultationId> {
        names.iter().map(|name| ConsultationId::from_unique(name)).collect()
    }

    #[test]
    fn a_consultation_is_named_by_its_id_a_beginning_of_it_one_of_its_files_or_as_the_last() {
        let kept = ids(&["01kb2", "01kb1", "01ka1"]);
        for name in ["consult-01ka1", "01ka1", "01KA", "consult-01ka", "logs/consult-01ka1.json", "/x/consult-01ka1.jsonl", "01ka1.md"] {
            assert_eq!(named(&kept, name).unwrap().as_str(), "consult-01ka1", "{name}");
        }
        assert_eq!(named(&kept, "last").unwrap().as_str(), "consult-01kb2");
        assert_eq!(named(&kept, "01kb"), Err(NotFound::Several(ids(&["01kb2", "01kb1"]))));
        for name in ["02", "", "consult-", "/", "last2"] {
            assert_eq!(named(&kept, name), Err(NotFound::Nothing), "{name}");
        }
        assert_eq!(named(&[], "last"), Err(NotFound::Nothing));
    }

    #[test]
    fn a_whole_name_is_meant_also_when_another_begins_with_it() {
        assert_eq!(named(&ids(&["01kb2", "01kb"]), "01kb").unwrap().as_str(), "consult-01kb");
    }
}
