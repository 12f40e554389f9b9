//! Stores the refinement of a document: a folder beside it, `SPEC.refine/` for `SPEC.md`, for its
//! owner alone, and the document itself.
//!
//! | file | written by | when | lost by a power failure |
//! |---|---|---|---|
//! | `log.jsonl` | the process that holds its lock | before and after each step, only appended to | nothing that was recorded |
//! | `original.md` | the process that begins a loop, or resumes one that has written nothing | once, before the text is merged into | nothing |
//! | `changes.md` | the process that works, for people | after each merge, whole or not at all | nothing: it follows from the log |
//! | the document | its owner, at any time; the process that works | if it is unchanged | nothing: the old or the new text |
//!
//! The log is the truth: what is known of the loops is the fold of it. A merge is in the log before
//! it is in the document, so a process that is killed between the two loses nothing. Nothing but
//! the log is read to continue a loop.
//!
//! Loops over a document share the log. The text that each one began with stays: that of a later
//! one is in `original-2.md`, `original-3.md` and so on, unless a loop began with the same text
//! before. A text that a person edited before the first merge is kept as well. No original is ever
//! overwritten.
//!
//! The folder stands beside the path by which the document is named: a link to it in another folder
//! has loops of its own.

mod original;
mod spec_file;
pub mod claims;

use std::fs;
use std::path::{Path, PathBuf};

use crate::domain::time::Timestamp;
use crate::files::log::{self, LockPolicy, Log, LogError, LogFile};
use crate::files::write::{
    Access, Durability, WriteError, clear_leftovers, create_private_dir, folder_of, sync_folder,
    write_atomically,
};
use crate::refinement::event::{LoopBegun, RefinementEvent, RefinementEventKind, TextHash};
use crate::refinement::state::RefinementState;

pub use original::OriginalText;
pub use spec_file::{SpecFile, SpecFileError};

/// The reason why the folder of a document cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RefinementStoreError {
    /// A link may come with a foreign project, and lead anywhere.
    #[error("`{}` is a symbolic link", .0.display())]
    FolderLink(PathBuf),
    #[error("`{}` belongs to another document, `{document}`", folder.display())]
    OtherDocument { folder: PathBuf, document: String },
    #[error("no loop over `{}` has begun", .0.display())]
    NotBegun(PathBuf),
    /// A document must not be written whose original and changes are gone.
    #[error("`{}` is not there any more", .0.display())]
    Gone(PathBuf),
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// The folder beside a document. It need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefinementStore {
    source: PathBuf,
    pub files: RefinementFiles,
}

/// The files of the loops over a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefinementFiles {
    pub folder: PathBuf,
    pub log: PathBuf,
    pub changes: PathBuf,
}

/// The loops over a document, which belong to this process until this is dropped.
#[derive(Debug)]
pub struct LockedRefinement {
    pub files: RefinementFiles,
    log: Log<RefinementState>,
}

impl RefinementStore {
    /// The folder has its name, with `.refine` for its ending.
    pub fn beside(source: &Path) -> Self {
        let folder = source.with_extension("refine");
        Self {
            source: source.to_owned(),
            files: RefinementFiles {
                log: folder.join("log.jsonl"),
                changes: folder.join("changes.md"),
                folder,
            },
        }
    }

    /// Begins a loop, locks it, and keeps the text of the document. The folder is created if there
    /// is none.
    ///
    /// # Errors
    ///
    /// When another process works on the document, or the log cannot be read; nothing is changed
    /// then.
    pub fn begin(
        &self,
        now: Timestamp,
        begun: LoopBegun,
        original: &str,
    ) -> Result<LockedRefinement, RefinementStoreError> {
        self.check_folder()?;
        let folder = &self.files.folder;
        create_private_dir(folder)?;
        let (file, state) = match self.open_log() {
            Err(LogError::Missing(path)) => match LogFile::create(&path) {
                // Another process has just begun one.
                Err(_) if path.exists() => self.open_log()?,
                created => (created?, None),
            },
            opened => opened?,
        };
        let state = self.checked(state)?;
        clear_leftovers(folder, now);
        let files = self.files.clone();
        if let Some(state) = state {
            let log = Log { file, state };
            let mut locked = LockedRefinement { files, log };
            locked.begin(now, begun, original)?;
            return Ok(locked);
        }
        original::keep(folder, original)?;
        let event = RefinementEvent::new(now, RefinementEventKind::Begun(Box::new(begun)));
        let log = Log::begin(file, &event, Durability::Synced)?;
        for folder in [folder, folder_of(folder)] {
            sync_folder(folder).map_err(|error| WriteError::new(folder, error))?;
        }
        Ok(LockedRefinement { files, log })
    }

    /// Opens the last loop, to continue it or to begin another one after it, and locks it. What a
    /// killed process left of a line is cut with the next event.
    ///
    /// # Errors
    ///
    /// When there is none, another process works on it, or its log cannot be read; nothing is
    /// changed then.
    pub fn open(&self, now: Timestamp) -> Result<LockedRefinement, RefinementStoreError> {
        self.check_folder()?;
        let not_begun = || RefinementStoreError::NotBegun(self.source.clone());
        let (file, state) = match self.open_log() {
            Err(LogError::Missing(_)) => return Err(not_begun()),
            opened => opened?,
        };
        let state = self.checked(state)?.ok_or_else(not_begun)?;
        clear_leftovers(&self.files.folder, now);
        Ok(LockedRefinement {
            files: self.files.clone(),
            log: Log { file, state },
        })
    }

    /// `None` if there are none.
    pub fn load(&self) -> Result<Option<RefinementState>, RefinementStoreError> {
        self.check_folder()?;
        match log::read(&self.files.log, log::fold) {
            Ok(state) => self.checked(state),
            Err(LogError::Missing(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// `None` if a person has removed or changed it.
    pub fn original(&self, document: &TextHash) -> Option<OriginalText> {
        original::find(&self.files.folder, document)
    }

    fn open_log(&self) -> Result<(LogFile, Option<RefinementState>), LogError> {
        Log::open(&self.files.log, LockPolicy::Refuse).map_err(|error| match error {
            LogError::Busy(_) => {
                LogError::Busy(format!("`{}` is being refined", self.source.display()))
            }
            error => error,
        })
    }

    fn check_folder(&self) -> Result<(), RefinementStoreError> {
        let folder = &self.files.folder;
        match fs::symlink_metadata(folder) {
            Ok(metadata) if metadata.is_symlink() => {
                Err(RefinementStoreError::FolderLink(folder.clone()))
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// `SPEC.txt` has the folder of `SPEC.md`.
    fn checked(
        &self,
        state: Option<RefinementState>,
    ) -> Result<Option<RefinementState>, RefinementStoreError> {
        if let Some(state) = &state {
            let document = &state.current().begun.source;
            if Path::new(document).file_name() != self.source.file_name() {
                return Err(RefinementStoreError::OtherDocument {
                    folder: self.files.folder.clone(),
                    document: document.clone(),
                });
            }
        }
        Ok(state)
    }
}

impl LockedRefinement {
    pub fn state(&self) -> &RefinementState {
        &self.log.state
    }

    /// Begins a loop after the last one, and keeps the text of the document.
    ///
    /// # Errors
    ///
    /// As for [`Self::record`].
    pub fn begin(
        &mut self,
        now: Timestamp,
        begun: LoopBegun,
        original: &str,
    ) -> Result<(), RefinementStoreError> {
        self.keep_original(original)?;
        self.record(now, RefinementEventKind::Begun(Box::new(begun)))
    }

    /// Logs an event. It is on the disk when this returns: there are few, and each stands for a
    /// consultation or a text.
    ///
    /// # Errors
    ///
    /// When it does not follow, or cannot be logged, or an earlier one could not, or a person has
    /// deleted the log: the process must end here, and the loop can be resumed from what the log
    /// has.
    pub fn record(
        &mut self,
        now: Timestamp,
        kind: RefinementEventKind,
    ) -> Result<(), RefinementStoreError> {
        if !self.files.log.exists() {
            return Err(RefinementStoreError::Gone(self.files.log.clone()));
        }
        let event = RefinementEvent::new(now, kind);
        Ok(self.log.record(&event, Durability::Synced)?)
    }

    /// Keeps the text that the first merge of the loop changes, unless it is there already.
    pub fn keep_original(&self, text: &str) -> Result<(), WriteError> {
        original::keep(&self.files.folder, text)
    }

    pub fn write_changes(&self, markdown: &str) -> Result<(), WriteError> {
        write_atomically(&self.files.changes, markdown.as_bytes(), Access::Own)
    }
}
