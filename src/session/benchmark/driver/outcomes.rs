//! What follows a consultation: a result, a grading, another attempt, or a stop.

use crate::benchmark::event::{BenchmarkEventKind, CaseRunDeferred, DeferralCause};
use crate::benchmark::grading::{ConsultationAnswer, grade, grader_decision, grading_question};
use crate::benchmark::result::{CaseOutcome, CaseResult};
use crate::benchmark::run::{Arm, CaseRunId};
use crate::benchmark::state::AfterFailedAttempt;
use crate::consultation::plan::Plan;
use crate::consultation::transcript::no_answer::{NoAnswer, no_answer};
use crate::domain::ids::ConsultationId;
use crate::error::{Error, whole};
use crate::session::batch::accounts::ConsultationAccount;
use crate::session::batch::driver::BatchStep;
use crate::session::batch::{ConsultationOutcome, approved};
use crate::session::benchmark::cases::CaseEntry;
use crate::setup::plan::template::PlanTemplate;
use crate::setup::request::QuestionRequest;
use crate::stopping::batch::state::StopRequest;

use super::{Job, RunInProgress};

impl RunInProgress<'_> {
    pub(super) fn consulted(
        &mut self,
        run: &CaseRunId,
        id: &ConsultationId,
        result: Result<ConsultationOutcome, Error>,
    ) -> Result<(), Error> {
        let outcome = match result {
            Ok(outcome) => outcome,
            Err(error) => {
                let message = whole(error.source());
                return self.no_answer(run, message);
            }
        };
        let Some(entry) = self.driver.book.get(&run.case) else {
            let message = "the case is not part of the run";
            return self.fail(run, None, None, message.to_owned());
        };
        let refusal = outcome.refused();
        let is_refused = refusal.is_some();
        self.request_stop(refusal)?;
        match grade(&entry.key, &outcome.record) {
            Ok(answer) => self.answered(run, id, answer),
            Err(NoAnswer::Failed { message }) if !is_refused => self.no_answer(run, message),
            Err(NoAnswer::Failed { message } | NoAnswer::Infrastructure { message }) => {
                self.defer(run, DeferralCause::Infrastructure, Some(message))
            }
            Err(NoAnswer::CostCeiling { message }) => {
                self.request_stop(outcome.ceiling())?;
                self.cut_off(run, Some(message))
            }
            Err(NoAnswer::Interrupted | NoAnswer::Unfinished) => self.cut_off(run, None),
        }
    }

    /// A stop is the reason. Without one it counts as a failure, since a case run that is only put
    /// back could be cut off for ever.
    fn cut_off(&mut self, run: &CaseRunId, message: Option<String>) -> Result<(), Error> {
        if self.state().is_halted() {
            return self.defer(run, DeferralCause::Stop, message);
        }
        let message = message.unwrap_or_else(|| "the consultation was cut off".to_owned());
        self.no_answer(run, message)
    }

    fn request_stop(&mut self, request: Option<StopRequest>) -> Result<(), Error> {
        request.map_or(Ok(()), |request| {
            self.record(BenchmarkEventKind::StopRequested(request))
        })
    }

    /// The answer is a result, unless a model has to grade it.
    fn answered(
        &mut self,
        run: &CaseRunId,
        id: &ConsultationId,
        answer: ConsultationAnswer,
    ) -> Result<(), Error> {
        if answer.answer.is_some() {
            return self.decided(run, answer, None);
        }
        let mut in_flight = self.state().in_flight().iter();
        if !in_flight.any(|pending| pending.run == *run) {
            self.start_case_run(run, id.clone())?;
        }
        self.follow_ups.push_back(Job::Grading {
            run: run.clone(),
            answer: Box::new(answer),
            attempt: 1,
        });
        Ok(())
    }

    pub(super) fn start_grading(
        &mut self,
        run: CaseRunId,
        answer: Box<ConsultationAnswer>,
        attempt: u32,
        id: ConsultationId,
    ) -> Result<BatchStep<Job>, Error> {
        let planned = match (self.driver.book.get(&run.case), self.driver.arms.grader()) {
            (Some(entry), Some(grader)) => {
                plan_grading(grader, entry, &answer.text).map(|plan| (plan, grader))
            }
            (None, _) | (_, None) => Err(Error::failed("no model grades the answer")),
        };
        match planned {
            Ok((mut plan, grader)) => {
                plan.id = id;
                let job = Job::Grading {
                    run,
                    answer,
                    attempt,
                };
                let providers = grader.providers.clone();
                Ok(BatchStep::Start(job, Box::new(plan), providers))
            }
            Err(error) => {
                self.fail(&run, Some(*answer), None, whole(error.source()))?;
                Ok(BatchStep::Again)
            }
        }
    }

    pub(super) fn graded(
        &mut self,
        run: &CaseRunId,
        mut answer: ConsultationAnswer,
        attempt: u32,
        id: &ConsultationId,
        result: Result<ConsultationOutcome, Error>,
    ) -> Result<(), Error> {
        let grading = Some(id.clone());
        let outcome = match result {
            Ok(outcome) => outcome,
            // No process has begun it.
            Err(error) if self.state().is_halted() => {
                return self.defer(run, DeferralCause::Stop, Some(whole(error.source())));
            }
            Err(error) => {
                return self.fail(run, Some(answer), grading, whole(error.source()));
            }
        };
        self.request_stop(outcome.refused())?;
        self.request_stop(outcome.ceiling())?;
        match grader_decision(&outcome.record) {
            Ok(is_right) => {
                answer.decide(is_right);
                self.decided(run, answer, grading)
            }
            Err(_) if self.state().is_halted() => {
                let why = "the run stopped before the answer was graded".to_owned();
                self.defer(run, DeferralCause::Stop, Some(why))
            }
            Err(_) if let NoAnswer::Infrastructure { message } = no_answer(&outcome.record) => {
                self.defer(run, DeferralCause::Infrastructure, Some(message))
            }
            Err(_) if attempt < self.state().begun.terms.attempts_per_case => {
                self.follow_ups.push_back(Job::Grading {
                    run: run.clone(),
                    answer: Box::new(answer),
                    attempt: attempt + 1,
                });
                Ok(())
            }
            Err(error) => self.fail(run, Some(answer), grading, error.to_string()),
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
        let result = self.result(run, outcome, answer, grading);
        self.finish(&result)
    }

    /// An answer that no model could grade counts as none.
    pub(super) fn fail(
        &mut self,
        run: &CaseRunId,
        answer: Option<ConsultationAnswer>,
        grading: Option<ConsultationId>,
        error: String,
    ) -> Result<(), Error> {
        let answer = answer.unwrap_or_default();
        self.finish(&CaseResult {
            error: Some(error),
            ..self.result(run, CaseOutcome::Failed, answer, grading)
        })
    }

    fn no_answer(&mut self, run: &CaseRunId, message: String) -> Result<(), Error> {
        match self.state().after_failed_attempt(run) {
            AfterFailedAttempt::Retry => {
                self.follow_ups.push_back(Job::Answer(run.clone()));
                Ok(())
            }
            AfterFailedAttempt::Defer => self.defer(run, DeferralCause::Stop, Some(message)),
            AfterFailedAttempt::Fail => self.fail(run, None, None, message),
        }
    }

    pub(super) fn defer(
        &mut self,
        run: &CaseRunId,
        cause: DeferralCause,
        error: Option<String>,
    ) -> Result<(), Error> {
        if let (DeferralCause::Infrastructure, Some(error)) = (cause, &error) {
            let line = format!("{} is tried again later: {error}", run.case);
            self.driver.batch.planner.face.detail(&line);
        }
        let deferred = CaseRunDeferred {
            run: run.clone(),
            cause,
            spend: self.account(run).spend,
            error,
        };
        self.record(BenchmarkEventKind::CaseRunDeferred(Box::new(deferred)))
    }

    /// Returns what the attempts and gradings of a case run have cost, and the time of the
    /// attempts; those of earlier processes included.
    fn account(&self, run: &CaseRunId) -> ConsultationAccount {
        let mut total = ConsultationAccount::default();
        if let Some(pending) = self.state().pending(run) {
            for id in &pending.consultations {
                total.add(&self.accounts.get(id));
            }
            for id in &pending.gradings {
                total.spend.add(&self.accounts.get(id).spend);
            }
        }
        total
    }

    fn result(
        &self,
        run: &CaseRunId,
        outcome: CaseOutcome,
        answer: ConsultationAnswer,
        grading: Option<ConsultationId>,
    ) -> CaseResult {
        let pending = self.state().pending(run);
        let account = self.account(run);
        CaseResult {
            run: run.clone(),
            outcome,
            attempts: pending.map_or(1, |pending| pending.attempts.max(1)),
            outages: pending.map_or(0, |pending| pending.outages),
            answer: answer.answer,
            confidence: answer.confidence,
            calibrated: answer.calibrated,
            agreement: answer.agreement,
            early_stop: answer.early_termination,
            saved: answer.saved,
            demonstration: answer.demonstration,
            stages: answer.stages,
            experts: answer.experts,
            spend: account.spend,
            duration_ms: account.duration_ms,
            consultations: pending.map_or_else(Vec::new, |pending| pending.consultations.clone()),
            grading,
            error: None,
        }
    }

    fn finish(&mut self, result: &CaseResult) -> Result<(), Error> {
        let boxed = Box::new(result.clone());
        self.record(BenchmarkEventKind::CaseRunFinished { result: boxed })?;
        let terms = &self.state().begun.terms;
        let case = terms.cases.iter().find(|case| case.id == result.run.case);
        let expected = case.map_or("", |case| case.expected.as_str());
        let is_measured = !terms.is_comparison() || result.run.arm == Arm::Panel;
        let elapsed = self.driver.batch.clock.now().since(self.started_at);
        let progress = self.driver.progress;
        progress.finished(result, expected, is_measured, elapsed);
        Ok(())
    }
}

fn plan_grading(grader: &PlanTemplate, entry: &CaseEntry, answer: &str) -> Result<Plan, Error> {
    let question = QuestionRequest {
        question: grading_question(&entry.case, answer),
        ..QuestionRequest::default()
    };
    grader.plan(question).map(approved)
}
