//! Running consultations of all processes of this home, by their journals. Each journal is read once
//! and then from where it was left, however many look at it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::consultation::event::Envelope;
use crate::domain::ids::ConsultationId;
use crate::files::log::{LogPosition, read_on};
use crate::records::files::ConsultationFiles;
use crate::records::journal::is_being_written;
use crate::terminal::progress::FollowedRun;

#[derive(Debug, Default)]
pub(super) struct RunningConsultations(Mutex<BTreeMap<ConsultationId, Arc<Mutex<Followed>>>>);

#[derive(Debug, Default)]
struct Followed {
    run: FollowedRun,
    position: LogPosition,
}

impl RunningConsultations {
    /// Shows a consultation as it is now, with the number of its events; `None` if it does not run.
    pub(super) fn show<T>(
        &self,
        logs: &Path,
        id: &ConsultationId,
        show: impl FnOnce(&FollowedRun, u64) -> T,
    ) -> Option<T> {
        let journal = ConsultationFiles::in_folder(logs, id).journal;
        if !is_being_written(&journal) {
            lock(&self.0).remove(id);
            return None;
        }
        let followed = Arc::clone(lock(&self.0).entry(id.clone()).or_default());
        let mut followed = lock(&followed);
        let Followed { run, position } = &mut *followed;
        read_on(&journal, position, |event: Envelope| run.learn(&event)).ok()?;
        (!run.has_ended).then(|| show(run, position.lines))
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
