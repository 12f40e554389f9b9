//! Consultations of a batch that other processes run. The executor has them run and hands over
//! their events; here these become the files and the outcome of a consultation of this process.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::watch;

use super::{ConsultationOutcome, InterruptStage, RunCeiling, Watch};
use crate::benchmark::event::RunBegun;
use crate::benchmark::run::{RunId, RunTerms};
use crate::config::paths::Home;
use crate::consultation::event::Envelope;
use crate::consultation::plan::Plan;
use crate::consultation::policy::consent::Month;
use crate::domain::cost::money::MicroUsd;
use crate::domain::ids::ProviderId;
use crate::domain::record::stored_record::StoredRecord;
use crate::domain::record::stored_record::spend::spend;
use crate::engine::ports::{BoxFuture, Face};
use crate::error::Error;
use crate::records::files::log_notice;
use crate::records::runs::RunStore;
use crate::session::index::IndexSender;
use crate::session::month::MonthCeiling;
use crate::session::run;
use crate::session::storage::Storage;
use crate::stopping::batch::conditions::StopConditions;

/// Runs consultations in other processes.
///
/// Invariant: a consultation is one with its id, from which process and how often it is asked for:
/// what was asked in it is not asked again.
pub trait Executor: Send + Sync + Debug {
    /// Has a consultation run to its end. `on` takes each of its events once, in order, those of
    /// earlier runs included.
    ///
    /// When interrupts ask to drain, a consultation that no process has begun ends without events; when
    /// they ask to cancel, every one ends.
    ///
    /// # Errors
    ///
    /// When it cannot be run there at all.
    fn run<'a>(
        &'a self,
        plan: &'a Plan,
        interrupt: watch::Receiver<Option<InterruptStage>>,
        on: &'a mut (dyn FnMut(Envelope) + Send),
    ) -> BoxFuture<'a, Result<(), Error>>;

    /// Returns how many consultations of this batch are being run.
    fn running(&self) -> usize;

    /// Returns how many consultations it can use at once.
    fn room(&self) -> usize;

    fn news(&self) -> BoxFuture<'_, News>;
}

/// A place beyond this process that holds the consultations of runs.
pub trait Elsewhere: Debug {
    /// Its name in messages.
    fn name(&self) -> &str;

    /// Returns the providers that can be asked there now.
    fn providers(&self) -> Result<BTreeSet<ProviderId>, Error>;

    /// Returns the run that the same command has begun and not ended.
    fn open_run(
        &self,
        terms: &RunTerms,
        conditions: &StopConditions,
    ) -> Result<Option<RunId>, Error>;

    /// Opens a new run; returns another one if the same command has opened it meanwhile.
    fn claim(&self, begun: &RunBegun) -> Result<RunId, Error>;

    /// Gets the log of a run that the home does not have, by the name that a user gives it, and the
    /// files of the consultations in it.
    fn import(
        &self,
        store: &RunStore,
        name: &str,
        files: (&Home, fn(&StoredRecord) -> String, &dyn Face),
    ) -> Result<(), Error>;

    /// Returns whether it holds this run, or did.
    fn has(&self, run: &str) -> Result<bool, Error>;

    /// Returns what counts as spent in a run.
    fn spent(&self, run: &str) -> Result<MicroUsd, Error>;

    /// Returns what has the consultations of a run held. `plans` are examples of them.
    fn executor(
        &self,
        run: &RunHeld,
        plans: &mut dyn Iterator<Item = &Plan>,
        ceiling: RunCeiling,
        month: Option<Month>,
    ) -> Result<Arc<dyn Executor>, Error>;

    /// This process is done with a run, of which nothing more comes if it is complete.
    fn end(&self, run: &RunHeld, begun: Option<&RunBegun>, is_complete: bool) -> Result<(), Error>;
}

/// A run whose consultations other processes hold, as people see it there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunHeld {
    pub id: String,
    /// Its suite or document.
    pub name: String,
    pub total: u64,
    /// Its log, if other machines may continue it.
    pub log: Option<PathBuf>,
}

/// What an executor has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// More are running, or there is more room.
    Changed,
    /// The batch was cancelled where it runs.
    Cancelled,
}

/// Returns the events of a consultation at its end. Its files are written then: those of a part would
/// pass for a consultation to resume here.
pub(super) async fn held(
    executor: &dyn Executor,
    plan: &Plan,
    interrupt: watch::Receiver<Option<InterruptStage>>,
    mut watch: Watch,
) -> Result<Vec<Envelope>, Error> {
    let mut events = Vec::new();
    let mut on = |event: Envelope| {
        if let Some(watching) = &mut watch
            && let Err(failed) = watching.event(&event)
        {
            watching.trouble(&failed.to_string());
            watch = None;
        }
        events.push(event);
    };
    executor.run(plan, interrupt, &mut on).await?;
    Ok(events)
}

/// Writes the files of a consultation that ended elsewhere, and returns its outcome.
pub(in crate::session) async fn copy(
    home: &Home,
    mut plan: Plan,
    events: &[Envelope],
    report: fn(&StoredRecord) -> String,
    (index, month): (IndexSender, Option<Arc<MonthCeiling>>),
) -> Result<ConsultationOutcome, Error> {
    let began_at = events.first().map(|first| first.at);
    let began_at = began_at.ok_or_else(|| Error::failed("no process has begun it"))?;
    index.begin(&plan.id, began_at);
    let (storage, failed) = match Storage::copy(home, &mut plan, events) {
        Ok(copied) => copied,
        Err(failure) => {
            let storage = Storage::nowhere(&mut plan);
            (storage, Some(log_notice(&failure)))
        }
    };
    let outcome = run::store(events, storage, report, (index, month.clone())).await?;
    if let Some(month) = month {
        month.count_journal(spend([&outcome.record]).counted());
    }
    Ok(ConsultationOutcome::new(
        outcome,
        failed.into_iter().collect(),
    ))
}
