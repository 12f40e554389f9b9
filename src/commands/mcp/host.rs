//! The consultations of a server: those that run in this process, and those that earlier processes
//! left. A consultation does not depend on the request that began it: its journal has it.
//!
//! Invariant: a task of [`Host`] runs each consultation, and the end of the server drops them all.
//! Their journals end early then, and the next server that is asked continues them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::phase::PhaseWatch;
use super::view::ConsultationView;
use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::consultation::plan::{ControlRequest, Plan};
use crate::consultation::policy::consent::{ConsentMode, Gate};
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
use crate::session::index::IndexSender;
use crate::session::month::MonthCeiling;
use crate::session::resume::{is_complete, open_id};
use crate::session::run::{self, MonthRule, Participants, Session, SharedResources};
use crate::session::storage::Storage;
use crate::session::{load, lookup};
use crate::setup::plan::resume::{PreparedResume, ResumeSources};
use crate::setup::plan::sources::Connections;
use crate::setup::settings;
use crate::stopping::exit_check::state::LoopState;
use crate::terminal::report::report;

/// Time between two looks at a consultation of another process.
const LOOK: Duration = Duration::from_millis(500);

/// What a server works with.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) environment: Environment,
    pub(super) face: Box<dyn Face>,
    pub(super) clock: Clock,
    pub(super) home: Home,
    /// The folders whose files may be context, resolved.
    pub(super) folders: Vec<PathBuf>,
    dispatcher: Dispatcher,
    /// The ceiling over all consultations of the server.
    ceiling: Option<Arc<SharedCeiling>>,
    index: IndexSender,
    /// The states of the loops that agents ask about, by name.
    pub(super) loops: Mutex<BTreeMap<String, LoopState>>,
    running: Mutex<BTreeMap<ConsultationId, Running>>,
    tasks: Mutex<JoinSet<()>>,
}

/// A consultation of this process.
#[derive(Clone, Debug)]
struct Running {
    phase: watch::Receiver<String>,
    /// Closed when the consultation has ended; it has the message of a failure of the program.
    end: watch::Receiver<Option<String>>,
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
        folders: Vec<PathBuf>,
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
            dispatcher,
            ceiling: ceiling.map(Arc::new),
            index,
            loops: Mutex::default(),
            running: Mutex::default(),
            tasks: Mutex::default(),
        }
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

    /// Begins a consultation whose cost is agreed to. It is in its journal when this returns.
    pub(super) async fn begin(
        self: &Arc<Self>,
        mut plan: Plan,
        providers: &Providers,
        month_rule: MonthRule,
    ) -> Result<ConsultationId, Error> {
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
        Ok(id)
    }

    fn run(
        self: &Arc<Self>,
        id: ConsultationId,
        session: Session,
        month_rule: MonthRule,
    ) -> Result<(), Error> {
        let (phase, phases) = watch::channel(String::new());
        let (end, ends) = watch::channel(None);
        let (interrupt, interrupts) = mpsc::unbounded_channel();
        let running = Running {
            phase: phases,
            end: ends,
            interrupt,
        };
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
        self.running().insert(id.clone(), running);
        let consultation = async move {
            let mut watch = PhaseWatch::new(phase);
            let participants = Participants {
                subscribers: vec![&mut watch],
                person: &NoPerson,
                interrupts,
                report,
            };
            let failure = match run::run(session, participants, shared).await {
                Ok(outcome) => {
                    if let Some(warning) = outcome.warning {
                        host.face.warning(&warning);
                    }
                    None
                }
                Err(error) => Some(whole(error.source())),
            };
            host.running().remove(&id);
            end.send_replace(failure);
        };
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(consultation);
        Ok(())
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<ConsultationId, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops the calls of a consultation; what is paid for is kept.
    pub(super) fn cancel(&self, id: &ConsultationId) {
        if let Some(running) = self.running().get(id) {
            // Without a receiver it has ended.
            let _ = running.interrupt.send(());
        }
    }

    /// Drops all consultations; their journals can be continued.
    pub(super) async fn end(&self) {
        let tasks = &mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tasks = std::mem::take(tasks);
        tasks.shutdown().await;
    }

    /// Waits for a consultation until `deadline`, or until its phase is no longer `known`. One that
    /// no process runs and that has not ended is continued.
    pub(super) async fn wait(
        self: &Arc<Self>,
        id: &ConsultationId,
        known: Option<&str>,
        deadline: Instant,
    ) -> Result<Waited, Error> {
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
                if let Some(failure) = end.borrow().clone() {
                    return Err(Error::failed(failure));
                }
                let phase = phase.borrow().clone();
                let has_ended = !self.running().contains_key(id);
                if !has_ended && (known.is_some_and(|known| phase != known) || is_over(deadline)) {
                    return Ok(Waited::Running(phase));
                }
                if !has_ended {
                    continue;
                }
            }
            let files = ConsultationFiles::in_folder(&self.home.logs_folder(), id);
            if is_being_written(&files.journal) {
                if is_over(deadline) {
                    return Ok(Waited::Running("Another process runs it".to_owned()));
                }
                sleep_until(deadline.min(Instant::now() + LOOK)).await;
                continue;
            }
            match ends::ending(&files.journal) {
                Ok(ending @ (JournalEnding::Open | JournalEnding::Complete))
                    if !is_complete(&files, ending) =>
                {
                    self.resume(id).await?;
                }
                _ => return Ok(Waited::Ended(Box::new(self.record(id)?))),
            }
        }
    }

    /// Continues a consultation whose process ended before it did.
    async fn resume(self: &Arc<Self>, id: &ConsultationId) -> Result<(), Error> {
        let (this, name) = (Arc::clone(self), id.clone());
        let prepared = host::run_aside("resume", move || this.prepare_resume(name)).await;
        let session = prepared.ok_or_else(|| Error::failed("the program failed"))??;
        self.run(id.clone(), session, MonthRule::Limited)
    }

    fn prepare_resume(&self, id: ConsultationId) -> Result<Session, Error> {
        let face = &*self.face;
        let settings = settings::load(&self.home, &self.environment)?;
        let logs = self.home.logs_folder();
        let interrupted = open_id(id, &logs, Some(LockPolicy::Refuse), face)?;
        let connections = Connections::new(&settings);
        let sources = ResumeSources {
            home: &self.home,
            environment: &self.environment,
            settings: &settings,
            face,
            connections: &connections,
            dry_run: false,
        };
        let request = ControlRequest::new(ConsentMode::NonInteractive);
        let (plan, transcript) = (interrupted.plan(), &interrupted.transcript);
        let prepared = sources.prepare(plan, transcript, &request, self.clock.now());
        let runtime = host::runtime().map_err(Error::failed)?;
        let PreparedResume {
            mut terms,
            providers,
            consent,
            ..
        } = runtime.block_on(prepared)?;
        if let Some(consent) = consent {
            let how = match &consent.gate {
                None | Some(Gate::AboveCeiling) => None,
                Some(Gate::Pass(how)) => Some(*how),
                Some(Gate::Ask(_) | Gate::Refuse(_)) => {
                    let short = interrupted.id.short();
                    return Err(Error::usage(format!(
                        "what is left of {short} needs consent, at about {}",
                        consent.remaining.cost
                    ))
                    .hint(format!("continue it with `conclave resume {short}`")));
                }
            };
            consent.give(how, &mut terms);
        }
        Ok(interrupted.session(terms, providers, self.clock))
    }
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

    /// Returns whether the client cancelled it.
    pub(super) fn is_cancelled(&self) -> bool {
        let interrupted = "interrupted";
        matches!(self, Self::Ended(record) if record.abort_reason.as_deref() == Some(interrupted))
    }
}
