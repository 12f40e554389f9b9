//! What the person is asked while a round runs, and what their answers lead to.

use super::step::Turn;
use crate::consultation::event::{AbortReason, Event, PulseAnswer};
use crate::consultation::policy::consent::Standing;
use crate::consultation::protocol::{Answer, Question};
use crate::consultation::state::State;

/// The round takes long: whoever is there is asked whether to go on waiting, and everybody is told.
pub(in crate::consultation) fn pulse(turn: &mut Turn<'_>, mut state: State) -> State {
    let waiting = state
        .work()
        .map(|work| work.still_waiting(turn))
        .unwrap_or_default();
    let is_free = turn.ledger.questions.open.is_none();
    let asked = turn.plan.control.consent.standing == Standing::Askable && is_free;
    let (round_number, elapsed_ms) = (turn.ledger.watch.round_number, turn.elapsed_ms());
    turn.emit(Event::PulseAsked {
        round_number,
        waiting: waiting.clone(),
        elapsed_ms,
        asked,
    });
    if asked {
        turn.ledger.watch.pulse = None;
        turn.ask(Question::Pulse { waiting });
    } else {
        turn.set_pulse();
    }
    state
}

/// Takes the answer to the question that is open; without one it is too late and changes nothing.
pub(in crate::consultation) fn answered(
    turn: &mut Turn<'_>,
    state: State,
    answer: Answer,
) -> State {
    match (turn.answered(), state) {
        (None, state) => state,
        (Some(Question::Consent { .. }), State::AwaitingConsent(phase)) => {
            phase.answered(turn, answer)
        }
        (Some(Question::Consent { .. }), state) => state,
        (Some(Question::EarlyTermination { findings }), State::Synthesis(phase)) => {
            phase.answered(turn, *findings, answer)
        }
        (Some(Question::EarlyTermination { .. }), state) => state,
        (Some(Question::Pulse { .. }), state) => pulse_answered(turn, state, answer),
        (Some(Question::Substitution { agent_id, .. }), mut state) => {
            if let Some(work) = state.work() {
                work.answered(turn, &agent_id, answer);
            }
            state.proceed(turn)
        }
    }
}

fn pulse_answered(turn: &mut Turn<'_>, state: State, answer: Answer) -> State {
    let (round_number, elapsed_ms) = (turn.ledger.watch.round_number, turn.elapsed_ms());
    let answer = match answer {
        Answer::Yes | Answer::Always(_) | Answer::Gone => PulseAnswer::Continue,
        Answer::No | Answer::Fail => PulseAnswer::Cancel,
    };
    turn.emit(Event::PulseAnswered {
        round_number,
        answer,
        elapsed_ms,
    });
    if answer == PulseAnswer::Cancel {
        let message = turn.cancelled_by_user();
        turn.stop(AbortReason::UserCancelled, message);
    } else {
        turn.set_pulse();
    }
    state
}
