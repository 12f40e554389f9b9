//! The two ends of a journal: its first line, which states the question, and its last lines, which
//! state how the consultation ended. However long the journal is, nothing else of it is read.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use serde::Deserialize;

use crate::consultation::event::{AbortReason, ConsultationEvent, Envelope, Event, SCHEMA_VERSION};
use crate::domain::time::Timestamp;
use crate::files::{self, SizeLimit};

/// Bytes read from a journal's end. The events that end a consultation are far shorter.
const TAIL: u64 = 64 * 1024;

/// The ending of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalEnding {
    /// It has no complete event.
    Empty,
    /// It was written by another version of this program and cannot be resumed.
    OtherVersion,
    /// Without an end: its process was killed or is still running.
    Open,
    Complete,
    Aborted(AbortReason),
}

impl JournalEnding {
    /// Returns the ending of a journal whose last event this is.
    pub fn with_last(event: &Envelope) -> Self {
        match &event.event {
            Event::Consultation(ConsultationEvent::Completed { .. }) => Self::Complete,
            Event::Consultation(ConsultationEvent::Aborted(abort)) => Self::Aborted(abort.reason),
            _ => Self::Open,
        }
    }

    pub fn is_resumable(self) -> bool {
        match self {
            Self::Open => true,
            Self::Aborted(reason) => reason.is_resumable(),
            Self::Empty | Self::OtherVersion | Self::Complete => false,
        }
    }
}

pub fn ending(journal: &Path) -> io::Result<JournalEnding> {
    let mut file = files::open(journal, SizeLimit::JOURNAL)?;
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
        // The first line is cut.
        lines.remove(0);
    }
    // A last line that is not an event was torn off. The full read reports damage before that.
    let last = lines.iter().rev().take(2).find_map(|line| {
        let EventVersion { schema_version } = serde_json::from_slice(line).ok()?;
        Some((schema_version, line))
    });
    Ok(match last {
        None if from == 0 && lines.len() < 2 => JournalEnding::Empty,
        None => JournalEnding::Open,
        Some((version, _)) if version != SCHEMA_VERSION => JournalEnding::OtherVersion,
        Some((_, line)) => serde_json::from_slice(line).as_ref().map_or(
            // Whole, and of this version, and no event.
            JournalEnding::Open,
            JournalEnding::with_last,
        ),
    })
}

/// The contents of a journal's first line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalOpening {
    pub at: Timestamp,
    pub question: String,
    pub mode: Option<String>,
    /// The size of the context, whose text lies beside the journal.
    pub context_bytes: u64,
}

/// `None` when it is not the start of a consultation.
pub fn opening(journal: &Path) -> Option<JournalOpening> {
    let mut line = Vec::new();
    BufReader::new(files::open(journal, SizeLimit::JOURNAL).ok()?)
        .read_until(b'\n', &mut line)
        .ok()?;
    let Envelope { at, event, .. } = serde_json::from_slice(&line).ok()?;
    let Event::Consultation(ConsultationEvent::Started(terms)) = event else {
        return None;
    };
    let context = terms.plan.and_then(|plan| plan.context);
    Some(JournalOpening {
        at,
        question: terms.question,
        mode: Some(terms.mode),
        context_bytes: context.map_or(0, |context| context.bytes),
    })
}

#[derive(Deserialize)]
struct EventVersion {
    schema_version: String,
}
