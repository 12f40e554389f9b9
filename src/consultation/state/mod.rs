//! The states and their transitions. Each variant owns its phase's data and nothing else.

pub(super) mod resume;

use crate::consultation::event::{
    Abort, AbortReason, Answer, ConsultationEvent, Event, PulseEvent, StateEvent, StateName,
};
use crate::consultation::machine::Question;
use crate::consultation::machine::round;
use crate::consultation::machine::step::{StepContext, Stop};
use crate::consultation::phases::awaiting_consent::{self, AwaitingConsent};
use crate::consultation::phases::cross_exam::{self, CrossExamination};
use crate::consultation::phases::estimating;
use crate::consultation::phases::finishing::{self, Finishing};
use crate::consultation::phases::independent::{self, IndependentRound};
use crate::consultation::phases::next::{Break, Continue, Entry, Next};
use crate::consultation::phases::synthesis::{self, SynthesisRound};
use crate::consultation::phases::verdict::{self, VerdictRound};
use crate::consultation::policy::estimate::Estimate;
use crate::consultation::tasks::TaskSet;

/// The state of a consultation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum State {
    #[default]
    Idle,
    /// Computes the estimate; entered and left in the same step.
    Estimating,
    AwaitingConsent(AwaitingConsent),
    Independent(IndependentRound),
    Synthesis(SynthesisRound),
    CrossExam(CrossExamination),
    Verdict(Box<VerdictRound>),
    /// The answer is ready; optional tasks are still open.
    Finishing(Finishing),
    Complete,
    /// With the state in which to resume, if any.
    Aborted(Option<Box<State>>),
}

impl State {
    pub(super) fn name(&self) -> StateName {
        match self {
            Self::Idle => StateName::Idle,
            Self::Estimating => StateName::Estimating,
            Self::AwaitingConsent(_) => StateName::AwaitingConsent,
            Self::Independent(_) => StateName::Independent,
            Self::Synthesis(_) => StateName::Synthesis,
            Self::CrossExam(_) => StateName::CrossExam,
            Self::Verdict(_) => StateName::Verdict,
            Self::Finishing(phase) => phase.from,
            Self::Complete => StateName::Complete,
            Self::Aborted(_) => StateName::Aborted,
        }
    }

    pub(super) fn tasks(&mut self) -> Option<&mut TaskSet> {
        match self {
            Self::Independent(phase) => Some(&mut phase.tasks),
            Self::Synthesis(phase) => phase.tasks(),
            Self::CrossExam(phase) => Some(&mut phase.tasks),
            Self::Verdict(phase) => Some(&mut phase.tasks),
            Self::Finishing(phase) => Some(&mut phase.tasks),
            Self::Idle
            | Self::Estimating
            | Self::AwaitingConsent(_)
            | Self::Complete
            | Self::Aborted(_) => None,
        }
    }

    /// Returns whether something other than the person is waited for.
    pub(super) fn has_active_tasks(&mut self) -> bool {
        self.tasks().is_some_and(|tasks| tasks.has_active())
    }

    /// Returns whether the answers that have arrived are enough to continue without the others.
    fn may_go_on_without(&self) -> bool {
        match self {
            Self::Independent(phase) => !phase.answered.is_empty(),
            Self::CrossExam(phase) => phase.has_a_revision(),
            Self::Verdict(phase) => phase.first.is_some(),
            Self::Idle
            | Self::Estimating
            | Self::AwaitingConsent(_)
            | Self::Synthesis(_)
            | Self::Finishing(_)
            | Self::Complete
            | Self::Aborted(_) => false,
        }
    }

    /// Reports that the round takes long, and asks the person, if any, whether to keep waiting.
    pub(super) fn pulse(&mut self, step: &mut StepContext<'_>) {
        let control = &step.plan.control;
        let waiting = self.tasks().map(|tasks| tasks.still_waiting(step));
        let waiting = waiting.unwrap_or_default();
        let is_interactive = round::is_interactive(control);
        let asked = is_interactive && !waiting.is_empty() && !step.run.questions.is_open();
        step.emit(Event::Pulse(PulseEvent::Asked {
            round_number: step.run.watch.round_number,
            waiting: waiting.clone(),
            elapsed_ms: step.run.elapsed_ms(step.now),
            asked,
        }));
        if asked {
            step.run.watch.pulse = None;
            let question = Question::Pulse {
                waiting,
                may_go_on_without: self.may_go_on_without() && !control.strict,
            };
            step.run.questions.ask(&mut step.emitter, question);
        } else {
            step.run.watch.set_pulse(control, &mut step.emitter);
        }
    }

    /// `logged` is the estimate in the log of a replayed consultation.
    pub(super) fn start(step: &mut StepContext<'_>, logged: Option<Estimate>) -> Self {
        estimating::announce(step);
        let (from, to) = (StateName::Idle, StateName::Estimating);
        step.emit(Event::State(StateEvent::Changed { from, to }));
        let next = estimating::enter(step, logged).map_continue(|()| Self::Estimating);
        Self::after(step, to, next)
    }

    /// Requests the pending calls after a change of a provider.
    pub(super) fn advance(mut self, step: &mut StepContext<'_>) -> Self {
        if let Some(tasks) = self.tasks() {
            tasks.advance(step);
        }
        self.proceed(step)
    }

    pub(super) fn proceed(self, step: &mut StepContext<'_>) -> Self {
        let name = self.name();
        let next = match self {
            Self::Independent(phase) => phase.proceed(step).map_continue(Self::Independent),
            Self::Synthesis(phase) => phase.proceed(step).map_continue(Self::Synthesis),
            Self::CrossExam(phase) => phase.proceed(step).map_continue(Self::CrossExam),
            Self::Verdict(phase) => phase.proceed(step).map_continue(Self::Verdict),
            Self::Finishing(phase) => phase
                .proceed(&mut step.emitter)
                .map_continue(Self::Finishing),
            state @ (Self::Idle
            | Self::Estimating
            | Self::AwaitingConsent(_)
            | Self::Complete
            | Self::Aborted(_)) => return state,
        };
        Self::after(step, name, next)
    }

    /// Continues after an abort, a lost process, or a change of the panel.
    pub(super) fn resume(self, step: &mut StepContext<'_>) -> Self {
        let name = self.name();
        let next = match self {
            Self::AwaitingConsent(phase) => phase.decide(step).map_continue(Self::AwaitingConsent),
            Self::Independent(phase) => phase.resume(step).map_continue(Self::Independent),
            Self::Synthesis(phase) => phase.resume(step).map_continue(Self::Synthesis),
            Self::CrossExam(phase) => phase.resume(step).map_continue(Self::CrossExam),
            Self::Verdict(phase) => phase.resume(step).map_continue(Self::Verdict),
            Self::Finishing(phase) => phase
                .resume(&mut step.emitter)
                .map_continue(Self::Finishing),
            state @ (Self::Idle | Self::Estimating | Self::Complete | Self::Aborted(_)) => {
                return state;
            }
        };
        Self::after(step, name, next)
    }

    /// Without an open question, the answer is late and changes nothing.
    pub(super) fn answered(self, step: &mut StepContext<'_>, answer: Answer) -> Self {
        let name = self.name();
        let Some(question) = step.run.questions.answered(&mut step.emitter) else {
            return self;
        };
        let next = match (self, question) {
            (Self::AwaitingConsent(phase), Question::Consent { .. }) => phase
                .answered(step, answer)
                .map_continue(Self::AwaitingConsent),
            (Self::Synthesis(phase), Question::EarlyTermination { findings, .. }) => phase
                .answered(step, *findings, answer)
                .map_continue(Self::Synthesis),
            (state, Question::Consent { .. } | Question::EarlyTermination { .. }) => return state,
            (mut state, Question::Pulse { waiting, .. }) => {
                round::pulse_answered(step, answer);
                if let (Answer::GoOnWithout, Some(tasks)) = (answer, state.tasks()) {
                    let agents: Vec<_> = waiting.iter().map(|agent| &agent.agent_id).collect();
                    tasks.leave_out(step, &agents);
                }
                return state.proceed(step);
            }
            (mut state, Question::Substitution { offers }) => {
                if let Some(tasks) = state.tasks() {
                    let agents: Vec<_> =
                        offers.iter().map(|offer| &offer.offered.agent_id).collect();
                    tasks.answered(step, &agents, answer);
                }
                step.run
                    .move_deadline(&step.plan.control, step.now, &mut step.emitter);
                return state.proceed(step);
            }
        };
        Self::after(step, name, next)
    }

    /// An answer that has already arrived is still given.
    pub(super) fn end(self, step: &mut StepContext<'_>, why: Stop) -> Self {
        let name = self.name();
        let next = match self {
            Self::Finishing(phase) => return Self::Finishing(phase.give_up(step)).proceed(step),
            Self::Verdict(phase) if phase.has_an_answer_for(step.plan, why.reason) => phase
                .cut_short(step, &why.message)
                .map_continue(Self::Verdict),
            state => return state.abort(step, why),
        };
        Self::after(step, name, next)
    }

    fn after(step: &mut StepContext<'_>, name: StateName, next: Next<Self>) -> Self {
        match next {
            Continue(state) => state,
            Break(entry) => Self::enter(step, name, entry),
        }
    }

    fn enter(step: &mut StepContext<'_>, from: StateName, entry: Entry) -> Self {
        let to = entry.state().unwrap_or(from);
        if to != from
            && let Err(refused) = transition(step, from, to)
        {
            // A defect of the program. Everything up to here is in the log.
            let message = format!("internal error: {refused}");
            emit_abort(step, from, AbortReason::Internal, message);
            return Self::Aborted(None);
        }
        let next = match entry {
            Entry::AwaitingConsent(estimate) => {
                awaiting_consent::enter(step, estimate).map_continue(Self::AwaitingConsent)
            }
            Entry::Independent => independent::enter(step).map_continue(Self::Independent),
            Entry::Synthesis(answers) => {
                synthesis::enter(step, answers).map_continue(Self::Synthesis)
            }
            Entry::CrossExam {
                independents,
                synthesis,
            } => cross_exam::enter(step, independents, synthesis).map_continue(Self::CrossExam),
            Entry::Verdict {
                tasks,
                independents,
                synthesis,
                cross_exam,
            } => verdict::enter(step, tasks, independents, synthesis, cross_exam)
                .map_continue(Self::Verdict),
            Entry::Finishing { rounds, tasks } => {
                finishing::enter(&mut step.emitter, from, rounds, tasks)
                    .map_continue(Self::Finishing)
            }
            Entry::Complete { rounds } => {
                let duration_ms = step.run.elapsed_ms(step.now);
                step.emit(ConsultationEvent::Completed {
                    rounds,
                    duration_ms,
                });
                Continue(Self::Complete)
            }
        };
        Self::after(step, to, next)
    }

    /// Cancels the calls in flight and ends without a verdict.
    fn abort(mut self, step: &mut StepContext<'_>, Stop { reason, message }: Stop) -> Self {
        if let Some(tasks) = self.tasks() {
            tasks.cancel(step, reason);
        }
        emit_abort(step, self.name(), reason, message);
        Self::Aborted(reason.is_resumable().then(|| Box::new(self)))
    }
}

fn transition(
    step: &mut StepContext<'_>,
    from: StateName,
    to: StateName,
) -> Result<(), TransitionError> {
    from.may_become(to)?;
    step.emit(Event::State(StateEvent::Changed { from, to }));
    Ok(())
}

/// A consultation that has already ended does not end again.
fn emit_abort(step: &mut StepContext<'_>, during: StateName, reason: AbortReason, message: String) {
    step.run.questions.withdraw(&mut step.emitter, |_| true);
    if transition(step, during, StateName::Aborted).is_err() {
        return;
    }
    let duration_ms = step.run.elapsed_ms(step.now);
    step.emit(ConsultationEvent::Aborted(Abort {
        reason,
        message,
        during,
        duration_ms,
    }));
}

/// Error for a transition that is not in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a consultation in state {from} cannot become {to}")]
pub struct TransitionError {
    pub from: StateName,
    pub to: StateName,
}

impl StateName {
    /// Checks a transition against the protocol: the line of rounds, Complete after each of them,
    /// and Aborted from every state that is not terminal.
    pub fn may_become(self, to: Self) -> Result<(), TransitionError> {
        let allowed = match (self, to) {
            (Self::Idle, Self::Estimating)
            | (Self::Estimating, Self::AwaitingConsent)
            | (Self::AwaitingConsent, Self::Independent)
            | (Self::Independent, Self::Synthesis)
            | (Self::Synthesis, Self::CrossExam)
            | (Self::CrossExam, Self::Verdict)
            // Rounds that were not requested or are no longer needed are skipped.
            | (
                Self::Independent | Self::Synthesis | Self::CrossExam | Self::Verdict,
                Self::Complete,
            ) => true,
            (from, Self::Aborted) => !from.is_terminal(),
            (
                _,
                Self::Idle
                | Self::Estimating
                | Self::AwaitingConsent
                | Self::Independent
                | Self::Synthesis
                | Self::CrossExam
                | Self::Verdict
                | Self::Complete,
            ) => false,
        };
        allowed
            .then_some(())
            .ok_or(TransitionError { from: self, to })
    }

    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Complete | Self::Aborted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consultation::Consultation;
    use crate::consultation::machine::{Effect, Input};
    use crate::consultation::plan::{Control, Plan};
    use crate::consultation::policy::consent::ConsentMode;
    use crate::domain::ids::ConsultationId;
    use crate::domain::panel::Panel;
    use crate::domain::time::Timestamp;

    fn consultation() -> Consultation {
        let panel = Panel {
            seats: Vec::new(),
            judges: Vec::new(),
        };
        let control = Control::usual(ConsentMode::PreApproved);
        let id = ConsultationId::from_unique("01kb");
        Consultation::new(Plan::new(id, "Shall we?", panel, control))
    }

    #[test]
    fn a_refused_transition_ends_the_run_as_an_internal_error() {
        let mut machine = consultation();
        let (effects, _) = machine.step(Timestamp(0), None, |step, _| {
            State::enter(
                step,
                StateName::AwaitingConsent,
                Entry::Complete { rounds: 4 },
            )
        });
        let events = effects.into_iter().filter_map(|effect| match effect {
            Effect::Emit(envelope) => Some(envelope.event),
            _ => None,
        });
        let events: Vec<Event> = events.collect();
        let [
            Event::State(change),
            Event::Consultation(ConsultationEvent::Aborted(abort)),
        ] = events.as_slice()
        else {
            panic!("{events:?}")
        };
        let expected = StateEvent::Changed {
            from: StateName::AwaitingConsent,
            to: StateName::Aborted,
        };
        assert_eq!(*change, expected);
        assert_eq!(abort.reason, AbortReason::Internal);
        assert_eq!(
            abort.message,
            "internal error: a consultation in state AwaitingConsent cannot become Complete"
        );
        assert_eq!(machine.state(), StateName::Aborted);
        assert!(machine.handle(Timestamp(1), Input::Interrupted).is_empty());
    }

    #[test]
    fn a_consultation_that_has_ended_does_not_end_again() {
        let mut machine = consultation();
        let (effects, _) = machine.step(Timestamp(0), None, |step, _| {
            State::enter(step, StateName::Complete, Entry::Independent)
        });
        assert!(effects.is_empty(), "{effects:?}");
    }

    #[test]
    fn an_invalid_transition_names_both_states() {
        let error = StateName::Idle.may_become(StateName::Verdict).unwrap_err();
        let expected = "a consultation in state Idle cannot become Verdict";
        assert_eq!(error.to_string(), expected);
        assert!(StateName::Complete.may_become(StateName::Aborted).is_err());
        assert!(StateName::CrossExam.may_become(StateName::Aborted).is_ok());
    }
}
