//! L1: the pipeline, pure. One file a phase, in order.
//!
//! ```text
//! Idle → Estimating → AwaitingConsent → Independent → Synthesis → CrossExam → Verdict → Complete
//!                            every state that is not terminal → Aborted
//! ```
//!
//! [`Consultation::handle`] takes the moment and one [`Input`] and says what is to be done as [`Effect`]s. It holds no clock, runtime,
//! network, file or randomness, and can be stored and restored between any two inputs.
//!
//! Invariants: no call before consent; no call id twice; every call that went out is answered, cancelled or still open; a terminal state
//! has no effects; an input that does not fit (a late answer, a stale timer) changes nothing.

pub mod answer;
mod awaiting_consent;
pub mod call;
mod calls;
mod cross_exam;
pub mod digest;
mod errand;
mod estimating;
pub mod event;
mod independent;
mod judging;
pub mod labels;
pub mod plan;
pub mod policy;
pub mod preview;
pub mod problem;
pub mod prompt;
pub mod protocol;
pub mod reading;
pub mod replay;
pub mod spend;
mod state;
mod synthesis;
pub mod transcript;
mod turn;
mod verdict;

pub use state::InvalidTransition;

use serde::{Deserialize, Serialize};

use crate::domain::time::Timestamp;

use event::{AbortReason, Cause, StateName};
use plan::Plan;
use protocol::{Effect, Input};
use state::State;
use turn::{Ledger, Turn};

/// One consultation, from its terms to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Consultation {
    plan: Plan,
    ledger: Ledger,
    state: State,
}

impl Consultation {
    pub fn new(plan: Plan) -> Self {
        Self { plan, ledger: Ledger::default(), state: State::Idle }
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    pub fn state(&self) -> StateName {
        self.state.name()
    }

    /// Takes one input and returns what is to be done, in order.
    pub fn handle(&mut self, now: Timestamp, input: Input) -> Vec<Effect> {
        let mut turn = Turn::new(now, &self.plan, &mut self.ledger, cause_of(&input));
        let state = std::mem::take(&mut self.state);
        self.state = match (state, input) {
            (State::Idle, Input::Start) => estimating::enter(&mut turn),
            (state @ (State::Complete | State::Aborted), _) => state,
            (state, Input::Interrupted) => interrupt(&mut turn, state),
            (State::AwaitingConsent(phase), input) => phase.handle(&mut turn, &input),
            (State::Independent(phase), input) => phase.handle(&mut turn, input),
            (State::Synthesis(phase), input) => phase.handle(&mut turn, input),
            (State::CrossExam(phase), input) => phase.handle(&mut turn, input),
            (State::Verdict(phase), input) => phase.handle(&mut turn, input),
            (state @ (State::Idle | State::Estimating), _) => state,
        };
        turn.into_effects()
    }
}

/// What a log tells of an input, besides the events that it leads to. A first sign of an answer leads to none.
fn cause_of(input: &Input) -> Option<Cause> {
    Some(match input {
        Input::Start => Cause::Start,
        Input::Answered(answer) => Cause::Answered(*answer),
        Input::FirstToken { .. } => return None,
        Input::Replied { .. } => Cause::Replied,
        Input::TimerFired { timer } => Cause::Timer(*timer),
        Input::HealthCheckStarted { .. } => Cause::HealthCheck,
        Input::HealthChanged(_) => Cause::Health,
        Input::Interrupted => Cause::Interrupted,
        Input::Resume { .. } => Cause::Resumed,
    })
}

/// Drops what is under way and ends.
fn interrupt(turn: &mut Turn<'_>, state: State) -> State {
    let during = state.name();
    match state {
        State::Independent(phase) => phase.work.cancel(turn, AbortReason::Interrupted),
        State::Synthesis(phase) => phase.work.cancel(turn, AbortReason::Interrupted),
        State::CrossExam(phase) => phase.work.cancel(turn, AbortReason::Interrupted),
        State::Verdict(phase) => phase.work.cancel(turn, AbortReason::Interrupted),
        State::Idle | State::Estimating | State::AwaitingConsent(_) | State::Complete | State::Aborted => {}
    }
    turn.abort(during, AbortReason::Interrupted, "Consultation interrupted")
}
