//! The frame of a round: its start and end, its time limit, and the pulse, which asks the person
//! whether to keep waiting.

use crate::domain::time::Timestamp;

use super::run_state::Watch;
use super::step::StepContext;
use crate::consultation::event::{
    Answer, Event, PulseAnswer, PulseEvent, RoundEvent, StillWaiting,
};
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::protocol::Question;

pub(crate) fn begin(step: &mut StepContext<'_>, round_number: u8) {
    step.emitter
        .emit(Event::Round(RoundEvent::Started { round_number }));
    step.run.watch = Watch::start(round_number, &step.plan.control, &mut step.emitter);
}

pub(crate) fn end(step: &mut StepContext<'_>, round_number: u8, since: Timestamp) {
    supersede_pulse(step);
    step.run.watch = Watch::default();
    step.emitter.emit(Event::Round(RoundEvent::Completed {
        round_number,
        duration_ms: step.run.ms_since(since, step.now),
    }));
}

/// Reports that the round takes long, and asks the person, if any, whether to keep waiting.
pub(crate) fn pulse(step: &mut StepContext<'_>, waiting: Vec<StillWaiting>) {
    let control = &step.plan.control;
    let asked =
        control.consent.consent_mode == ConsentMode::Interactive && !step.run.questions.is_open();
    step.emitter.emit(Event::Pulse(PulseEvent::Asked {
        round_number: step.run.watch.round_number,
        waiting: waiting.clone(),
        elapsed_ms: step.run.elapsed_ms(step.now),
        asked,
    }));
    if asked {
        step.run.watch.pulse = None;
        let question = Question::Pulse { waiting };
        step.run.questions.ask(&mut step.emitter, question);
    } else {
        step.run.watch.set_pulse(control, &mut step.emitter);
    }
}

/// Handles the person's answer to the pulse.
pub(crate) fn pulse_answered(step: &mut StepContext<'_>, answer: Answer) {
    match answer {
        Answer::Yes | Answer::Always(_) | Answer::Gone => {
            restart_pulse(step, PulseAnswer::Continue);
        }
        Answer::No | Answer::Fail => {
            emit_answer(step, PulseAnswer::Cancel);
            step.stop_for_user();
        }
    }
}

/// Withdraws the question whether to keep waiting, because an answer has arrived, and restarts
/// the pulse.
pub(crate) fn supersede_pulse(step: &mut StepContext<'_>) {
    let is_pulse = |question: &Question| matches!(question, Question::Pulse { .. });
    if step.run.questions.withdraw(&mut step.emitter, is_pulse) {
        restart_pulse(step, PulseAnswer::Superseded);
    }
}

fn restart_pulse(step: &mut StepContext<'_>, answer: PulseAnswer) {
    emit_answer(step, answer);
    step.run
        .watch
        .set_pulse(&step.plan.control, &mut step.emitter);
}

fn emit_answer(step: &mut StepContext<'_>, answer: PulseAnswer) {
    step.emitter.emit(Event::Pulse(PulseEvent::Answered {
        round_number: step.run.watch.round_number,
        answer,
        elapsed_ms: step.run.elapsed_ms(step.now),
    }));
}
