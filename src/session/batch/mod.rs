//! Runs many consultations side by side in one task. They share the dispatcher (one limit, backoff
//! and circuit a provider), the ceilings above their own, the index and the interrupts.
//!
//! The caller owns the loop: it decides after each consultation whether to start another, so that
//! stop conditions, resuming and grading stay with it.
//!
//! ```text
//! let mut batch = Batch::new(BatchTerms { … })?;
//! loop {
//!     while batch.interrupt.is_none() && batch.in_flight() < width {
//!         let Some(next) = queue.pop() else { break };
//!         batch.start(next.key, next.plan, template.providers());
//!     }
//!     match batch.next().await {
//!         None => break,
//!         Some(BatchUpdate::Finished(finished)) => …,
//!         Some(BatchUpdate::Interrupted(stage)) => …,
//!     }
//! }
//! batch.finish(face);
//! ```
//!
//! The first interrupt only changes [`Batch::interrupt`]: consultations in flight finish. The
//! second cancels their calls, and leaves journals that can be resumed.

mod take_over;
pub(crate) mod estimate;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{FutureExt, LocalBoxFuture};
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::sync::mpsc::{self, error::TryRecvError};

use super::index::{IndexQueue, RebuildTime};
use super::run::{self, MonthRule, Participants, RunOutcome, Session, SharedResources};
use super::storage::Storage;
use crate::config::paths::Home;
use crate::consultation::event::Answer;
use crate::consultation::machine::Question;
use crate::consultation::plan::{Control, Plan};
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::transcript::Transcript;
use crate::domain::ids::ConsultationId;
use crate::domain::money::MicroUsd;
use crate::domain::stored_record::StoredRecord;
use crate::engine::clock::Clock;
use crate::engine::dispatcher::budget::{SharedBudget as _, SharedCeiling};
use crate::engine::ports::{BoxFuture, Face, Person, Providers};
use crate::error::Error;
use crate::records::files::log_notice;
use crate::setup::plan::template::PreparedPlan;

pub(crate) use self::take_over::{TakeOver, take_over};

/// The longest round, unless flag or settings say otherwise: nothing endless may hold up a batch.
const MAX_WAIT: Duration = Duration::from_secs(3_600);

/// The terms of a batch.
#[derive(Debug)]
pub(crate) struct BatchTerms<'a> {
    pub(crate) home: &'a Home,
    pub(crate) clock: Clock,
    /// Draws the jitter of backoffs.
    pub(crate) seed: u64,
    pub(crate) ceiling: Option<RunCeiling>,
    /// The limits of a plan that costs something, which have the month's budget.
    pub(crate) control: &'a Control,
    pub(crate) month_rule: MonthRule,
    /// One message for each request to end.
    pub(crate) interrupts: mpsc::UnboundedReceiver<()>,
    /// Writes the report that is stored beside each record.
    pub(crate) report: fn(&StoredRecord) -> String,
}

/// A ceiling over all consultations of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunCeiling {
    /// Its name in messages.
    pub(crate) name: &'static str,
    pub(crate) limit: MicroUsd,
    /// What counts as spent by earlier processes of the run.
    pub(crate) used: MicroUsd,
}

impl RunCeiling {
    /// Returns what is left to this process.
    pub(crate) fn left(self) -> MicroUsd {
        MicroUsd(self.limit.0.saturating_sub(self.used.0))
    }
}

/// Consultations that run side by side. `K` identifies one for the caller.
#[derive(Debug)]
pub(crate) struct Batch<'a, K> {
    home: &'a Home,
    clock: Clock,
    shared: SharedResources,
    index: IndexQueue,
    interrupts: mpsc::UnboundedReceiver<()>,
    can_be_interrupted: bool,
    pub(crate) interrupt: Option<InterruptStage>,
    report: fn(&StoredRecord) -> String,
    running: FuturesUnordered<LocalBoxFuture<'a, FinishedConsultation<K>>>,
    /// The interrupts of the consultations in flight, and of some that have ended.
    sessions: Vec<mpsc::UnboundedSender<()>>,
}

/// News of a batch.
#[derive(Debug)]
pub(crate) enum BatchUpdate<K> {
    Finished(Box<FinishedConsultation<K>>),
    Interrupted(InterruptStage),
}

/// What an interrupt asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum InterruptStage {
    /// No consultation starts any more; those in flight finish.
    Drain,
    /// The calls in flight are cancelled.
    Cancel,
}

/// A consultation that is no longer in flight.
#[derive(Debug)]
pub(crate) struct FinishedConsultation<K> {
    pub(crate) key: K,
    pub(crate) id: ConsultationId,
    /// An error is one of this consultation only: it could not be stored, or the program failed.
    pub(crate) result: Result<ConsultationOutcome, Error>,
}

/// The outcome of a consultation that has run.
#[derive(Debug)]
pub(crate) struct ConsultationOutcome {
    /// How it ended, its calls and its events.
    pub(crate) transcript: Transcript,
    /// The record as it is stored.
    pub(crate) record: StoredRecord,
    /// Failures to write its files, for the user.
    pub(crate) warnings: Vec<String>,
}

impl<'a, K: 'a> Batch<'a, K> {
    /// Returns a batch without consultations.
    ///
    /// # Errors
    ///
    /// When the files of the month's budget cannot be used.
    pub(crate) fn new(terms: BatchTerms<'a>) -> Result<Self, Error> {
        let BatchTerms {
            home,
            clock,
            seed,
            ceiling,
            control,
            month_rule,
            interrupts,
            report,
        } = terms;
        let index = IndexQueue::start(home, clock.now());
        let mut shared = SharedResources::new(home, control, clock, seed, index.sender())?;
        shared.month_rule = month_rule;
        if let Some(RunCeiling { name, limit, used }) = ceiling {
            let ceiling = SharedCeiling::new(name, limit);
            ceiling.settle(MicroUsd::ZERO, used);
            shared.budgets.push(Arc::new(ceiling));
        }
        Ok(Self {
            home,
            clock,
            shared,
            index,
            interrupts,
            can_be_interrupted: true,
            interrupt: None,
            report,
            running: FuturesUnordered::new(),
            sessions: Vec::new(),
        })
    }

    /// Starts a consultation of this plan.
    pub(crate) fn start(&mut self, key: K, mut plan: Plan, providers: &Providers) {
        let id = plan.id.clone();
        let storage = match Storage::create(self.home, &id) {
            Ok(storage) => storage,
            Err(error) => {
                let result = Err(Error::failed(error));
                let finished = FinishedConsultation { key, id, result };
                self.running.push(async { finished }.boxed_local());
                return;
            }
        };
        let mut warnings = Vec::new();
        if let Err(failure) = storage.write_context(&mut plan) {
            let notice = log_notice(&failure);
            warnings.push(format!("{notice}; {id} cannot be resumed"));
        }
        let session = Session::new(plan, providers.clone(), storage, self.clock);
        self.run(key, id, session, warnings);
    }

    /// Resumes an interrupted consultation.
    pub(crate) fn resume(&mut self, key: K, session: Session) {
        let id = session.plan().id.clone();
        self.run(key, id, session, Vec::new());
    }

    fn run(&mut self, key: K, id: ConsultationId, session: Session, mut warnings: Vec<String>) {
        let (interrupt, interrupts) = mpsc::unbounded_channel();
        self.sessions.retain(|session| !session.is_closed());
        self.sessions.push(interrupt);
        let (shared, report) = (self.shared.clone(), self.report);
        let finished = async move {
            let participants = Participants {
                subscribers: Vec::new(),
                person: &NoPerson,
                interrupts,
                report,
            };
            let run = run::run(session, participants, shared);
            let result = match AssertUnwindSafe(run).catch_unwind().await {
                Ok(outcome) => outcome.map(|outcome| outcome_of(outcome, &mut warnings)),
                Err(_panic) => Err(Error::failed("the program failed during the consultation")),
            };
            FinishedConsultation { key, id, result }
        };
        self.running.push(finished.boxed_local());
    }

    /// Returns whether the calls in flight were cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.interrupt == Some(InterruptStage::Cancel)
    }

    /// Returns the number of consultations in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.running.len()
    }

    /// Waits for the next consultation to finish, or for an interrupt; `None` if none is in flight.
    pub(crate) async fn next(&mut self) -> Option<BatchUpdate<K>> {
        loop {
            tokio::select! {
                biased;
                interrupt = self.interrupts.recv(), if self.can_be_interrupted => {
                    if interrupt.is_none() {
                        self.can_be_interrupted = false;
                        continue;
                    }
                    return Some(BatchUpdate::Interrupted(self.interrupted()));
                }
                finished = self.running.next() => {
                    return finished.map(|finished| BatchUpdate::Finished(Box::new(finished)));
                }
            }
        }
    }

    /// Returns what an interrupt asks for that came since the last look, without waiting.
    pub(crate) fn poll_interrupt(&mut self) -> Option<InterruptStage> {
        match self.interrupts.try_recv() {
            Ok(()) => Some(self.interrupted()),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => None,
        }
    }

    fn interrupted(&mut self) -> InterruptStage {
        let stage = match self.interrupt {
            None => InterruptStage::Drain,
            Some(InterruptStage::Drain | InterruptStage::Cancel) => {
                self.cancel();
                InterruptStage::Cancel
            }
        };
        self.interrupt = Some(stage);
        stage
    }

    /// Cancels the calls in flight: every consultation ends, and can be resumed.
    fn cancel(&self) {
        for session in &self.sessions {
            // Without a receiver it has ended.
            let _ = session.send(());
        }
    }

    /// Waits until the index has every consultation that has ended; those in flight are dropped.
    pub(crate) fn finish(self, face: &dyn Face) {
        let Self {
            shared,
            index,
            running,
            ..
        } = self;
        drop(running);
        drop(shared);
        index.finish(RebuildTime::Now, face);
    }
}

fn outcome_of(outcome: RunOutcome, warnings: &mut Vec<String>) -> ConsultationOutcome {
    warnings.extend(outcome.warning);
    ConsultationOutcome {
        transcript: outcome.transcript,
        record: outcome.record,
        warnings: std::mem::take(warnings),
    }
}

/// Returns the plan as approved: the person agreed to the whole batch, and is not asked again.
pub(crate) fn approved(prepared: PreparedPlan) -> Plan {
    let mut plan = prepared.plan;
    plan.control.consent.consent_mode = ConsentMode::PreApproved;
    plan.control.max_wait.get_or_insert(MAX_WAIT);
    plan
}

/// A person who is never there. A consultation that was approved in advance asks no question; if
/// one did, this is the answer of an empty terminal.
#[derive(Clone, Copy, Debug)]
struct NoPerson;

impl Person for NoPerson {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(async { Answer::Gone })
    }
}

#[cfg(test)]
mod tests;
