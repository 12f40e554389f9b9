//! Awaiting consent: nothing has been spent, and nothing is until the user, a flag or a small estimate allows it.

use serde::{Deserialize, Serialize};

use super::event::{AbortReason, Consent, Estimate, Event, GateReason, StateName};
use super::independent;
use super::policy::consent::Gate;
use super::protocol::{Answer, Effect, Input, Question};
use super::state::State;
use super::turn::Turn;

/// The question is open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AwaitingConsent {
    estimate: Estimate,
}

pub(super) fn enter(turn: &mut Turn<'_>, estimate: Estimate) -> State {
    turn.change(StateName::Estimating, StateName::AwaitingConsent);
    let control = &turn.plan.control;
    match control.consent.decide(&estimate, control.max_cost) {
        Gate::Pass(how) => allow(turn, how),
        Gate::Ask(why) => {
            gate(turn, &estimate, &why);
            turn.push(Effect::Question(Box::new(Question::Consent { estimate: estimate.clone(), why })));
            State::AwaitingConsent(AwaitingConsent { estimate })
        }
        Gate::Refuse(why) => {
            gate(turn, &estimate, &why);
            refuse(turn, Consent::NobodyToAsk, "The estimated cost needs consent, and there is no terminal to ask on")
        }
        Gate::AboveCeiling => {
            let ceiling = control.max_cost.unwrap_or_default();
            let message = format!("The least that this costs, {:.2}, is above the ceiling of {ceiling:.2}", estimate.low);
            turn.abort(StateName::AwaitingConsent, AbortReason::CostCeiling, message)
        }
    }
}

impl AwaitingConsent {
    pub(super) fn handle(self, turn: &mut Turn<'_>, input: &Input) -> State {
        match input {
            Input::Answered(Answer::Yes | Answer::Always(_)) => allow(turn, Consent::Asked),
            Input::Answered(Answer::No | Answer::Fail | Answer::Gone) => refuse(turn, Consent::Asked, "Consultation cancelled by user"),
            Input::Start
            | Input::FirstToken { .. }
            | Input::Replied { .. }
            | Input::TimerFired { .. }
            | Input::HealthCheckStarted { .. }
            | Input::HealthChanged(_)
            | Input::Interrupted
            | Input::Resume { .. } => State::AwaitingConsent(self),
        }
    }
}

fn gate(turn: &mut Turn<'_>, estimate: &Estimate, why: &[GateReason]) {
    let always_allow_under = turn.plan.control.consent.always_allow_under;
    turn.emit(Event::CostGate { cost: estimate.cost, always_allow_under, why: why.to_vec() });
}

fn allow(turn: &mut Turn<'_>, how: Consent) -> State {
    turn.emit(Event::UserConsent { approved: true, how });
    independent::enter(turn)
}

fn refuse(turn: &mut Turn<'_>, how: Consent, message: &str) -> State {
    turn.emit(Event::UserConsent { approved: false, how });
    turn.abort(StateName::AwaitingConsent, AbortReason::Declined, message)
}
