//! Awaiting consent: nothing is spent until the user, a flag or a small estimate allows it.

use super::next::{Break, Continue, Entry, Next};
use crate::consultation::event::{AbortReason, Answer, ConsultationEvent, CostEvent, Event};
use crate::consultation::machine::Question;
use crate::consultation::machine::step::StepContext;
use crate::consultation::policy::consent::{Gate, refusal};
use crate::consultation::policy::estimate::{Consent, Estimate};
use crate::consultation::policy::fitting::{SmallestCeilings, UpcomingCalls};

/// The question is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AwaitingConsent {
    pub(crate) estimate: Estimate,
}

pub(crate) fn enter(step: &mut StepContext<'_>, estimate: Estimate) -> Next<AwaitingConsent> {
    step.run.high = estimate.high;
    step.run.expected_calls = estimate.calls.len();
    step.run.upcoming = UpcomingCalls::new(estimate.calls.clone());
    AwaitingConsent { estimate }.decide(step)
}

impl AwaitingConsent {
    pub(crate) fn decide(self, step: &mut StepContext<'_>) -> Next<Self> {
        let control = &step.plan.control;
        let always_allow_under = control.consent.always_allow_under;
        match control.consent.decide(&self.estimate, control.max_cost) {
            Gate::Pass(how) => self.allow(step, how),
            Gate::Ask(why) => {
                step.emit(Event::Cost(CostEvent::GateTriggered {
                    cost: self.estimate.cost,
                    always_allow_under,
                    why: why.clone(),
                }));
                let question = Question::Consent {
                    estimate: self.estimate.clone(),
                    why,
                };
                step.run.questions.ask(&mut step.emitter, question);
                Continue(self)
            }
            Gate::Refuse(why) => {
                step.emit(Event::Cost(CostEvent::GateTriggered {
                    cost: self.estimate.cost,
                    always_allow_under,
                    why,
                }));
                let message = refusal(&self.estimate, control.max_cost);
                self.refuse(step, Consent::NobodyToAsk, &message)
            }
            Gate::AboveCeiling => {
                let ceiling = control.max_cost.unwrap_or_default();
                let message = SmallestCeilings::of([&self.estimate]).refusal(ceiling, "this");
                step.stop(AbortReason::CostCeiling, message);
                Continue(self)
            }
        }
    }

    pub(crate) fn answered(self, step: &mut StepContext<'_>, answer: Answer) -> Next<Self> {
        match answer {
            Answer::Yes | Answer::Always(_) => self.allow(step, Consent::Asked),
            Answer::No | Answer::Fail | Answer::GoOnWithout | Answer::Gone => self.refuse(
                step,
                Consent::Asked,
                "Consultation cancelled by user; nothing was spent",
            ),
        }
    }

    fn allow(self, step: &mut StepContext<'_>, how: Consent) -> Next<Self> {
        // The user saw the month's budget and agreed to exceed it.
        let month = step.plan.control.consent.month;
        step.run.beyond_month = month.is_some_and(|month| month.is_exceeded_by(self.estimate.cost));
        step.emit(ConsultationEvent::UserConsent {
            approved: true,
            how,
        });
        Break(Entry::Independent)
    }

    fn refuse(self, step: &mut StepContext<'_>, how: Consent, message: &str) -> Next<Self> {
        step.emit(ConsultationEvent::UserConsent {
            approved: false,
            how,
        });
        step.stop(AbortReason::Declined, message);
        Continue(self)
    }
}
