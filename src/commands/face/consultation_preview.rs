//! `--dry-run` of a consultation: every prompt, its provider and its cost.
//!
//! A context is part of almost every prompt and far longer than the rest: it is shown once, and a
//! mark takes its place in the prompts.

use std::collections::BTreeMap;

use serde::Serialize;

use super::consent::GateDecision;
use super::preview::Preview;
use crate::commands::App;
use crate::commands::flags::OutputFlags;
use crate::consultation::plan::Plan;
use crate::consultation::plan::preview::{Places, PlannedCall, planned_calls};
use crate::consultation::policy::estimate::{CallEstimate, Estimate};
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::{Prompt, join};
use crate::domain::context::{ContextText, ProjectContext};
use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::stored_record::{StoredContext, source_in_words};
use crate::error::Error;
use crate::session::batch::estimate::BatchEstimate;
use crate::terminal::document::{Fact, Line, Part, fact, list, paragraph, titled};
use crate::terminal::output::format::{amount, cost_range, model_address, round_title, thousands};

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
    let around = [details.above(), details.below()];
    let mut preview = Preview::new(&sum, &[], addresses, consent, details);
    preview.around = around;
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
    persona_selection: Option<PersonaSelection<'a>>,
    /// Notes on the panel, which a run prints before it spends anything.
    notices: &'a [String],
    /// In the order in which they would be sent.
    prompts: Vec<PreviewedPrompt>,
}

/// The selection of personas for the question. The prompts of the experts show the default ones.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PersonaSelection<'a> {
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
            persona_selection: selection.map(|call| PersonaSelection {
                chosen_by: &call.model,
            }),
            notices: &plan.notices,
            prompts,
        })
    }

    fn above(&self) -> Vec<Part> {
        let mut facts = vec![fact("Question", self.question.to_owned())];
        let tokens = format!("{} with the question", thousands(self.context_tokens));
        let sources = self.context.iter().flat_map(|context| &context.sources);
        let sources = sources.map(|source| {
            let (name, tokens) = source_in_words(source);
            format!("{name}: {tokens}").into()
        });
        let mut values: Vec<Line> = sources.collect();
        if !values.is_empty() {
            values.push(tokens.into());
            facts.push(Fact {
                label: "Context".into(),
                values,
                most_lines: None,
            });
        }
        facts.extend(self.persona_selection.iter().map(|selection| {
            let model = model_address(selection.chosen_by);
            let words = "; the prompts below show the default ones";
            fact(
                "Personas",
                format!("selected for the question by {model}{words}"),
            )
        }));
        let notices = list(self.notices.iter().map(|notice| Line::from(notice.clone())));
        std::iter::once(Part::Facts(facts)).chain(notices).collect()
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
        let [input, output] = [estimate.input_tokens, estimate.output_tokens].map(thousands);
        let cost = cost_range(estimate.low, estimate.cost, estimate.high, amount);
        let schema = if self.schema_sent {
            format!("with the JSON Schema of the answer `{answer}`")
        } else {
            format!(
                "without the JSON Schema of the answer `{answer}`, so that the provider caches \
                 the context"
            )
        };
        let unknown = match round {
            _ if self.exact => None,
            1 => Some("the persona"),
            _ => Some(
                "the texts in <angle brackets>, the marks around them, and the letters of the \
                 experts",
            ),
        };
        let mut facts = vec![
            fact("To", model_address(&estimate.model)),
            fact("Expected", format!("{input} in, ~{output} out, {cost}")),
            fact("Form", schema),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_published() {
        let title = "What `--dry-run --json` of a consultation prints";
        crate::schema::check::<Preview<'_, Details<'_>>>("dry_run", title);
    }
}
