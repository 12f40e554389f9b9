//! Awaiting consent: nothing has been spent, and nothing is until the user, a flag or a small
//! estimate allows it.

use serde::{Deserialize, Serialize};

use super::independent;
use crate::consultation::event::{AbortReason, Consent, Estimate, Event, StateName};
use crate::consultation::machine::step::Turn;
use crate::consultation::policy::consent::Gate;
use crate::consultation::protocol::{Answer, Question};
use crate::consultation::state::State;

/// The question is open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::consultation) struct AwaitingConsent {
    estimate: Estimate,
}

pub(in crate::consultation) fn enter(turn: &mut Turn<'_>, estimate: Estimate) -> State {
    turn.note_estimate(&estimate);
    turn.change(StateName::Estimating, StateName::AwaitingConsent);
    AwaitingConsent { estimate }.decide(turn)
}

impl AwaitingConsent {
    fn decide(self, turn: &mut Turn<'_>) -> State {
        let control = &turn.plan.control;
        let always_allow_under = control.consent.always_allow_under;
        match control.consent.decide(&self.estimate, control.max_cost) {
            Gate::Pass(how) => allow(turn, how),
            Gate::Ask(why) => {
                turn.emit(Event::CostGate {
                    cost: self.estimate.cost,
                    always_allow_under,
                    why: why.clone(),
                });
                turn.ask(Question::Consent {
                    estimate: self.estimate.clone(),
                    why,
                });
                State::AwaitingConsent(self)
            }
            Gate::Refuse(why) => {
                turn.emit(Event::CostGate {
                    cost: self.estimate.cost,
                    always_allow_under,
                    why,
                });
                self.refuse(
                    turn,
                    Consent::NobodyToAsk,
                    "The estimated cost needs consent, and there is no terminal to ask on",
                )
            }
            Gate::AboveCeiling => {
                let ceiling = control.max_cost.unwrap_or_default();
                let message = format!(
                    "The least that this costs, {:.2}, is above the ceiling of {ceiling:.2}",
                    self.estimate.low
                );
                turn.abort(
                    State::AwaitingConsent(self),
                    AbortReason::CostCeiling,
                    message,
                )
            }
        }
    }

    pub(in crate::consultation) fn answered(self, turn: &mut Turn<'_>, answer: Answer) -> State {
        match answer {
            Answer::Yes | Answer::Always(_) => allow(turn, Consent::Asked),
            Answer::No | Answer::Fail | Answer::Gone => {
                self.refuse(turn, Consent::Asked, "Consultation cancelled by user")
            }
        }
    }

    /// Asks again, on the terms that there are now.
    pub(in crate::consultation) fn again(self, turn: &mut Turn<'_>) -> State {
        self.decide(turn)
    }

    fn refuse(self, turn: &mut Turn<'_>, how: Consent, message: &str) -> State {
        turn.emit(Event::UserConsent {
            approved: false,
            how,
        });
        turn.abort(State::AwaitingConsent(self), AbortReason::Declined, message)
    }
}

fn allow(turn: &mut Turn<'_>, how: Consent) -> State {
    turn.emit(Event::UserConsent {
        approved: true,
        how,
    });
    independent::enter(turn)
}
