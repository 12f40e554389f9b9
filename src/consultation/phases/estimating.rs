//! Estimating: computes the expected cost from the prompts as they will be sent.
//!
//! Prompts of later rounds contain answers that do not exist yet; these count at their expected
//! length.
//!
//! A context that a model's vendor caches is expected to be written by the model's first calls and
//! read by its later ones; the low and the high estimate hold however it is cached.
//!
//! Invariant: if every provider counts tokens within the
//! [`token_band`](crate::domain::cost::tokens::token_band) of its prompts, and every answer has its
//! expected length, a consultation without failures costs no less than the low and no more than the
//! high estimate.

use std::collections::BTreeMap;

use crate::domain::cost::tokens::{Band, estimate_tokens};
use crate::domain::ids::{AgentId, ModelRef};

use super::next::{Break, Continue, Entry, Next};
use crate::consultation::event::{AbortReason, ConsultationEvent, Started};
use crate::consultation::machine::step::StepContext;
use crate::consultation::plan::caching::CacheState;
use crate::consultation::plan::preview::{self, Places, PlannedCall};
use crate::consultation::plan::{AROUND_A_PROMPT, OutputTokens, Plan};
use crate::consultation::policy::estimate::{CallEstimate, Estimate};
use crate::consultation::prompt::PromptError;
use crate::consultation::prompt::filter::PromptMaterial;
use crate::consultation::protocol::answer::{AnswerForm, AnswerKind};

/// The percentage of a revision that is its position, and of a verdict that is its recommendation:
/// one of four parts.
const POSITION: u64 = 25;

/// Emits the terms, before the estimate.
pub(crate) fn announce(step: &mut StepContext<'_>) {
    step.run.started_at = step.now;
    step.emit(ConsultationEvent::Started(Box::new(started(step.plan))));
}

/// `logged` is the estimate in the log of a replayed consultation.
pub(crate) fn enter(step: &mut StepContext<'_>, logged: Option<Estimate>) -> Next<()> {
    match logged.map_or_else(|| step.plan.estimate(), Ok) {
        Ok(estimate) => {
            step.emit(ConsultationEvent::CostEstimated(estimate.clone()));
            Break(Entry::AwaitingConsent(estimate))
        }
        Err(error) => {
            step.stop(AbortReason::Prompt, error.to_string());
            Continue(())
        }
    }
}

fn started(plan: &Plan) -> Started {
    Started {
        question: plan.question.clone(),
        mode: plan.debate.mode.strategy().name.to_owned(),
        panel: plan.panel.clone(),
        seed: plan.seed,
        expert_order: plan.labels().order.clone(),
        prompts: plan.templates.used().to_vec(),
        tool_version: plan.tool_version.clone(),
        notices: plan.notices.clone(),
        plan: Some(Box::new(plan.clone())),
    }
}

impl Plan {
    /// Estimates a consultation without failures: every prompt of every round as it will be
    /// rendered, with answers at their expected length. Excludes retries, repairs and hedges.
    pub fn estimate(&self) -> Result<Estimate, PromptError> {
        let calls = preview::planned_calls(self, Places::Empty)?;
        let mut estimate = Estimate {
            context_tokens: context_tokens(&calls),
            ..Estimate::default()
        };
        // The kind of answer whose calls write the context to a model's cache. They go out
        // together, those for the next kind later.
        let mut writers: BTreeMap<ModelRef, AnswerKind> = BTreeMap::new();
        for PlannedCall {
            agent_id,
            answer,
            model,
            prompt,
        } in calls
        {
            let is_cached = self.cache_key(&model, answer).is_some();
            let schema = if is_cached {
                Band {
                    high: AROUND_A_PROMPT,
                    ..Band::default()
                }
            } else {
                schema(answer, self.form)
            };
            let carried = carried(self, answer, &agent_id);
            let input = prompt.tokens() + schema + carried;
            let output = self.expected_output(&model, answer);
            let cache = if is_cached && *writers.entry(model.clone()).or_insert(answer) != answer {
                CacheState::Warm
            } else {
                CacheState::Cold
            };
            let usage = self.expected_usage(
                (&model, answer),
                &prompt,
                input.expected,
                output.expected,
                cache,
            );
            let [low, cost, high] = self.cost_range(&model, input, output, &usage);
            let most_input = self.worst_input(&prompt, answer) + carried.expected;
            let least_output = self.least_output(&model, answer);
            let least_reserve = self.worst_case(&model, most_input, least_output);
            estimate.add(CallEstimate {
                round_number: answer.round(),
                agent_id,
                answer,
                model,
                input_tokens: input.expected,
                output_tokens: output.expected,
                cost,
                low,
                high,
                least_reserve,
            });
        }
        Ok(estimate)
    }
}

/// Returns the tokens of question and context, which are part of every call.
fn context_tokens(calls: &[PlannedCall]) -> u64 {
    calls
        .iter()
        .find(|call| !call.answer.is_for_helper())
        .or(calls.first())
        .map(|call| estimate_tokens(&call.prompt.shared) + call.prompt.context.tokens().expected)
        .unwrap_or_default()
}

/// Some vendors count it as input, with words of their own around it; others do not.
fn schema(answer: AnswerKind, form: AnswerForm) -> Band {
    let counted = answer.schema_tokens(form);
    Band {
        low: 0,
        high: counted.high + AROUND_A_PROMPT,
        ..counted
    }
}

/// Returns the tokens that earlier answers add to a prompt: those of other agents and the agent's
/// own of Round 1.
fn carried(plan: &Plan, answer: AnswerKind, agent: &AgentId) -> Band {
    let seats = || plan.panel.seats.iter();
    let by_experts =
        |answer| seats().map(move |seat| whole(plan.expected_output(&seat.model, answer)));
    let by_judge = |answer| {
        plan.panel
            .judges
            .iter()
            .take(1)
            .map(move |model| whole(plan.expected_output(model, answer)))
    };
    let synthesis =
        || by_judge(AnswerKind::Synthesis).map(|said| part(said, of_the_synthesis(plan.material)));
    // Prompts already contain prior answers of the experts.
    let is_given = plan.debate.prior_answers.is_some();
    match answer {
        AnswerKind::Verdict | AnswerKind::Menu if is_given => synthesis().sum(),
        AnswerKind::Consistency => {
            let answer_of_round_4 = plan.debate.mode.strategy().verdict;
            by_judge(answer_of_round_4)
                .chain(by_judge(answer_of_round_4))
                .map(|said| part(said, POSITION))
                .sum()
        }
        AnswerKind::Independent | AnswerKind::PersonaSelection => Band::default(),
        _ if is_given => Band::default(),
        AnswerKind::Synthesis => by_experts(AnswerKind::Independent).sum(),
        AnswerKind::Revision => {
            let own = seats()
                .filter(|seat| seat.id == *agent)
                .map(|seat| plan.expected_output(&seat.model, AnswerKind::Independent));
            own.map(whole).chain(synthesis()).sum()
        }
        AnswerKind::CrossExam => by_experts(AnswerKind::Revision).chain(synthesis()).sum(),
        AnswerKind::Comparison => {
            let both = [AnswerKind::Independent, AnswerKind::Revision];
            both.into_iter()
                .flat_map(by_experts)
                .map(|said| part(said, POSITION))
                .sum()
        }
        AnswerKind::Verdict | AnswerKind::Menu => {
            let record = by_judge(AnswerKind::CrossExam)
                .map(|said| part(said, of_the_record(plan.material)));
            let positions = by_experts(AnswerKind::Revision).map(|said| part(said, POSITION));
            by_experts(AnswerKind::Independent)
                .chain(synthesis())
                .chain(record)
                .chain(positions)
                .sum()
        }
    }
}

/// Returns the tokens of an answer as part of a prompt.
///
/// At least zero: nearly all tokens of an answer may have been thinking, which no prompt contains.
/// At most twice its tokens: the prompt may be counted by a different tokenizer, and two tokenizers
/// seldom differ by more on the same text.
fn whole(answer: OutputTokens) -> Band {
    Band {
        low: 0,
        expected: answer.expected,
        high: answer.high.saturating_mul(2),
    }
}

/// Returns part of an answer, in percent of its expected length; at most all of it, since the parts
/// of an answer may be uneven.
fn part(answer: Band, percent: u64) -> Band {
    Band {
        expected: answer.expected.saturating_mul(percent) / 100,
        ..answer
    }
}

/// Returns the percentage of a synthesis that a prompt contains. Filtering drops every point after
/// the third and every tension after the second, about a third of a usual synthesis.
fn of_the_synthesis(material: PromptMaterial) -> u64 {
    match material {
        PromptMaterial::Filtered => 67,
        PromptMaterial::Whole => 100,
    }
}

/// Returns the percentage of a cross-examination that a prompt contains. Filtering drops every
/// challenge and rebuttal after the fifth, about half of a usual one.
fn of_the_record(material: PromptMaterial) -> u64 {
    match material {
        PromptMaterial::Filtered => 50,
        PromptMaterial::Whole => 100,
    }
}
