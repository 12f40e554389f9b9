//! The tasks of one stage of a round. Each drives one request to one agent.
//!
//! A call goes out when its provider's limit and the ceiling allow it. Until then its task waits,
//! first in, first out.

mod task;
mod outcome;
mod admission;
mod reply;
mod hedge;
mod fit;
mod fallback;

pub(crate) use outcome::{AgentAnswer, AnswerSource, TaskOutcome};

use crate::domain::cost::money::Cost;
use crate::domain::ids::{AgentId, ProviderId, TimerId};

use super::event::{AbortReason, Answer, CancelReason, StillWaiting};
use super::machine::Input;
use super::machine::round;
use super::machine::step::StepContext;
use super::plan::Plan;
use super::prompt::filter::RenderedPrompt;
use super::prompt::{PromptError, Prompter};
use super::protocol::answer::AnswerKind;
use super::protocol::request::{NotAdmitted, RequestKey};

use task::{AgentTask, PromptSet};

/// The tasks of one stage of a round.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TaskSet {
    open: Vec<AgentTask>,
    /// Outcomes that have not been handled yet. Invariant: empty between steps.
    outcome: Vec<TaskOutcome>,
}

impl TaskSet {
    /// Ends the consultation if its prompt cannot be rendered.
    pub(super) fn send<P: Into<RenderedPrompt>>(
        &mut self,
        step: &mut StepContext<'_>,
        agent: &AgentId,
        answer: AnswerKind,
        prompt: impl Fn(&Prompter<'_>) -> Result<P, PromptError>,
    ) {
        if let Err(error) = self.try_send(step, agent, answer, prompt) {
            step.stop(AbortReason::Prompt, error.to_string());
        }
    }

    /// Starts a task that the consultation can do without.
    pub(super) fn try_send<P: Into<RenderedPrompt>>(
        &mut self,
        step: &mut StepContext<'_>,
        agent: &AgentId,
        answer: AnswerKind,
        prompt: impl Fn(&Prompter<'_>) -> Result<P, PromptError>,
    ) -> Result<(), PromptError> {
        let prompts = PromptSet::render(step.plan, step.run, agent, prompt)?;
        if let Some(mut task) = AgentTask::new(step, agent, answer, prompts) {
            let outcome = task.begin(step);
            self.put_back(task, outcome);
            self.ask_about_substitutions(step);
        }
        Ok(())
    }

    pub(super) fn is_done(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn is_open(&self, agent: &AgentId) -> bool {
        self.open.iter().any(|task| task.agent == *agent)
    }

    pub(super) fn take_outcomes_for(&mut self, answer: AnswerKind) -> Vec<TaskOutcome> {
        let (taken, left) = std::mem::take(&mut self.outcome)
            .into_iter()
            .partition(|outcome| outcome.answer == answer);
        self.outcome = left;
        taken
    }

    pub(super) fn has_answer(&self, plan: &Plan, agent: &AgentId) -> bool {
        let open = self.open.iter().find(|task| task.agent == *agent);
        open.is_some_and(|task| task.readable_answer(plan).is_some())
    }

    /// Ends the agent's task with the answer that it already has.
    pub(super) fn take_answer(
        &mut self,
        step: &mut StepContext<'_>,
        agent: &AgentId,
    ) -> Option<AgentAnswer> {
        let at = self.open.iter().position(|task| task.agent == *agent)?;
        let answer = self.open.get(at)?.readable_answer(step.plan)?;
        let task = self.open.remove(at);
        task.cancel_calls(step, CancelReason::TooLate);
        task.settle(step, Ok(answer)).result.ok()
    }

    /// Ends all open tasks without an answer.
    pub(super) fn abandon(&mut self, step: &mut StepContext<'_>, why: &str) {
        for mut task in std::mem::take(&mut self.open) {
            task.abandon(step, why);
        }
    }

    pub(super) fn take_outcomes(&mut self) -> Vec<TaskOutcome> {
        std::mem::take(&mut self.outcome)
    }

    /// Returns whether something other than the person is waited for.
    pub(super) fn has_active(&self) -> bool {
        self.open.iter().any(|task| !task.is_asking())
    }

    pub(super) fn still_waiting(&self, step: &StepContext<'_>) -> Vec<StillWaiting> {
        self.open
            .iter()
            .filter(|task| !task.is_asking())
            .filter(|task| round::concerns(&step.plan.control, &task.current.provider))
            .map(|task| task.still_waiting(step))
            .collect()
    }

    /// Ends the tasks of these agents without an answer, at the person's request.
    pub(super) fn leave_out(&mut self, step: &mut StepContext<'_>, agents: &[&AgentId]) {
        self.each(step, |task, step| {
            agents
                .contains(&&task.agent)
                .then(|| task.stop_waiting(step))
        });
        self.advance(step);
    }

    /// Handles an input about a call or a timer. Any other input, or one about a call that is not
    /// open, changes nothing.
    pub(super) fn handle(&mut self, step: &mut StepContext<'_>, input: Input) {
        match input {
            Input::FirstToken { call } => {
                if let Some(task) = self.open.iter_mut().find(|task| task.is_calling(call)) {
                    task.begins_to_answer(step, call);
                }
            }
            Input::TimerFired { timer } => self.fired(step, timer),
            Input::Admitted {
                key,
                provider,
                granted,
            } => self.admitted(step, &key, &provider, granted),
            Input::NotAdmitted { key, reason } => self.refused(step, &key, reason),
            Input::Replied {
                call,
                outcome,
                updates,
            } => {
                let Some(at) = self.open.iter().position(|task| task.is_calling(call)) else {
                    return;
                };
                let mut task = self.open.remove(at);
                let outcome = task.replied(step, call, outcome, updates);
                // Moves to the end of the queue: one seat must not be refused three times while
                // others wait for their first call.
                self.put_back(task, outcome);
                self.advance(step);
            }
            Input::Start
            | Input::StartedBefore { .. }
            | Input::Answered(_)
            | Input::ProviderChanged(_)
            | Input::HealthCheckStarted { .. }
            | Input::HealthChanged(_)
            | Input::Interrupted
            | Input::Resume { .. } => {}
        }
    }

    pub(super) fn answered(
        &mut self,
        step: &mut StepContext<'_>,
        agents: &[&AgentId],
        answer: Answer,
    ) {
        self.each(step, |task, step| {
            if agents.contains(&&task.agent) {
                task.answered(step, answer)
            } else {
                None
            }
        });
        self.advance(step);
    }

    /// The tasks stay open.
    pub(super) fn cancel(&mut self, step: &mut StepContext<'_>, reason: AbortReason) {
        self.open
            .iter_mut()
            .for_each(|task| task.cancel(step, reason));
    }

    pub(super) fn resume(&mut self, step: &mut StepContext<'_>) {
        self.each(step, AgentTask::resume);
        self.ask_about_substitutions(step);
    }

    fn fired(&mut self, step: &mut StepContext<'_>, timer: TimerId) {
        if let Some(at) = self
            .open
            .iter()
            .position(|task| task.time_limit == Some(timer))
        {
            let why = format!("no answer within {} s", admission::TIME_LIMIT.as_secs());
            let outcome = self.open.remove(at).abandon(step, &why);
            self.outcome.push(outcome);
        }
        if let Some(task) = self.open.iter_mut().find(|task| task.would_hedge_at(timer)) {
            // Invariant: the timer of a call that has begun to answer does nothing at all. First
            // tokens are not in the log, so a replay could not repeat an effect of one.
            if !task.is_slow() {
                return;
            }
            task.hedge(step);
        }
        self.advance(step);
    }

    fn admitted(
        &mut self,
        step: &mut StepContext<'_>,
        key: &RequestKey,
        provider: &ProviderId,
        granted: Cost,
    ) {
        let Some(task) = self.open.iter_mut().find(|task| task.requests(key)) else {
            return;
        };
        match key {
            RequestKey::Attempt { .. } => task.admitted(step, provider, granted),
            RequestKey::Hedge { .. } => task.hedge_admitted(step, provider),
        }
    }

    fn refused(&mut self, step: &mut StepContext<'_>, key: &RequestKey, reason: NotAdmitted) {
        let Some(at) = self.open.iter().position(|task| task.requests(key)) else {
            return;
        };
        match key {
            RequestKey::Hedge { .. } => {
                if let Some(task) = self.open.get_mut(at) {
                    task.hedge_refused(&mut step.emitter, &reason);
                }
            }
            RequestKey::Attempt { .. } => {
                let mut task = self.open.remove(at);
                let outcome = task.refused(step, reason);
                self.put_back(task, outcome);
            }
        }
    }

    /// Requests the pending calls after a change.
    pub(super) fn advance(&mut self, step: &mut StepContext<'_>) {
        self.each(step, AgentTask::go);
        self.ask_about_substitutions(step);
    }

    fn ask_about_substitutions(&self, step: &mut StepContext<'_>) {
        if step.is_stopping() {
            return;
        }
        let mut asking: Vec<&AgentTask> =
            self.open.iter().filter(|task| task.is_asking()).collect();
        let seats = &step.plan.panel.seats;
        asking.sort_by_key(|task| seats.iter().position(|seat| task.agent == seat.id));
        let offers = asking.iter().filter_map(|task| task.offer(step.plan));
        let offers = offers.collect();
        step.run
            .questions
            .ask_about_substitutions(&mut step.emitter, offers);
    }

    fn each(
        &mut self,
        step: &mut StepContext<'_>,
        mut act: impl FnMut(&mut AgentTask, &mut StepContext<'_>) -> Option<TaskOutcome>,
    ) {
        for mut task in std::mem::take(&mut self.open) {
            let outcome = act(&mut task, step);
            self.put_back(task, outcome);
        }
    }

    fn put_back(&mut self, task: AgentTask, outcome: Option<TaskOutcome>) {
        match outcome {
            None => self.open.push(task),
            Some(outcome) => self.outcome.push(outcome),
        }
    }
}
