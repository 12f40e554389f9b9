//! Drives one request to one agent to completion: retries, schema downgrade, a higher token limit,
//! one repair, hedging and fallback models.
//!
//! A text that was paid for is never lost: an answer that cannot be read even after one repair
//! becomes a degraded artifact.

use serde::{Deserialize, Serialize};

use crate::domain::artifact::Content;
use crate::domain::ids::{AgentId, CallId, ModelRef, ProviderId, TimerId};
use crate::domain::money::Cost;
use crate::domain::time::Timestamp;
use crate::domain::tokens::Usage;

use crate::consultation::event::{
    AbortReason, AgentError, AgentEvent, CallEvent, CancelReason, CostEvent, Event, Purpose,
    StillWaiting, WhySubstituted,
};
use crate::consultation::machine::step::StepContext;
use crate::consultation::policy::budget::BudgetCheck;
use crate::consultation::policy::retry::Tried;
use crate::consultation::policy::substitution::OnFailure;
use crate::consultation::protocol::Effect;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::{Ask, FailureClass, Outcome, Prompt};
use crate::consultation::protocol::request::{CallRequest, NotAdmitted, RequestKey, RequestOption};

use super::attempt::Attempt;
use super::prompts::PromptSet;
use super::rules::TaskRules;

/// One request to one agent, with its attempts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::consultation) struct AgentTask {
    pub(super) agent: AgentId,
    pub(super) rules: TaskRules,
    pub(super) answer: AnswerKind,
    pub(super) prompts: PromptSet,
    /// The model in use.
    pub(super) current: ModelRef,
    /// Models that can take over from it, best first.
    pub(super) rest: Vec<ModelRef>,
    /// The prompt that asks the model in use to repair an answer that could not be read.
    pub(super) repair: Option<Prompt>,
    pub(super) max_output_tokens: u64,
    pub(super) tried: Tried,
    /// A text that was paid for and could not be used as it was.
    pub(super) saved_text: Option<SavedText>,
    pub(super) status: Status,
    /// Whether the agent's start has been emitted.
    pub(super) is_announced: bool,
    pub(super) began: Timestamp,
    /// Fires at the time limit; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) time_limit: Option<TimerId>,
    pub(super) tokens: Usage,
    pub(super) cost: Cost,
}

/// A text that was saved instead of used, by reason; each happens once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum SavedText {
    CutOff(String),
    Unreadable(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Status {
    /// A call is due, not before this moment, and as soon as its provider and the ceiling allow
    /// it.
    Pending {
        purpose: Purpose,
        not_before: Timestamp,
    },
    /// Calls are in flight: one, and perhaps its hedge.
    Calling(Calling),
    /// The person is asked whether this model may take over.
    Asking {
        substitute: ModelRef,
        reason: WhySubstituted,
        error: AgentError,
    },
}

/// The calls in flight for one answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Calling {
    /// Invariant: one or two; of two, the second is the hedge.
    pub(super) attempts: Vec<Attempt>,
    /// Fires when the first has shown no sign of an answer for too long.
    pub(super) hedge_timer: Option<TimerId>,
    /// The first outcome, when it was of no use and the hedge may still bring an answer.
    pub(super) first_outcome: Option<(CallId, Outcome)>,
}

/// The outcome of a task that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::consultation) struct TaskOutcome {
    pub(in crate::consultation) agent: AgentId,
    pub(in crate::consultation) answer: AnswerKind,
    pub(in crate::consultation) result: Result<Answer, AgentError>,
}

/// What an agent answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::consultation) struct Answer {
    pub(in crate::consultation) content: Content,
    /// True when the answer could only be used as prose.
    pub(in crate::consultation) degraded: bool,
    pub(in crate::consultation) source: AnswerSource,
}

/// Who gave an answer, and how long it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::consultation) struct AnswerSource {
    pub(in crate::consultation) agent: AgentId,
    pub(in crate::consultation) model: ModelRef,
    /// Tokens, thinking included.
    pub(in crate::consultation) output: u64,
}

impl AgentTask {
    /// Returns a task that has not begun; `None` without a model to ask.
    pub(in crate::consultation) fn new(
        step: &StepContext<'_>,
        agent: &AgentId,
        answer: AnswerKind,
        prompts: PromptSet,
    ) -> Option<Self> {
        let mut candidates = step.candidates(agent).into_iter();
        let current = candidates.next()?;
        Some(Self {
            agent: agent.clone(),
            rules: TaskRules::of(agent),
            answer,
            prompts,
            max_output_tokens: step.plan.terms(&current).max_output_tokens,
            current,
            rest: candidates.collect(),
            repair: None,
            tried: Tried::default(),
            saved_text: None,
            status: Status::Pending {
                purpose: Purpose::Answer,
                not_before: step.now,
            },
            is_announced: false,
            began: step.now,
            time_limit: None,
            tokens: Usage::default(),
            cost: Cost::FREE,
        })
    }

    /// Emits the agent's start and requests the first call. A consultation that is about to end
    /// begins nothing.
    pub(in crate::consultation) fn begin(
        &mut self,
        step: &mut StepContext<'_>,
    ) -> Option<TaskOutcome> {
        if step.is_stopping() {
            return None;
        }
        self.announce(step);
        self.start_time_limit(step);
        self.go(step)
    }

    pub(in crate::consultation) fn agent(&self) -> &AgentId {
        &self.agent
    }

    pub(in crate::consultation) fn is_calling(&self, wanted: CallId) -> bool {
        matches!(&self.status, Status::Calling(calling) if calling.attempts.iter().any(|attempt| attempt.call == wanted))
    }

    /// Returns the agent and how long it has been working, for the pulse.
    pub(in crate::consultation) fn still_waiting(&self, step: &StepContext<'_>) -> StillWaiting {
        let name = step.plan.agent_name(&self.agent);
        StillWaiting {
            agent_id: self.agent.clone(),
            name,
            elapsed_ms: step.ms_since(self.began),
        }
    }

    /// Records the first sign of an answer.
    pub(in crate::consultation) fn begins_to_answer(&mut self, call: CallId, now: Timestamp) {
        if let Status::Calling(calling) = &mut self.status
            && let Some(attempt) = calling
                .attempts
                .iter_mut()
                .find(|attempt| attempt.call == call)
        {
            attempt.first_token.get_or_insert(now);
        }
    }

    pub(super) fn announce(&mut self, step: &mut StepContext<'_>) {
        self.is_announced = true;
        step.emit(Event::Agent(AgentEvent::Thinking {
            agent_id: self.agent.clone(),
            name: step.plan.agent_name(&self.agent),
            round_number: self.answer.round(),
            answer: self.answer,
            model: self.current.clone(),
        }));
    }

    /// Requests the call that is due, if its time has come.
    pub(in crate::consultation) fn go(
        &mut self,
        step: &mut StepContext<'_>,
    ) -> Option<TaskOutcome> {
        let Status::Pending {
            purpose,
            not_before,
        } = self.status
        else {
            return None;
        };
        if step.is_stopping() || not_before > step.now {
            return None;
        }
        if let Some(obstacle) = self.obstacle(step) {
            return Some(self.settle(step, Err(obstacle)));
        }
        if let Some((why, error)) = self.reason_to_give_up(step, purpose) {
            return self.give_up(step, why, error);
        }
        let worst_case = self.worst_case(step);
        match step.check_budget(worst_case) {
            BudgetCheck::Allowed => step.push(Effect::Request(Box::new(CallRequest {
                key: self.request_key(),
                options: vec![self.request_option(step, &self.current, self.max_output_tokens)],
                beyond_month: step.run.beyond_month,
            }))),
            BudgetCheck::WaitForInFlight => {}
            BudgetCheck::Exceeded if self.rules.counts() => self.reach_ceiling(step, worst_case),
            BudgetCheck::Exceeded => return Some(self.leave_out(step)),
        }
        None
    }

    /// Makes the call that was requested. Changes since the request have replaced or withdrawn it.
    pub(in crate::consultation) fn admitted(
        &mut self,
        step: &mut StepContext<'_>,
        provider: &ProviderId,
    ) {
        let Status::Pending {
            purpose,
            not_before,
        } = self.status
        else {
            return;
        };
        let worst_case = self.worst_case(step);
        let is_stale = *provider != self.current.provider
            || step.is_stopping()
            || not_before > step.now
            || step.check_budget(worst_case) != BudgetCheck::Allowed;
        if is_stale {
            return;
        }
        let (model, prompt) = (self.current.clone(), self.prompt(step, &self.current));
        let attempt = self.call(
            step,
            &model,
            prompt,
            self.max_output_tokens,
            worst_case,
            purpose,
        );
        let hedge_timer = self
            .hedge_delay(step)
            .map(|delay| step.set_timer(step.now.after(delay)));
        self.status = Status::Calling(Calling {
            attempts: vec![attempt],
            hedge_timer,
            first_outcome: None,
        });
    }

    /// Handles a request refused by a ceiling above the consultation's own.
    pub(in crate::consultation) fn refused(
        &mut self,
        step: &mut StepContext<'_>,
        reason: NotAdmitted,
    ) -> Option<TaskOutcome> {
        let NotAdmitted::Budget {
            budget,
            limit,
            spent,
        } = reason
        else {
            return None;
        };
        if !matches!(self.status, Status::Pending { .. }) || step.is_stopping() {
            return None;
        }
        if !self.rules.counts() {
            return Some(self.leave_out(step));
        }
        let worst_case = step.plan.worst_case(
            &self.current,
            &self.prompt(step, &self.current),
            self.max_output_tokens,
        );
        step.emit(Event::Cost(CostEvent::CeilingReached {
            max_cost: limit,
            spent: Cost::exactly(spent),
            agent_id: self.agent.clone(),
            model: self.current.clone(),
            worst_case,
            budget: Some(budget.clone()),
            answer: Some(self.answer),
        }));
        let message = format!(
            "The {budget} of {limit:.2} is reached: {spent:.4} spent, and the next call, to {}, {}",
            self.current,
            at_most(worst_case)
        );
        step.stop(AbortReason::CostCeiling, message);
        None
    }

    /// Whether a decision under this key is for this task.
    pub(in crate::consultation) fn requests(&self, key: &RequestKey) -> bool {
        match key {
            RequestKey::Attempt { agent, answer } => self.agent == *agent && self.answer == *answer,
            RequestKey::Hedge { agent } => self.agent == *agent,
        }
    }

    /// Ends without an answer, because a ceiling does not allow the call.
    fn leave_out(&self, step: &mut StepContext<'_>) -> TaskOutcome {
        let too_dear = failed(FailureClass::Billing, "the ceiling leaves no room for it");
        self.settle(step, Err(too_dear))
    }

    /// Returns the key of the request for the next call.
    pub(super) fn request_key(&self) -> RequestKey {
        RequestKey::Attempt {
            agent: self.agent.clone(),
            answer: self.answer,
        }
    }

    pub(super) fn request_option(
        &self,
        step: &StepContext<'_>,
        model: &ModelRef,
        max_output_tokens: u64,
    ) -> RequestOption {
        let prompt = self.prompt(step, model);
        RequestOption {
            provider: model.provider.clone(),
            worst_case: step.plan.worst_case(model, &prompt, max_output_tokens),
        }
    }

    /// Returns the most that the next call can cost, where the consultation has a ceiling.
    fn worst_case(&self, step: &StepContext<'_>) -> Cost {
        step.worst_case(
            &self.current,
            &self.prompt(step, &self.current),
            self.max_output_tokens,
        )
    }

    /// Returns why the model in use is not worth waiting for, if it is not.
    fn reason_to_give_up(
        &self,
        step: &StepContext<'_>,
        purpose: Purpose,
    ) -> Option<(WhySubstituted, AgentError)> {
        let provider = &self.current.provider;
        if self.is_diverted(step, purpose) {
            let message = format!("`{provider}` has failed too often of late");
            return Some((
                WhySubstituted::HealthCheck,
                failed(FailureClass::Overload, message),
            ));
        }
        let backoff = step
            .backoff(provider)
            .filter(|backoff| step.is_too_long(backoff))?;
        let why = match step.given_up(backoff) {
            Some(refused_for) => format!(
                "has refused every call for {:.0} s",
                refused_for.as_secs_f64()
            ),
            None => format!(
                "asks to be left alone for {} s",
                backoff.until.since(step.now).as_secs_f64().ceil()
            ),
        };
        let message = format!("{}; `{provider}` {why}", backoff.reason);
        Some((
            WhySubstituted::Failure,
            failed(FailureClass::RateLimit, message),
        ))
    }

    /// Whether a new attempt goes to another model because this provider is not called for now. The
    /// last model left is never given up this way.
    fn is_diverted(&self, step: &StepContext<'_>, purpose: Purpose) -> bool {
        let is_new = match purpose {
            Purpose::Answer | Purpose::Fallback | Purpose::Hedge | Purpose::Resumed => true,
            Purpose::Retry | Purpose::Reformed | Purpose::MoreRoom | Purpose::Repair => false,
        };
        let elsewhere = |model: &ModelRef| {
            model.provider != self.current.provider && !step.is_no_use(&model.provider)
        };
        let control = &step.plan.control;
        let may_be_replaced = !control.strict
            && match control.on_failure {
                OnFailure::Ask | OnFailure::Substitute => true,
                OnFailure::Skip => self.rules.ignores_skip(),
                OnFailure::Fail => false,
            };
        is_new
            && may_be_replaced
            && step.is_broken(&self.current.provider)
            && self.rest.iter().any(elsewhere)
    }

    /// Returns the prompt for a model.
    pub(super) fn prompt(&self, step: &StepContext<'_>, model: &ModelRef) -> Prompt {
        self.repair
            .clone()
            .unwrap_or_else(|| self.prompts.prompt(step.plan.terms(model).size))
    }

    pub(super) fn call(
        &self,
        step: &mut StepContext<'_>,
        model: &ModelRef,
        prompt: Prompt,
        max_output_tokens: u64,
        worst_case: Cost,
        purpose: Purpose,
    ) -> Attempt {
        let call = step.next_call();
        step.begin_call(call, worst_case);
        step.emit(Event::Call(CallEvent::Started {
            call,
            agent_id: self.agent.clone(),
            round_number: self.answer.round(),
            answer: self.answer,
            purpose,
            model: model.clone(),
            max_output_tokens,
            prompt_sha256: prompt.sha256(),
            worst_case: step.plan.control.max_cost.map(|_| worst_case),
            tokens_saved: self.prompts.tokens_saved,
        }));
        step.push(Effect::Ask(Box::new(Ask {
            call,
            model: model.clone(),
            prompt,
            answer: self.answer,
            max_output_tokens,
        })));
        Attempt {
            call,
            model: model.clone(),
            purpose,
            since: step.now,
            first_token: None,
        }
    }

    /// Handles a call that the consultation's ceiling does not allow.
    fn reach_ceiling(&self, step: &mut StepContext<'_>, worst_case: Cost) {
        let max_cost = step.plan.control.max_cost.unwrap_or_default();
        let spent = step.run.budget.spent();
        step.emit(Event::Cost(CostEvent::CeilingReached {
            max_cost,
            spent,
            agent_id: self.agent.clone(),
            model: self.current.clone(),
            worst_case,
            budget: None,
            answer: None,
        }));
        let message = format!(
            "The ceiling of {max_cost:.2} is reached: {spent:.4} spent, and the next call, to {}, {}",
            self.current,
            at_most(worst_case)
        );
        step.stop(AbortReason::CostCeiling, message);
    }

    /// Cancels the calls in flight; the task stays open.
    pub(in crate::consultation) fn cancel(
        &mut self,
        step: &mut StepContext<'_>,
        reason: AbortReason,
    ) {
        let Status::Calling(calling) = &self.status else {
            return;
        };
        for attempt in calling.attempts.clone() {
            attempt.cancel(step, CancelReason::Abort(reason));
        }
        self.status = Status::Pending {
            purpose: Purpose::Resumed,
            not_before: step.now,
        };
    }

    /// Resumes after an interruption: lost calls are made again, and an unanswered question is
    /// asked again.
    pub(in crate::consultation) fn resume(
        &mut self,
        step: &mut StepContext<'_>,
        lost: &[CallId],
    ) -> Option<TaskOutcome> {
        let hedge_delay = self.hedge_delay(step);
        if !self.is_announced {
            self.began = step.now;
            self.announce(step);
        }
        self.start_time_limit(step);
        match &mut self.status {
            Status::Pending { .. } => self.go(step),
            Status::Calling(calling) => {
                let (gone, here): (Vec<_>, Vec<_>) = calling
                    .attempts
                    .drain(..)
                    .partition(|attempt| lost.contains(&attempt.call));
                calling.attempts = here;
                for attempt in gone {
                    step.lose_call(attempt.call);
                }
                // A call that is not lost goes out only now: the process ended after logging it
                // and before making it.
                for attempt in &mut calling.attempts {
                    attempt.since = step.now;
                }
                if calling.attempts.is_empty() {
                    self.status = Status::Pending {
                        purpose: Purpose::Resumed,
                        not_before: step.now,
                    };
                } else if calling.hedge_timer.is_some() {
                    calling.hedge_timer =
                        hedge_delay.map(|delay| step.set_timer(step.now.after(delay)));
                }
                self.go(step)
            }
            Status::Asking { reason, error, .. } => {
                let (reason, error) = (*reason, error.clone());
                self.give_up(step, reason, error)
            }
        }
    }
}

/// Returns the most that a call can cost, in words.
fn at_most(worst_case: Cost) -> String {
    if worst_case.lower_bound {
        "has no price".to_owned()
    } else {
        format!("could cost up to {worst_case:.4}")
    }
}

pub(super) fn failed(class: FailureClass, message: impl Into<String>) -> AgentError {
    AgentError {
        class: Some(class),
        message: message.into(),
    }
}
