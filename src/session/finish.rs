//! The end of a consultation: what is kept, what is shown, and how the command ends.
//!
//! The order is journal, record, Markdown, answer, index. A failure to write is told once and harms
//! neither what was written before nor the answer.

use std::path::{Path, PathBuf};

use super::index::{Entry, Unfit};
use super::write_answer::{Answer, give};
use crate::config::paths::Home;
use crate::consultation::event::{Envelope, StateName};
use crate::consultation::transcript::Transcript;
use crate::domain::ids::ConsultationId;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::records::files::{ConsultationFiles, WriteError, check_writable, create_private_dir};
use crate::records::journal::Journal;
use crate::records::record::record;
use crate::terminal::output::printer::Printer;
use crate::terminal::report::report;

use super::abort_error::aborted;
use crate::commands::consult::flags::OutputFlags;

/// What is kept of a consultation.
#[derive(Debug)]
pub(crate) enum Keeping {
    Nothing,
    All(ConsultationFiles, Journal),
}

/// What was kept in the end.
#[derive(Debug)]
struct Kept {
    record: PathBuf,
    /// Nothing is missing from the journal, so that it can be gone on with.
    journal_is_whole: bool,
}

impl Keeping {
    /// Begins the journal. A failure is told, and the consultation goes on without keeping
    /// anything.
    pub(crate) fn open(home: &Home, id: &ConsultationId, printer: &Printer) -> Self {
        let logs = logs(home);
        let files = ConsultationFiles::in_folder(&logs, id);
        let journal = create_private_dir(home.path())
            .and_then(|()| create_private_dir(&logs))
            .and_then(|()| Journal::create(&files.journal));
        match journal {
            Ok(journal) => Self::All(files, journal),
            Err(failed) => {
                printer.warning(&failed.notice());
                Self::Nothing
            }
        }
    }

    /// A place in the index for what is kept.
    pub(crate) fn entry(&self, home: &Home, id: &ConsultationId, at: Timestamp) -> Option<Entry> {
        match self {
            Self::All(..) => Some(Entry::begin(home, id, at)),
            Self::Nothing => None,
        }
    }

    pub(crate) fn journal(&mut self) -> Option<&mut Journal> {
        match self {
            Self::All(_, journal) => Some(journal),
            Self::Nothing => None,
        }
    }

    /// Waits for the journal to be on disk, then writes the results.
    fn write(self, transcript: &Transcript, markdown: &str, printer: &Printer) -> Option<Kept> {
        let Self::All(files, mut journal) = self else {
            return None;
        };
        let mut told = journal.has_failed();
        let mut tell = |failed: &WriteError| {
            if !std::mem::replace(&mut told, true) {
                printer.warning(&failed.notice());
            }
        };
        if let Err(failed) = journal.finish() {
            tell(&failed);
        }
        match files.write_results(transcript, markdown) {
            Ok(()) => Some(Kept {
                record: files.record,
                journal_is_whole: !told,
            }),
            Err(failed) => {
                tell(&failed);
                None
            }
        }
    }
}

pub(crate) use super::index::logs;

/// Checks before anything is spent that the answer will have a place to go.
pub(crate) fn check_output(output: &Path) -> Result<(), Error> {
    let folder = output
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    match (folder.is_dir(), output.is_dir()) {
        (true, false) => check_writable(output).map_err(Error::usage),
        (false, _) => Err(Error::usage(format!(
            "the folder of `{}` does not exist",
            output.display()
        ))),
        (true, true) => {
            Err(Error::usage(format!("`{}` is a folder", output.display())).hint("name a file"))
        }
    }
}

/// Makes the answer of a consultation that is complete, where that is not its report.
pub(crate) type Present<'a> = &'a dyn Fn(&Transcript) -> Answer;

/// Keeps and shows what the events tell.
pub(crate) fn finish(
    history: &[Envelope],
    flags: &OutputFlags,
    present: Option<Present<'_>>,
    keeping: Keeping,
    entry: Option<Entry>,
    printer: &Printer,
) -> Result<(), Error> {
    let Some(transcript) = Transcript::fold(history) else {
        return Err(Error::failed("the consultation ended before it began"));
    };
    let markdown = report(&transcript);
    let kept = keeping.write(&transcript, &markdown, printer);
    let shown = show(&transcript, &markdown, flags, present, kept, printer);
    if let Some(entry) = entry {
        entry.end(
            &transcript,
            if shown.is_ok() {
                Unfit::Mended
            } else {
                Unfit::Left
            },
            printer,
        );
    }
    shown
}

/// Gives the answer, or says why there is none and what is left.
fn show(
    transcript: &Transcript,
    markdown: &str,
    flags: &OutputFlags,
    present: Option<Present<'_>>,
    kept: Option<Kept>,
    printer: &Printer,
) -> Result<(), Error> {
    match &transcript.abort {
        None if transcript.state == StateName::Complete => {
            let answer = present.map(|present| present(transcript));
            let markdown = answer
                .as_ref()
                .map_or(markdown, |answer| answer.markdown.as_str());
            let json = || {
                let json = answer
                    .as_ref()
                    .map_or_else(|| record(transcript), |answer| answer.json.clone());
                serde_json::to_string_pretty(&json).map_err(Error::failed)
            };
            give(
                markdown,
                json,
                flags.format,
                flags.output.as_deref(),
                printer,
            )?;
            if let Some(kept) = kept {
                printer.detail(&format!("Kept in {}", kept.record.display()));
            }
            Ok(())
        }
        None => Err(Error::failed(format!(
            "the consultation ended in state {}",
            transcript.state
        ))),
        Some(abort) => {
            // Before any call went out there is nothing that would be lost.
            let saved =
                kept.filter(|_| !transcript.calls.is_empty() || !transcript.lost_calls.is_empty());
            if let Some(saved) = &saved {
                printer.note(&format!(
                    "💾 Partial results saved to: {}",
                    saved.record.display()
                ));
            }
            let resumable =
                saved.is_some_and(|saved| saved.journal_is_whole && transcript.is_resumable());
            Err(aborted(
                abort,
                transcript,
                resumable.then_some(&transcript.id),
            ))
        }
    }
}
