//! Estimates the cost of skipped rounds, from their prompts and with answers as long as this run's
//! so far.
//!
//! An expert's answer in Round 3 counts as long as its own of Round 1, each of the judge's as long
//! as its synthesis. A context that its vendor caches was written by the rounds before.

use crate::domain::artifact::{CrossExam, Independent, Revision, Synthesis};
use crate::domain::money::Cost;

use crate::consultation::plan::Plan;
use crate::consultation::plan::caching::CacheState;
use crate::consultation::plan::options::JudgePasses;
use crate::consultation::prompt::PromptError;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::Prompt;
use crate::consultation::tasks::AnswerSource;

/// Returns the estimated cost of Rounds 3 and 4, as far as they were requested.
pub(crate) fn of_skipped_rounds(
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
