//! The entries of consultations in the index, made by one thread in the order in which they come:
//! marked when they begin, filled when they end, several at once when they come fast. Only the end
//! waits for it.
//!
//! An index never harms a consultation: one that cannot be used is rebuilt once, at the end, and a
//! failure is reported once.

use std::fs;
use std::iter;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::config::paths::Home;
use crate::domain::ids::ConsultationId;
use crate::domain::record::stored_record::StoredRecord;
use crate::domain::time::Timestamp;
use crate::engine::ports::Face;
use crate::error::whole;
use crate::files::write::clear_leftovers;
use crate::records::index::follow::{self, IndexChange};
use crate::records::index::{Index, IndexError, rebuild};

use super::rebuild::{Rebuild, RebuildReason};

/// The thread that makes the entries.
#[derive(Debug)]
pub struct IndexQueue {
    home: Home,
    sender: IndexSender,
    thread: Option<JoinHandle<IndexReport>>,
}

/// Hands changes to the thread.
#[derive(Clone, Debug)]
pub struct IndexSender(Sender<IndexChange>);

/// The time at which an unusable index is rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RebuildTime {
    /// At once: there is an answer, and nothing else is waiting.
    Now,
    /// By the next command.
    Later,
}

/// What the thread could not do.
#[derive(Debug, Default)]
struct IndexReport {
    ended: usize,
    rebuild: Option<RebuildReason>,
    /// The changes since a rebuild was needed.
    missed: Vec<IndexChange>,
    /// The first failure that a rebuild does not repair.
    failure: Option<String>,
}

impl IndexQueue {
    /// Without one, nothing is entered before the next rebuild.
    pub fn start(home: &Home, at: Timestamp) -> Self {
        let (sender, changes) = mpsc::channel();
        let thread = std::thread::Builder::new().name("index".to_owned()).spawn({
            let home = home.clone();
            move || {
                for folder in [home.path(), &home.logs_folder()] {
                    clear_leftovers(folder, at);
                }
                enter_all(&home, &changes)
            }
        });
        Self {
            home: home.clone(),
            sender: IndexSender(sender),
            thread: thread.ok(),
        }
    }

    pub fn sender(&self) -> IndexSender {
        self.sender.clone()
    }

    /// Drop every other sender before.
    pub fn finish(self, time: RebuildTime, face: &dyn Face) {
        drop(self.sender);
        let report = self.thread.map(|thread| thread.join().unwrap_or_default());
        let Some(mut report) = report else { return };
        if let Some(reason) = report.rebuild.take().filter(|_| time == RebuildTime::Now) {
            let mut rebuild = Rebuild::new(&self.home, face, reason);
            rebuild.silent_up_to = report.ended;
            match rebuild.run() {
                // Another process may have rebuilt it before the last records were written.
                Ok(_) => report.enter_missed(&self.home),
                Err(error) => report.failure = Some(whole(&error)),
            }
        }
        if let Some(failure) = report.failure {
            let what = if report.ended > 1 {
                "consultations"
            } else {
                "consultation"
            };
            face.warning(&format!("Failed to index the {what}: {failure}"));
        }
    }
}

impl IndexSender {
    /// Of runs that leave no files.
    #[cfg(feature = "fleet")]
    pub fn nowhere() -> Self {
        Self(mpsc::channel().0)
    }

    pub fn begin(&self, id: &ConsultationId, at: Timestamp) {
        self.send(IndexChange::Begun(id.clone(), at));
    }

    pub fn end(&self, id: &ConsultationId, record: &StoredRecord, began_at: Timestamp) {
        self.send(IndexChange::ended(id, record, began_at));
    }

    fn send(&self, change: IndexChange) {
        // Fails only without a thread.
        let _ = self.0.send(change);
    }
}

/// Changes that follow each other faster are made together. Nothing waits for them; the first
/// request of a consultation is not slowed down by the change that it has begun.
const GATHERING: Duration = Duration::from_millis(5);

/// The most changes that are made together.
const TOGETHER: usize = 100;

fn enter_all(home: &Home, changes: &Receiver<IndexChange>) -> IndexReport {
    let mut report = IndexReport::default();
    while let Ok(first) = changes.recv() {
        let mut waiting = vec![first];
        let next = || changes.recv_timeout(GATHERING).ok();
        waiting.extend(iter::from_fn(next).take(TOGETHER));
        let has_ended = |change: &&IndexChange| matches!(change, IndexChange::Ended(..));
        report.ended += waiting.iter().filter(has_ended).count();
        report.enter(home, waiting);
    }
    report
}

impl IndexReport {
    fn enter(&mut self, home: &Home, changes: Vec<IndexChange>) {
        if self.rebuild.is_none() {
            match enter(home, &changes) {
                Ok(()) => return,
                Err((error, reason)) if error.is_fixed_by_rebuild() => self.rebuild = Some(reason),
                Err((error, _)) => {
                    self.failure.get_or_insert(whole(&error));
                    return;
                }
            }
        }
        self.missed.extend(changes);
    }

    fn enter_missed(&mut self, home: &Home) {
        if let Err((error, _)) = enter(home, &self.missed) {
            self.failure.get_or_insert(whole(&error));
        }
    }
}

/// An error comes with the reason for a rebuild.
fn enter(home: &Home, changes: &[IndexChange]) -> Result<(), (IndexError, RebuildReason)> {
    let path = home.index_file();
    let mut index = open(home, &path).map_err(|error| {
        let reason = RebuildReason::of(&error);
        (error, reason)
    })?;
    follow::apply(&mut index, changes)
        .map_err(|error| (IndexError::of(&path, error), RebuildReason::Damaged))
}

/// Creates the index before the first record of a home: there is nothing to wait for yet. To a
/// process that begins at the same moment as another, its half-made index looks damaged.
fn open(home: &Home, path: &Path) -> Result<Index, IndexError> {
    let logs = home.logs_folder();
    let is_record = |entry: fs::DirEntry| entry.path().extension().is_some_and(|it| it == "json");
    let has_records = || fs::read_dir(&logs).is_ok_and(|logs| logs.flatten().any(is_record));
    match Index::open(path) {
        Err(IndexError::Missing(_) | IndexError::Damaged { .. }) if !has_records() => {
            rebuild::rebuild_if_unusable(&logs, path, &mut |_| ())?;
            Index::open(path)
        }
        opened => opened,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::history;

    /// Another process has created the file, and writes its tables in a moment.
    #[test]
    fn beginning_is_entered_into_an_index_that_another_process_creates() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        fs::create_dir_all(home.logs_folder()).unwrap();
        fs::write(home.index_file(), "").unwrap();
        let id = ConsultationId::parse("consult-01kfa1aaaaaaaaaaaaaaaaaaaa").unwrap();
        let (sender, changes) = mpsc::channel();
        sender
            .send(IndexChange::Begun(id.clone(), Timestamp(0)))
            .unwrap();
        drop(sender);
        let report = enter_all(&home, &changes);
        assert_eq!((report.rebuild, report.failure), (None, None));
        let index = Index::open(&home.index_file()).unwrap();
        let open = history::open_consultations(&index.connection).unwrap();
        assert_eq!(open, [id]);
    }
}
