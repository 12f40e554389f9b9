//! Awaiting consent: nothing has been spent, and nothing is until the user, a flag or a small
//! estimate allows it.

use serde::{Deserialize, Serialize};

use super::independent;
use crate::consultation::event::{
    AbortReason, Consent, ConsultationEvent, CostEvent, Estimate, Event, StateName,
};
use crate::consultation::machine::step::StepContext;
use crate::consultation::policy::consent::Gate;
use crate::consultation::protocol::{Answer, Question};
use crate::consultation::state::State;

/// The question is open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::consultation) struct AwaitingConsent {
    estimate: Estimate,
}

pub(in crate::consultation) fn enter(step: &mut StepContext<'_>, estimate: Estimate) -> State {
    step.note_estimate(&estimate);
    step.change(StateName::Estimating, StateName::AwaitingConsent);
    AwaitingConsent { estimate }.decide(step)
}

impl AwaitingConsent {
    fn decide(self, step: &mut StepContext<'_>) -> State {
        let control = &step.plan.control;
        let always_allow_under = control.consent.always_allow_under;
        match control.consent.decide(&self.estimate, control.max_cost) {
            Gate::Pass(how) => allow(step, how),
            Gate::Ask(why) => {
                step.emit(Event::Cost(CostEvent::GateTriggered {
                    cost: self.estimate.cost,
                    always_allow_under,
                    why: why.clone(),
                }));
                step.ask(Question::Consent {
                    estimate: self.estimate.clone(),
                    why,
                });
                State::AwaitingConsent(self)
            }
            Gate::Refuse(why) => {
                step.emit(Event::Cost(CostEvent::GateTriggered {
                    cost: self.estimate.cost,
                    always_allow_under,
                    why,
                }));
                self.refuse(
                    step,
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
                step.abort(
                    State::AwaitingConsent(self),
                    AbortReason::CostCeiling,
                    message,
                )
            }
        }
    }

    pub(in crate::consultation) fn answered(
        self,
        step: &mut StepContext<'_>,
        answer: Answer,
    ) -> State {
        match answer {
            Answer::Yes | Answer::Always(_) => allow(step, Consent::Asked),
            Answer::No | Answer::Fail | Answer::Gone => {
                self.refuse(step, Consent::Asked, "Consultation cancelled by user")
            }
        }
    }

    /// Asks again, on the terms that there are now.
    pub(in crate::consultation) fn again(self, step: &mut StepContext<'_>) -> State {
        self.decide(step)
    }

    fn refuse(self, step: &mut StepContext<'_>, how: Consent, message: &str) -> State {
        step.emit(Event::Consultation(ConsultationEvent::UserConsent {
            approved: false,
            how,
        }));
        step.abort(State::AwaitingConsent(self), AbortReason::Declined, message)
    }
}

fn allow(step: &mut StepContext<'_>, how: Consent) -> State {
    step.emit(Event::Consultation(ConsultationEvent::UserConsent {
        approved: true,
        how,
    }));
    independent::enter(step)
}
