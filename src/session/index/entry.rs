//! A consultation's place in the index: marked when it begins, filled when it ends. An index never
//! harms a consultation: what fails at the beginning is not worth a word, since the end does
//! without it, and what fails at the end is told once.

use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use crate::config::paths::Home;
use crate::consultation::transcript::Transcript;
use crate::domain::ids::ConsultationId;
use crate::domain::time::Timestamp;
use crate::records::index::follow;
use crate::records::index::follow::FollowError;
use crate::records::index::{Index, WaitLimit, is_damage};
use crate::records::record::record;
use crate::terminal::output::printer::Printer;

use super::rebuild::{Mending, Why};
use super::{path, whole};

/// The place of one consultation.
#[derive(Debug)]
pub(crate) struct Entry {
    home: Home,
    database: PathBuf,
    marking: Option<JoinHandle<()>>,
}

/// Whether an index that must be made anew is, now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// It is: there was an answer, and nothing else is waiting.
    Mended,
    /// The next command does.
    Left,
}

impl Entry {
    /// Marks a consultation as begun, on a thread of its own: nothing waits for it.
    pub(crate) fn begin(home: &Home, id: &ConsultationId, at: Timestamp) -> Self {
        let database = path(home);
        let marking = std::thread::Builder::new().name("index".to_owned()).spawn({
            let (database, id) = (database.clone(), id.clone());
            move || {
                if let Ok(mut index) = Index::open_with(&database, WaitLimit::Moment) {
                    // An unmarked consultation is missed only if it is killed.
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

    /// Takes in what the consultation has come to.
    pub(crate) fn end(self, transcript: &Transcript, unfit: Unfit, printer: &Printer) {
        if let Some(marking) = self.marking {
            // Whatever became of it.
            let _ = marking.join();
        }
        let Err(why) = take_in(&self.database, transcript) else {
            return;
        };
        let why = match why {
            NotIn::Unfit(why) if unfit == Unfit::Mended => {
                // With the record it has rows already, unless another process has made it from what
                // there was before.
                let mended = Mending::of(&self.home, printer, why)
                    .silently_up_to(1)
                    .make()
                    .map_err(|error| whole(&error));
                match mended.and_then(|_| take_in(&self.database, transcript).map_err(NotIn::told))
                {
                    Ok(()) => return,
                    Err(why) => why,
                }
            }
            NotIn::Unfit(_) => return,
            NotIn::Failed(why) => why,
        };
        printer.warning(&format!("Failed to index the consultation: {why}"));
    }
}

/// Why a consultation is not in the index.
enum NotIn {
    /// The index must be made anew.
    Unfit(Why),
    Failed(String),
}

impl NotIn {
    fn told(self) -> String {
        match self {
            Self::Unfit(_) => "it is damaged again".to_owned(),
            Self::Failed(why) => why,
        }
    }
}

fn take_in(database: &Path, transcript: &Transcript) -> Result<(), NotIn> {
    let json = serde_json::to_vec(&record(transcript))
        .map_err(|error| NotIn::Failed(error.to_string()))?;
    let mut index = Index::open(database).map_err(|unusable| {
        if unusable.is_fixed_by_rebuild() {
            NotIn::Unfit(Why::of(&unusable))
        } else {
            NotIn::Failed(whole(&unusable))
        }
    })?;
    follow::end(&mut index, &transcript.id, &json, transcript.started_at).map_err(|error| {
        match error {
            FollowError::Failed(error) if is_damage(&error) => NotIn::Unfit(Why::Damaged),
            FollowError::Failed(_) | FollowError::Extract(_) => NotIn::Failed(whole(&error)),
        }
    })
}
