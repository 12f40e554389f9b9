//! Questions to the person while a round runs, and the effects of their answers.

use super::step::StepContext;
use crate::consultation::event::{AbortReason, Answer, Event, PulseAnswer, PulseEvent};
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::protocol::Question;
use crate::consultation::state::State;

/// Reports that the round takes long, and asks the person, if any, whether to keep waiting.
pub(in crate::consultation) fn pulse(step: &mut StepContext<'_>, mut state: State) -> State {
    let waiting = state
        .work()
        .map(|work| work.still_waiting(step))
        .unwrap_or_default();
    let is_free = step.run.questions.open.is_none();
    let asked = step.plan.control.consent.consent_mode == ConsentMode::Interactive && is_free;
    let (round_number, elapsed_ms) = (step.run.watch.round_number, step.elapsed_ms());
    step.emit(Event::Pulse(PulseEvent::Asked {
        round_number,
        waiting: waiting.clone(),
        elapsed_ms,
        asked,
    }));
    if asked {
        step.run.watch.pulse = None;
        step.ask(Question::Pulse { waiting });
    } else {
        step.set_pulse();
    }
    state
}

/// Handles the answer to the open question. Without an open question, the answer is late and
/// changes nothing.
pub(in crate::consultation) fn answered(
    step: &mut StepContext<'_>,
    state: State,
    answer: Answer,
) -> State {
    match (step.answered(), state) {
        (None, state) => state,
        (Some(Question::Consent { .. }), state) => state.consent_answered(step, answer),
        (Some(Question::EarlyTermination { findings }), state) => {
            state.early_termination_answered(step, *findings, answer)
        }
        (Some(Question::Pulse { .. }), state) => pulse_answered(step, state, answer),
        (Some(Question::Substitution { agent_id, .. }), mut state) => {
            if let Some(work) = state.work() {
                work.answered(step, &agent_id, answer);
            }
            state.proceed(step)
        }
    }
}

fn pulse_answered(step: &mut StepContext<'_>, state: State, answer: Answer) -> State {
    let (round_number, elapsed_ms) = (step.run.watch.round_number, step.elapsed_ms());
    let answer = match answer {
        Answer::Yes | Answer::Always(_) | Answer::Gone => PulseAnswer::Continue,
        Answer::No | Answer::Fail => PulseAnswer::Cancel,
    };
    step.emit(Event::Pulse(PulseEvent::Answered {
        round_number,
        answer,
        elapsed_ms,
    }));
    if answer == PulseAnswer::Cancel {
        let message = step.cancelled_by_user();
        step.stop(AbortReason::UserCancelled, message);
    } else {
        step.set_pulse();
    }
    state
}
