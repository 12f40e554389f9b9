//! Drives one request to one agent to completion: retries, schema downgrade, a higher token limit,
//! one repair, hedging and fallback models.
//!
//! Paid text is never lost: an answer that cannot be read even after one repair becomes a degraded
//! artifact.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::fit::Fit;
use super::outcome::{Attempt, SavedText, TaskOutcome, TaskStatus};
use crate::consultation::event::{
    AbortReason, AgentEvent, CallEvent, CallStarted, CancelReason, Event, Purpose, StillWaiting,
};
use crate::consultation::machine::Effect;
use crate::consultation::machine::emitter::Emitter;
use crate::consultation::machine::run_state::RunState;
use crate::consultation::machine::step::StepContext;
use crate::consultation::plan::Plan;
use crate::consultation::policy::retry::RetryCounts;
use crate::consultation::prompt::filter::RenderedPrompt;
use crate::consultation::prompt::{PromptError, Prompter, Size};
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::{Ask, Prompt};
use crate::domain::cost::money::Cost;
use crate::domain::cost::tokens::Usage;
use crate::domain::ids::{AgentId, CallId, ModelRef, TimerId};
use crate::domain::time::Timestamp;

/// One request to one agent, with its attempts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AgentTask {
    pub(super) agent: AgentId,
    pub(super) rules: TaskRules,
    pub(super) answer: AnswerKind,
    pub(super) prompts: PromptSet,
    /// The model in use.
    pub(super) current: ModelRef,
    /// Its fallback models, best first.
    pub(super) rest: Vec<ModelRef>,
    /// The prompt for the repair of an unreadable answer.
    pub(super) repair: Option<Prompt>,
    pub(super) max_output_tokens: u64,
    /// The output limit at which its answer was cut off; 0 if it was not.
    pub(super) cut_at: u64,
    pub(super) tried: RetryCounts,
    /// A paid text that could not be used as it was.
    pub(super) saved_text: Option<SavedText>,
    pub(super) status: TaskStatus,
    /// True once the agent's start has been emitted.
    pub(super) is_announced: bool,
    pub(super) began: Timestamp,
    /// Fires at the time limit; `None` without one.
    pub(super) time_limit: Option<TimerId>,
    pub(super) tokens: Usage,
    pub(super) cost: Cost,
    /// Milliseconds in which the person was asked about its model while others worked.
    pub(super) asking_ms: u64,
}

impl AgentTask {
    /// `None` without a model to ask.
    pub(super) fn new(
        step: &StepContext<'_>,
        agent: &AgentId,
        answer: AnswerKind,
        prompts: PromptSet,
    ) -> Option<Self> {
        let mut candidates = step.run.candidates(step.plan, agent).into_iter();
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
            cut_at: 0,
            tried: RetryCounts::default(),
            saved_text: None,
            status: TaskStatus::Pending {
                purpose: Purpose::Answer,
                not_before: step.now,
            },
            is_announced: false,
            began: step.now,
            time_limit: None,
            tokens: Usage::default(),
            cost: Cost::FREE,
            asking_ms: 0,
        })
    }

    /// Emits the agent's start and requests the first call. Does nothing if the consultation is
    /// about to end.
    pub(super) fn begin(&mut self, step: &mut StepContext<'_>) -> Option<TaskOutcome> {
        if step.is_stopping() {
            return None;
        }
        self.announce(step.plan, &mut step.emitter);
        self.start_time_limit(step.plan, &mut step.emitter);
        self.go(step)
    }

    pub(super) fn is_calling(&self, wanted: CallId) -> bool {
        let TaskStatus::Calling(calling) = &self.status else {
            return false;
        };
        calling
            .attempts
            .iter()
            .any(|attempt| attempt.call == wanted)
    }

    pub(super) fn still_waiting(&self, step: &StepContext<'_>) -> StillWaiting {
        StillWaiting {
            agent_id: self.agent.clone(),
            name: step.plan.agent_name(&self.agent),
            elapsed_ms: self.working_ms(step),
        }
    }

    /// Without those in which the person was asked about it.
    pub(super) fn working_ms(&self, step: &StepContext<'_>) -> u64 {
        let elapsed = step.run.ms_since(self.began, step.now);
        elapsed.saturating_sub(self.asking_ms)
    }

    pub(super) fn begins_to_answer(&mut self, step: &mut StepContext<'_>, call: CallId) {
        if let TaskStatus::Calling(calling) = &mut self.status
            && let Some(attempt) = calling
                .attempts
                .iter_mut()
                .find(|attempt| attempt.call == call && attempt.first_token.is_none())
        {
            attempt.first_token = Some(step.now);
            step.emit(Event::Call(CallEvent::FirstToken { call }));
        }
    }

    pub(super) fn announce(&mut self, plan: &Plan, emitter: &mut Emitter<'_>) {
        self.is_announced = true;
        emitter.emit(Event::Agent(AgentEvent::Thinking {
            agent_id: self.agent.clone(),
            name: plan.agent_name(&self.agent),
            round_number: self.answer.round(),
            answer: self.answer,
            model: self.current.clone(),
        }));
    }

    pub(super) fn schedule(&mut self, purpose: Purpose, not_before: Timestamp) {
        self.status = TaskStatus::Pending {
            purpose,
            not_before,
        };
    }

    pub(super) fn prompt(&self, plan: &Plan, model: &ModelRef) -> Prompt {
        self.repair
            .clone()
            .unwrap_or_else(|| self.prompts.prompt(plan.terms(model).size))
    }

    pub(super) fn call(
        &self,
        step: &mut StepContext<'_>,
        model: &ModelRef,
        purpose: Purpose,
        fit: Fit,
    ) -> Attempt {
        let Fit {
            max_output_tokens,
            worst_case,
            ..
        } = fit;
        let call = step.emitter.next_call();
        let prompt = self.prompt(step.plan, model);
        step.run.budget.set_aside(call, worst_case);
        step.run.budget.plan_calls += u32::from(step.plan.is_by_plan(model));
        step.run.upcoming.begin(&self.agent, self.answer);
        step.emit(Event::Call(CallEvent::Started(CallStarted {
            call,
            agent_id: self.agent.clone(),
            round_number: self.answer.round(),
            answer: self.answer,
            purpose,
            model: model.clone(),
            max_output_tokens,
            prompt_sha256: prompt.sha256(),
            worst_case,
            tokens_saved: self.prompts.tokens_saved,
        })));
        step.emitter.push(Effect::Ask(Box::new(Ask {
            call,
            model: model.clone(),
            prompt,
            answer: self.answer,
            form: step.plan.form,
            max_output_tokens,
            cache_key: step.plan.cache_key(model, self.answer),
        })));
        Attempt {
            call,
            model: model.clone(),
            purpose,
            max_output_tokens,
            since: step.now,
            first_token: None,
        }
    }

    /// The task stays open.
    pub(super) fn cancel(&mut self, step: &mut StepContext<'_>, reason: AbortReason) {
        if self.cancel_calls(step, CancelReason::Abort(reason)) {
            self.schedule(Purpose::Resumed, step.now);
        }
    }

    /// Ends without an answer, at the person's request.
    pub(super) fn stop_waiting(&mut self, step: &mut StepContext<'_>) -> TaskOutcome {
        let seconds = self.working_ms(step) / 1_000;
        self.abandon(
            step,
            &format!("left out at the user's request after {seconds} s"),
        )
    }

    /// Returns whether there were any.
    pub(super) fn cancel_calls(&self, step: &mut StepContext<'_>, reason: CancelReason) -> bool {
        let TaskStatus::Calling(calling) = &self.status else {
            return false;
        };
        for attempt in &calling.attempts {
            attempt.cancel(step, reason);
        }
        true
    }

    /// Calls in flight are lost, and made again, and an unanswered question is asked again.
    pub(super) fn resume(&mut self, step: &mut StepContext<'_>) -> Option<TaskOutcome> {
        if !self.is_announced {
            self.began = step.now;
            self.announce(step.plan, &mut step.emitter);
        }
        self.start_time_limit(step.plan, &mut step.emitter);
        match &self.status {
            TaskStatus::Pending { .. } => self.go(step),
            TaskStatus::Calling(calling) => {
                for attempt in &calling.attempts {
                    step.run.budget.write_off(attempt.call);
                }
                self.schedule(Purpose::Resumed, step.now);
                self.go(step)
            }
            TaskStatus::Asking(open) => {
                let open = open.clone();
                self.end_question(step);
                self.give_up(step, open.reason, open.error)
            }
        }
    }
}

/// The rules for one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TaskRules {
    /// Whether a second model is asked as well while the first is slow.
    pub(super) may_hedge: bool,
    pub(super) fallback: FallbackRule,
    /// Whether `--strict`, `--on-failure fail` and the ceiling end the consultation if the answer
    /// is missing. Else it continues without it, regardless of the settings.
    pub(super) counts: bool,
    /// Whether the effort is limited: at most one more call, within a time limit, and only at a
    /// provider that can be called now. An unreadable answer is dropped, and failures do not count
    /// against the provider, which experts need too.
    pub(super) is_limited: bool,
}

/// Conditions for fallbacks. `--on-failure` and `--strict` can forbid them as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FallbackRule {
    Never,
    /// After a failure but not a refusal; not under `--on-failure skip`.
    OnFailure,
    /// After a failure or a refusal, but not under `--on-failure skip`.
    OnFailureOrRefusal,
    /// After a failure or a refusal, even under `--on-failure skip`.
    Always,
}

impl TaskRules {
    /// A refusal is an expert's answer: no other model is asked instead.
    const OF_EXPERT: Self = Self {
        may_hedge: true,
        fallback: FallbackRule::OnFailure,
        counts: true,
        is_limited: false,
    };
    /// It only shows how reliable the first verdict is. A hedge would bring another model's
    /// verdict, which says nothing about this one.
    const OF_SECOND_JUDGE: Self = Self {
        may_hedge: false,
        fallback: FallbackRule::OnFailureOrRefusal,
        counts: false,
        is_limited: false,
    };

    pub(super) fn of(agent: &AgentId) -> Self {
        match agent {
            AgentId::Seat(_) => Self::OF_EXPERT,
            // Without a judge there is no verdict.
            AgentId::Judge => Self {
                fallback: FallbackRule::Always,
                ..Self::OF_EXPERT
            },
            AgentId::SecondJudge => Self::OF_SECOND_JUDGE,
            AgentId::Helper => Self {
                fallback: FallbackRule::Never,
                is_limited: true,
                ..Self::OF_SECOND_JUDGE
            },
        }
    }

    /// Returns whether another model may take over although `--on-failure skip` is set.
    pub(super) fn ignores_skip(self) -> bool {
        self.fallback == FallbackRule::Always
    }
}

/// The same prompt for each size of model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PromptSet {
    by_size: BTreeMap<Size, Prompt>,
    /// Estimated tokens saved by filtering artifacts.
    pub(super) tokens_saved: u64,
}

impl PromptSet {
    /// Renders the prompt for every size among the models that may answer for the agent.
    pub(super) fn render<P: Into<RenderedPrompt>>(
        plan: &Plan,
        run: &RunState,
        agent: &AgentId,
        make: impl Fn(&Prompter<'_>) -> Result<P, PromptError>,
    ) -> Result<Self, PromptError> {
        let labels = plan.labels_for(agent);
        let mut prompts = Self::default();
        for model in run.candidates(plan, agent) {
            let size = plan.terms(&model).size;
            if let Entry::Vacant(place) = prompts.by_size.entry(size) {
                let shown = make(&plan.prompter(&labels, &model))?.into();
                place.insert(shown.prompt);
                prompts.tokens_saved = prompts.tokens_saved.max(shown.tokens_saved);
            }
        }
        Ok(prompts)
    }

    pub(super) fn prompt(&self, size: Size) -> Prompt {
        self.by_size
            .get(&size)
            .or_else(|| self.by_size.values().next())
            .cloned()
            .unwrap_or_default()
    }
}
