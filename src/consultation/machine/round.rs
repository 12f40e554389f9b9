//! The frame of a round: its start and end, its time limit, and the pulse, which asks the person
//! whether to keep waiting.

use crate::domain::ids::ProviderId;
use crate::domain::time::Timestamp;

use super::run_state::Watch;
use super::step::StepContext;
use crate::consultation::event::{Answer, Event, PulseAnswer, PulseEvent, RoundEvent};
use crate::consultation::machine::Question;
use crate::consultation::plan::Control;
use crate::consultation::policy::consent::ConsentMode;

pub(crate) fn begin(step: &mut StepContext<'_>, round_number: u8) {
    step.emit(Event::Round(RoundEvent::Started { round_number }));
    step.run.watch = Watch::start(
        round_number,
        &step.plan.control,
        step.now,
        &mut step.emitter,
    );
}

pub(crate) fn end(step: &mut StepContext<'_>, round_number: u8, since: Timestamp) {
    supersede_pulse(step);
    step.run.watch = Watch::default();
    step.emit(Event::Round(RoundEvent::Completed {
        round_number,
        duration_ms: step.run.ms_since(since, step.now),
    }));
}

/// A person who watches the progress of the embedded model is not asked about it.
pub(crate) fn concerns(control: &Control, provider: &ProviderId) -> bool {
    !(is_interactive(control) && provider.is_local())
}

pub(crate) fn is_interactive(control: &Control) -> bool {
    control.consent.consent_mode == ConsentMode::Interactive
}

pub(crate) fn pulse_answered(step: &mut StepContext<'_>, answer: Answer) {
    match answer {
        Answer::Yes | Answer::Always(_) | Answer::Gone => {
            restart_pulse(step, PulseAnswer::Continue);
        }
        Answer::GoOnWithout => restart_pulse(step, PulseAnswer::GoOnWithout),
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
    step.emit(Event::Pulse(PulseEvent::Answered {
        round_number: step.run.watch.round_number,
        answer,
        elapsed_ms: step.run.elapsed_ms(step.now),
    }));
}
