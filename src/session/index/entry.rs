//! A consultation's entry in the index: marked when it begins, filled when it ends.
//!
//! An index never harms a consultation: a failure at the beginning is ignored, because the end
//! works without the mark, and a failure at the end is reported once.

use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use crate::config::paths::Home;
use crate::consultation::transcript::Transcript;
use crate::domain::ids::ConsultationId;
use crate::domain::time::Timestamp;
use crate::files::write::clear_leftovers;
use crate::records::index::follow;
use crate::records::index::{Index, is_damage};
use crate::terminal::output::printer::Printer;

use super::rebuild::{Rebuild, RebuildReason};
use crate::error::whole;

/// The entry of one consultation.
#[derive(Debug)]
pub(crate) struct IndexEntry {
    home: Home,
    database: PathBuf,
    marking: Option<JoinHandle<()>>,
}

/// The time at which an unusable index is rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RebuildTime {
    /// At once: there is an answer, and nothing else is waiting.
    Now,
    /// By the next command.
    Later,
}

impl IndexEntry {
    /// Marks a consultation as begun, on a thread that nothing waits for.
    pub(crate) fn begin(home: &Home, id: &ConsultationId, at: Timestamp) -> Self {
        let database = home.index_file();
        let marking = std::thread::Builder::new().name("index".to_owned()).spawn({
            let (home, database, id) = (home.clone(), database.clone(), id.clone());
            move || {
                for folder in [home.path(), &home.logs_folder()] {
                    clear_leftovers(folder, at);
                }
                if let Ok(mut index) = Index::open(&database) {
                    // Without the mark, the index misses the consultation only if it is killed.
                    let _ = follow::begin(&mut index, &id, at);
                }
            }
        });
        Self {
            home: home.clone(),
            database,
            marking: marking.ok(),
        }
    }

    /// Adds the results to the index. Waits for the disk, and for other processes.
    pub(crate) fn end(self, transcript: &Transcript, time: RebuildTime, printer: &Printer) {
        if let Some(marking) = self.marking {
            // A failed mark is ignored.
            let _ = marking.join();
        }
        let Err(failure) = add(&self.database, transcript) else {
            return;
        };
        let failure = match failure {
            IndexError::NeedsRebuild(reason) if time == RebuildTime::Now => {
                // The rebuild reads the new record, unless another process rebuilt the index before
                // it was written.
                let mut quiet = Rebuild::new(&self.home, printer, reason);
                quiet.silent_up_to = 1;
                let rebuilt = quiet.run().map_err(|error| whole(&error));
                match rebuilt
                    .and_then(|_| add(&self.database, transcript).map_err(IndexError::into_message))
                {
                    Ok(()) => return,
                    Err(message) => message,
                }
            }
            IndexError::NeedsRebuild(_) => return,
            IndexError::Failed(message) => message,
        };
        printer.warning(&format!("Failed to index the consultation: {failure}"));
    }
}

/// The reason why a consultation is not added to the index.
enum IndexError {
    NeedsRebuild(RebuildReason),
    Failed(String),
}

impl IndexError {
    fn into_message(self) -> String {
        match self {
            Self::NeedsRebuild(_) => "the index is damaged again".to_owned(),
            Self::Failed(message) => message,
        }
    }
}

fn add(database: &Path, transcript: &Transcript) -> Result<(), IndexError> {
    let mut index = Index::open(database).map_err(|unusable| {
        if unusable.is_fixed_by_rebuild() {
            IndexError::NeedsRebuild(RebuildReason::of(&unusable))
        } else {
            IndexError::Failed(whole(&unusable))
        }
    })?;
    let record = transcript.stored_record();
    follow::end(&mut index, &transcript.id, &record, transcript.started_at).map_err(|error| {
        if is_damage(&error) {
            IndexError::NeedsRebuild(RebuildReason::Damaged)
        } else {
            IndexError::Failed(whole(&error))
        }
    })
}
