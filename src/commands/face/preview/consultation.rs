//! What a consultation would send and cost: every call, with its prompt, which a terminal shows
//! only if asked to.
//!
//! The context is part of almost every prompt and far longer than the rest. It is shown once, and a
//! mark stands for it in the prompts.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Figures, Preview, place};
use crate::commands::App;
use crate::commands::face::consent::GateDecision;
use crate::commands::flags::OutputFlags;
use crate::consultation::plan::Plan;
use crate::consultation::plan::preview::{Places, PlannedCall, planned_calls};
use crate::consultation::policy::estimate::{CallEstimate, Estimate};
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::{Prompt, join};
use crate::domain::context::{ContextText, ProjectContext};
use crate::domain::cost::money::Cost;
use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::model::address::authority;
use crate::domain::model::vendors;
use crate::domain::record::stored_record::{StoredContext, source_in_words};
use crate::error::Error;
use crate::session::batch::estimate::BatchEstimate;
use crate::terminal::document::{Line, Part, Table, fact, list, paragraph, titled};
use crate::terminal::output::format::{amount, model_address, round_title, thousands};

/// The mark in the place of the context.
const CONTEXT_MARK: &str = "[context as above]";

/// Shows the calls of this estimate as a run of the plan would make them.
pub(crate) fn show(
    plan: &Plan,
    estimate: &Estimate,
    addresses: &BTreeMap<ProviderId, String>,
    consent: GateDecision,
    flags: &OutputFlags,
    app: App<'_>,
) -> Result<(), Error> {
    let mut sum = BatchEstimate {
        masked: plan.scrubbing.as_deref().cloned(),
        ..BatchEstimate::default()
    };
    sum.add(estimate);
    let details = Details::of(plan, estimate)?;
    let around = [details.above(addresses), details.below()];
    let mut preview = Preview::new(&sum, &[], addresses, consent, details);
    preview.around = around;
    preview.calls = preview.details.calls(&preview.total);
    if !flags.full && !flags.verbose {
        preview.in_short = Some("Dry run: nothing is sent; `--full` shows the prompts");
    }
    let pager = flags.pager.pager(app.environment);
    preview.show(flags.format(), flags.output.as_deref(), &pager, app.printer)
}

/// What the preview of a consultation has of its own.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Details<'a> {
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
    /// `None` if no model selects personas.
    persona_selection: Option<PreviewedSelection<'a>>,
    /// Notes on the panel, which a run prints before it spends anything.
    notices: &'a [String],
    /// In the order in which they would be sent.
    prompts: Vec<PreviewedPrompt>,
}

/// The selection of personas for the question. The prompts of the experts show the default ones.
#[derive(Serialize)]
#[cfg_attr(
    test,
    derive(schemars::JsonSchema),
    schemars(rename = "PersonaSelection")
)]
struct PreviewedSelection<'a> {
    /// The model that selects.
    chosen_by: &'a ModelRef,
}

/// The prompt of a call that would be made.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PreviewedPrompt {
    #[serde(flatten)]
    estimate: CallEstimate,
    /// The agent's name.
    agent: String,
    /// The limit of the answer, with thinking.
    max_output_tokens: u64,
    /// Whether the prompts would be sent as shown. Those of later rounds have words in angle
    /// brackets in the place of answers, and selected personas are not known yet.
    exact: bool,
    /// False if the provider caches the context for further calls: a schema would spoil the cache.
    schema_sent: bool,
    /// The place in `context_texts`, from 0, of the text that stands at `[context as above]`;
    /// `None` if the call has no context.
    context_text: Option<usize>,
    system: String,
    user: String,
}

impl<'a> Details<'a> {
    fn of(plan: &'a Plan, estimate: &'a Estimate) -> Result<Self, Error> {
        let selects_personas = plan.debate.asks_for(AnswerKind::PersonaSelection);
        // A resumed consultation may have its personas already.
        let mut calls = estimate.calls.iter();
        let selection = calls.find(|call| call.answer == AnswerKind::PersonaSelection);
        let (mut context_texts, mut prompts) = (Vec::new(), Vec::new());
        for planned in planned_calls(plan, Places::Marked)? {
            let PlannedCall {
                agent_id,
                answer,
                prompt,
                ..
            } = planned;
            let mut calls = estimate.calls.iter();
            let is_this = |call: &&CallEstimate| call.agent_id == agent_id && call.answer == answer;
            let Some(estimate) = calls.find(is_this) else {
                continue;
            };
            let (system, user) = as_sent(&estimate.model.provider, &prompt);
            let is_selection = answer == AnswerKind::PersonaSelection;
            prompts.push(PreviewedPrompt {
                agent: plan.agent_name(&agent_id),
                max_output_tokens: plan.terms(&estimate.model).max_output_tokens,
                exact: estimate.round_number == 1 && (is_selection || !selects_personas),
                schema_sent: plan.cache_key(&estimate.model, answer).is_none(),
                context_text: place_of(prompt.context, &mut context_texts),
                estimate: estimate.clone(),
                system,
                user,
            });
        }
        Ok(Self {
            question: &plan.question,
            context: plan.context.as_deref().map(StoredContext::from),
            context_texts,
            context_tokens: estimate.context_tokens,
            project_context: plan.project.as_deref(),
            persona_selection: selection.map(|call| PreviewedSelection {
                chosen_by: &call.model,
            }),
            notices: &plan.notices,
            prompts,
        })
    }

    fn above(&self, addresses: &BTreeMap<ProviderId, String>) -> Vec<Part> {
        let mut facts = vec![fact("Question", self.question.to_owned())];
        let sources = self.context.iter().flat_map(|context| &context.sources);
        let sources = sources.map(|source| {
            let (name, tokens) = source_in_words(source);
            format!("{name}: {tokens}").into()
        });
        if self.context.is_some() {
            let tokens = format!("{} with the question", thousands(self.context_tokens));
            let sources = Line::joined(sources.chain([tokens.into()]), "; ");
            facts.push(fact("Context", sources));
        }
        facts.extend(self.persona_selection.iter().map(|selection| {
            let model = model_address(selection.chosen_by);
            let words = "the prompts show the default ones";
            fact(
                "Personas",
                format!("selected for the question by {model}; {words}"),
            )
        }));
        for fact in &mut facts {
            fact.most_lines = Some(3);
        }
        let mut receivers: BTreeMap<&ModelRef, BTreeSet<&str>> = BTreeMap::new();
        for call in &self.prompts {
            let agents = receivers.entry(&call.estimate.model).or_default();
            agents.insert(&call.agent);
        }
        let receiver = |(model, agents): (&ModelRef, BTreeSet<&str>)| {
            let place = place(addresses.get(&model.provider));
            let agents = agents.into_iter().collect::<Vec<_>>().join(", ");
            // The name of a vendor says where its own address is.
            let vendor = vendors::find(model.provider.as_str());
            let own = vendor.map(|vendor| authority(vendor.default_base_url));
            let place = Some(place).filter(|place| own.as_ref() != Some(place));
            let place = place.map_or_else(String::new, |place| format!(" ({place})"));
            format!("{model}{place}: {agents}").into()
        };
        facts.push(super::facts("Sent to", receivers.into_iter().map(receiver)));
        let notices = list(self.notices.iter().map(|notice| Line::from(notice.clone())));
        std::iter::once(Part::Facts(facts)).chain(notices).collect()
    }

    fn calls(&self, total: &Figures) -> Option<Part> {
        let row = |who: &str, round: String, tokens: [u64; 2], costs: [Cost; 3]| {
            let [input, output] = tokens.map(thousands);
            let texts = [who.to_owned(), round, input, format!("~{output}")];
            texts.into_iter().chain(costs.map(amount)).collect()
        };
        let mut rows: Vec<Vec<String>> = Vec::new();
        for call in &self.prompts {
            let of = &call.estimate;
            let tokens = [of.input_tokens, of.output_tokens];
            let round = of.round_number.to_string();
            rows.push(row(&call.agent, round, tokens, [of.low, of.cost, of.high]));
        }
        let tokens = [total.input_tokens, total.output_tokens];
        rows.push(row(
            "In all",
            String::new(),
            tokens,
            [total.low, total.cost, total.high],
        ));
        let heads = ["Who", "Round", "In", "Out", "Low", "Expected", "High"];
        Table::of(2, &heads, rows)
    }

    fn below(&self) -> Vec<Part> {
        let contexts = self.context_texts.iter().flat_map(|context| {
            let tokens = thousands(context.tokens().expected);
            let text = Part::Code("text", context.as_str().trim().to_owned());
            titled(2, Line::of("Context, {} tokens", [&tokens]), [text])
        });
        let prompts = self.prompts.iter().flat_map(PreviewedPrompt::document);
        contexts.chain(prompts).collect()
    }
}

impl PreviewedPrompt {
    fn document(&self) -> Vec<Part> {
        let estimate = &self.estimate;
        let (round, answer) = (estimate.round_number, estimate.answer.name());
        let schema = if self.schema_sent {
            "sent"
        } else {
            "not sent, so that the provider caches the context"
        };
        let unknown = match round {
            _ if self.exact => None,
            1 => Some("the persona"),
            _ => Some("the texts in <angle brackets> and their marks, and the experts' letters"),
        };
        let mut facts = vec![
            fact("To", model_address(&estimate.model)),
            fact("JSON Schema", format!("`{answer}`, {schema}")),
        ];
        facts.extend(unknown.map(|unknown| fact("Not known yet", unknown.to_owned())));
        let title = format!("Round {round}, {}: {}", round_title(round), self.agent);
        let prompt =
            |label, text: &String| [paragraph(label, []), Part::Code("text", text.clone())];
        let mut parts = titled(2, title, [Part::Facts(facts)]);
        parts.extend(prompt("System:", &self.system));
        parts.extend(prompt("User:", &self.user));
        parts
    }
}

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

/// `None` for an empty one.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_published() {
        let title = "What `--dry-run --json` of a consultation prints";
        crate::schema::check::<Preview<'_, Details<'_>>>("dry_run", title);
    }
}
