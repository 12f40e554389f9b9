//! What follows a consultation: a result, a grading, another attempt, or a stop.

use crate::benchmark::event::{BenchmarkEventKind, CaseRunDeferred, DeferralCause};
use crate::benchmark::grading::{ConsultationAnswer, grade, grader_decision, grading_question};
use crate::benchmark::result::{CaseOutcome, CaseResult};
use crate::benchmark::run::{Arm, CaseRunId};
use crate::benchmark::state::{AfterFailedAttempt, AttemptFailure};
use crate::consultation::plan::Plan;
use crate::consultation::transcript::no_answer::{
    AccessFailure, AccessProblem, NoAnswer, access_failure,
};
use crate::domain::ids::ConsultationId;
use crate::domain::stored_record::StoredRecord;
use crate::domain::stored_record::spend::ConsultationSpend;
use crate::error::{Error, whole};
use crate::session::batch::{ConsultationOutcome, approved};
use crate::session::benchmark::cases::CaseEntry;
use crate::session::month::MonthCeiling;
use crate::setup::plan::template::PlanTemplate;
use crate::setup::request::QuestionRequest;
use crate::stopping::batch::state::StopRequest;

use super::account::milliseconds;
use super::{Job, RunInProgress};

impl RunInProgress<'_> {
    /// Takes the outcome of a case run's consultation.
    pub(super) fn consulted(
        &mut self,
        run: &CaseRunId,
        id: &ConsultationId,
        outcome: &ConsultationOutcome,
    ) -> Result<(), Error> {
        for warning in &outcome.warnings {
            self.driver.planner.face.warning(warning);
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
                self.request_stop_at_ceiling(outcome)?;
                self.cut_off(run, Some(message))
            }
            Err(NoAnswer::Interrupted | NoAnswer::Unfinished) => self.cut_off(run, None),
        }
    }

    /// Takes a consultation that was cut off: a stop is the reason. Without one it counts as a
    /// failure, since a case run that is only put back could be cut off for ever.
    fn cut_off(&mut self, run: &CaseRunId, message: Option<String>) -> Result<(), Error> {
        if self.state().is_halted() {
            return self.defer(run, DeferralCause::Stop, message);
        }
        let message = message.unwrap_or_else(|| "the consultation was cut off".to_owned());
        self.no_answer(run, AttemptFailure::NoAnswer, message)
    }

    /// Asks for a stop if a ceiling did not allow a call.
    fn request_stop_at_ceiling(&mut self, outcome: &ConsultationOutcome) -> Result<(), Error> {
        let Some(reached) = &outcome.transcript.ceiling else {
            return Ok(());
        };
        let needed = reached.spent.known + reached.worst_case.known;
        let ceiling = reached.max_cost;
        let is_of_month = reached.budget.as_deref() == Some(MonthCeiling::NAME);
        let request = if is_of_month {
            StopRequest::MonthlyBudget { needed, ceiling }
        } else {
            StopRequest::CostCeiling { needed, ceiling }
        };
        self.record(BenchmarkEventKind::StopRequested(request))
    }

    /// Takes an answer: it is a result, unless a model has to grade it.
    pub(super) fn answered(
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
        if self.batch.is_cancelled() {
            return self.defer(run, DeferralCause::Stop, None);
        }
        let planned = match (self.driver.book.get(&run.case), self.driver.arms.grader()) {
            (Some(entry), Some(grader)) => {
                plan_grading(grader, entry, &answer.text).map(|plan| (plan, grader))
            }
            (None, _) | (_, None) => Err(Error::failed("no model grades the answer")),
        };
        match planned {
            Ok((plan, grader)) => {
                self.record(BenchmarkEventKind::GradingStarted {
                    run: run.clone(),
                    consultation: plan.id.clone(),
                })?;
                let job = Job::Grading {
                    run: run.clone(),
                    answer,
                    attempt,
                };
                self.batch.start(job, plan, &grader.providers);
                Ok(())
            }
            Err(error) => self.fail(run, Some(*answer), None, whole(error.source())),
        }
    }

    /// Takes the grader's decision.
    pub(super) fn graded(
        &mut self,
        run: &CaseRunId,
        mut answer: ConsultationAnswer,
        attempt: u32,
        id: &ConsultationId,
        result: Result<ConsultationOutcome, Error>,
    ) -> Result<(), Error> {
        let outcome = match result {
            Ok(outcome) => outcome,
            Err(error) => {
                return self.fail(run, Some(answer), Some(id.clone()), whole(error.source()));
            }
        };
        self.count_spend(run, id, &outcome.record);
        if let Some(refusal) = access_failure(&outcome.record) {
            self.record(BenchmarkEventKind::StopRequested(stop_request(&refusal)))?;
        }
        self.request_stop_at_ceiling(&outcome)?;
        match grader_decision(&outcome.record) {
            Ok(is_right) => {
                answer.decide(is_right);
                self.decided(run, answer, Some(id.clone()))
            }
            Err(_) if self.state().is_halted() => {
                let why = "the run stopped before the answer was graded".to_owned();
                self.defer(run, DeferralCause::Stop, Some(why))
            }
            Err(_) if attempt < self.state().begun.terms.attempts_per_case => {
                self.start_grading(run, Box::new(answer), attempt + 1)
            }
            Err(error) => self.fail(run, Some(answer), Some(id.clone()), error.to_string()),
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
        self.finish(&result)
    }

    /// Ends a case run without a result: an answer that no model could grade counts as none.
    pub(super) fn fail(
        &mut self,
        run: &CaseRunId,
        answer: Option<ConsultationAnswer>,
        grading: Option<ConsultationId>,
        error: String,
    ) -> Result<(), Error> {
        let result = self.result(run, CaseOutcome::Failed, answer, grading);
        self.finish(&CaseResult {
            error: Some(error),
            ..result
        })
    }

    /// Decides what follows an attempt without an answer.
    pub(super) fn no_answer(
        &mut self,
        run: &CaseRunId,
        failure: AttemptFailure,
        message: String,
    ) -> Result<(), Error> {
        match self.state().after_failed_attempt(run, failure) {
            AfterFailedAttempt::Retry => self.start_attempt(run),
            AfterFailedAttempt::Defer(cause) => self.defer(run, cause, Some(message)),
            AfterFailedAttempt::Fail => self.fail(run, None, None, message),
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
            self.driver.planner.face.detail(&line);
        }
        let pending = self.state().pending(run);
        let spent = pending.map_or_else(ConsultationSpend::default, |pending| {
            self.spend_so_far(pending)
        });
        let account = self.accounts.remove(run).unwrap_or_default();
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

    fn finish(&mut self, result: &CaseResult) -> Result<(), Error> {
        self.accounts.remove(&result.run);
        self.record(BenchmarkEventKind::CaseRunFinished {
            result: Box::new(result.clone()),
        })?;
        let terms = &self.state().begun.terms;
        let case = terms.cases.iter().find(|case| case.id == result.run.case);
        let expected = case.map_or("", |case| case.expected.as_str());
        let is_measured = !terms.is_comparison() || result.run.arm == Arm::Panel;
        let elapsed = self.now().since(self.started_at);
        self.driver
            .progress
            .finished(result, expected, is_measured, elapsed);
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

fn stop_request(refusal: &AccessFailure) -> StopRequest {
    let provider = refusal.provider.clone();
    match refusal.problem {
        AccessProblem::Authentication => StopRequest::Authentication { provider },
        AccessProblem::Quota => StopRequest::Quota { provider },
    }
}
