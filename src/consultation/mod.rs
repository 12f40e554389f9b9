//! L1: the pipeline, pure. One file a phase, in order.
//!
//! ```text
//! Idle → Estimating → AwaitingConsent → Independent → Synthesis → CrossExam → Verdict → Complete
//!        after each of the four rounds, when no more are wanted or needed → Complete
//!                            every state that is not terminal → Aborted
//! ```
//!
//! [`Consultation::handle`] takes the current time and one [`Input`] and returns the [`Effect`]s to
//! carry out. It holds no clock, runtime, network, file or randomness, and can be stored and
//! restored between any two inputs.
//!
//! Invariants: no call before consent; no call id twice; every call that went out is answered,
//! cancelled, lost or still open; a terminal state has no effects, until an interrupted
//! consultation is resumed; an input that does not fit (a late answer, a stale timer) changes
//! nothing; every change of the machine appears in an event, so that its log can be replayed
//! ([`machine::replay`]).
//!
//! The machine driven by hand, as `engine::driver` does it:
//!
//! ```
//! use conclave::consultation::Consultation;
//! use conclave::consultation::event::{Answer, StateName};
//! use conclave::consultation::plan::{Control, Plan};
//! use conclave::consultation::policy::consent::ConsentMode;
//! use conclave::consultation::prompt::Templates;
//! use conclave::consultation::protocol::call::{Failure, FailureClass};
//! use conclave::consultation::machine::{Effect, Input};
//! use conclave::domain::ids::{ConsultationId, ModelRef};
//! use conclave::domain::panel::{Panel, seated};
//! use conclave::domain::time::Timestamp;
//!
//! let model = ModelRef::new("ollama", "qwen3");
//! let (_, expert) = Templates::builtin().persona_files().next().unwrap();
//! let panel = Panel { seats: seated([(expert, model.clone())]), judges: vec![model] };
//! let control = Control::usual(ConsentMode::Interactive);
//! let id = ConsultationId::from_unique("example");
//! let mut machine = Consultation::new(Plan::new(id, "OAuth or JWT?", panel, control));
//! let now = Timestamp(0);
//!
//! // The model has no price, so the machine asks the person before it spends anything.
//! let effects = machine.handle(now, Input::Start);
//! assert!(effects.iter().any(|effect| matches!(effect, Effect::Question(_))));
//!
//! // With consent, it requests the call of Round 1.
//! let effects = machine.handle(now, Input::Answered(Answer::Yes));
//! let Some(Effect::Request(request)) = effects.into_iter().last() else { unreachable!() };
//! let provider = request.options[0].provider.clone();
//! let granted = request.options[0].worst_case;
//!
//! // Once the call is admitted, the driver makes it and hands the outcome back.
//! let effects = machine.handle(now, Input::Admitted { key: request.key, provider, granted });
//! let ask = effects.into_iter().find_map(|effect| match effect {
//!     Effect::Ask(ask) => Some(ask),
//!     _ => None,
//! });
//! let ask = ask.unwrap();
//! assert!(ask.prompt.text().contains("OAuth or JWT?"));
//! let outcome = Err(Failure::new(FailureClass::Auth, "the key is wrong"));
//! machine.handle(now, Input::Replied { call: ask.call, outcome, updates: Vec::new() });
//!
//! // No expert answered: the consultation has ended.
//! assert_eq!(machine.state(), StateName::Aborted);
//! ```

pub mod machine;
mod state;
mod phases;
mod tasks;
pub mod protocol;
pub mod event;
pub mod transcript;
pub mod plan;
pub mod policy;
pub mod prompt;
pub mod reading;
pub mod anonymity;
pub mod analysis;

pub use state::TransitionError;

use crate::domain::panel::Panel;
use crate::domain::time::Timestamp;

use self::machine::emitter::{Emitter, LogPosition};
use self::machine::run_state::RunState;
use self::machine::step::StepContext;
use event::{AbortReason, Cause, Event, HealthEvent, StateName};
use machine::{Effect, Input};
use plan::Plan;
use state::State;

/// One consultation, from its terms to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Consultation {
    plan: Plan,
    log: LogPosition,
    run: RunState,
    state: State,
}

impl Consultation {
    pub fn new(plan: Plan) -> Self {
        Self {
            plan,
            log: LogPosition::default(),
            run: RunState::default(),
            state: State::Idle,
        }
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    pub fn state(&self) -> StateName {
        self.state.name()
    }

    /// Handles one input and returns the effects to carry out, in order.
    pub fn handle(&mut self, now: Timestamp, input: Input) -> Vec<Effect> {
        let cause = Some(cause_of(&input));
        if let Input::Resume { terms, .. } = &input
            && self.state != State::Complete
        {
            self.plan.apply(terms);
        }
        let mut waited_ms = 0;
        if let Input::Resume { .. } = &input {
            // The time from there on is that of the interruption.
            waited_ms = self.run.end_wait_for_person(self.log.last_event_at);
        }
        let (mut effects, new_panel) =
            self.step(now, cause, |context, state| step(context, state, input));
        if let Some(panel) = new_panel {
            // A step borrows the plan, so a new panel takes effect in the next one. That step needs
            // no input and no entry in the log: it follows from the selection.
            phases::persona_selection::reseat(&mut self.plan, panel);
            let (further, _) = self.step(now, None, |step, state| state.resume(step));
            effects.extend(further);
        }
        if self.run.questions.is_open() && !self.state.has_active_tasks() {
            self.run.waiting_for_person_since.get_or_insert(now);
        } else {
            waited_ms += self.run.end_wait_for_person(now);
        }
        let first_event = effects.iter_mut().find_map(|effect| match effect {
            Effect::Emit(envelope) => Some(envelope),
            _ => None,
        });
        if let Some(envelope) = first_event {
            envelope.waited_for_person_ms = waited_ms;
        }
        effects
    }

    fn step(
        &mut self,
        now: Timestamp,
        cause: Option<Cause>,
        act: impl FnOnce(&mut StepContext<'_>, State) -> State,
    ) -> (Vec<Effect>, Option<Panel>) {
        let mut context = StepContext {
            now,
            plan: &self.plan,
            run: &mut self.run,
            emitter: Emitter {
                now,
                consultation: &self.plan.id,
                position: &mut self.log,
                cause,
                effects: Vec::new(),
            },
            new_panel: None,
            stop: None,
        };
        let state = act(&mut context, std::mem::take(&mut self.state));
        self.state = match context.stop.take() {
            // A consultation that has its answer gives it, whatever would have stopped it.
            Some(stop) if !state.name().is_terminal() => state.end(&mut context, stop),
            Some(_) | None => state,
        };
        (context.emitter.effects, context.new_panel)
    }
}

fn step(step: &mut StepContext<'_>, state: State, input: Input) -> State {
    match (state, input) {
        (State::Idle, Input::Start) => State::start(step, None),
        (State::Idle, Input::StartedBefore { estimate }) => State::start(step, Some(*estimate)),
        (
            state,
            Input::Resume {
                lost,
                terms,
                tool_version,
            },
        ) => state::resume::resume(step, state, &lost, *terms, tool_version),
        (state @ (State::Idle | State::Estimating | State::Complete | State::Aborted(_)), _) => {
            state
        }
        (state, Input::Interrupted) => {
            step.stop(AbortReason::Interrupted, "Consultation interrupted");
            state
        }
        (state, Input::Answered(answer)) => state.answered(step, answer),
        (state, Input::HealthCheckStarted { provider }) => {
            step.emit(Event::Health(HealthEvent::CheckStarted { provider }));
            state
        }
        (state, Input::HealthChanged(update)) => {
            step.run.providers.set_health(&update);
            step.emit(Event::Health(HealthEvent::StatusUpdated(update)));
            state.advance(step)
        }
        (state, Input::ProviderChanged(update)) => {
            step.run.providers.note(update, step.now, &mut step.emitter);
            state.advance(step)
        }
        (state @ State::AwaitingConsent(_), _) => state,
        (State::Finishing(phase), Input::TimerFired { timer }) if phase.grace == timer => {
            State::Finishing(phase.give_up(step)).proceed(step)
        }
        (mut state, Input::TimerFired { timer }) if step.run.watch.pulse == Some(timer) => {
            state.pulse(step);
            state
        }
        (state, Input::TimerFired { timer }) if step.run.watch.deadline == Some(timer) => {
            // While only the person is waited for, time is left: their answer sets a new timer.
            let left = step.run.time_left(&step.plan.control, step.now);
            if left.unwrap_or_default().is_zero() {
                let wait = step.plan.control.max_wait.unwrap_or_default().as_secs();
                let round = step.run.watch.round_number;
                let message = format!("Round {round} was not done within {wait} s");
                step.stop(AbortReason::Timeout, message);
            }
            state
        }
        (mut state, input) => {
            if let Some(tasks) = state.tasks() {
                tasks.handle(step, input);
            }
            state.proceed(step)
        }
    }
}

fn cause_of(input: &Input) -> Cause {
    match input {
        Input::Start | Input::StartedBefore { .. } => Cause::Start,
        Input::Answered(answer) => Cause::Answered(*answer),
        Input::FirstToken { .. } => Cause::FirstToken,
        Input::Admitted { .. } => Cause::Admitted,
        Input::NotAdmitted { .. } => Cause::NotAdmitted,
        Input::Replied { .. } => Cause::Replied,
        Input::ProviderChanged(_) => Cause::Provider,
        Input::TimerFired { timer } => Cause::Timer(*timer),
        Input::HealthCheckStarted { .. } => Cause::HealthCheck,
        Input::HealthChanged(_) => Cause::Health,
        Input::Interrupted => Cause::Interrupted,
        Input::Resume { .. } => Cause::Resumed,
    }
}
