//! `--dry-run`: every prompt, its provider and its cost, without sending any of it.
//!
//! A context is part of almost every prompt and far longer than the rest: it is shown once, and a
//! mark takes its place in the prompts.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::commands::face::answer::write_text;
use crate::commands::face::consent::GateDecision;
use crate::commands::flags::{AnswerFormat, OutputFlags};
use crate::consultation::plan::Plan;
use crate::consultation::plan::preview::{Places, PlannedCall, planned_calls};
use crate::consultation::policy::estimate::CallEstimate;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::{Prompt, join};
use crate::domain::address::authority;
use crate::domain::context::{ContextText, ProjectContext, ScrubbingReport};
use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::money::Cost;
use crate::domain::stored_record::{StoredContext, source_in_words};
use crate::domain::words::secret_type;
use crate::error::Error;
use crate::terminal::output::format::{
    amount, cost_range, count, model_address, round_title, thousands,
};
use crate::terminal::output::printer::Printer;
use crate::text::clean::{clean, one_line, pretty_json};

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
    /// As in a record; `None` without a context.
    context: Option<StoredContext>,
    /// The texts that stand in the prompts at `[context as above]`: one for each size of prompts.
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    context_texts: Vec<ContextText>,
    /// Expected tokens of the question with its context, which every call carries.
    context_tokens: u64,
    /// What was detected of the project, as in a record; `None` without one.
    project_context: Option<&'a ProjectContext>,
    /// What is masked, as in a record.
    scrubbing_report: Option<&'a ScrubbingReport>,
    #[serde(flatten)]
    total: Share,
    consent: GateDecision,
    /// `None` if no model selects personas.
    #[serde(rename = "casting")]
    persona_selection: Option<PersonaSelection<'a>>,
    /// Notes on the panel, which a run prints before it spends anything.
    notices: &'a [String],
    /// By name.
    providers: Vec<ProviderShare>,
    /// In the order in which they would be made.
    #[serde(rename = "calls")]
    prompts: Vec<DryRunCall>,
}

/// The selection of personas for the question. The prompts of the experts show the default ones.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PersonaSelection<'a> {
    /// The model that selects; `None` if there is none, and the default personas are used.
    chosen_by: Option<&'a ModelRef>,
}

/// Expected tokens and cost of calls, without retries, repairs and hedges.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Share {
    input_tokens: u64,
    output_tokens: u64,
    low: Cost,
    cost: Cost,
    high: Cost,
}

/// The total that would be sent to one provider.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ProviderShare {
    provider: ProviderId,
    /// Host and port; `None` for the embedded model.
    host: Option<String>,
    calls: usize,
    #[serde(flatten)]
    share: Share,
    /// The part of the input that is context.
    context_tokens: u64,
    #[serde(skip)]
    calls_with_context: usize,
    #[serde(skip)]
    calls_with_cache: usize,
}

/// A call that would be made.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct DryRunCall {
    #[serde(flatten)]
    estimate: CallEstimate,
    /// The agent's name.
    agent: String,
    /// Host and port; `None` for the embedded model.
    host: Option<String>,
    /// The limit of the answer, with thinking.
    max_output_tokens: u64,
    /// Whether the prompts would be sent as shown. Those of later rounds have words in angle
    /// brackets in the place of answers, and selected personas are not known yet.
    exact: bool,
    /// False if the provider caches the context: a schema would spoil the cache.
    schema_sent: bool,
    /// Whether the provider caches the context for further calls.
    context_cached: bool,
    /// The place in `context_texts`, from 0, of the text that stands at `[context as above]`;
    /// `None` if the call has no context.
    context_text: Option<usize>,
    system: String,
    user: String,
}

impl<'a> DryRun<'a> {
    fn of(plan: &'a Plan, addresses: &BTreeMap<ProviderId, String>) -> Result<Self, Error> {
        let estimate = plan.estimate()?;
        let control = &plan.control;
        let consent = GateDecision::of(&control.consent, &estimate, control.max_cost);
        let selects_personas = plan.debate.asks_for(AnswerKind::PersonaSelection);
        let chosen_by = plan.debate.helper.as_ref();
        let (mut total, mut texts, mut prompts) = (Share::default(), Vec::new(), Vec::new());
        let mut shares: BTreeMap<ProviderId, ProviderShare> = BTreeMap::new();
        let planned = planned_calls(plan, Places::Marked)?;
        for (estimate, PlannedCall { prompt, .. }) in estimate.calls.into_iter().zip(planned) {
            let provider = &estimate.model.provider;
            let host = addresses.get(provider).map(|url| authority(url));
            let (system, user) = as_sent(provider, &prompt);
            let is_cached = plan.cache_key(&estimate.model, estimate.answer).is_some();
            let is_selection = estimate.answer == AnswerKind::PersonaSelection;
            let share = shares.entry(provider.clone()).or_default();
            share.provider = provider.clone();
            share.host.clone_from(&host);
            share.calls += 1;
            for share in [&mut total, &mut share.share] {
                share.input_tokens += estimate.input_tokens;
                share.output_tokens += estimate.output_tokens;
                share.low += estimate.low;
                share.cost += estimate.cost;
                share.high += estimate.high;
            }
            if !prompt.context.is_empty() {
                share.context_tokens += prompt.context.tokens().expected;
                share.calls_with_context += 1;
                share.calls_with_cache += usize::from(is_cached);
            }
            prompts.push(DryRunCall {
                agent: plan.agent_name(&estimate.agent_id),
                host,
                max_output_tokens: plan.terms(&estimate.model).max_output_tokens,
                exact: estimate.round_number == 1 && (is_selection || !selects_personas),
                estimate,
                schema_sent: !is_cached,
                context_cached: is_cached,
                context_text: place_of(prompt.context, &mut texts),
                system,
                user,
            });
        }
        Ok(Self {
            schema_version: "1.0",
            question: &plan.question,
            context: plan.context.as_deref().map(StoredContext::from),
            context_texts: texts,
            context_tokens: estimate.context_tokens,
            project_context: plan.project.as_deref(),
            scrubbing_report: plan.scrubbing.as_deref(),
            total,
            consent,
            persona_selection: selects_personas.then_some(PersonaSelection { chosen_by }),
            notices: &plan.notices,
            providers: shares.into_values().collect(),
            prompts,
        })
    }

    fn to_text(&self) -> String {
        let mut lines = vec![
            "Dry run: nothing is sent.\n".to_owned(),
            format!("Estimated cost: {}", self.total.range()),
            format!(
                "Tokens: {}; the question with its context has {}",
                self.total.tokens(),
                thousands(self.context_tokens)
            ),
            format!("Consent: {}", self.consent.message),
        ];
        lines.extend(self.context.iter().flat_map(sources));
        lines.extend(self.scrubbing_report.into_iter().flat_map(masked));
        if let Some(PersonaSelection { chosen_by: model }) = &self.persona_selection {
            lines.push(format!(
                "Personas: selected for the question by {}; the prompts below show the default ones",
                model.map_or_else(|| "no model".to_owned(), model_address)
            ));
        }
        let notices = self.notices.iter();
        lines.extend(notices.map(|notice| format!("Note: {}", one_line(notice))));
        lines.push("\nProviders:".to_owned());
        lines.extend(self.providers.iter().map(ProviderShare::to_text));
        for context in &self.context_texts {
            lines.push(format!(
                "\n=== Context, {} tokens ===\n\n{}",
                thousands(context.tokens().expected),
                context.as_str().trim()
            ));
        }
        lines.extend(self.prompts.iter().map(DryRunCall::to_text));
        lines.join("\n") + "\n"
    }
}

impl Share {
    fn tokens(&self) -> String {
        tokens(self.input_tokens, self.output_tokens)
    }

    fn range(&self) -> String {
        cost_range(self.low, self.cost, self.high, amount)
    }
}

impl ProviderShare {
    /// `- anthropic at HOST: 2 calls, …`, with how many of the calls carry the context.
    fn to_text(&self) -> String {
        let line = format!(
            "- {} at {}: {}, {}, {}",
            self.provider,
            place(self.host.as_deref()),
            count(self.calls, "call"),
            self.share.tokens(),
            self.share.range(),
        );
        let caching = match self.calls_with_cache {
            _ if self.calls_with_context == 0 => return line,
            0 => "not cached",
            cached if cached < self.calls_with_context => "cached in some",
            _ => "cached",
        };
        format!(
            "{line}; the context in {}, {} tokens, {caching}",
            count(self.calls_with_context, "call"),
            thousands(self.context_tokens)
        )
    }
}

impl DryRunCall {
    fn to_text(&self) -> String {
        let estimate = &self.estimate;
        let (round, answer) = (estimate.round_number, estimate.answer.name());
        let schema = if self.schema_sent {
            format!("With the JSON Schema of the answer `{answer}`")
        } else {
            format!(
                "Without the JSON Schema of the answer `{answer}`, so that the provider caches the \
                 context"
            )
        };
        let unknown = match round {
            _ if self.exact => "",
            1 => "\nNot known yet: the persona",
            _ => {
                "\nNot known yet: the texts in <angle brackets>, the marks around them, and the \
                 letters of the experts"
            }
        };
        format!(
            "\n=== Round {round}, {}: {} ===\nTo {} at {}\n{}, {}\n{schema}{unknown}\n\n\
             --- system ---\n{}\n\n--- user ---\n{}",
            round_title(round),
            self.agent,
            model_address(&estimate.model),
            place(self.host.as_deref()),
            tokens(estimate.input_tokens, estimate.output_tokens),
            cost_range(estimate.low, estimate.cost, estimate.high, amount),
            self.system,
            self.user,
        )
    }
}

/// Returns system prompt and user message as a provider sends them, with the mark in the place of
/// the context.
fn as_sent(provider: &ProviderId, prompt: &Prompt) -> (String, String) {
    let mut marked = prompt.clone();
    if !prompt.context.is_empty() {
        marked.context = ContextText::from(CONTEXT_MARK.to_owned());
    }
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

fn place(host: Option<&str>) -> &str {
    host.unwrap_or("this machine")
}

/// Returns the sources of the context with their tokens.
fn sources(context: &StoredContext) -> Vec<String> {
    if context.sources.is_empty() {
        return Vec::new();
    }
    let tokens = thousands(context.tokens.unwrap_or_default());
    let title = format!("Context: {tokens} tokens, sent to experts and judges");
    let sources = context.sources.iter().map(|source| {
        let (name, tokens) = source_in_words(source);
        format!("- {}: {tokens}", one_line(&name))
    });
    std::iter::once(title).chain(sources).collect()
}

/// Returns what was masked in each source; nothing if nothing was.
fn masked(report: &ScrubbingReport) -> Vec<String> {
    if !report.sensitive_data_scrubbed {
        return vec!["Masked: nothing, because of --no-scrub".to_owned()];
    }
    let sources = report.by_source.iter().map(|(source, by_type)| {
        let types = by_type.iter();
        let types = types.map(|(id, n)| format!("{} {}", thousands(*n), secret_type(id, *n)));
        let types = types.collect::<Vec<_>>().join(", ");
        format!("- {}: {types}", one_line(source))
    });
    let title = (!report.by_source.is_empty()).then(|| "Masked:".to_owned());
    title.into_iter().chain(sources).collect()
}

fn tokens(input: u64, output: u64) -> String {
    format!("{} in, ~{} out", thousands(input), thousands(output))
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
