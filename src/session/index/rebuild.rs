//! A rebuild of the index: its reason, its progress, and the files that it skips.

use crate::config::paths::Home;
use crate::engine::ports::{Face, LongWork};
use crate::error::{Error, whole};
use crate::files::write::create_private_dir;
use crate::records::index::rebuild;
use crate::records::index::rebuild::{RebuildProgress, RebuildReport};
use crate::records::index::{Index, IndexError};
use crate::text::clean::{capitalised, count, one_line};

/// Most skipped files that are named.
const MAX_NAMED: usize = 3;

/// The reason for a rebuild.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RebuildReason {
    /// It could not be opened, for this reason; `None` if a new home has none. Another process may
    /// rebuild it meanwhile.
    Unusable(Option<String>),
    /// It could be opened, but not read.
    Damaged,
    /// The user asked for it.
    Requested,
}

impl RebuildReason {
    pub(super) fn of(unusable: &IndexError) -> Self {
        let is_missing = matches!(unusable, IndexError::Missing(_));
        Self::Unusable((!is_missing).then(|| unusable.to_string()))
    }

    /// `None` for a new index, and a rebuild that the user asked for.
    fn message(&self) -> Option<String> {
        let reason = match self {
            Self::Unusable(reason) => reason.as_deref()?,
            Self::Damaged => "the index is damaged",
            Self::Requested => return None,
        };
        let reason = capitalised(reason);
        Some(format!("{reason}; building the index from the records"))
    }
}

/// One rebuild of the index.
#[derive(Debug)]
pub(super) struct Rebuild<'a> {
    home: &'a Home,
    face: &'a dyn Face,
    reason: RebuildReason,
    /// Up to this many consultations it shows no progress.
    pub(super) silent_up_to: usize,
}

impl<'a> Rebuild<'a> {
    pub(super) fn new(home: &'a Home, face: &'a dyn Face, reason: RebuildReason) -> Self {
        Self {
            home,
            face,
            reason,
            silent_up_to: 0,
        }
    }

    /// When it cannot be written, the returned index is in memory.
    pub(super) fn open(&self) -> Result<Index, Error> {
        let rebuilt = self.run();
        let opened = rebuilt.and_then(|_| Index::open(&self.home.index_file()));
        opened.or_else(|unusable| self.in_place_of(unusable))
    }

    /// Builds an index in memory in place of one that cannot be used, unless the user can make it
    /// usable.
    pub(super) fn in_place_of(&self, unusable: IndexError) -> Result<Index, Error> {
        match unusable {
            IndexError::Busy(_) | IndexError::Logs { .. } => Err(failed(unusable)),
            IndexError::Missing(_)
            | IndexError::OtherVersion(_)
            | IndexError::Damaged { .. }
            | IndexError::Foreign(_)
            | IndexError::Failed { .. } => self.in_memory(&unusable),
        }
    }

    fn in_memory(&self, cause: &IndexError) -> Result<Index, Error> {
        self.face.warning(&format!(
            "{}; the records are read instead",
            capitalised(&whole(cause))
        ));
        let (index, rebuilt) =
            rebuild::build_in_memory(&self.home.logs_folder()).map_err(failed)?;
        self.report(&rebuilt);
        Ok(index)
    }

    /// Does nothing when another process has rebuilt it since it was found to be unusable.
    pub(super) fn run(&self) -> Result<usize, IndexError> {
        let (logs, path) = (self.home.logs_folder(), self.home.index_file());
        // The rebuild itself reports a home that cannot be created.
        let _ = create_private_dir(self.home.path());
        let mut shown = None;
        let progress = &mut |RebuildProgress { done, of }| {
            if of <= self.silent_up_to {
                return;
            }
            // The reason is shown as soon as there is something to do.
            let shown = shown.get_or_insert_with(|| {
                let mut shown = self.face.begin(LongWork::IndexRebuild);
                if let Some(reason) = self.reason.message() {
                    shown.step(&reason);
                }
                shown
            });
            shown.at(done as u64, of as u64);
        };
        let rebuilt = match self.reason {
            RebuildReason::Unusable(_) => {
                rebuild::rebuild_if_unusable(&logs, &path, progress)?.unwrap_or_default()
            }
            RebuildReason::Damaged | RebuildReason::Requested => {
                rebuild::rebuild(&logs, &path, progress)?
            }
        };
        drop(shown);
        self.report(&rebuilt);
        Ok(rebuilt.indexed)
    }

    fn report(&self, rebuilt: &RebuildReport) {
        if let Some(old) = &rebuilt.set_aside {
            self.face
                .note(&format!("The old index is now {}", old.display()));
        }
        let skipped = &rebuilt.skipped;
        if skipped.is_empty() {
            return;
        }
        self.face
            .note(&format!("Skipped {}:", count(skipped.len(), "file")));
        for (name, why) in skipped.iter().take(MAX_NAMED) {
            self.face
                .note(&format!("  {}: {}", one_line(name), one_line(why)));
        }
        if let more @ 1.. = skipped.len().saturating_sub(MAX_NAMED) {
            self.face.note(&format!("  and {more} more"));
        }
    }
}

pub(super) fn failed(error: IndexError) -> Error {
    let hint = match error {
        IndexError::Busy(_) => "try again when that process has ended",
        _ => "the records are intact; try again when there is space and permission to write",
    };
    Error::failed(error).hint(hint)
}
