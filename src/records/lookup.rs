//! Finding kept consultations: by name, and the newest that can be gone on with. Only the index,
//! names and tails are looked at, however many there are.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use rusqlite::Connection;
use serde::Deserialize;

use crate::consultation::event::{AbortReason, RESUMABLE_VERSIONS};
use crate::domain::ids::ConsultationId;
use crate::domain::time::Timestamp;

use super::files::ConsultationFiles;
use super::history;

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

/// A consultation as it is found: its id, and the name of its files without their endings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub id: String,
    pub stem: String,
}

impl Found {
    /// One of ours, whose files are called as it is.
    pub fn of(id: &ConsultationId) -> Self {
        Self {
            id: id.to_string(),
            stem: id.to_string(),
        }
    }

    /// Its id, when it is one of ours.
    pub fn ours(&self) -> Option<ConsultationId> {
        let unique = self
            .id
            .strip_prefix(PREFIX)
            .filter(|_| self.id == self.stem)?;
        Some(ConsultationId::from_unique(unique)).filter(|id| id.as_str() == self.id)
    }
}

/// Why a name names no consultation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotFound {
    /// None is called so.
    Nothing,
    /// Several are called so; newest first.
    Several(Vec<Found>),
}

/// The consultations whose journals are in the folder of logs, newest first. No folder has none.
pub fn newest_first(logs: &Path) -> io::Result<Vec<ConsultationId>> {
    let mut found = Vec::new();
    each_name(logs, |name| {
        let unique = name
            .strip_prefix(PREFIX)
            .and_then(|name| name.strip_suffix(".jsonl"));
        found.extend(
            unique
                .filter(|unique| !unique.is_empty())
                .map(ConsultationId::from_unique),
        );
    })?;
    // The names begin with the time.
    found.sort_by(|one, other| other.cmp(one));
    Ok(found)
}

/// The consultations that have a journal or a record in the folder of logs, newest first. No folder
/// has none.
pub fn all_newest_first(logs: &Path) -> io::Result<Vec<Found>> {
    let mut stems = BTreeSet::new();
    each_name(logs, |name| {
        let stem = [".jsonl", ".json"]
            .iter()
            .find_map(|ending| name.strip_suffix(ending));
        stems.extend(
            stem.filter(|stem| stem.starts_with(PREFIX) && !stem.contains('.'))
                .map(ToOwned::to_owned),
        );
    })?;
    Ok(stems
        .into_iter()
        .rev()
        .map(|stem| Found {
            id: id_of(&stem),
            stem,
        })
        .collect())
}

/// The id that the files of this name have: the original puts `consult-` before an id that begins
/// so.
fn id_of(stem: &str) -> String {
    let inner = stem.strip_prefix(PREFIX).unwrap_or(stem);
    if inner.starts_with(PREFIX) {
        inner.to_owned()
    } else {
        stem.to_owned()
    }
}

fn each_name(folder: &Path, mut tell: impl FnMut(&str)) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        if let Some(name) = entry?.file_name().to_str() {
            tell(name);
        }
    }
    Ok(())
}

/// The consultation that a user means: by its id, a beginning of it with or without `consult-`, one
/// of its files, or `last`.
///
/// It is looked for in the index, where there is one that can be used: there it is found among any
/// number of others at once. What the index does not know is looked for in the folder.
///
/// # Errors
///
/// When the folder cannot be read.
pub fn named(
    index: Option<&Connection>,
    logs: &Path,
    name: &str,
) -> io::Result<Result<Found, NotFound>> {
    let Some(name) = Name::parse(name) else {
        return Ok(Err(NotFound::Nothing));
    };
    // An index that fails is one that knows nothing.
    let indexed = index
        .and_then(|index| name.in_index(index).ok())
        .unwrap_or(Err(NotFound::Nothing));
    match indexed {
        Err(NotFound::Nothing) => Ok(name.among(all_newest_first(logs)?)),
        Ok(_) | Err(NotFound::Several(_)) => Ok(indexed),
    }
}

/// What a user calls a consultation.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Name {
    Last,
    /// The beginning of what is behind `consult-`.
    Beginning(String),
}

impl Name {
    fn parse(name: &str) -> Option<Self> {
        if name == "last" {
            return Some(Self::Last);
        }
        let name = Path::new(name)
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let endings = [".jsonl", ".outcome.json", ".json", ".md"];
        let name = endings
            .iter()
            .find_map(|ending| name.strip_suffix(ending))
            .unwrap_or(name);
        let name = name.trim_start_matches(PREFIX);
        (!name.is_empty()).then(|| Self::Beginning(name.to_owned()))
    }

    fn in_index(&self, index: &Connection) -> rusqlite::Result<Result<Found, NotFound>> {
        let Self::Beginning(beginning) = self else {
            return Ok(history::newest(index)?.ok_or(NotFound::Nothing));
        };
        // Ids are in small letters; those of other programs need not be.
        let mut found = history::beginning_with(index, &format!("{PREFIX}{beginning}"))?;
        let small = beginning.to_ascii_lowercase();
        if found.is_empty() && small != *beginning {
            found = history::beginning_with(index, &format!("{PREFIX}{small}"))?;
        }
        Ok(self.among(found))
    }

    /// The one that is called so, among these.
    fn among(&self, newest_first: Vec<Found>) -> Result<Found, NotFound> {
        let Self::Beginning(beginning) = self else {
            return newest_first.into_iter().next().ok_or(NotFound::Nothing);
        };
        let unique = |found: &Found| found.id.trim_start_matches(PREFIX).to_ascii_lowercase();
        let beginning = beginning.to_ascii_lowercase();
        let mut found: Vec<Found> = newest_first
            .into_iter()
            .filter(|found| unique(found).starts_with(&beginning))
            .collect();
        let whole = found.iter().position(|found| unique(found) == beginning);
        match (whole, found.len()) {
            (_, 0) => Err(NotFound::Nothing),
            (Some(at), _) => Ok(found.swap_remove(at)),
            (None, 1) => Ok(found.swap_remove(0)),
            (None, _) => Err(NotFound::Several(found)),
        }
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
    let mut lines: Vec<&[u8]> = tail
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .collect();
    if from > 0 && !lines.is_empty() {
        // It began somewhere before.
        lines.remove(0);
    }
    // A last line that is no event was torn off; one before it that is none is for who reads the
    // whole to complain about.
    let last = lines
        .iter()
        .rev()
        .take(2)
        .find_map(|line| serde_json::from_slice::<Line>(line).ok());
    Ok(match last {
        None if from == 0 && lines.len() < 2 => Ending::Nothing,
        None => Ending::Open,
        Some(line) if !RESUMABLE_VERSIONS.contains(&line.schema_version.as_str()) => Ending::TooOld,
        Some(line) => match line.kind.as_str() {
            "consultation:completed" => Ending::Complete,
            "consultation:aborted" => line
                .data
                .reason
                .and_then(|reason| AbortReason::deserialize(reason).ok())
                .map_or(Ending::Open, Ending::Aborted),
            _ => Ending::Open,
        },
    })
}

/// What a list of consultations shows of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    pub at: Timestamp,
    pub question: String,
    pub mode: Option<String>,
}

/// Reads the first line of a journal; `None` when it does not tell.
pub fn opening(files: &ConsultationFiles) -> Option<Opening> {
    let mut line = Vec::new();
    BufReader::new(File::open(&files.journal).ok()?)
        .read_until(b'\n', &mut line)
        .ok()?;
    let line: Line = serde_json::from_slice(&line).ok()?;
    Some(Opening {
        at: line.at,
        question: line.data.question?,
        mode: line.data.mode,
    })
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
    mode: Option<String>,
    #[serde(default)]
    reason: Option<serde_json::Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[&str]) -> Vec<Found> {
        names
            .iter()
            .map(|name| Found::of(&ConsultationId::from_unique(name)))
            .collect()
    }

    fn named(kept: &[&str], name: &str) -> Result<String, NotFound> {
        Name::parse(name)
            .ok_or(NotFound::Nothing)?
            .among(found(kept))
            .map(|found| found.id)
    }

    #[test]
    fn a_consultation_is_named_by_its_id_a_beginning_of_it_one_of_its_files_or_as_the_last() {
        let kept = ["01kb2", "01kb1", "01ka1"];
        for name in [
            "consult-01ka1",
            "01ka1",
            "01KA",
            "consult-01ka",
            "logs/consult-01ka1.json",
            "/x/consult-01ka1.jsonl",
            "01ka1.md",
        ] {
            assert_eq!(named(&kept, name).unwrap(), "consult-01ka1", "{name}");
        }
        assert_eq!(named(&kept, "last").unwrap(), "consult-01kb2");
        assert_eq!(
            named(&kept, "01kb"),
            Err(NotFound::Several(found(&["01kb2", "01kb1"])))
        );
        for name in ["02", "", "consult-", "/", "last2"] {
            assert_eq!(named(&kept, name), Err(NotFound::Nothing), "{name}");
        }
        assert_eq!(named(&[], "last"), Err(NotFound::Nothing));
    }

    #[test]
    fn a_whole_name_is_meant_also_when_another_begins_with_it() {
        assert_eq!(named(&["01kb2", "01kb"], "01kb").unwrap(), "consult-01kb");
    }

    #[test]
    fn files_of_the_original_have_an_id_that_begins_as_ours_do() {
        assert_eq!(
            (
                id_of("consult-consult-Ab1").as_str(),
                id_of("consult-01kb").as_str()
            ),
            ("consult-Ab1", "consult-01kb")
        );
        assert_eq!(
            Name::parse("x/consult-consult-Ab1.json"),
            Some(Name::Beginning("Ab1".to_owned()))
        );
    }
}
