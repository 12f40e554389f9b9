//! Drives the consultations of a policy: starts them, takes over those that an earlier process
//! left, and stops and drains them on an interrupt.

use serde_json::Value;
use tokio::time::error::Elapsed;
use tokio::time::timeout_at;

use crate::consultation::plan::{ControlRequest, Plan};
use crate::consultation::transcript::no_answer::{access_failure, access_failure_after};
use crate::domain::ids::ConsultationId;
use crate::domain::record::stored_record::StoredRecord;
use crate::domain::time::Timestamp;
use crate::engine::clock::Clock;
use crate::engine::ports::Providers;
use crate::error::Error;
use crate::setup::plan::Planner;

use super::accounts::Accounts;
use super::elsewhere::News;
use super::take_over::{TakeOver, is_finished_here, take_over};
use super::{Batch, BatchUpdate, FinishedConsultation, InterruptStage, Watch};

/// Decides which consultations a batch has, and what follows from each.
pub trait BatchPolicy {
    /// What a consultation is for.
    type Job: Send + 'static;

    /// What is in flight, for people.
    const ITEMS: &'static str;

    /// Returns what comes next. It may have been done already.
    fn next(&mut self, batch: &Batch<'_, Self::Job>) -> Result<BatchStep<Self::Job>, Error>;

    /// Where what its consultations cost is counted.
    fn accounts(&mut self) -> &mut Accounts;

    /// Records that a consultation begins, or is taken over, before its first call.
    fn started(&mut self, job: &Self::Job, id: &ConsultationId) -> Result<(), Error>;

    /// Watches a consultation that begins, or is taken over.
    fn watch(&self, _: &ConsultationId) -> Watch {
        None
    }

    /// Says in the trace of a consultation what it was for: more attributes.
    fn trace_labels(&self, _: &Self::Job) -> Value {
        Value::Null
    }

    /// Takes a consultation that is no longer in flight.
    fn ended(&mut self, finished: FinishedConsultation<Self::Job>) -> Result<(), Error>;

    /// Returns whether a consultation of an earlier process is taken over. If not, its job is done
    /// in another one.
    fn takes_over(
        &mut self,
        job: &Self::Job,
        id: &ConsultationId,
        left: &TakeOver,
    ) -> Result<bool, Error>;

    /// Plans a job again for a consultation that was begun in another process.
    fn again(&mut self, job: Self::Job, id: ConsultationId) -> Result<BatchStep<Self::Job>, Error>;

    /// Nothing more starts, because a person interrupted the batch.
    fn interrupted(&mut self) -> Result<(), Error>;
}

/// What a batch does next.
#[derive(Debug)]
pub enum BatchStep<J> {
    Start(J, Box<Plan>, Providers),
    /// Take over the consultation of an earlier process.
    TakeOver(J, ConsultationId),
    /// Wait for what is in flight, and look again at this time at the latest.
    Wait(Option<Timestamp>),
    /// Look again: something was done.
    Again,
    /// The batch is over.
    Rest,
}

/// Drives a policy.
#[derive(Clone, Debug)]
pub struct BatchDriver<'a> {
    pub planner: &'a Planner<'a>,
    /// The limits of consultations that an earlier process began.
    pub control: ControlRequest,
    /// The most consultations at once.
    pub jobs: usize,
    pub clock: Clock,
}

impl<'a> BatchDriver<'a> {
    /// Drives a policy until it rests, or is stopped and nothing is in flight.
    ///
    /// # Errors
    ///
    /// When an event cannot be recorded, or another process runs one of the consultations.
    pub async fn drive<P: BatchPolicy>(
        &self,
        policy: &mut P,
        mut batch: Batch<'a, P::Job>,
    ) -> Result<(), Error> {
        batch.jobs = self.jobs;
        let driven = self.drive_to_end(policy, &mut batch).await;
        batch.finish(self.planner.face).await;
        driven
    }

    async fn drive_to_end<P: BatchPolicy>(
        &self,
        policy: &mut P,
        batch: &mut Batch<'a, P::Job>,
    ) -> Result<(), Error> {
        loop {
            if batch.terms.interrupts.try_recv().is_ok() {
                let stage = batch.interrupted();
                self.interrupted(policy, batch, stage)?;
            }
            match policy.next(batch)? {
                BatchStep::Start(job, plan, providers) => {
                    start(policy, batch, job, (*plan, &providers))?;
                }
                BatchStep::TakeOver(job, id) => self.take_over(policy, batch, job, id).await?,
                BatchStep::Wait(until) => match self.wait(batch, until).await {
                    Err(_elapsed) => {}
                    Ok(None) => {
                        let error = "the log lists a consultation in flight that is not running";
                        return Err(Error::failed(error));
                    }
                    Ok(Some(BatchUpdate::Finished(finished))) => {
                        self.ended(policy, batch, *finished)?;
                    }
                    Ok(Some(BatchUpdate::Interrupted(stage))) => {
                        self.interrupted(policy, batch, stage)?;
                    }
                    Ok(Some(BatchUpdate::News(News::Changed))) => {}
                    Ok(Some(BatchUpdate::News(News::Cancelled))) => {
                        while !batch.is_cancelled() {
                            let stage = batch.interrupted();
                            self.interrupted(policy, batch, stage)?;
                        }
                    }
                },
                BatchStep::Again => {}
                BatchStep::Rest => return Ok(()),
            }
        }
    }

    async fn wait<J: Send + 'static>(
        &self,
        batch: &mut Batch<'_, J>,
        until: Option<Timestamp>,
    ) -> Result<Option<BatchUpdate<J>>, Elapsed> {
        match until {
            Some(until) => timeout_at(self.clock.instant(until), batch.next()).await,
            None => Ok(batch.next().await),
        }
    }

    fn interrupted<P: BatchPolicy>(
        &self,
        policy: &mut P,
        batch: &Batch<'_, P::Job>,
        stage: InterruptStage,
    ) -> Result<(), Error> {
        let face = self.planner.face;
        match stage {
            InterruptStage::Drain => {
                policy.interrupted()?;
                if batch.in_flight() > 0 {
                    face.note(&format!(
                        "Stopping: {} in flight are finished; press Ctrl-C again to cancel them",
                        P::ITEMS
                    ));
                }
            }
            InterruptStage::Cancel => face.note("Cancelling the calls in flight…"),
        }
        Ok(())
    }

    async fn take_over<P: BatchPolicy>(
        &self,
        policy: &mut P,
        batch: &mut Batch<'a, P::Job>,
        job: P::Job,
        id: ConsultationId,
    ) -> Result<(), Error> {
        let sources = self.planner.resume_sources();
        if batch.runs_elsewhere() && !is_finished_here(&id, sources.home) {
            // The process that runs it knows what its journal lacks.
            if let BatchStep::Start(job, plan, providers) = policy.again(job, id)? {
                start(policy, batch, job, (*plan, &providers))?;
            }
            return Ok(());
        }
        let taken = take_over(&id, &sources, &self.control, self.clock).await?;
        if !policy.takes_over(&job, &id, &taken)? {
            return Ok(());
        }
        match taken {
            TakeOver::Finished(outcome) => {
                policy.accounts().count(&id, &outcome.record);
                let result = Ok(*outcome);
                // What an earlier process was refused says nothing of now.
                policy.ended(FinishedConsultation {
                    key: job,
                    id,
                    result,
                })?;
            }
            TakeOver::Resume(session, record) => {
                policy.started(&job, &id)?;
                let last_call = record.as_deref().and_then(last_call);
                let watch = policy.watch(&id);
                batch.resumed.insert(id, last_call.unwrap_or_default());
                batch.resume(job, *session, watch);
            }
            TakeOver::Repeat(_) => {}
        }
        Ok(())
    }

    fn ended<P: BatchPolicy>(
        &self,
        policy: &mut P,
        batch: &mut Batch<'_, P::Job>,
        mut finished: FinishedConsultation<P::Job>,
    ) -> Result<(), Error> {
        if let Ok(outcome) = &mut finished.result {
            for warning in &outcome.warnings {
                self.planner.face.warning(warning);
            }
            policy.accounts().count(&finished.id, &outcome.record);
            if let Some(traces) = &batch.terms.traces {
                traces.send(finished.id.clone(), policy.trace_labels(&finished.key));
            }
            // What was refused before it was resumed says nothing of now.
            outcome.refusal = match batch.resumed.get(&finished.id) {
                Some(last_call) => access_failure_after(&outcome.record, *last_call),
                None => access_failure(&outcome.record),
            };
        }
        policy.ended(finished)
    }
}

fn start<P: BatchPolicy>(
    policy: &mut P,
    batch: &mut Batch<'_, P::Job>,
    job: P::Job,
    (plan, providers): (Plan, &Providers),
) -> Result<(), Error> {
    policy.started(&job, &plan.id)?;
    let watch = policy.watch(&plan.id);
    batch.start(job, plan, providers, watch);
    Ok(())
}

fn last_call(record: &StoredRecord) -> Option<u32> {
    let attempts = record.agent_rounds().flat_map(|(_, work)| &work.attempts);
    attempts.filter_map(|attempt| attempt.call).max()
}
