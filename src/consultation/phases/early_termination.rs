//! What follows on the synthesis: the cross-examination, or the end, because no more rounds are
//! wanted or the experts agree.

use serde::{Deserialize, Serialize};

use crate::domain::artifact::{Independent, Synthesis};
use crate::stopping::early_termination::{
    EarlyStop, Policy, calibrated, evaluate, stated_confidence,
};

use super::cross_exam;
use super::judge::prompt_failed;
use super::savings;
use super::synthesis::{ROUND, SynthesisRound};
use crate::consultation::analysis::compose;
use crate::consultation::analysis::compose::Material;
use crate::consultation::analysis::evidence::evidence;
use crate::consultation::event::{
    ConsultationEvent, DecidedBy, EarlyTermination, EarlyTerminationDecision, Event, StateName,
};
use crate::consultation::machine::step::StepContext;
use crate::consultation::plan::mode::Ending;
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::prompt::PromptError;
use crate::consultation::protocol::{Answer, Question};
use crate::consultation::state::State;
use crate::consultation::tasks::AnswerSource;

/// What Rounds 1 and 2 have brought.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::consultation) struct Found {
    pub(in crate::consultation) independents: Vec<Independent>,
    pub(in crate::consultation) voices: Vec<AnswerSource>,
    pub(in crate::consultation) synthesis: Synthesis,
    pub(in crate::consultation) judge: AnswerSource,
    /// Seats, and the judge, that failed or could only be read as prose.
    pub(in crate::consultation) troubled: usize,
}

/// Goes where it is to go from here.
pub(in crate::consultation) fn decide(step: &mut StepContext<'_>, found: Found) -> State {
    if step.is_stopping() {
        return waiting(found);
    }
    let debate = &step.plan.debate;
    if debate.rounds.number() <= ROUND {
        return end(step, &found);
    }
    match (
        debate.mode.strategy().ending,
        step.plan.control.early_termination.policy,
    ) {
        (Ending::AlwaysWhole(_), _) | (Ending::MayBeEarly, Policy::Never) => go_on(step, found),
        (Ending::MayBeEarly, Policy::Ask | Policy::Auto) if debate.prior_answers.is_some() => {
            go_on(step, found)
        }
        (Ending::MayBeEarly, policy) => consider(step, found, policy),
    }
}

fn consider(step: &mut StepContext<'_>, found: Found, policy: Policy) -> State {
    let findings = match findings(step, &found) {
        Ok(findings) => findings,
        Err(error) => return prompt_failed(step, waiting(found), &error),
    };
    let is_askable =
        policy == Policy::Ask && step.plan.control.consent.consent_mode == ConsentMode::Interactive;
    if !findings.evaluation.stated_is_met() {
        settle(
            step,
            found,
            EarlyTerminationDecision {
                ended: false,
                by: DecidedBy::Threshold,
                findings,
            },
        )
    } else if is_askable {
        step.emit(Event::Consultation(
            ConsultationEvent::EarlyTerminationOffered(Box::new(findings.clone())),
        ));
        step.ask(Question::EarlyTermination {
            findings: Box::new(findings),
        });
        waiting(found)
    } else {
        settle(step, found, by_the_guards(DecidedBy::Guards, findings))
    }
}

/// The person has answered the offer; where nobody is there any more, the guards decide.
pub(in crate::consultation) fn answered(
    step: &mut StepContext<'_>,
    found: Found,
    findings: EarlyTermination,
    answer: Answer,
) -> State {
    let by_the_person = |ended, findings| EarlyTerminationDecision {
        ended,
        by: DecidedBy::Person,
        findings,
    };
    let decision = match answer {
        Answer::Yes | Answer::Always(_) => by_the_person(true, findings),
        Answer::No | Answer::Fail => by_the_person(false, findings),
        Answer::Gone => by_the_guards(DecidedBy::NobodyThere, findings),
    };
    settle(step, found, decision)
}

fn by_the_guards(by: DecidedBy, findings: EarlyTermination) -> EarlyTerminationDecision {
    EarlyTerminationDecision {
        ended: findings.evaluation.stops(),
        by,
        findings,
    }
}

fn settle(step: &mut StepContext<'_>, found: Found, decision: EarlyTerminationDecision) -> State {
    let ended = decision.ended;
    step.emit(Event::Consultation(
        ConsultationEvent::EarlyTerminationDecided(Box::new(decision)),
    ));
    if ended {
        end(step, &found)
    } else {
        go_on(step, found)
    }
}

/// All that speaks for and against an end, and what it would save.
fn findings(step: &StepContext<'_>, found: &Found) -> Result<EarlyTermination, PromptError> {
    let plan = step.plan;
    let rule: &EarlyStop = &plan.control.early_termination;
    let answers = found.independents.iter().filter_map(|held| {
        let source = found
            .voices
            .iter()
            .find(|source| source.agent == held.agent_id)?;
        Some((held, &source.model))
    });
    let evidence = evidence(answers, &found.synthesis, found.troubled);
    Ok(EarlyTermination {
        confidence: stated_confidence(&evidence.points),
        threshold: rule.threshold,
        calibrated: calibrated(rule, &evidence),
        evaluation: evaluate(rule, &evidence),
        rounds_skipped: plan.debate.rounds.number().saturating_sub(ROUND),
        estimated_cost_saved: savings::of_skipped_rounds(
            plan,
            &found.independents,
            &found.synthesis,
            &found.voices,
            &found.judge,
        )?,
    })
}

fn waiting(found: Found) -> State {
    State::Synthesis(SynthesisRound::Judged(Box::new(found)))
}

fn go_on(step: &mut StepContext<'_>, found: Found) -> State {
    cross_exam::enter(step, found.independents, found.synthesis)
}

/// Ends with what Round 2 says by itself.
fn end(step: &mut StepContext<'_>, found: &Found) -> State {
    compose::keep(
        step,
        Material {
            independents: &found.independents,
            synthesis: &found.synthesis,
            cross_exam: None,
        },
    );
    step.complete(StateName::Synthesis, ROUND)
}
