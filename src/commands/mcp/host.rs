//! The consultations of a server: those that run in this process, and those that earlier processes
//! left. A consultation does not depend on the request that began it: its journal has it.
//!
//! Invariant: a task of [`Host`] runs each consultation, and the end of the server drops them all.
//! Their journals end early then, and the next server that is asked continues them.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::FutureExt;
use serde_json::Value;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::phase::PhaseWatch;
use super::view::ConsultationView;
use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::consultation::plan::{ControlRequest, Plan};
use crate::consultation::policy::consent::ConsentMode;
use crate::domain::cost::money::MicroUsd;
use crate::domain::ids::ConsultationId;
use crate::domain::record::stored_record::StoredRecord;
use crate::engine::clock::Clock;
use crate::engine::dispatcher::Dispatcher;
use crate::engine::dispatcher::budget::{SharedBudget as _, SharedCeiling};
use crate::engine::host;
use crate::engine::ports::{Face, Providers};
use crate::error::{Error, whole};
use crate::files::log::LockPolicy;
use crate::records::files::ConsultationFiles;
use crate::records::index::Index;
use crate::records::journal::ends::{self, JournalEnding};
use crate::records::journal::is_being_written;
use crate::session::batch::NoPerson;
use crate::session::batch::take_over::resumed;
use crate::session::index::IndexSender;
use crate::session::month::MonthCeiling;
use crate::session::resume::{is_complete, open_id};
use crate::session::run::{self, MonthRule, Participants, Session, SharedResources};
use crate::session::storage::Storage;
use crate::session::traces::TraceExporter;
use crate::session::{load, lookup};
use crate::setup::plan::resume::ResumeSources;
use crate::setup::plan::sources::Connections;
use crate::setup::settings;
use crate::stopping::exit_check::state::LoopState;
use crate::terminal::report::report;

/// Time between two looks at a consultation of another process.
const LOOK: Duration = Duration::from_millis(500);

/// Most consultations at once: each holds files and connections.
const MAX_RUNNING: usize = 32;

/// Most threads at once for what blocks.
const MAX_ASIDE: usize = 8;

const ENDS: &str = "the server ends";

/// The longest wait for traces that are on their way when the client ends.
const TRACES: Duration = Duration::from_secs(2);

/// What a server works with.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) environment: Environment,
    pub(super) face: Box<dyn Face>,
    pub(super) clock: Clock,
    pub(super) home: Home,
    /// The folders whose files may be context, resolved.
    pub(super) folders: Vec<PathBuf>,
    /// Whether those that a client works in are added to them.
    pub(super) takes_roots: bool,
    dispatcher: Dispatcher,
    /// The ceiling over all consultations of the server.
    ceiling: Option<Arc<SharedCeiling>>,
    index: IndexSender,
    /// The states of the loops that agents ask about, by name.
    pub(super) loops: Mutex<BTreeMap<String, LoopState>>,
    running: Mutex<BTreeMap<ConsultationId, Running>>,
    /// Consultations that a client cancelled when no process ran them: they are not continued.
    given_up: Mutex<BTreeSet<ConsultationId>>,
    /// `None` after the end.
    tasks: Mutex<Option<JoinSet<()>>>,
    traces: Mutex<JoinSet<()>>,
    aside: Semaphore,
    /// Held by the one that looks for a consultation which no process runs, and continues it.
    continuing: tokio::sync::Mutex<()>,
}

/// A consultation of this process. It is kept after its end where it could not be stored.
#[derive(Clone, Debug)]
struct Running {
    phase: watch::Receiver<String>,
    /// The record when the consultation has ended, or the message of a failure of the program.
    end: watch::Receiver<Option<Result<StoredRecord, String>>>,
    interrupt: mpsc::UnboundedSender<()>,
}

/// What is known of a consultation after some waiting.
#[derive(Debug)]
pub(super) enum Waited {
    /// It goes on, in this phase.
    Running(String),
    Ended(Box<StoredRecord>),
}

impl Host {
    pub(super) fn new(
        (environment, home): (Environment, Home),
        face: Box<dyn Face>,
        clock: Clock,
        (folders, takes_roots): (Vec<PathBuf>, bool),
        max_cost: Option<MicroUsd>,
        (dispatcher, index): (Dispatcher, IndexSender),
    ) -> Self {
        let ceiling = max_cost.map(|limit| SharedCeiling::new("ceiling of the server", limit));
        Self {
            environment,
            face,
            clock,
            home,
            folders,
            takes_roots,
            dispatcher,
            ceiling: ceiling.map(Arc::new),
            index,
            loops: Mutex::default(),
            running: Mutex::default(),
            given_up: Mutex::default(),
            tasks: Mutex::new(Some(JoinSet::new())),
            traces: Mutex::default(),
            aside: Semaphore::new(MAX_ASIDE),
            continuing: tokio::sync::Mutex::default(),
        }
    }

    /// Runs what blocks on a thread of its own.
    pub(super) async fn aside<T: Send + 'static>(
        self: &Arc<Self>,
        job: impl FnOnce(&Self) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let _one_of_few = self.aside.acquire().await;
        let host = Arc::clone(self);
        let done = host::run_aside("tool", move || job(&host)).await;
        done.ok_or_else(|| Error::failed("the program failed"))?
    }

    /// Returns what is left under the ceiling of the server; `None` without one.
    pub(super) fn left(&self) -> Option<MicroUsd> {
        let ceiling = self.ceiling.as_ref()?;
        Some(MicroUsd(
            ceiling.limit().0.saturating_sub(ceiling.spent().0),
        ))
    }

    pub(super) fn find(&self, name: &str) -> Result<ConsultationId, Error> {
        let index = Index::open(&self.home.index_file()).ok();
        lookup::find(index.as_ref(), &self.home.logs_folder(), name)
    }

    pub(super) fn record(&self, id: &ConsultationId) -> Result<StoredRecord, Error> {
        load::load(&self.home.logs_folder(), id)
    }

    fn check_room(&self) -> Result<(), Error> {
        if lock(&self.tasks).is_none() {
            return Err(Error::failed(ENDS));
        }
        let is_running = |it: &&Running| it.end.borrow().is_none();
        if self.running().values().filter(is_running).count() < MAX_RUNNING {
            return Ok(());
        }
        let problem = format!("this server runs {MAX_RUNNING} consultations already");
        Err(Error::usage(problem).hint("wait for one of them with `consultation`"))
    }

    /// Begins a consultation whose cost is agreed to. It is in its journal when this returns.
    pub(super) async fn begin(
        self: &Arc<Self>,
        mut plan: Plan,
        providers: &Providers,
        month_rule: MonthRule,
    ) -> Result<ConsultationId, Error> {
        self.check_room()?;
        let id = plan.id.clone();
        let storage = Storage::create(&self.home, &id).map_err(Error::failed)?;
        storage.write_context(&mut plan).map_err(Error::failed)?;
        let session = Session::new(plan, providers.clone(), storage, self.clock);
        self.run(id.clone(), session, month_rule)?;
        let phase = self.running().get(&id).map(|running| running.phase.clone());
        if let Some(mut phase) = phase {
            // Without a sender it has ended already.
            let _ = phase.wait_for(|phase| !phase.is_empty()).await;
        }
        if let Err(error) = self.record(&id) {
            // Its answer would be lost.
            self.cancel(&id);
            return Err(error);
        }
        Ok(id)
    }

    fn run(
        self: &Arc<Self>,
        id: ConsultationId,
        session: Session,
        month_rule: MonthRule,
    ) -> Result<(), Error> {
        let mut watch = PhaseWatch::default();
        let phase = watch.phase.subscribe();
        let (ended, end) = watch::channel(None);
        let (interrupt, interrupts) = mpsc::unbounded_channel();
        let running = (
            id.clone(),
            Running {
                phase,
                end,
                interrupt,
            },
        );
        let now = self.clock.now();
        let month = MonthCeiling::open(&self.home, session.control(), now)?;
        let shared = SharedResources {
            dispatcher: self.dispatcher.clone(),
            budgets: self.ceiling.iter().map(|it| Arc::clone(it) as _).collect(),
            month,
            month_rule,
            index: self.index.clone(),
        };
        let host = Arc::clone(self);
        let consultation = async move {
            let participants = Participants {
                subscribers: vec![&mut watch],
                person: &NoPerson,
                interrupts,
                report,
            };
            let run = AssertUnwindSafe(run::run(session, participants, shared));
            let outcome = match run.catch_unwind().await {
                Ok(outcome) => outcome.map_err(|error| whole(error.source())),
                Err(_) => Err("the program failed".to_owned()),
            };
            if let Ok(outcome) = &outcome
                && let Some(warning) = &outcome.warning
            {
                host.face.warning(warning);
            }
            // What could not be stored is here alone.
            if !matches!(&outcome, Ok(outcome) if outcome.stored.is_none()) {
                host.running().remove(&id);
            }
            ended.send_replace(Some(outcome.map(|outcome| outcome.record)));
            host.export(id);
        };
        let mut tasks = lock(&self.tasks);
        let Some(tasks) = tasks.as_mut() else {
            return Err(Error::failed(ENDS));
        };
        while tasks.try_join_next().is_some() {}
        self.running().insert(running.0, running.1);
        tasks.spawn(consultation);
        Ok(())
    }

    /// Begins to send the trace, if the settings ask for it.
    fn export(self: Arc<Self>, id: ConsultationId) {
        let exporter = TraceExporter::open(&self.home, &self.environment, &*self.face);
        let Some(exporter) = exporter else {
            return;
        };
        exporter.send(id, Value::Null);
        let host = Arc::clone(&self);
        let mut traces = lock(&self.traces);
        while traces.try_join_next().is_some() {}
        traces.spawn(async move {
            let (_, mut no_interrupts) = mpsc::unbounded_channel();
            exporter.finish(&mut no_interrupts, &*host.face).await;
        });
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<ConsultationId, Running>> {
        lock(&self.running)
    }

    /// Stops the calls of a consultation; what is paid for is kept.
    pub(super) fn cancel(&self, id: &ConsultationId) {
        match self.running().get(id) {
            // Without a receiver it has ended.
            Some(running) => drop(running.interrupt.send(())),
            None => drop(lock(&self.given_up).insert(id.clone())),
        }
    }

    /// Drops all consultations; their journals can be continued.
    pub(super) async fn end(&self) {
        // No lock is held meanwhile: a tool that waits for it would hold up what is to be dropped.
        let tasks = lock(&self.tasks).take();
        tasks.unwrap_or_default().shutdown().await;
        self.running().clear();
        let mut traces = std::mem::take(&mut *lock(&self.traces));
        let sent = async { while traces.join_next().await.is_some() {} };
        // What is late is lost, and can be exported from the history.
        let _ = timeout(TRACES, sent).await;
    }

    /// Waits for a consultation until `deadline`, or until its phase is no longer `known`. One that
    /// no process runs and that has not ended is continued.
    pub(super) async fn wait(
        self: &Arc<Self>,
        id: &ConsultationId,
        known: Option<&str>,
        deadline: Instant,
    ) -> Result<Waited, Error> {
        let mut has_continued = false;
        loop {
            let running = self.running().get(id).cloned();
            if let Some(Running {
                mut phase, mut end, ..
            }) = running
            {
                let is_new = |phase: &String| known.is_some_and(|known| phase != known);
                tokio::select! {
                    _ = phase.wait_for(is_new) => {}
                    _ = end.changed() => {}
                    () = sleep_until(deadline) => {}
                }
                if let Some(ended) = end.borrow().clone() {
                    let record = ended.map_err(Error::failed)?;
                    return Ok(Waited::Ended(Box::new(record)));
                }
                let phase = phase.borrow().clone();
                let has_ended = end.has_changed().is_err() || !self.running().contains_key(id);
                if !has_ended && (known.is_some_and(|known| phase != known) || is_over(deadline)) {
                    return Ok(Waited::Running(phase));
                }
                if !has_ended {
                    continue;
                }
            }
            let files = ConsultationFiles::in_folder(&self.home.logs_folder(), id);
            let one_of_us = self.continuing.lock().await;
            if self.running().contains_key(id) {
                continue;
            }
            if is_being_written(&files.journal) {
                if is_over(deadline) {
                    return Ok(Waited::Running("Another process runs it".to_owned()));
                }
                drop(one_of_us);
                sleep_until(deadline.min(Instant::now() + LOOK)).await;
                continue;
            }
            match ends::ending(&files.journal) {
                Ok(ending @ (JournalEnding::Open | JournalEnding::Complete))
                    if !is_complete(&files, ending)
                        && !has_continued
                        && !lock(&self.given_up).contains(id) =>
                {
                    // Once: what cannot be stored would be paid for again and again.
                    has_continued = true;
                    let resumed = self.resume(id).await;
                    // Another server may have been faster.
                    resumed.or_else(|error| {
                        is_being_written(&files.journal).then_some(()).ok_or(error)
                    })?;
                }
                _ => return Ok(Waited::Ended(Box::new(self.record(id)?))),
            }
        }
    }

    /// Continues a consultation whose process ended before it did.
    async fn resume(self: &Arc<Self>, id: &ConsultationId) -> Result<(), Error> {
        self.check_room()?;
        let name = id.clone();
        let session = self.aside(move |host| host.prepare_resume(name)).await?;
        self.run(id.clone(), session, MonthRule::Limited)
    }

    fn prepare_resume(&self, id: ConsultationId) -> Result<Session, Error> {
        let face = &*self.face;
        let settings = settings::load(&self.home, &self.environment)?;
        let logs = self.home.logs_folder();
        let interrupted = open_id(id, &logs, Some(LockPolicy::Refuse), face)?;
        if !interrupted.is_stored() {
            return Err(Error::failed("its journal cannot be written"));
        }
        let sources = ResumeSources {
            home: &self.home,
            environment: &self.environment,
            settings: &settings,
            face,
            connections: &Connections::new(&settings, &self.environment, &self.home),
            dry_run: false,
        };
        let request = ControlRequest::new(ConsentMode::NonInteractive);
        let resumed = resumed(interrupted, &sources, &request, self.clock);
        let runtime = host::runtime().map_err(Error::failed)?;
        runtime.block_on(resumed)
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_over(deadline: Instant) -> bool {
    Instant::now() >= deadline
}

impl Waited {
    pub(super) fn view(&self, id: &ConsultationId) -> ConsultationView {
        match self {
            Self::Running(phase) => ConsultationView::running(id.as_str(), phase),
            Self::Ended(record) => ConsultationView::of(record),
        }
    }

    /// Returns whether it was cancelled: by the client, or by a person with Ctrl-C.
    pub(super) fn is_cancelled(&self) -> bool {
        let interrupted = "interrupted";
        matches!(self, Self::Ended(record) if record.abort_reason.as_deref() == Some(interrupted))
    }
}
