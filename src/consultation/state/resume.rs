//! Resumes after an interruption: answers are kept, lost calls are made again, and a stage in which
//! every agent failed is repeated.

use super::State;
use crate::domain::ids::CallId;

use crate::consultation::event::{ConsultationEvent, Resumed};
use crate::consultation::machine::questions::Questions;
use crate::consultation::machine::run_state::{Pause, Watch};
use crate::consultation::machine::step::StepContext;
use crate::consultation::plan::ResumeTerms;

/// A complete consultation, or one that cannot be resumed, stays unchanged.
pub(in crate::consultation) fn resume(
    step: &mut StepContext<'_>,
    state: State,
    lost: &[CallId],
    terms: ResumeTerms,
    tool_version: String,
) -> State {
    let mut state = match state {
        State::Aborted(Some(state)) => {
            // Keys may have been replaced, bills paid and networks repaired in the meantime.
            step.run.providers.forget_access_failures();
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
        from: step.emitter.position.last_event_at,
        to: step.now,
    });
    step.run.questions = Questions::default();
    let (estimate, consent) = (terms.estimate.clone(), terms.consent);
    step.run.beyond_month = terms.beyond_month;
    step.emit(ConsultationEvent::Resumed(Box::new(Resumed {
        state: state.name(),
        lost_calls: lost.to_vec(),
        terms,
        tool_version,
    })));
    if let Some(estimate) = estimate {
        step.run.high = estimate.high;
        if let State::AwaitingConsent(phase) = &mut state {
            phase.estimate = estimate.clone();
        }
        step.emit(ConsultationEvent::CostEstimated(estimate));
    }
    if let Some(how) = consent {
        step.emit(ConsultationEvent::UserConsent {
            approved: true,
            how,
        });
    }
    let round = step.run.watch.round_number;
    if round > 0 {
        step.run.watch = Watch::start(round, &step.plan.control, step.now, &mut step.emitter);
    }
    if let Some(tasks) = state.tasks() {
        tasks.resume(step);
    }
    state.resume(step)
}
