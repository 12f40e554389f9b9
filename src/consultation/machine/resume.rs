//! Resumes after an interruption: answers are kept, lost calls are made again, and a stage in which
//! every agent failed is repeated.

use crate::domain::ids::CallId;

use super::questions::Questions;
use super::run_state::{Pause, Watch};
use super::step::StepContext;
use crate::consultation::event::{ConsultationEvent, Event, Resumed};
use crate::consultation::state::State;

/// Resumes where the consultation stopped. A complete consultation, or one that cannot be resumed,
/// stays unchanged.
pub(crate) fn resume(
    step: &mut StepContext<'_>,
    state: State,
    lost: &[CallId],
    tool_version: String,
) -> State {
    let mut state = match state {
        State::Aborted(Some(state)) => {
            // Keys may have been replaced and bills paid in the meantime.
            step.run.providers.forget_refused_keys();
            *state
        }
        state @ (State::Idle | State::Estimating | State::Complete | State::Aborted(None)) => {
            return state;
        }
        state @ (State::AwaitingConsent(_)
        | State::Independent(_)
        | State::Synthesis(_)
        | State::CrossExam(_)
        | State::Verdict(_)
        | State::Finishing(_)) => state,
    };
    step.run.pauses.push(Pause {
        from: step.emitter.last_event_at(),
        to: step.now,
    });
    step.run.questions = Questions::default();
    step.emitter
        .emit(Event::Consultation(ConsultationEvent::Resumed(Box::new(
            Resumed {
                state: state.name(),
                lost_calls: lost.to_vec(),
                control: step.plan.control.clone(),
                tool_version,
            },
        ))));
    if let Some(round) = state.round() {
        step.run.watch = Watch::start(round, &step.plan.control, &mut step.emitter);
    }
    if let Some(work) = state.work() {
        work.resume(step, lost);
    }
    state.again(step)
}
