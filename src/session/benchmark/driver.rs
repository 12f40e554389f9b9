//! Drives a run: starts what its state names, grades what finishes, and writes the log.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::benchmark::event::{BenchmarkEventKind, CaseRunDeferred, DeferralCause};
use crate::benchmark::grading::{
    AccessFailure, AccessProblem, ConsultationAnswer, NoAnswer, access_failure, grade,
    grader_decision, grading_question, spend,
};
use crate::benchmark::result::{CaseOutcome, CaseResult, CaseSpend, StageResults};
use crate::benchmark::run::{Arm, CaseRunId};
use crate::benchmark::state::{AfterFailedAttempt, AttemptFailure, BenchmarkState, PendingCaseRun};
use crate::consultation::plan::Plan;
use crate::domain::ids::ConsultationId;
use crate::domain::money::MicroUsd;
use crate::domain::stored_record::StoredRecord;
use crate::domain::time::Timestamp;
use crate::engine::clock::Clock;
use crate::error::{Error, whole};
use crate::records::files::ConsultationRef;
use crate::records::runs::LockedRun;
use crate::session::batch::{
    Batch, BatchUpdate, ConsultationOutcome, FinishedConsultation, InterruptStage, TakeOver,
    take_over,
};
use crate::session::load;
use crate::setup::plan::Planner;
use crate::setup::plan::template::PlanTemplate;
use crate::setup::request::{ControlRequest, QuestionRequest};
use crate::stopping::batch::state::StopRequest;
use crate::terminal::output::printer::Printer;
use crate::terminal::progress::benchmark::BenchmarkProgress;

use super::arms::{ArmTemplates, approved};
use super::cases::{CaseBook, CaseEntry};

/// The parties to a run.
#[derive(Debug)]
pub(crate) struct BenchmarkDriver<'a> {
    pub(crate) run: LockedRun,
    pub(crate) book: &'a CaseBook,
    pub(crate) arms: &'a ArmTemplates,
    pub(crate) planner: &'a Planner<'a>,
    /// The limits of consultations that an earlier process began.
    pub(crate) control: ControlRequest,
    /// The most consultations at once.
    pub(crate) jobs: usize,
    pub(crate) clock: Clock,
    pub(crate) progress: &'a BenchmarkProgress,
    pub(crate) printer: &'a Printer,
}

/// What a consultation is for.
#[derive(Clone, Debug)]
pub(crate) enum Job {
    Answer(CaseRunId),
    /// A model decides whether this answer is right.
    Grading {
        run: CaseRunId,
        answer: Box<ConsultationAnswer>,
        attempt: u32,
    },
}

/// What is known of a case run beside its log: of this process alone.
#[derive(Debug, Default)]
struct CaseRunAccount {
    /// The spend of each of its consultations.
    spends: BTreeMap<ConsultationId, CaseSpend>,
    /// The time of its finished attempts since it was started.
    duration: Duration,
}

/// A run in this process.
struct RunInProgress<'a> {
    driver: BenchmarkDriver<'a>,
    batch: Batch<'a, Job>,
    accounts: BTreeMap<CaseRunId, CaseRunAccount>,
    started_at: Timestamp,
}

impl<'a> BenchmarkDriver<'a> {
    /// Drives the run until it is complete or stopped and nothing is in flight.
    ///
    /// # Errors
    ///
    /// When the log cannot be written, or another process runs one of the consultations. The run
    /// can be resumed.
    pub(crate) async fn drive(self, batch: Batch<'a, Job>) -> Result<LockedRun, Error> {
        let printer = self.printer;
        let mut run = RunInProgress {
            started_at: self.clock.now(),
            driver: self,
            batch,
            accounts: BTreeMap::new(),
        };
        run.count_earlier_spending();
        let driven = run.to_end().await;
        run.batch.finish(printer);
        driven.map(|()| run.driver.run)
    }
}

impl RunInProgress<'_> {
    async fn to_end(&mut self) -> Result<(), Error> {
        loop {
            self.start_waiting().await?;
            self.driver.progress.running(self.batch.in_flight());
            match self.batch.next().await {
                None => return Ok(()),
                Some(BatchUpdate::Finished(finished)) => self.finished(*finished)?,
                Some(BatchUpdate::Interrupted(InterruptStage::Drain)) => {
                    self.record(BenchmarkEventKind::StopRequested(StopRequest::Interrupt))?;
                    if self.batch.in_flight() > 0 {
                        self.driver.printer.note(
                            "Stopping: cases in flight are finished; press Ctrl-C again to cancel \
                             them",
                        );
                    }
                }
                Some(BatchUpdate::Interrupted(InterruptStage::Cancel)) => {
                    self.driver.printer.note("Cancelling the calls in flight…");
                }
            }
        }
    }

    fn state(&self) -> &BenchmarkState {
        self.driver.run.state()
    }

    fn now(&self) -> Timestamp {
        self.driver.clock.now()
    }

    fn record(&mut self, kind: BenchmarkEventKind) -> Result<(), Error> {
        let now = self.now();
        self.driver.run.record(now, kind).map_err(Error::failed)?;
        if self.state().is_halted() && !self.state().is_complete() {
            self.driver.progress.ending();
        }
        let cost = self.state().spend().cost;
        self.driver.progress.spent(cost);
        Ok(())
    }

    /// Counts what earlier processes spent under the ceiling. What a killed process had in flight
    /// is in its journals alone.
    fn count_earlier_spending(&mut self) {
        let mut spent = self.state().spend().cost.known;
        for pending in self.state().left_over() {
            let consultations = pending.consultations.iter();
            let all: MicroUsd = consultations.map(|id| self.spend_of(id).cost.known).sum();
            spent += MicroUsd(all.0.saturating_sub(pending.spend.cost.known.0));
        }
        self.batch.count_earlier_spending(spent);
        self.driver.progress.spent(self.state().spend().cost);
    }

    fn load(&self, id: &ConsultationId) -> Option<StoredRecord> {
        let logs = self.driver.planner.sources().home.logs_folder();
        let loaded = load::load(&logs, &ConsultationRef::of(id)).ok()?;
        Some(loaded.record)
    }

    /// Returns the spend of a consultation from its files; nothing if it left none.
    fn spend_of(&self, id: &ConsultationId) -> CaseSpend {
        self.load(id)
            .map(|record| spend([&record]))
            .unwrap_or_default()
    }

    /// Starts case runs until no more may start.
    async fn start_waiting(&mut self) -> Result<(), Error> {
        while self.batch.accepts_new() && self.batch.in_flight() < self.driver.jobs {
            let Some(pending) = self.state().next_start().cloned() else {
                return Ok(());
            };
            if !self.take_over(&pending).await? {
                self.start_attempt(&pending.run)?;
            }
        }
        Ok(())
    }

    /// Takes over the last consultation of a case run, if it has an answer that was not graded or
    /// was interrupted. Returns whether that succeeded.
    async fn take_over(&mut self, pending: &PendingCaseRun) -> Result<bool, Error> {
        let Some(entry) = self.driver.book.get(&pending.run.case) else {
            return Ok(false);
        };
        let Some(id) = self.left_over(pending, entry) else {
            return Ok(false);
        };
        let sources = self.driver.planner.resume_sources();
        let clock = self.driver.clock;
        match take_over(&id, &sources, &self.driver.control, clock).await? {
            TakeOver::Repeat(why) => {
                let notice = format!("{} is asked again: {why}", pending.run.case);
                self.driver.printer.detail(&notice);
                Ok(false)
            }
            TakeOver::Finished(outcome) => match grade(&entry.key, &outcome.record) {
                Err(_) => Ok(false),
                Ok(answer) => {
                    self.answered(&pending.run, &id, answer, &outcome.record)?;
                    Ok(true)
                }
            },
            TakeOver::Resume(session) => {
                self.record(BenchmarkEventKind::CaseRunStarted {
                    run: pending.run.clone(),
                    attempt: pending.attempts.max(1),
                    consultation: id,
                })?;
                self.batch
                    .resume(Job::Answer(pending.run.clone()), *session);
                Ok(true)
            }
        }
    }

    /// Returns the consultation that a case run can take over.
    fn left_over(&self, pending: &PendingCaseRun, entry: &CaseEntry) -> Option<ConsultationId> {
        if let Some(id) = &pending.unfinished {
            return Some(id.clone());
        }
        let last = pending.consultations.last()?;
        match grade(&entry.key, &self.load(last)?) {
            // Its grading failed.
            Ok(_) => Some(last.clone()),
            Err(NoAnswer::Interrupted | NoAnswer::CostCeiling { .. } | NoAnswer::Unfinished) => {
                Some(last.clone())
            }
            Err(NoAnswer::Failed { .. } | NoAnswer::Infrastructure { .. }) => None,
        }
    }

    /// Starts a new consultation for a case run that waits or has failed.
    fn start_attempt(&mut self, run: &CaseRunId) -> Result<(), Error> {
        let (book, arms) = (self.driver.book, self.driver.arms);
        let attempts = self
            .state()
            .pending(run)
            .map_or(0, |pending| pending.attempts);
        let planned = match (book.get(&run.case), arms.of(run.arm)) {
            (Some(entry), Some(template)) => entry
                .question()
                .and_then(|question| template.plan(question))
                .map(|prepared| (approved(prepared), template)),
            (None, _) | (_, None) => Err(Error::failed("the case is not part of the run")),
        };
        match planned {
            Ok((plan, template)) => {
                self.record(BenchmarkEventKind::CaseRunStarted {
                    run: run.clone(),
                    attempt: attempts + 1,
                    consultation: plan.id.clone(),
                })?;
                self.batch
                    .start(Job::Answer(run.clone()), plan, template.providers());
                Ok(())
            }
            Err(error) => {
                let result = self.result(run, CaseOutcome::Failed, None, None);
                self.finish(CaseResult {
                    error: Some(whole(error.source())),
                    ..result
                })
            }
        }
    }

    fn finished(&mut self, finished: FinishedConsultation<Job>) -> Result<(), Error> {
        let FinishedConsultation { key, id, result } = finished;
        match key {
            Job::Answer(run) => {
                self.count_time(&run);
                match result {
                    Ok(outcome) => self.consulted(&run, &id, &outcome),
                    Err(error) => {
                        self.no_answer(&run, AttemptFailure::NoAnswer, whole(error.source()))
                    }
                }
            }
            Job::Grading {
                run,
                answer,
                attempt,
            } => self.graded(&run, *answer, attempt, &id, result),
        }
    }

    /// Takes the outcome of a case run's consultation.
    fn consulted(
        &mut self,
        run: &CaseRunId,
        id: &ConsultationId,
        outcome: &ConsultationOutcome,
    ) -> Result<(), Error> {
        for warning in &outcome.warnings {
            self.driver.printer.warning(warning);
        }
        let Some(entry) = self.driver.book.get(&run.case) else {
            return Ok(());
        };
        self.count_spend(run, id, &outcome.record);
        let refusal = access_failure(&outcome.record);
        if let Some(refusal) = &refusal {
            self.record(BenchmarkEventKind::StopRequested(stop_request(refusal)))?;
        }
        match grade(&entry.key, &outcome.record) {
            Ok(answer) => self.answered(run, id, answer, &outcome.record),
            Err(NoAnswer::Failed { message } | NoAnswer::Infrastructure { message })
                if refusal.is_some() =>
            {
                self.defer(run, DeferralCause::Stop, Some(message))
            }
            Err(NoAnswer::Failed { message }) => {
                self.no_answer(run, AttemptFailure::NoAnswer, message)
            }
            Err(NoAnswer::Infrastructure { message }) => {
                self.no_answer(run, AttemptFailure::Infrastructure, message)
            }
            Err(NoAnswer::CostCeiling { message }) => {
                if let Some(reached) = &outcome.transcript.ceiling {
                    let needed = reached.spent.known + reached.worst_case.known;
                    self.record(BenchmarkEventKind::StopRequested(
                        StopRequest::CostCeiling {
                            needed,
                            ceiling: reached.max_cost,
                        },
                    ))?;
                }
                self.defer(run, DeferralCause::Stop, Some(message))
            }
            Err(NoAnswer::Interrupted | NoAnswer::Unfinished) => {
                self.defer(run, DeferralCause::Stop, None)
            }
        }
    }

    /// Takes an answer: it is a result, unless a model has to grade it.
    fn answered(
        &mut self,
        run: &CaseRunId,
        id: &ConsultationId,
        answer: ConsultationAnswer,
        record: &StoredRecord,
    ) -> Result<(), Error> {
        self.count_spend(run, id, record);
        if answer.answer.is_some() {
            return self.decided(run, answer, None);
        }
        let is_in_flight = self
            .state()
            .in_flight()
            .iter()
            .any(|started| started.pending.run == *run);
        if !is_in_flight {
            let attempts = self
                .state()
                .pending(run)
                .map_or(1, |pending| pending.attempts);
            self.record(BenchmarkEventKind::CaseRunStarted {
                run: run.clone(),
                attempt: attempts.max(1),
                consultation: id.clone(),
            })?;
        }
        self.start_grading(run, Box::new(answer), 1)
    }

    fn start_grading(
        &mut self,
        run: &CaseRunId,
        answer: Box<ConsultationAnswer>,
        attempt: u32,
    ) -> Result<(), Error> {
        let planned = match (self.driver.book.get(&run.case), self.driver.arms.grader()) {
            (Some(entry), Some(grader)) => {
                plan_grading(grader, entry, &answer.text).map(|plan| (plan, grader))
            }
            (None, _) | (_, None) => Err(Error::failed("no model grades the answer")),
        };
        match planned {
            Ok((plan, grader)) => {
                let job = Job::Grading {
                    run: run.clone(),
                    answer,
                    attempt,
                };
                self.batch.start(job, plan, grader.providers());
                Ok(())
            }
            Err(error) => self.not_graded(run, *answer, None, whole(error.source())),
        }
    }

    /// Takes the grader's decision.
    fn graded(
        &mut self,
        run: &CaseRunId,
        mut answer: ConsultationAnswer,
        attempt: u32,
        id: &ConsultationId,
        result: Result<ConsultationOutcome, Error>,
    ) -> Result<(), Error> {
        let outcome = match result {
            Ok(outcome) => outcome,
            Err(error) => return self.not_graded(run, answer, None, whole(error.source())),
        };
        self.count_spend(run, id, &outcome.record);
        if let Some(refusal) = access_failure(&outcome.record) {
            self.record(BenchmarkEventKind::StopRequested(stop_request(&refusal)))?;
        }
        if let Some(reached) = &outcome.transcript.ceiling {
            let needed = reached.spent.known + reached.worst_case.known;
            self.record(BenchmarkEventKind::StopRequested(
                StopRequest::CostCeiling {
                    needed,
                    ceiling: reached.max_cost,
                },
            ))?;
        }
        match grader_decision(&outcome.record) {
            Ok(is_right) => {
                answer.decide(is_right);
                self.decided(run, answer, Some(id.clone()))
            }
            Err(_) if self.state().is_halted() => {
                let why = "the run stopped before the answer was graded".to_owned();
                self.defer(run, DeferralCause::Stop, Some(why))
            }
            Err(_) if attempt < self.state().terms().attempts_per_case => {
                self.start_grading(run, Box::new(answer), attempt + 1)
            }
            Err(error) => self.not_graded(run, answer, Some(id.clone()), error.to_string()),
        }
    }

    fn decided(
        &mut self,
        run: &CaseRunId,
        answer: ConsultationAnswer,
        grading: Option<ConsultationId>,
    ) -> Result<(), Error> {
        let is_right = answer.answer.as_ref().is_some_and(|answer| answer.is_right);
        let outcome = if is_right {
            CaseOutcome::Approved
        } else {
            CaseOutcome::Rejected
        };
        let result = self.result(run, outcome, Some(answer), grading);
        self.finish(result)
    }

    /// An answer that no model could grade counts as none.
    fn not_graded(
        &mut self,
        run: &CaseRunId,
        answer: ConsultationAnswer,
        grading: Option<ConsultationId>,
        error: String,
    ) -> Result<(), Error> {
        let result = self.result(run, CaseOutcome::Failed, Some(answer), grading);
        self.finish(CaseResult {
            error: Some(error),
            ..result
        })
    }

    /// Decides what follows an attempt without an answer.
    fn no_answer(
        &mut self,
        run: &CaseRunId,
        failure: AttemptFailure,
        message: String,
    ) -> Result<(), Error> {
        match self.state().after_failed_attempt(run, failure) {
            AfterFailedAttempt::Retry => self.start_attempt(run),
            AfterFailedAttempt::Defer(cause) => self.defer(run, cause, Some(message)),
            AfterFailedAttempt::Fail => {
                let result = self.result(run, CaseOutcome::Failed, None, None);
                self.finish(CaseResult {
                    error: Some(message),
                    ..result
                })
            }
        }
    }

    fn defer(
        &mut self,
        run: &CaseRunId,
        cause: DeferralCause,
        error: Option<String>,
    ) -> Result<(), Error> {
        if let (DeferralCause::Infrastructure, Some(error)) = (cause, &error) {
            let line = format!("{} is tried again later: {error}", run.case);
            self.driver.printer.detail(&line);
        }
        let account = self.accounts.remove(run).unwrap_or_default();
        let mut spent = CaseSpend::default();
        for spend in account.spends.values() {
            spent.add(spend);
        }
        self.record(BenchmarkEventKind::CaseRunDeferred(Box::new(
            CaseRunDeferred {
                run: run.clone(),
                cause,
                spend: spent,
                duration_ms: milliseconds(account.duration),
                error,
            },
        )))
    }

    fn finish(&mut self, result: CaseResult) -> Result<(), Error> {
        self.accounts.remove(&result.run);
        self.record(BenchmarkEventKind::CaseRunFinished {
            result: Box::new(result.clone()),
        })?;
        let terms = self.state().terms();
        let case = terms.cases.iter().find(|case| case.id == result.run.case);
        let expected = case.map_or("", |case| case.expected.as_str());
        let is_measured = !terms.is_comparison() || result.run.arm == Arm::Panel;
        let elapsed = self.now().since(self.started_at);
        self.driver
            .progress
            .finished(&result, expected, is_measured, elapsed);
        Ok(())
    }

    /// Returns the result of a case run; its spend is that of all its consultations.
    fn result(
        &self,
        run: &CaseRunId,
        outcome: CaseOutcome,
        answer: Option<ConsultationAnswer>,
        grading: Option<ConsultationId>,
    ) -> CaseResult {
        let pending = self.state().pending(run);
        let account = self.accounts.get(run);
        let consultations = pending.map_or_else(Vec::new, |pending| pending.consultations.clone());
        let mut spent = CaseSpend::default();
        let known = |id: &ConsultationId| account?.spends.get(id);
        for id in &consultations {
            match known(id) {
                Some(spend) => spent.add(spend),
                None => spent.add(&self.spend_of(id)),
            }
        }
        // Gradings are no consultations of the case run.
        let gradings = account.into_iter().flat_map(|account| &account.spends);
        for (_, spend) in gradings.filter(|(id, _)| !consultations.contains(id)) {
            spent.add(spend);
        }
        let earlier_ms = pending.map_or(0, |pending| pending.duration_ms);
        let here = account.map_or(Duration::ZERO, |account| account.duration);
        let attempts = pending.map_or(1, |pending| pending.attempts.max(1));
        let mut result = CaseResult {
            run: run.clone(),
            outcome,
            attempts,
            answer: None,
            confidence: None,
            calibrated: None,
            agreement: None,
            early_stop: false,
            saved: None,
            demonstration: false,
            stages: StageResults::default(),
            experts: Vec::new(),
            spend: spent,
            duration_ms: earlier_ms.saturating_add(milliseconds(here)),
            consultations,
            grading,
            error: None,
        };
        if let Some(answer) = answer {
            result.answer = answer.answer;
            result.confidence = answer.confidence;
            result.calibrated = answer.calibrated;
            result.agreement = answer.agreement;
            result.early_stop = answer.early_stop;
            result.saved = answer.saved;
            result.demonstration = answer.demonstration;
            result.stages = answer.stages;
            result.experts = answer.experts;
        }
        result
    }

    fn count_spend(&mut self, run: &CaseRunId, id: &ConsultationId, record: &StoredRecord) {
        let account = self.accounts.entry(run.clone()).or_default();
        account.spends.insert(id.clone(), spend([record]));
    }

    /// Counts the time since the attempt in flight started.
    fn count_time(&mut self, run: &CaseRunId) {
        let mut in_flight = self.state().in_flight().iter();
        let started_at = in_flight
            .find(|started| started.pending.run == *run)
            .map(|started| started.started_at);
        if let Some(started_at) = started_at {
            let duration = self.now().since(started_at);
            self.accounts.entry(run.clone()).or_default().duration += duration;
        }
    }
}

fn plan_grading(grader: &PlanTemplate, entry: &CaseEntry, answer: &str) -> Result<Plan, Error> {
    let question = QuestionRequest {
        question: grading_question(&entry.case, answer),
        ..QuestionRequest::default()
    };
    grader.plan(question).map(approved)
}

fn stop_request(refusal: &AccessFailure) -> StopRequest {
    let provider = refusal.provider.clone();
    match refusal.problem {
        AccessProblem::Authentication => StopRequest::Authentication { provider },
        AccessProblem::Quota => StopRequest::Quota { provider },
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
