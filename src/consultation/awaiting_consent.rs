//! Awaiting consent: nothing has been spent, and nothing is until the user, a flag or a small estimate allows it.

use serde::{Deserialize, Serialize};

use super::event::{AbortReason, Consent, Estimate, Event, StateName};
use super::independent;
use super::policy::consent::Gate;
use super::protocol::{Effect, Input};
use super::state::State;
use super::turn::Turn;

/// The question is open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AwaitingConsent {
    estimate: Estimate,
}

pub(super) fn enter(turn: &mut Turn<'_>, estimate: Estimate) -> State {
    turn.change(StateName::Estimating, StateName::AwaitingConsent);
    match turn.plan.consent.decide(estimate.cost) {
        Gate::Pass(how) => allow(turn, how),
        Gate::Ask => {
            turn.push(Effect::AskConsent(estimate.clone()));
            State::AwaitingConsent(AwaitingConsent { estimate })
        }
        Gate::Refuse => refuse(turn, Consent::NobodyToAsk, "The estimated cost needs consent, and there is no terminal to ask on"),
    }
}

impl AwaitingConsent {
    pub(super) fn handle(self, turn: &mut Turn<'_>, input: &Input) -> State {
        match input {
            Input::ConsentGiven => allow(turn, Consent::Asked),
            Input::ConsentDeclined => refuse(turn, Consent::Asked, "Consultation cancelled by user"),
            Input::Start | Input::FirstToken { .. } | Input::Replied { .. } | Input::TimerFired { .. } | Input::Interrupted => {
                State::AwaitingConsent(self)
            }
        }
    }
}

fn allow(turn: &mut Turn<'_>, how: Consent) -> State {
    turn.emit(Event::UserConsent { approved: true, how });
    independent::enter(turn)
}

fn refuse(turn: &mut Turn<'_>, how: Consent, message: &str) -> State {
    turn.emit(Event::UserConsent { approved: false, how });
    turn.abort(StateName::AwaitingConsent, AbortReason::Declined, message)
}
