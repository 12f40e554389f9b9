//! `--dry-run`: every prompt, its provider and its cost, without sending any of it.
//!
//! A context is part of almost every prompt and far longer than the rest: it is shown once, and a
//! mark takes its place in the prompts.

mod text;
mod json;

use std::collections::BTreeMap;

use crate::consultation::plan::Plan;
use crate::consultation::plan::preview::{Places, planned_calls};
use crate::consultation::policy::consent::Gate;
use crate::consultation::policy::estimate::{CallEstimate, Consent, Estimate, GateReason};
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::{Prompt, join};
use crate::domain::address::authority;
use crate::domain::context::ContextText;
use crate::domain::ids::ProviderId;
use crate::domain::money::Cost;
use crate::domain::text::{clean, pretty_json};
use crate::error::Error;
use crate::terminal::output::printer::Printer;

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
    let as_json = || pretty_json(&dry_run.to_json()).map_err(Error::failed);
    // Prompts may hold control characters; the JSON has the exact text.
    let as_text = || clean(&dry_run.to_text());
    let shown = match format {
        AnswerFormat::Markdown | AnswerFormat::Html => as_text(),
        AnswerFormat::Json => as_json()? + "\n",
        AnswerFormat::Both => format!("{}\n---\n{}\n", as_text(), as_json()?),
    };
    write_text(&shown, flags.output.as_deref(), printer)
}

struct DryRun<'a> {
    plan: &'a Plan,
    addresses: &'a BTreeMap<ProviderId, String>,
    estimate: Estimate,
    /// The context as the prompts quote it: one text for each size of prompts.
    contexts: Vec<ContextText>,
    calls: Vec<DryRunCall>,
    gate: Gate,
}

/// A call that would be made.
struct DryRunCall {
    estimate: CallEstimate,
    agent: String,
    system: String,
    user: String,
    /// The place in the contexts of the one that stands at the mark; `None` without one.
    context: Option<usize>,
    /// The provider caches the context. Then no schema is sent: it would spoil the cache.
    is_cached: bool,
}

/// The total that would be sent to one provider.
#[derive(Default)]
struct ProviderShare {
    calls: usize,
    input_tokens: u64,
    output_tokens: u64,
    /// The part of the input that is context.
    context_tokens: u64,
    calls_with_context: usize,
    calls_with_cache: usize,
    low: Cost,
    cost: Cost,
    high: Cost,
}

impl<'a> DryRun<'a> {
    fn of(plan: &'a Plan, addresses: &'a BTreeMap<ProviderId, String>) -> Result<Self, Error> {
        let estimate = plan.estimate()?;
        let planned = planned_calls(plan, Places::Marked)?;
        let mut contexts = Vec::new();
        let mut calls = Vec::new();
        for (estimate, planned) in estimate.calls.iter().zip(planned) {
            let (system, user) = as_sent(&planned.model.provider, &planned.prompt);
            let cache_key = plan.cache_key(&planned.model, estimate.answer);
            calls.push(DryRunCall {
                estimate: estimate.clone(),
                agent: plan.agent_name(&planned.agent_id),
                system,
                user,
                context: place_of(planned.prompt.context, &mut contexts),
                is_cached: cache_key.is_some(),
            });
        }
        let control = &plan.control;
        Ok(Self {
            plan,
            addresses,
            gate: control.consent.decide(&estimate, control.max_cost),
            estimate,
            contexts,
            calls,
        })
    }

    /// Returns the host of a provider; `None` for the embedded model.
    fn host(&self, provider: &ProviderId) -> Option<String> {
        self.addresses.get(provider).map(|url| authority(url))
    }

    /// Returns whether the personas are still to be selected.
    fn selects_personas(&self) -> bool {
        self.plan.debate.asks_for(AnswerKind::PersonaSelection)
    }

    /// Returns whether a prompt would be sent as shown: those of later rounds hold answers, and
    /// selected personas are not known yet.
    fn is_exact(&self, call: &CallEstimate) -> bool {
        call.round_number == 1
            && (call.answer == AnswerKind::PersonaSelection || !self.selects_personas())
    }

    /// Returns the expected tokens of the context in a call; `None` without one.
    fn context_tokens(&self, call: &DryRunCall) -> Option<u64> {
        let context = self.contexts.get(call.context?)?;
        Some(context.tokens().expected)
    }

    fn shares(&self) -> BTreeMap<&ProviderId, ProviderShare> {
        let mut shares: BTreeMap<&ProviderId, ProviderShare> = BTreeMap::new();
        for dry_call in &self.calls {
            let call = &dry_call.estimate;
            let share = shares.entry(&call.model.provider).or_default();
            if let Some(tokens) = self.context_tokens(dry_call) {
                share.context_tokens += tokens;
                share.calls_with_context += 1;
                share.calls_with_cache += usize::from(dry_call.is_cached);
            }
            share.calls += 1;
            share.input_tokens += call.input_tokens;
            share.output_tokens += call.output_tokens;
            share.low += call.low;
            share.cost += call.cost;
            share.high += call.high;
        }
        shares
    }

    /// Returns what the cost gate would do, for people.
    fn decision(&self) -> String {
        let threshold = self.plan.control.consent.always_allow_under;
        let ceiling = self.plan.control.max_cost.unwrap_or_default();
        match &self.gate {
            Gate::Pass(Consent::AutoApproved) if self.estimate.high == Cost::FREE => {
                "goes ahead: the models are free".to_owned()
            }
            Gate::Pass(Consent::AutoApproved) => {
                format!("goes ahead without asking: below always_allow_under, {threshold:.2}")
            }
            Gate::Pass(Consent::Ceiling) => format!(
                "goes ahead without asking: the high estimate is within the ceiling of {ceiling:.2}"
            ),
            Gate::Pass(Consent::Flag | Consent::Asked | Consent::NobodyToAsk) => {
                "goes ahead: approved by --yes".to_owned()
            }
            Gate::Ask(why) => format!("asks first: {}", reasons(why)),
            Gate::Refuse(why) => {
                let why = reasons(why);
                format!("needs --yes, because there is no terminal to ask on: {why}")
            }
            Gate::AboveCeiling => format!(
                "ends before anything is sent: even the low estimate is above the ceiling of \
                 {ceiling:.2}"
            ),
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
