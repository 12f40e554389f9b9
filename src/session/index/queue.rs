//! The entries of many consultations, made by one thread in the order in which they come: several
//! at once when they come fast. Only the end waits for it.
//!
//! An index that cannot be used is rebuilt once, at the end.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use crate::config::paths::Home;
use crate::domain::ids::ConsultationId;
use crate::domain::stored_record::StoredRecord;
use crate::domain::time::Timestamp;
use crate::error::whole;
use crate::files::write::clear_leftovers;
use crate::records::index::follow::{self, IndexChange};
use crate::records::index::{Index, is_damage};
use crate::terminal::output::printer::Printer;

use super::rebuild::{Rebuild, RebuildReason};

/// The thread that makes the entries.
#[derive(Debug)]
pub(crate) struct IndexQueue {
    home: Home,
    sender: IndexSender,
    thread: Option<JoinHandle<IndexReport>>,
}

/// Hands changes to the thread.
#[derive(Clone, Debug)]
pub(crate) struct IndexSender(Sender<IndexChange>);

/// What the thread could not do.
#[derive(Debug, Default)]
struct IndexReport {
    ended: usize,
    rebuild: Option<RebuildReason>,
    /// The first failure that a rebuild does not repair.
    failure: Option<String>,
}

impl IndexQueue {
    /// Starts the thread. Without one, nothing is entered before the next rebuild.
    pub(crate) fn start(home: &Home, at: Timestamp) -> Self {
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

    pub(crate) fn sender(&self) -> IndexSender {
        self.sender.clone()
    }

    /// Waits until everything is entered. Every other sender must be dropped before.
    pub(crate) fn finish(self, printer: &Printer) {
        let Self {
            home,
            sender,
            thread,
        } = self;
        drop(sender);
        let report = thread.map(|thread| thread.join().unwrap_or_default());
        let Some(report) = report else { return };
        let rebuilt = report.rebuild.map(|reason| {
            let mut rebuild = Rebuild::new(&home, printer, reason);
            rebuild.silent_up_to = report.ended;
            rebuild.run()
        });
        let failure = match rebuilt {
            Some(Err(error)) => Some(whole(&error)),
            Some(Ok(_)) | None => report.failure,
        };
        if let Some(failure) = failure {
            printer.warning(&format!("Failed to index the consultations: {failure}"));
        }
    }
}

impl IndexSender {
    /// Marks a consultation as begun.
    pub(crate) fn begin(&self, id: &ConsultationId, at: Timestamp) {
        self.send(IndexChange::Begun(id.clone(), at));
    }

    /// Adds the rows of a consultation that has ended.
    pub(crate) fn end(&self, id: &ConsultationId, record: &StoredRecord, began_at: Timestamp) {
        self.send(IndexChange::ended(id, record, began_at));
    }

    fn send(&self, change: IndexChange) {
        // Fails only without a thread.
        let _ = self.0.send(change);
    }
}

fn enter_all(home: &Home, changes: &Receiver<IndexChange>) -> IndexReport {
    let mut report = IndexReport::default();
    while let Ok(first) = changes.recv() {
        let mut waiting = vec![first];
        waiting.extend(changes.try_iter());
        report.ended += waiting
            .iter()
            .filter(|change| matches!(change, IndexChange::Ended(..)))
            .count();
        if report.rebuild.is_none() {
            report.enter(home, &waiting);
        }
    }
    report
}

impl IndexReport {
    fn enter(&mut self, home: &Home, changes: &[IndexChange]) {
        let failure = match Index::open(&home.index_file()) {
            Err(unusable) if unusable.is_fixed_by_rebuild() => {
                self.rebuild = Some(RebuildReason::of(&unusable));
                return;
            }
            Err(unusable) => whole(&unusable),
            Ok(mut index) => match follow::apply(&mut index, changes) {
                Ok(()) => return,
                Err(error) if is_damage(&error) => {
                    self.rebuild = Some(RebuildReason::Damaged);
                    return;
                }
                Err(error) => whole(&error),
            },
        };
        self.failure.get_or_insert(failure);
    }
}
