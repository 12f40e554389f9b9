//! The reports of benchmark runs without their cases, for the list. Each is made once for a state of
//! its log.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::run::RunId;
use crate::benchmark::state::BenchmarkStatus;
use crate::files::log::LogError;
use crate::files::{Stamp, stamp};
use crate::records::runs::RunStore;

#[derive(Debug, Default)]
pub(super) struct KnownRuns(Mutex<BTreeMap<RunId, Known>>);

type Known = (Option<Stamp>, Arc<BenchmarkReport>);

impl KnownRuns {
    pub(super) fn brief(
        &self,
        store: &RunStore,
        id: &RunId,
    ) -> Result<Arc<BenchmarkReport>, LogError> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Before the log is read: what comes meanwhile is a change.
        let stamp = stamp(&store.files(id).log);
        if let Some((of, report)) = known().get(id)
            && *of == stamp
        {
            return Ok(Arc::clone(report));
        }
        let mut brief = report(store, id)?;
        brief.terms.cases = Vec::new();
        brief.remaining = Vec::new();
        brief.not_done = Vec::new();
        brief.results = Vec::new();
        let brief = Arc::new(brief);
        // A process that is killed changes no log.
        if brief.run_status != BenchmarkStatus::Running {
            known().insert(id.clone(), (stamp, Arc::clone(&brief)));
        }
        Ok(brief)
    }
}

pub(super) fn report(store: &RunStore, id: &RunId) -> Result<BenchmarkReport, LogError> {
    let run = store.load(id)?;
    Ok(BenchmarkReport::of(&run.state, run.view()))
}
