//! The states and their transitions. Each variant owns its phase's data and nothing else.

pub(super) mod resume;

use crate::consultation::event::{
    Abort, AbortReason, Answer, ConsultationEvent, Event, StateEvent, StateName,
};
use crate::consultation::machine::Question;
use crate::consultation::machine::round;
use crate::consultation::machine::run_state::Watch;
use crate::consultation::machine::step::StepContext;
use crate::consultation::phases::awaiting_consent::{self, AwaitingConsent};
use crate::consultation::phases::cross_exam::{self, CrossExamination};
use crate::consultation::phases::estimating;
use crate::consultation::phases::finishing::{self, Finishing};
use crate::consultation::phases::independent::{self, IndependentRound};
use crate::consultation::phases::next::{Entry, Next};
use crate::consultation::phases::synthesis::{self, SynthesisRound};
use crate::consultation::phases::verdict::{self, VerdictRound};
use crate::consultation::policy::estimate::Estimate;
use crate::consultation::tasks::TaskSet;
use crate::domain::ids::TimerId;

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

    /// Returns the tasks of the current round.
    pub(super) fn work(&mut self) -> Option<&mut TaskSet> {
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
    pub(super) fn is_working(&mut self) -> bool {
        self.work().is_some_and(|work| work.is_working())
    }

    /// Returns whether the answers that have arrived are enough to continue without the others.
    pub(super) fn may_go_on_without(&self) -> bool {
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

    /// Returns the current round.
    pub(super) fn round(&self) -> Option<u8> {
        match self {
            Self::Independent(_) => Some(independent::ROUND),
            Self::Synthesis(_) => Some(synthesis::ROUND),
            Self::CrossExam(_) => Some(cross_exam::ROUND),
            Self::Verdict(_) => Some(verdict::ROUND),
            Self::Idle
            | Self::Estimating
            | Self::AwaitingConsent(_)
            | Self::Finishing(_)
            | Self::Complete
            | Self::Aborted(_) => None,
        }
    }

    /// Starts a consultation. `logged` is the estimate in the log of a replayed consultation.
    pub(super) fn start(step: &mut StepContext<'_>, logged: Option<Estimate>) -> Self {
        estimating::announce(step);
        if let Err(refused) = transition(step, StateName::Idle, StateName::Estimating) {
            return Self::refuse(step, TaskSet::default(), refused);
        }
        let next = estimating::enter(step, logged).map(|()| Self::Estimating);
        Self::after(step, StateName::Estimating, next)
    }

    /// Requests the pending calls after a change of a provider.
    pub(super) fn advance(mut self, step: &mut StepContext<'_>) -> Self {
        if let Some(work) = self.work() {
            work.advance(step);
        }
        self.proceed(step)
    }

    /// Handles the outcomes of finished tasks.
    pub(super) fn proceed(self, step: &mut StepContext<'_>) -> Self {
        let name = self.name();
        let next = match self {
            Self::Independent(phase) => phase.proceed(step).map(Self::Independent),
            Self::Synthesis(phase) => phase.proceed(step).map(Self::Synthesis),
            Self::CrossExam(phase) => phase.proceed(step).map(Self::CrossExam),
            Self::Verdict(phase) => phase.proceed(step).map(Self::Verdict),
            Self::Finishing(phase) => phase.proceed(&mut step.emitter).map(Self::Finishing),
            state @ (Self::Idle
            | Self::Estimating
            | Self::AwaitingConsent(_)
            | Self::Complete
            | Self::Aborted(_)) => return state,
        };
        Self::after(step, name, next)
    }

    /// Continues after an abort, a lost process, or a change of the panel.
    pub(super) fn again(self, step: &mut StepContext<'_>) -> Self {
        let name = self.name();
        let next = match self {
            Self::AwaitingConsent(phase) => phase.decide(step).map(Self::AwaitingConsent),
            Self::Independent(phase) => phase.again(step).map(Self::Independent),
            Self::Synthesis(phase) => phase.again(step).map(Self::Synthesis),
            Self::CrossExam(phase) => phase.again(step).map(Self::CrossExam),
            Self::Verdict(phase) => phase.again(step).map(Self::Verdict),
            Self::Finishing(phase) => phase.again(&mut step.emitter).map(Self::Finishing),
            state @ (Self::Idle | Self::Estimating | Self::Complete | Self::Aborted(_)) => {
                return state;
            }
        };
        Self::after(step, name, next)
    }

    /// Handles the answer to the open question. Without an open question, the answer is late and
    /// changes nothing.
    pub(super) fn answered(self, step: &mut StepContext<'_>, answer: Answer) -> Self {
        let name = self.name();
        let Some(question) = step.run.questions.answered(&mut step.emitter) else {
            return self;
        };
        let next = match (self, question) {
            (Self::AwaitingConsent(phase), Question::Consent { .. }) => {
                phase.answered(step, answer).map(Self::AwaitingConsent)
            }
            (Self::Synthesis(phase), Question::EarlyTermination { findings, .. }) => {
                phase.answered(step, *findings, answer).map(Self::Synthesis)
            }
            (state, Question::Consent { .. } | Question::EarlyTermination { .. }) => return state,
            (mut state, Question::Pulse { waiting, .. }) => {
                round::pulse_answered(step, answer);
                if let (Answer::GoOnWithout, Some(work)) = (answer, state.work()) {
                    let agents: Vec<_> = waiting.iter().map(|agent| &agent.agent_id).collect();
                    work.leave_out(step, &agents);
                }
                return state.proceed(step);
            }
            (mut state, Question::Substitution { offers }) => {
                if let Some(work) = state.work() {
                    let agents: Vec<_> =
                        offers.iter().map(|offer| &offer.offered.agent_id).collect();
                    work.answered(step, &agents, answer);
                }
                step.run
                    .move_deadline(&step.plan.control, step.now, &mut step.emitter);
                return state.proceed(step);
            }
        };
        Self::after(step, name, next)
    }

    /// Returns whether this timer ends the grace period of optional tasks.
    pub(super) fn is_over_at(&self, timer: TimerId) -> bool {
        matches!(self, Self::Finishing(phase) if phase.grace == timer)
    }

    /// Ends the grace period of optional tasks.
    pub(super) fn give_up(self, step: &mut StepContext<'_>) -> Self {
        let name = self.name();
        let Self::Finishing(phase) = self else {
            return self;
        };
        let next = phase.give_up(step).map(Self::Finishing);
        Self::after(step, name, next)
    }

    /// Ends now. An answer that has already arrived is still given.
    pub(super) fn end(
        self,
        step: &mut StepContext<'_>,
        reason: AbortReason,
        message: String,
    ) -> Self {
        let name = self.name();
        match self {
            state @ Self::Finishing(_) => state.give_up(step),
            Self::Verdict(phase) if phase.has_an_answer_for(step.plan, reason) => {
                let next = phase.cut_short(step, &message).map(Self::Verdict);
                Self::after(step, name, next)
            }
            state => state.abort(step, reason, message),
        }
    }

    /// Returns the state after a step of the phase `name`.
    fn after(step: &mut StepContext<'_>, name: StateName, next: Next<Self>) -> Self {
        match next {
            Next::Stay(state) => state,
            Next::Enter(entry) => Self::enter(step, name, entry),
            Next::Abort(phase, reason, message) => phase.abort(step, reason, message),
        }
    }

    /// Enters the next phase.
    fn enter(step: &mut StepContext<'_>, from: StateName, entry: Entry) -> Self {
        let to = entry.state().unwrap_or(from);
        if to != from
            && let Err(refused) = transition(step, from, to)
        {
            return Self::refuse(step, entry.into_tasks(), refused);
        }
        let next = match entry {
            Entry::AwaitingConsent(estimate) => {
                awaiting_consent::enter(step, estimate).map(Self::AwaitingConsent)
            }
            Entry::Independent => independent::enter(step).map(Self::Independent),
            Entry::Synthesis(answers) => synthesis::enter(step, answers).map(Self::Synthesis),
            Entry::CrossExam {
                independents,
                synthesis,
            } => cross_exam::enter(step, independents, synthesis).map(Self::CrossExam),
            Entry::Verdict {
                tasks,
                independents,
                synthesis,
                cross_exam,
            } => {
                verdict::enter(step, tasks, independents, synthesis, cross_exam).map(Self::Verdict)
            }
            Entry::Finishing { rounds, tasks } => {
                finishing::enter(&mut step.emitter, from, rounds, tasks).map(Self::Finishing)
            }
            Entry::Complete { rounds } => {
                let duration_ms = step.run.elapsed_ms(step.now);
                step.emit(ConsultationEvent::Completed {
                    rounds,
                    duration_ms,
                });
                Next::Stay(Self::Complete)
            }
        };
        Self::after(step, to, next)
    }

    /// Cancels the calls in flight and ends without a verdict.
    fn abort(mut self, step: &mut StepContext<'_>, reason: AbortReason, message: String) -> Self {
        if let Some(tasks) = self.work() {
            tasks.cancel(step, reason);
        }
        emit_abort(step, self.name(), reason, message);
        Self::Aborted(reason.is_resumable().then(|| Box::new(self)))
    }

    /// Ends because a phase asked for a transition that is not in the protocol: a defect of the
    /// program. Everything up to here is in the log.
    fn refuse(step: &mut StepContext<'_>, mut tasks: TaskSet, refused: TransitionError) -> Self {
        let reason = AbortReason::Internal;
        tasks.cancel(step, reason);
        emit_abort(
            step,
            refused.from,
            reason,
            format!("internal error: {refused}"),
        );
        Self::Aborted(None)
    }
}

/// Emits a transition, or refuses one that is not in the protocol.
fn transition(
    step: &mut StepContext<'_>,
    from: StateName,
    to: StateName,
) -> Result<(), TransitionError> {
    from.may_become(to)?;
    step.emit(Event::State(StateEvent::Changed { from, to }));
    Ok(())
}

/// Emits the end without a verdict. A consultation that has already ended does not end again.
fn emit_abort(step: &mut StepContext<'_>, during: StateName, reason: AbortReason, message: String) {
    step.run.watch = Watch::default();
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

    /// Returns whether no transition leaves this state.
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
        let events: Vec<Event> = effects
            .into_iter()
            .filter_map(|effect| match effect {
                Effect::Emit(envelope) => Some(envelope.event),
                _ => None,
            })
            .collect();
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
        assert_eq!(
            error.to_string(),
            "a consultation in state Idle cannot become Verdict"
        );
        assert!(StateName::Complete.may_become(StateName::Aborted).is_err());
        assert!(StateName::CrossExam.may_become(StateName::Aborted).is_ok());
    }
}
