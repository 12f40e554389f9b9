//! Handles a reply: reads it, then accepts it, retries, repairs, or gives up.

use std::time::Duration;

use super::fallback::why;
use super::outcome::{
    AgentAnswer, AnswerSource, Attempt, SavedText, TaskOutcome, TaskStatus, failed, jitter,
};
use super::task::AgentTask;
use crate::consultation::event::{
    AbortReason, AgentError, AttemptNumber, CallError, CallEvent, CallFinished, Event,
    ProviderEvent, Purpose, WhySubstituted,
};
use crate::consultation::machine::step::StepContext;
use crate::consultation::plan::Plan;
use crate::consultation::policy::retry::{Retry, RetryCounts};
use crate::consultation::protocol::call::{Failure, FailureClass, Outcome, Reply, StopReason};
use crate::consultation::reading;
use crate::consultation::reading::problem::{Problem, ProblemSeverity};
use crate::domain::answer::artifact::{Content, Verdict};
use crate::domain::ids::{CallId, ModelRef};
use crate::domain::words::span;

/// The next action after a reply.
enum Next {
    /// Uses a text as it is.
    Use(String),
    /// Calls again as soon as the provider is free.
    Again(Purpose),
    /// Calls again after this time.
    Wait(Duration, Purpose),
    GiveUp(WhySubstituted, AgentError),
}

impl AgentTask {
    /// Handles a call's outcome, and the changes of its provider that it shows: they are known when
    /// it is decided what follows. `None` while the task is open.
    pub(super) fn replied(
        &mut self,
        step: &mut StepContext<'_>,
        call: CallId,
        outcome: Outcome,
        updates: Vec<ProviderEvent>,
    ) -> Option<TaskOutcome> {
        let TaskStatus::Calling(calling) = &mut self.status else {
            return None;
        };
        let at = calling
            .attempts
            .iter()
            .position(|attempt| attempt.call == call)?;
        let attempt = calling.attempts.remove(at);
        let other = calling.attempts.first().cloned();
        let first_outcome = calling.first_outcome.take();

        let (content, mut problems) = self.read(step.plan, &outcome);
        problems.extend(self.cut_by_a_ceiling(step.plan, &attempt, &outcome));
        self.log(step, &attempt, &outcome, problems.clone());
        let provider = &attempt.model.provider;
        step.run.providers.note_access(provider, &outcome);
        for update in updates {
            step.run.providers.note(update, step.now, &mut step.emitter);
        }
        let output = outcome
            .as_ref()
            .map(|reply| reply.usage.output)
            .unwrap_or_default();
        let is_refusal = outcome
            .as_ref()
            .is_ok_and(|reply| matches!(reply.stop, StopReason::Refused(_)));
        if let Some(content) = content.filter(|_| !is_refusal) {
            self.win(step, &attempt, other);
            let text = outcome.as_ref().map_or("", |reply| reply.text.as_str());
            // It can be read, but contradicts itself.
            let lacks_dissent = content.verdict().is_some_and(Verdict::lacks_dissent);
            if lacks_dissent && self.begin_repair(step.plan, text, &problems) {
                self.schedule(Purpose::Repair, step.now);
                return None;
            }
            let answer = AgentAnswer {
                content,
                degraded: false,
                source: self.source(&attempt.model, output),
            };
            return Some(self.settle(step, Ok(answer)));
        }
        let is_first = attempt.model == self.current;
        if other.is_some() {
            // The other call may still answer; if not, the first outcome is used.
            if let (TaskStatus::Calling(calling), true) = (&mut self.status, is_first) {
                calling.first_outcome = Some((call, outcome));
            }
            return None;
        }
        match first_outcome {
            // The hedge failed too: the first outcome counts.
            Some((first, first_outcome)) if !is_first => {
                let (_, problems) = self.read(step.plan, &first_outcome);
                let first = Attempt {
                    call: first,
                    model: self.current.clone(),
                    ..attempt
                };
                self.go_on(step, &first, first_outcome, &problems)
            }
            Some(_) | None => self.go_on(step, &attempt, outcome, &problems),
        }
    }

    fn read(&self, plan: &Plan, outcome: &Outcome) -> (Option<Content>, Vec<Problem>) {
        let Ok(reply) = outcome else {
            return (None, Vec::new());
        };
        let reading = reading::read(
            (self.answer, plan.form),
            &reply.text,
            &self.agent,
            &plan.labels_for(&self.agent),
        );
        let mut problems = reading.problems;
        let problem = match &reply.stop {
            StopReason::Other(said) => Some(format!("unexpected stop reason `{said}`")),
            StopReason::TooLong => Some("longer than 1 MB: the rest was left out".to_owned()),
            StopReason::End | StopReason::Length | StopReason::Refused(_) => None,
        };
        problems.extend(problem.map(|what| Problem::new(ProblemSeverity::Warning, "", what)));
        (reading.content, problems)
    }

    fn cut_by_a_ceiling(
        &self,
        plan: &Plan,
        attempt: &Attempt,
        outcome: &Outcome,
    ) -> Option<Problem> {
        let was_cut = matches!(outcome, Ok(reply) if reply.stop == StopReason::Length);
        let limit = attempt.max_output_tokens;
        (was_cut && limit < self.usual_limit(plan, &attempt.model)).then(|| {
            let what = format!("cut off at {limit} tokens, the most that the ceiling pays for");
            Problem::new(ProblemSeverity::Warning, "", what)
        })
    }

    /// Decides on the next action after a call without an answer and without an open hedge.
    fn go_on(
        &mut self,
        step: &mut StepContext<'_>,
        attempt: &Attempt,
        outcome: Outcome,
        problems: &[Problem],
    ) -> Option<TaskOutcome> {
        let next = match outcome {
            Ok(reply) => self.after_reply(step.plan, attempt.max_output_tokens, reply, problems),
            Err(failure) => self.after_failure(step, attempt, &failure),
        };
        match next {
            Next::Use(_) if self.rules.is_limited => {
                let unread = failed(
                    FailureClass::Malformed,
                    "the answer of the helper model could not be read",
                );
                Some(self.settle(step, Err(unread)))
            }
            Next::Use(text) => {
                let answer = self.read_as_it_is(step.plan, &text);
                Some(self.settle(step, Ok(answer)))
            }
            Next::Again(purpose) => {
                self.schedule(purpose, step.now);
                None
            }
            Next::Wait(wait, purpose) => {
                step.emitter.set_timer(wait);
                self.schedule(purpose, step.now.after(wait));
                None
            }
            Next::GiveUp(reason, error) => self.give_up(step, reason, error),
        }
    }

    /// `limit` is the output limit of the call.
    fn after_reply(&mut self, plan: &Plan, limit: u64, reply: Reply, problems: &[Problem]) -> Next {
        let give_up =
            |class, message: String| Next::GiveUp(WhySubstituted::Failure, failed(class, message));
        if let StopReason::Refused(words) = &reply.stop {
            let words = if words.trim().is_empty() {
                reply.text.trim()
            } else {
                words.trim()
            };
            let message = if words.is_empty() {
                "declined to answer".to_owned()
            } else {
                format!("declined to answer: {words}")
            };
            let class = None;
            let declined = AgentError { class, message };
            return Next::GiveUp(WhySubstituted::Failure, declined);
        }
        let blank = reply.text.trim().is_empty();
        let most = plan.terms(&self.current).output_limit;
        let was_fitted = limit < self.usual_limit(plan, &self.current);
        let may_grow = (was_fitted || self.max_output_tokens < most) && self.may_ask_again();
        match (&reply.stop, &self.saved_text) {
            (StopReason::Length, None) if may_grow => {
                self.saved_text = Some(SavedText::CutOff(reply.text));
                self.cut_at = limit;
                if !was_fitted {
                    self.max_output_tokens = self.max_output_tokens.saturating_mul(2).min(most);
                }
                Next::Again(Purpose::MoreRoom)
            }
            (StopReason::Length, _) if blank => give_up(
                FailureClass::Empty,
                format!(
                    "stopped at the output limit after {} tokens without an answer",
                    reply.usage.output
                ),
            ),
            (_, _) if blank => give_up(FailureClass::Empty, "the answer was empty".to_owned()),
            (_, Some(SavedText::Repairing(original))) => Next::Use(original.clone()),
            (StopReason::End, None | Some(SavedText::CutOff(_))) => {
                if self.begin_repair(plan, &reply.text, problems) {
                    Next::Again(Purpose::Repair)
                } else {
                    Next::Use(reply.text)
                }
            }
            (_, None | Some(SavedText::CutOff(_))) => Next::Use(reply.text),
        }
    }

    fn after_failure(
        &mut self,
        step: &mut StepContext<'_>,
        attempt: &Attempt,
        failure: &Failure,
    ) -> Next {
        let (plan, now) = (step.plan, step.now);
        let jitter = jitter(plan.seed, attempt.call);
        let rule = self.retry_rule(plan.retry);
        match rule.decide(failure, self.tried, jitter) {
            Retry::After(wait) => {
                // After a rate limit without a hint, this call waits together with all others.
                let backoff = step
                    .run
                    .providers
                    .backoff(&attempt.model.provider, now)
                    .filter(|_| failure.class == FailureClass::RateLimit)
                    .filter(|_| failure.retry_after.is_none())
                    .filter(|backoff| !plan.retry.is_too_long(backoff, now));
                let wait = backoff.map_or(wait, |backoff| backoff.until.since(now));
                self.tried.retries += 1;
                // Rounded as the timer is.
                let wait_ms = now.after(wait).ms_since(now);
                let next = AttemptNumber {
                    number: self.tried.retries + 1,
                    of: rule.most_retries(failure) + 1,
                };
                self.announce_retry(step, attempt, failure, wait_ms, Some(next));
                Next::Wait(wait, Purpose::Retry)
            }
            Retry::Reformed => {
                self.tried.forms += 1;
                self.announce_retry(step, attempt, failure, 0, None);
                Next::Again(Purpose::Reformed)
            }
            Retry::HintTooLong => {
                let wait = span(failure.retry_after.unwrap_or_default());
                let message = format!(
                    "{}; `{}` asks for a pause of {wait}",
                    failure.message, attempt.model.provider
                );
                Next::GiveUp(why(failure.class), failed(failure.class, message))
            }
            Retry::Never => Next::GiveUp(
                why(failure.class),
                failed(failure.class, failure.message.clone()),
            ),
        }
    }

    fn announce_retry(
        &self,
        step: &mut StepContext<'_>,
        attempt: &Attempt,
        failure: &Failure,
        wait_ms: u64,
        next: Option<AttemptNumber>,
    ) {
        step.emit(Event::Call(CallEvent::Retried {
            call: attempt.call,
            agent_id: self.agent.clone(),
            wait_ms,
            reason: failure.message.clone(),
            attempt: next,
        }));
    }

    /// Returns whether the model may be asked for a repair.
    fn begin_repair(&mut self, plan: &Plan, text: &str, problems: &[Problem]) -> bool {
        if matches!(self.saved_text, Some(SavedText::Repairing(_))) || !self.may_ask_again() {
            return false;
        }
        let labels = plan.labels_for(&self.agent);
        let original = self.prompts.prompt(plan.terms(&self.current).size);
        let prompter = plan.prompter(&labels, &self.current);
        let Ok(prompt) = prompter.repair(&original, text, problems) else {
            return false;
        };
        self.repair = Some(prompt);
        self.tried = RetryCounts::default();
        self.saved_text = Some(SavedText::Repairing(text.to_owned()));
        true
    }

    /// Used at most once.
    pub(crate) fn take_saved_answer(&mut self, plan: &Plan) -> Option<AgentAnswer> {
        let (SavedText::CutOff(text) | SavedText::Repairing(text)) = self.saved_text.take()?;
        (!text.trim().is_empty()).then(|| self.read_as_it_is(plan, &text))
    }

    /// Returns the answer that its model is asked to repair, if it can be read as it is.
    pub(crate) fn readable_answer(&self, plan: &Plan) -> Option<AgentAnswer> {
        let Some(SavedText::Repairing(text)) = &self.saved_text else {
            return None;
        };
        Some(self.read_as_it_is(plan, text)).filter(|answer| !answer.degraded)
    }

    /// Returns the answer in a text that gets no further repair: its content, or else its prose.
    fn read_as_it_is(&self, plan: &Plan, text: &str) -> AgentAnswer {
        let labels = plan.labels_for(&self.agent);
        let content = reading::read((self.answer, plan.form), text, &self.agent, &labels).content;
        AgentAnswer {
            degraded: content.is_none(),
            content: content.unwrap_or_else(|| reading::keep_prose(self.answer, text, &self.agent)),
            source: self.source(&self.current, self.tokens.output),
        }
    }

    fn source(&self, model: &ModelRef, output: u64) -> AnswerSource {
        AnswerSource {
            agent: self.agent.clone(),
            model: model.clone(),
            output,
        }
    }

    /// Emits the call's outcome and cost, whether or not its answer is used.
    pub(crate) fn log(
        &mut self,
        step: &mut StepContext<'_>,
        attempt: &Attempt,
        outcome: &Outcome,
        problems: Vec<Problem>,
    ) {
        let ((cost, cost_source), tokens) = match outcome {
            Ok(reply) => (step.plan.cost_of_reply(&attempt.model, reply), reply.usage),
            Err(failure) => (
                step.plan.cost_of_failure(&attempt.model, failure),
                failure.usage.as_deref().copied().unwrap_or_default(),
            ),
        };
        self.tokens += tokens;
        self.cost += cost;
        let (asked, plan) = (&attempt.model, step.plan);
        let by_price = plan.counted_cost(asked, &tokens, cost, cost_source);
        let counted = step.run.budget.settle(attempt.call, by_price);
        let finished = CallFinished {
            call: attempt.call,
            agent_id: self.agent.clone(),
            round_number: self.answer.round(),
            answer: self.answer,
            purpose: attempt.purpose,
            model: attempt.model.clone(),
            served_model: outcome
                .as_ref()
                .ok()
                .and_then(|reply| reply.served_model.clone()),
            stop: outcome.as_ref().ok().map(|reply| reply.stop.clone()),
            error: outcome.as_ref().err().map(|failure| CallError {
                class: failure.class,
                message: failure.message.clone(),
                retry_after_ms: failure.retry_after.map(in_ms),
                usage_reported: failure.usage.is_some(),
            }),
            text: outcome.as_ref().map_or_else(
                |failure| failure.partial.clone(),
                |reply| reply.text.clone(),
            ),
            tokens,
            cost,
            counted: (counted != cost.known).then_some(counted),
            cost_source,
            plan: outcome.as_ref().ok().and_then(|reply| reply.plan.clone()),
            first_token_ms: attempt.first_token.map(|at| at.ms_since(attempt.since)),
            duration_ms: step.run.ms_since(attempt.since, step.now),
            problems,
        };
        step.emit(Event::Call(CallEvent::Finished(Box::new(finished))));
        // No estimate covers what is billed beside a plan.
        if !plan.is_by_plan(asked) {
            step.run
                .note_cost(by_price, plan.prices.price(asked).is_some());
        } else if !cost.is_unbilled() {
            step.run.budget.in_overage.insert(asked.provider.clone());
        }
        if let Some(message) = step.run.overspending(&step.plan.control) {
            step.stop(AbortReason::CostExceededEstimate, message);
        }
    }
}

/// Returns a hint in whole milliseconds, rounded up like its timer.
fn in_ms(hint: Duration) -> u64 {
    u64::try_from(hint.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}
