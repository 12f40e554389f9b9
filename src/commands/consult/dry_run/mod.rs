//! `--dry-run`: every prompt, its provider and its cost, without sending any of it.
//!
//! A context is part of almost every prompt and far longer than the rest: it is shown once, and a
//! mark takes its place in the prompts.

mod text;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::consultation::plan::Plan;
use crate::consultation::plan::preview::{Places, planned_calls};
use crate::consultation::policy::consent::Gate;
use crate::consultation::policy::estimate::{Consent, Estimate, GateReason};
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::{Prompt, join};
use crate::domain::address::authority;
use crate::domain::context::{
    ContextSource, ContextText, ProjectContext, ProjectStance, ScrubbingReport, TokenCounter,
};
use crate::domain::ids::{AgentId, ModelRef, ProviderId};
use crate::domain::money::{Cost, CostInDollars};
use crate::error::Error;
use crate::terminal::output::printer::Printer;
use crate::text::clean::{clean, pretty_json};

use crate::commands::face::answer::write_text;
use crate::commands::flags::{AnswerFormat, OutputFlags};

/// The mark in the place of the context.
const CONTEXT_MARK: &str = "[context as above]";

/// Shows what a run of this plan would send.
pub(super) fn show(
    plan: &Plan,
    addresses: &BTreeMap<ProviderId, String>,
    flags: &OutputFlags,
    printer: &Printer,
) -> Result<(), Error> {
    let format = flags.format();
    if format == AnswerFormat::Html {
        return Err(Error::usage("a dry run has no HTML")
            .hint("choose another format, such as `--format markdown`"));
    }
    let dry_run = DryRun::of(plan, addresses)?;
    let as_json = || pretty_json(&dry_run).map_err(Error::failed);
    // Prompts may hold control characters; the JSON has the exact text.
    let as_text = || clean(&dry_run.to_text());
    let shown = match format {
        AnswerFormat::Markdown | AnswerFormat::Html => as_text(),
        AnswerFormat::Json => as_json()? + "\n",
        AnswerFormat::Both => format!("{}\n---\n{}\n", as_text(), as_json()?),
    };
    write_text(&shown, flags.output.as_deref(), printer)
}

/// What a run would send. Nothing is sent.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct DryRun<'a> {
    #[cfg_attr(test, schemars(extend("const" = "1.0")))]
    schema_version: &'static str,
    question: &'a str,
    /// Expected tokens of the question with its context, which every call carries.
    context_tokens: u64,
    /// `None` without a context.
    context: Option<ShownContext<'a>>,
    /// What was detected of the project, as in a record; `None` without one.
    project_context: Option<&'a ProjectContext>,
    /// What is masked, as in a record.
    scrubbing_report: Option<&'a ScrubbingReport>,
    /// Expected, all calls together.
    input_tokens: u64,
    /// Expected, all calls together.
    output_tokens: u64,
    cost: CostRange,
    consent: GateDecision,
    /// `None` if no model selects personas.
    #[serde(rename = "casting")]
    persona_selection: Option<PersonaSelection<'a>>,
    /// Notes on the panel, which a run prints before it spends anything.
    notices: &'a [String],
    /// By name.
    providers: Vec<ProviderShare>,
    /// In the order in which they would be made.
    calls: Vec<DryRunCall>,
}

/// The context as in a record, with its text as the prompts quote it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ShownContext<'a> {
    /// In the order of the prompt.
    sources: &'a [ContextSource],
    /// The size of the whole text, headings included.
    bytes: u64,
    /// The expected tokens of the whole text.
    tokens: u64,
    counted_by: TokenCounter,
    /// SHA-256 of the whole text, in hexadecimal.
    sha256: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    stance: Option<ProjectStance>,
    /// The project's stack in words, as the prompts state it.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stack: &'a [String],
    /// The texts that stand in the prompts at `[context as above]`: one for each size of prompts.
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    texts: Vec<ContextText>,
}

/// A cost without retries, repairs and hedges.
#[derive(Clone, Copy, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct CostRange {
    #[serde(serialize_with = "CostInDollars::write")]
    #[cfg_attr(test, schemars(with = "CostInDollars"))]
    low: Cost,
    #[serde(serialize_with = "CostInDollars::write")]
    #[cfg_attr(test, schemars(with = "CostInDollars"))]
    expected: Cost,
    #[serde(serialize_with = "CostInDollars::write")]
    #[cfg_attr(test, schemars(with = "CostInDollars"))]
    high: Cost,
}

/// What the cost gate would do.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct GateDecision {
    /// `auto_approved`: below the threshold. `flag`: because of `--yes`. `ceiling`: the high
    /// estimate is within it. `ask`: on the terminal. `refuse`: without a terminal (exit code 3).
    /// `above_ceiling`: even the low estimate exceeds it (exit code 4).
    #[cfg_attr(test, schemars(extend("enum" = [
        "auto_approved", "flag", "ceiling", "ask", "refuse", "above_ceiling",
    ])))]
    decision: &'static str,
    /// The reasons why the estimate needs consent.
    why: Vec<GateReason>,
    /// The decision in words.
    message: String,
}

/// The selection of personas for the question. The prompts of the experts show the default ones.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PersonaSelection<'a> {
    /// The model that selects; `None` if there is none, and the default personas are used.
    chosen_by: Option<&'a ModelRef>,
}

/// The total that would be sent to one provider.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ProviderShare {
    provider: ProviderId,
    /// Host and port; `None` for the embedded model.
    host: Option<String>,
    calls: usize,
    input_tokens: u64,
    output_tokens: u64,
    /// The part of the input that is context.
    context_tokens: u64,
    cost: CostRange,
    #[serde(skip)]
    calls_with_context: usize,
    #[serde(skip)]
    calls_with_cache: usize,
}

/// A call that would be made.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct DryRunCall {
    round_number: u8,
    agent_id: AgentId,
    /// The agent's name.
    agent: String,
    /// The kind of answer; `schemas/answers` has the JSON Schema of each.
    answer: AnswerKind,
    provider: ProviderId,
    /// The model, without its provider.
    model: String,
    /// Host and port; `None` for the embedded model.
    host: Option<String>,
    /// Expected, with the schema and the answers that it will carry.
    input_tokens: u64,
    /// Expected, with thinking.
    output_tokens: u64,
    /// The limit of the answer, with thinking.
    max_output_tokens: u64,
    cost: CostRange,
    /// Whether the prompts would be sent as shown. Those of later rounds have words in angle
    /// brackets in the place of answers, and selected personas are not known yet.
    exact: bool,
    /// False if the provider caches the context: a schema would spoil the cache.
    schema_sent: bool,
    /// Whether the provider caches the context for further calls.
    context_cached: bool,
    /// The place in `context.texts`, from 0, of the text that stands at `[context as above]`; `None`
    /// if the call has no context.
    context_text: Option<usize>,
    system: String,
    user: String,
}

impl<'a> DryRun<'a> {
    fn of(plan: &'a Plan, addresses: &BTreeMap<ProviderId, String>) -> Result<Self, Error> {
        let estimate = plan.estimate()?;
        let consent = GateDecision::of(plan, &estimate);
        let selects_personas = plan.debate.asks_for(AnswerKind::PersonaSelection);
        let chosen_by = plan.debate.helper.as_ref();
        let mut texts = Vec::new();
        let mut calls = Vec::new();
        let planned = planned_calls(plan, Places::Marked)?;
        for (call, planned) in estimate.calls.into_iter().zip(planned) {
            let (system, user) = as_sent(&planned.model.provider, &planned.prompt);
            let is_cached = plan.cache_key(&planned.model, call.answer).is_some();
            let is_selection = call.answer == AnswerKind::PersonaSelection;
            calls.push(DryRunCall {
                round_number: call.round_number,
                agent_id: call.agent_id,
                agent: plan.agent_name(&planned.agent_id),
                answer: call.answer,
                host: addresses
                    .get(&call.model.provider)
                    .map(|url| authority(url)),
                input_tokens: call.input_tokens,
                output_tokens: call.output_tokens,
                max_output_tokens: plan.terms(&call.model).max_output_tokens,
                provider: call.model.provider,
                model: call.model.model,
                cost: CostRange {
                    low: call.low,
                    expected: call.cost,
                    high: call.high,
                },
                exact: call.round_number == 1 && (is_selection || !selects_personas),
                schema_sent: !is_cached,
                context_cached: is_cached,
                context_text: place_of(planned.prompt.context, &mut texts),
                system,
                user,
            });
        }
        Ok(Self {
            schema_version: "1.0",
            question: &plan.question,
            context_tokens: estimate.context_tokens,
            providers: shares(&calls, &texts),
            context: plan.context.as_deref().map(|context| ShownContext {
                sources: &context.sources,
                bytes: context.bytes,
                tokens: context.tokens.expected,
                counted_by: context.tokens.counted_by,
                sha256: &context.sha256,
                stance: context.stance,
                stack: &context.stack,
                texts,
            }),
            project_context: plan.project.as_deref(),
            scrubbing_report: plan.scrubbing.as_deref(),
            input_tokens: estimate.input_tokens,
            output_tokens: estimate.output_tokens,
            cost: CostRange {
                low: estimate.low,
                expected: estimate.cost,
                high: estimate.high,
            },
            consent,
            persona_selection: selects_personas.then_some(PersonaSelection { chosen_by }),
            notices: &plan.notices,
            calls,
        })
    }
}

fn shares(calls: &[DryRunCall], texts: &[ContextText]) -> Vec<ProviderShare> {
    let mut shares: BTreeMap<&ProviderId, ProviderShare> = BTreeMap::new();
    for call in calls {
        let share = shares.entry(&call.provider).or_default();
        share.provider.clone_from(&call.provider);
        share.host.clone_from(&call.host);
        if let Some(context) = call.context_text.and_then(|place| texts.get(place)) {
            share.context_tokens += context.tokens().expected;
            share.calls_with_context += 1;
            share.calls_with_cache += usize::from(call.context_cached);
        }
        share.calls += 1;
        share.input_tokens += call.input_tokens;
        share.output_tokens += call.output_tokens;
        share.cost.low += call.cost.low;
        share.cost.expected += call.cost.expected;
        share.cost.high += call.cost.high;
    }
    shares.into_values().collect()
}

impl GateDecision {
    fn of(plan: &Plan, estimate: &Estimate) -> Self {
        let threshold = plan.control.consent.always_allow_under;
        let ceiling = plan.control.max_cost.unwrap_or_default();
        let gate = plan.control.consent.decide(estimate, plan.control.max_cost);
        let (decision, message) = match &gate {
            Gate::Pass(Consent::AutoApproved) if estimate.high == Cost::FREE => {
                ("auto_approved", "goes ahead: the models are free".into())
            }
            Gate::Pass(Consent::AutoApproved) => {
                let why = format!("below always_allow_under, {threshold:.2}");
                ("auto_approved", format!("goes ahead without asking: {why}"))
            }
            Gate::Pass(Consent::Ceiling) => {
                let why = format!("the high estimate is within the ceiling of {ceiling:.2}");
                ("ceiling", format!("goes ahead without asking: {why}"))
            }
            Gate::Pass(Consent::Flag | Consent::Asked | Consent::NobodyToAsk) => {
                ("flag", "goes ahead: approved by --yes".into())
            }
            Gate::Ask(why) => ("ask", format!("asks first: {}", reasons(why))),
            Gate::Refuse(why) => {
                let no_terminal = "needs --yes, because there is no terminal to ask on";
                ("refuse", format!("{no_terminal}: {}", reasons(why)))
            }
            Gate::AboveCeiling => {
                let why = format!("even the low estimate is above the ceiling of {ceiling:.2}");
                (
                    "above_ceiling",
                    format!("ends before anything is sent: {why}"),
                )
            }
        };
        let why = match gate {
            Gate::Ask(why) | Gate::Refuse(why) => why,
            Gate::Pass(_) | Gate::AboveCeiling => Vec::new(),
        };
        Self {
            decision,
            why,
            message,
        }
    }
}

/// Returns system prompt and user message as a provider sends them, with the mark in the place of
/// the context.
fn as_sent(provider: &ProviderId, prompt: &Prompt) -> (String, String) {
    let marked = if prompt.context.is_empty() {
        prompt.clone()
    } else {
        Prompt {
            context: ContextText::from(CONTEXT_MARK.to_owned()),
            ..prompt.clone()
        }
    };
    if provider.is_local() {
        return (
            marked.shared_prefix(),
            join([&marked.protocol, &marked.persona, &marked.task]),
        );
    }
    (marked.system(), marked.user())
}

/// Returns the place of a context among those so far, to which a new one is added; `None` for an
/// empty one.
fn place_of(context: ContextText, contexts: &mut Vec<ContextText>) -> Option<usize> {
    if context.is_empty() {
        return None;
    }
    let place = contexts.iter().position(|other| *other == context);
    Some(place.unwrap_or_else(|| {
        contexts.push(context);
        contexts.len() - 1
    }))
}

fn reasons(why: &[GateReason]) -> String {
    let words = |reason: &GateReason| match reason {
        GateReason::Cost => "it is not below always_allow_under",
        GateReason::Unpriced => "a model has no price",
        GateReason::MonthlyBudget => "it would exceed the monthly budget",
        GateReason::LargeContext => "the context is large",
        GateReason::FirstCost => "nothing has been spent here so far",
    };
    why.iter().map(words).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_published() {
        let title = "What `conclave consult --dry-run --format json` prints";
        crate::schema::check::<DryRun<'_>>("dry_run", title);
    }
}
