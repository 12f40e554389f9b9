//! Runs many consultations side by side, a task each. They share the dispatcher (one limit, backoff
//! and circuit a provider), the ceilings above their own, the index and the interrupts. With an
//! [`Executor`], other processes run them, and the tasks wait for these.
//!
//! A [`BatchPolicy`](driver::BatchPolicy) decides which consultations run and what follows from
//! each. The driver does the rest: it starts consultations, takes over what earlier processes left,
//! counts the cost, stops and drains.
//!
//! The first interrupt lets consultations in flight finish. The second cancels their calls, and
//! leaves journals that can be resumed.

pub mod driver;
pub mod elsewhere;
pub mod accounts;
pub mod take_over;
pub mod estimate;

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::FutureExt;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use self::elsewhere::{Executor, News, copy, held};

use super::index::{IndexQueue, RebuildTime};
use super::month::MonthCeiling;
use super::run::{self, MonthRule, Participants, RunOutcome, Session, SharedResources};
use super::storage::Storage;
use super::traces::TraceExporter;
use crate::config::paths::Home;
use crate::consultation::event::Answer;
use crate::consultation::machine::Question;
use crate::consultation::plan::{Control, Plan};
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::transcript::Transcript;
use crate::consultation::transcript::no_answer::{AccessFailure, AccessProblem};
use crate::domain::cost::money::MicroUsd;
use crate::domain::ids::ConsultationId;
use crate::domain::record::stored_record::StoredRecord;
use crate::engine::clock::Clock;
use crate::engine::dispatcher::budget::{SharedBudget as _, SharedCeiling};
use crate::engine::ports::{BoxFuture, Face, Person, Providers, Subscriber};
use crate::error::Error;
use crate::records::files::log_notice;
use crate::setup::plan::template::PreparedPlan;
use crate::stopping::batch::state::StopRequest;

/// The longest round, unless flag or settings say otherwise: nothing endless may hold up a batch.
const MAX_WAIT: Duration = Duration::from_secs(3_600);

/// The terms of a batch.
#[derive(Debug)]
pub struct BatchTerms<'a> {
    pub home: &'a Home,
    pub clock: Clock,
    /// Draws the jitter of backoffs.
    pub seed: u64,
    pub ceiling: RunCeiling,
    /// The limits of a plan that costs something, which have the month's budget.
    pub control: &'a Control,
    pub month_rule: MonthRule,
    /// `None` if no traces are exported.
    pub traces: Option<TraceExporter>,
    /// One message for each request to end.
    pub interrupts: mpsc::UnboundedReceiver<()>,
    /// Writes the report that is stored beside each record.
    pub report: fn(&StoredRecord) -> String,
    /// `None` if this process runs the consultations.
    pub executor: Option<Arc<dyn Executor>>,
}

/// The ceiling over all consultations of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunCeiling {
    /// Its name in messages.
    pub name: &'static str,
    /// `None` if there is none.
    pub limit: Option<MicroUsd>,
    /// What counts as spent by earlier processes of the run.
    pub used: MicroUsd,
}

impl RunCeiling {
    pub fn left(self) -> Option<MicroUsd> {
        let left = |limit: MicroUsd| MicroUsd(limit.0.saturating_sub(self.used.0));
        self.limit.map(left)
    }
}

/// A subscriber to the events of one consultation, if there is one.
pub type Watch = Option<Box<dyn Subscriber>>;

/// Consultations that run side by side. `K` identifies one for the caller.
#[derive(Debug)]
pub struct Batch<'a, K> {
    terms: BatchTerms<'a>,
    shared: SharedResources,
    index: IndexQueue,
    can_be_interrupted: bool,
    interrupt: watch::Sender<Option<InterruptStage>>,
    /// The most consultations at once.
    jobs: usize,
    /// The consultations that continue, with the number of the last call of an earlier process.
    resumed: BTreeMap<ConsultationId, u32>,
    running: JoinSet<FinishedConsultation<K>>,
    /// The interrupts of the consultations in flight, and of some that have ended.
    sessions: Vec<mpsc::UnboundedSender<()>>,
}

/// News of a batch.
#[derive(Debug)]
enum BatchUpdate<K> {
    Finished(Box<FinishedConsultation<K>>),
    Interrupted(InterruptStage),
    News(News),
}

/// What an interrupt asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InterruptStage {
    /// No consultation starts any more; those in flight finish.
    Drain,
    /// The calls in flight are cancelled.
    Cancel,
}

/// A consultation that is no longer in flight.
#[derive(Debug)]
pub struct FinishedConsultation<K> {
    pub key: K,
    pub id: ConsultationId,
    /// An error is one of this consultation only: it could not be stored, or the program failed.
    pub result: Result<ConsultationOutcome, Error>,
}

/// The outcome of a consultation that has run.
#[derive(Debug)]
pub struct ConsultationOutcome {
    /// How it ended, its calls and its events.
    pub transcript: Transcript,
    /// The record as it is stored.
    pub record: StoredRecord,
    /// Failures to write its files, for the user.
    pub warnings: Vec<String>,
    /// The provider that refuses access now.
    pub refusal: Option<AccessFailure>,
}

impl ConsultationOutcome {
    fn new(outcome: RunOutcome, warnings: Vec<String>) -> Self {
        Self {
            transcript: outcome.transcript,
            record: outcome.record,
            warnings: warnings.into_iter().chain(outcome.warning).collect(),
            refusal: None,
        }
    }

    /// Returns the stop that a refused access asks for.
    pub fn refused(&self) -> Option<StopRequest> {
        let AccessFailure {
            problem, provider, ..
        } = self.refusal.clone()?;
        Some(match problem {
            AccessProblem::Authentication => StopRequest::Authentication { provider },
            AccessProblem::Quota => StopRequest::Quota { provider },
        })
    }

    pub fn ceiling(&self) -> Option<StopRequest> {
        let reached = self.transcript.ceiling.as_ref()?;
        let needed = reached.spent.known + reached.worst_case.known;
        let ceiling = reached.max_cost;
        Some(match reached.budget.as_deref() {
            Some(MonthCeiling::NAME) => StopRequest::MonthlyBudget { needed, ceiling },
            Some(_) | None => StopRequest::CostCeiling { needed, ceiling },
        })
    }
}

impl<'a, K: Send + 'static> Batch<'a, K> {
    /// Returns a batch without consultations.
    ///
    /// # Errors
    ///
    /// When the files of the month's budget cannot be used.
    pub fn new(terms: BatchTerms<'a>) -> Result<Self, Error> {
        let (home, clock) = (terms.home, terms.clock);
        let index = IndexQueue::start(home, clock.now());
        let sender = index.sender();
        let mut shared = SharedResources::new(home, terms.control, clock, terms.seed, sender)?;
        shared.month_rule = terms.month_rule;
        if let Some(limit) = terms.ceiling.limit {
            let ceiling = SharedCeiling::new(terms.ceiling.name, limit);
            ceiling.settle(MicroUsd::ZERO, terms.ceiling.used);
            shared.budgets.push(Arc::new(ceiling));
        }
        Ok(Self {
            terms,
            shared,
            index,
            can_be_interrupted: true,
            interrupt: watch::Sender::new(None),
            jobs: usize::MAX,
            resumed: BTreeMap::new(),
            running: JoinSet::new(),
            sessions: Vec::new(),
        })
    }

    fn start(&mut self, key: K, mut plan: Plan, providers: &Providers, watch: Watch) {
        let id = plan.id.clone();
        if let Some(executor) = self.terms.executor.clone() {
            let (home, report) = (self.terms.home.clone(), self.terms.report);
            let (shared, interrupt) = (self.shared.clone(), self.interrupt.subscribe());
            let run = async move {
                let events = held(&*executor, &plan, interrupt, watch).await?;
                copy(&home, plan, &events, report, (shared.index, shared.month)).await
            };
            self.spawn(key, id, run);
            return;
        }
        let storage = match Storage::create(self.terms.home, &id) {
            Ok(storage) => storage,
            Err(error) => {
                let result = Err(Error::failed(error));
                let finished = FinishedConsultation { key, id, result };
                self.running.spawn(async { finished });
                return;
            }
        };
        let mut warnings = Vec::new();
        if let Err(failure) = storage.write_context(&mut plan) {
            let notice = log_notice(&failure);
            warnings.push(format!("{notice}; {id} cannot be resumed"));
        }
        let session = Session::new(plan, providers.clone(), storage, self.terms.clock);
        self.run(key, id, session, warnings, watch);
    }

    fn resume(&mut self, key: K, session: Session, watch: Watch) {
        let id = session.plan().id.clone();
        self.run(key, id, session, Vec::new(), watch);
    }

    fn run(
        &mut self,
        key: K,
        id: ConsultationId,
        session: Session,
        warnings: Vec<String>,
        mut watch: Watch,
    ) {
        let (interrupt, interrupts) = mpsc::unbounded_channel();
        self.sessions.retain(|session| !session.is_closed());
        self.sessions.push(interrupt);
        let (shared, report) = (self.shared.clone(), self.terms.report);
        let run = async move {
            let participants = Participants {
                subscribers: watch.iter_mut().map(|watch| &mut **watch as _).collect(),
                person: &NoPerson,
                interrupts,
                report,
            };
            let outcome = run::run(session, participants, shared).await?;
            Ok(ConsultationOutcome::new(outcome, warnings))
        };
        self.spawn(key, id, run);
    }

    fn spawn(
        &mut self,
        key: K,
        id: ConsultationId,
        run: impl Future<Output = Result<ConsultationOutcome, Error>> + Send + 'static,
    ) {
        self.running.spawn(async move {
            let result = contained(run).await;
            FinishedConsultation { key, id, result }
        });
    }

    pub fn runs_elsewhere(&self) -> bool {
        self.terms.executor.is_some()
    }

    /// Those that are asked now: other processes may not have begun all that are in flight.
    pub fn running(&self) -> usize {
        let executor = self.terms.executor.as_ref();
        executor.map_or(self.in_flight(), |executor| executor.running())
    }

    pub fn is_cancelled(&self) -> bool {
        *self.interrupt.borrow() == Some(InterruptStage::Cancel)
    }

    pub fn may_start(&self) -> bool {
        let executor = self.terms.executor.as_ref();
        let jobs = executor.map_or(self.jobs, |executor| executor.room().min(self.jobs));
        self.interrupt.borrow().is_none() && self.in_flight() < jobs
    }

    pub fn in_flight(&self) -> usize {
        self.running.len()
    }

    /// `None` if none is in flight.
    async fn next(&mut self) -> Option<BatchUpdate<K>> {
        let executor = self.terms.executor.clone();
        loop {
            let news = async {
                match &executor {
                    Some(executor) => executor.news().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                interrupt = self.terms.interrupts.recv(), if self.can_be_interrupted => {
                    if interrupt.is_none() {
                        self.can_be_interrupted = false;
                        continue;
                    }
                    return Some(BatchUpdate::Interrupted(self.interrupted()));
                }
                finished = self.running.join_next() => match finished {
                    Some(Ok(finished)) => return Some(BatchUpdate::Finished(Box::new(finished))),
                    // Its panics are caught, and only the end of the batch aborts it.
                    Some(Err(_)) => {}
                    None => return None,
                },
                news = news => return Some(BatchUpdate::News(news)),
            }
        }
    }

    fn interrupted(&mut self) -> InterruptStage {
        let before = *self.interrupt.borrow();
        let stage = match before {
            None => InterruptStage::Drain,
            Some(InterruptStage::Drain | InterruptStage::Cancel) => {
                self.cancel();
                InterruptStage::Cancel
            }
        };
        self.interrupt.send_replace(Some(stage));
        stage
    }

    /// Every consultation ends, and can be resumed.
    fn cancel(&self) {
        for session in &self.sessions {
            // Without a receiver it has ended.
            let _ = session.send(());
        }
    }

    /// Drops consultations in flight.
    async fn finish(self, face: &dyn Face) {
        let Self {
            mut terms,
            shared,
            index,
            mut running,
            ..
        } = self;
        running.shutdown().await;
        drop(shared);
        index.finish(RebuildTime::Now, face);
        if let Some(traces) = terms.traces {
            traces.finish(&mut terms.interrupts, face).await;
        }
    }
}

/// The person agreed to the whole batch, and is not asked again.
pub fn approved(prepared: PreparedPlan) -> Plan {
    let mut plan = prepared.plan;
    plan.control.consent.consent_mode = ConsentMode::PreApproved;
    plan.control.max_wait.get_or_insert(MAX_WAIT);
    plan
}

/// Runs a consultation whose panic is an error of its own only.
pub(super) async fn contained<T>(run: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let result = AssertUnwindSafe(run).catch_unwind().await;
    result.unwrap_or_else(|_panic| Err(Error::failed("the program failed during the consultation")))
}

/// A person who is never there. A consultation that was approved in advance asks no question; if
/// one did, this is the answer of an empty terminal.
#[derive(Clone, Copy, Debug)]
pub struct NoPerson;

impl Person for NoPerson {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(async { Answer::Gone })
    }
}

#[cfg(test)]
mod tests;
