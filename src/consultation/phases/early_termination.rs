//! Decides after the synthesis: continue with the cross-examination, or end because no more rounds
//! were requested or the experts agree.

use crate::domain::answer::artifact::{CrossExam, Independent, Revision, Synthesis};
use crate::domain::cost::money::Cost;
use crate::stopping::early_termination::{Policy, TerminationRule, evaluate, judges_confidence};

use super::next::{Break, Continue, Entry, ExpertAnswers, Next};
use crate::consultation::analysis::evidence::{JudgedSynthesis, calibrated, evidence};
use crate::consultation::anonymity::names::with_names;
use crate::consultation::anonymity::texts::edit_texts;
use crate::consultation::event::{
    AbortReason, Answer, ConsultationEvent, DecidedBy, EarlyTermination, EarlyTerminationDecision,
};
use crate::consultation::machine::Question;
use crate::consultation::machine::step::StepContext;
use crate::consultation::plan::Plan;
use crate::consultation::plan::caching::CacheState;
use crate::consultation::plan::options::JudgePasses;
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::policy::mode::Ending;
use crate::consultation::prompt::PromptError;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::Prompt;
use crate::consultation::tasks::AnswerSource;

/// The number of the round after which a consultation can end early.
pub(super) const ROUND: u8 = 2;

/// The result of Rounds 1 and 2.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SynthesisResult {
    /// The answers of Round 1. The judge counts as impaired if its synthesis counts as evidence no
    /// more than an expert's (see [`ExpertAnswers::impaired`]).
    pub(crate) answers: ExpertAnswers,
    pub(crate) synthesis: Synthesis,
    pub(crate) judge: AnswerSource,
}

/// Decides on the next phase, or asks the person whether to end here.
pub(crate) fn decide(step: &mut StepContext<'_>, result: SynthesisResult) -> Next<SynthesisResult> {
    if step.is_stopping() {
        return Continue(result);
    }
    let debate = &step.plan.debate;
    if debate.rounds.number() <= ROUND {
        return Break(Entry::Complete { rounds: ROUND });
    }
    match (
        debate.mode.strategy().ending,
        step.plan.control.early_termination.policy,
    ) {
        (Ending::AlwaysWhole(_), _) | (Ending::MayBeEarly, Policy::Never) => cross_examine(result),
        (Ending::MayBeEarly, Policy::Ask | Policy::Auto) if debate.prior_answers.is_some() => {
            cross_examine(result)
        }
        (Ending::MayBeEarly, policy) => consider(step, result, policy),
    }
}

fn consider(
    step: &mut StepContext<'_>,
    result: SynthesisResult,
    policy: Policy,
) -> Next<SynthesisResult> {
    let findings = match findings(step.plan, &result) {
        Ok(findings) => findings,
        Err(error) => {
            step.stop(AbortReason::Prompt, error.to_string());
            return Continue(result);
        }
    };
    let is_askable =
        policy == Policy::Ask && step.plan.control.consent.consent_mode == ConsentMode::Interactive;
    if !findings.evaluation.stated_is_met() {
        settle(
            step,
            result,
            EarlyTerminationDecision {
                ended: false,
                by: DecidedBy::Threshold,
                findings,
            },
        )
    } else if is_askable {
        step.emit(ConsultationEvent::EarlyTerminationOffered(Box::new(
            findings.clone(),
        )));
        let labels = step.plan.labels();
        let mut synthesis = result.synthesis.clone();
        edit_texts(&mut synthesis, &mut |text| {
            *text = with_names(text, &labels);
        });
        let question = Question::EarlyTermination {
            findings: Box::new(findings),
            synthesis: Box::new(synthesis),
        };
        step.run.questions.ask(&mut step.emitter, question);
        Continue(result)
    } else {
        settle(step, result, by_guards(DecidedBy::Guards, findings))
    }
}

/// Without a person, the guards decide.
pub(crate) fn answered(
    step: &mut StepContext<'_>,
    result: SynthesisResult,
    findings: EarlyTermination,
    answer: Answer,
) -> Next<SynthesisResult> {
    let by_person = |ended, findings| EarlyTerminationDecision {
        ended,
        by: DecidedBy::Person,
        findings,
    };
    let decision = match answer {
        Answer::Yes | Answer::Always(_) => by_person(true, findings),
        Answer::No | Answer::Fail | Answer::GoOnWithout => by_person(false, findings),
        Answer::Gone => by_guards(DecidedBy::NobodyThere, findings),
    };
    settle(step, result, decision)
}

fn by_guards(by: DecidedBy, findings: EarlyTermination) -> EarlyTerminationDecision {
    EarlyTerminationDecision {
        ended: findings.evaluation.stops(),
        by,
        findings,
    }
}

fn settle(
    step: &mut StepContext<'_>,
    result: SynthesisResult,
    decision: EarlyTerminationDecision,
) -> Next<SynthesisResult> {
    let ended = decision.ended;
    step.emit(ConsultationEvent::EarlyTerminationDecided(Box::new(
        decision,
    )));
    if ended {
        Break(Entry::Complete { rounds: ROUND })
    } else {
        cross_examine(result)
    }
}

fn findings(plan: &Plan, result: &SynthesisResult) -> Result<EarlyTermination, PromptError> {
    let rule: &TerminationRule = &plan.control.early_termination;
    let answers = result.answers.independents.iter().filter_map(|held| {
        let source = result
            .answers
            .sources
            .iter()
            .find(|source| source.agent == held.agent_id)?;
        Some((held, &source.model))
    });
    let judgement = JudgedSynthesis {
        synthesis: &result.synthesis,
        judge: &result.judge.model,
    };
    let evidence = evidence(answers.clone(), judgement, result.answers.impaired);
    Ok(EarlyTermination {
        confidence: judges_confidence(&evidence),
        threshold: rule.threshold,
        calibrated: calibrated(rule, answers, judgement),
        evaluation: evaluate(rule, &evidence),
        rounds_skipped: plan.debate.rounds.number().saturating_sub(ROUND),
        estimated_cost_saved: cost_of_skipped_rounds(
            plan,
            &result.answers.independents,
            &result.synthesis,
            &result.answers.sources,
            &result.judge,
        )?,
    })
}

fn cross_examine(result: SynthesisResult) -> Next<SynthesisResult> {
    Break(Entry::CrossExam {
        independents: result.answers.independents,
        synthesis: result.synthesis,
    })
}

/// Returns the estimated cost of Rounds 3 and 4, as far as they were requested, from their prompts
/// and with answers as long as this run's so far: an expert's in Round 3 counts as long as its own
/// of Round 1, each of the judge's as long as its synthesis. A context that its vendor caches was
/// written by the rounds before.
fn cost_of_skipped_rounds(
    plan: &Plan,
    independents: &[Independent],
    synthesis: &Synthesis,
    sources: &[AnswerSource],
    judge: &AnswerSource,
) -> Result<Cost, PromptError> {
    let labels = plan.labels();
    let cost = |source: &AnswerSource, answer: AnswerKind, prompt: &Prompt, answers: u64| {
        let usage = plan.expected_usage(
            (&source.model, answer),
            prompt,
            prompt.tokens().expected + answers,
            source.output,
            CacheState::Warm,
        );
        plan.expected_cost(&source.model, &usage)
    };
    let (synthesis, cross_exam) = plan.material.of(synthesis, &CrossExam::default());
    let mut total = Cost::FREE;
    for source in sources {
        let own = independents
            .iter()
            .find(|held| held.agent_id == source.agent);
        let Some((seat, own)) = plan.panel.seat_of(&source.agent).zip(own) else {
            continue;
        };
        let prompter = plan.prompter(&labels, &source.model);
        let prompt = prompter.revision(seat, own, &synthesis)?;
        total += cost(source, AnswerKind::Revision, &prompt, 0);
    }
    let said: u64 = sources.iter().map(|source| source.output).sum();
    let prompter = plan.prompter(&labels, &judge.model);
    let empty: Vec<Revision> = sources
        .iter()
        .filter_map(|source| source.agent.seat())
        .map(Revision::unanswered)
        .collect();
    let merging = prompter.cross_exam(&empty, &synthesis)?;
    total += cost(judge, AnswerKind::CrossExam, &merging, said);
    let verdict = plan.debate.mode.strategy().verdict;
    if plan.debate.asks_for(verdict) {
        let prompt = prompter.verdict(independents, &synthesis, &cross_exam)?;
        let once = cost(judge, verdict, &prompt, judge.output);
        total += once;
        if plan.debate.judge_passes == JudgePasses::Twice {
            total += once;
        }
    }
    Ok(total)
}
