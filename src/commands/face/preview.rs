//! `--dry-run`: what a run would send, and what it is expected to cost. Every paid command shows
//! the same figures and adds its own; a consultation has those of each call, and every prompt, which
//! a terminal shows only if asked to.
//!
//! The context is part of almost every prompt and far longer than the rest. It is shown once, and a
//! mark stands for it in the prompts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;

use super::answer::{self, AnswerText};
use super::consent::GateDecision;
use crate::commands::App;
use crate::commands::flags::{AnswerFormat, OutputFlags};
use crate::consultation::plan::Plan;
use crate::consultation::plan::preview::{Places, PlannedCall, planned_calls};
use crate::consultation::policy::estimate::{CallEstimate, Estimate};
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::{Prompt, join};
use crate::domain::context::{ContextText, ProjectContext, ScrubbingReport};
use crate::domain::cost::money::Cost;
use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::model::address::authority;
use crate::domain::model::vendors;
use crate::domain::record::stored_record::{StoredContext, source_in_words};
use crate::domain::words::secret_type;
use crate::error::Error;
use crate::session::batch::estimate::BatchEstimate;
use crate::terminal::document::{self, Fact, Line, Part, Table, fact, list, paragraph, titled};
use crate::terminal::output::format::{amount, cost_range, model_address, round_title, thousands};
use crate::terminal::output::pager::Pager;
use crate::terminal::output::printer::Printer;
use crate::text::clean::pretty_json;

const TITLE: &str = "Dry run: nothing is sent";

/// What a run would send and cost. Nothing is sent.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Preview<'a, D> {
    #[cfg_attr(test, schemars(extend("const" = "1.0")))]
    pub(crate) schema_version: &'static str,
    /// All calls, without retries, repairs and hedges.
    #[serde(flatten)]
    pub(crate) total: Figures,
    /// Parts of all, such as the next iteration of a loop.
    pub(crate) parts: Vec<Share>,
    /// In alphabetical order.
    pub(crate) by_model: Vec<Share>,
    /// `None` if there is no call to consent to.
    pub(crate) consent: Option<GateDecision>,
    /// What is masked, as in a record; `None` if nothing would be sent, or nothing is
    /// looked through.
    pub(crate) scrubbing_report: Option<&'a ScrubbingReport>,
    #[serde(flatten)]
    pub(crate) details: D,
    /// What a person reads above the figures, and below them.
    #[serde(skip)]
    pub(crate) around: [Vec<Part>; 2],
    /// The table of all calls, in the place of that by model.
    #[serde(skip)]
    calls: Option<Part>,
    /// The title on a terminal, if that leaves out what is below the figures.
    #[serde(skip)]
    in_short: Option<&'static str>,
}

/// Expected calls, tokens and cost.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Figures {
    /// The number of calls.
    calls: u64,
    input_tokens: u64,
    output_tokens: u64,
    low: Cost,
    cost: Cost,
    high: Cost,
}

/// The figures of a part, or of a model.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Share {
    /// As a command takes it, if it is a model.
    name: String,
    /// The address of a model; `None` for the embedded one.
    address: Option<String>,
    #[serde(flatten)]
    figures: Figures,
}

impl Figures {
    fn of(calls: u64, sum: &Estimate) -> Self {
        Self {
            calls,
            input_tokens: sum.input_tokens,
            output_tokens: sum.output_tokens,
            low: sum.low,
            cost: sum.cost,
            high: sum.high,
        }
    }

    fn row(&self, name: &str, place: String) -> Vec<String> {
        vec![
            name.to_owned(),
            place,
            thousands(self.calls),
            thousands(self.input_tokens),
            format!("~{}", thousands(self.output_tokens)),
            cost_range(self.low, self.cost, self.high, amount),
        ]
    }
}

impl<'a, D: Serialize> Preview<'a, D> {
    pub(crate) fn new(
        estimate: &'a BatchEstimate,
        parts: &[(&str, &BatchEstimate)],
        addresses: &BTreeMap<ProviderId, String>,
        consent: GateDecision,
        details: D,
    ) -> Self {
        let parts = parts.iter().map(|(name, part)| Share {
            name: (*name).to_owned(),
            address: None,
            figures: Figures::of(part.calls, &part.total),
        });
        let by_model = estimate.by_model.iter().map(|(model, share)| Share {
            name: model.to_string(),
            address: addresses.get(&model.provider).cloned(),
            figures: Figures::of(share.calls, &share.estimate),
        });
        Self {
            schema_version: "1.0",
            total: Figures::of(estimate.calls, &estimate.total),
            parts: parts.collect(),
            by_model: by_model.collect(),
            consent: (estimate.calls > 0).then_some(consent),
            scrubbing_report: estimate.masked.as_ref().filter(|_| estimate.calls > 0),
            details,
            around: Default::default(),
            calls: None,
            in_short: None,
        }
    }

    pub(crate) fn show(
        &self,
        format: AnswerFormat,
        output: Option<&Path>,
        pager: &Pager,
        printer: &Printer,
    ) -> Result<(), Error> {
        let parts = self.document(TITLE, &self.around);
        let in_short = |short| self.document(short, &[self.around[0].clone(), Vec::new()]);
        let on_screen = self.in_short.map(in_short);
        let title = "Dry run";
        let source = AnswerText {
            markdown: &document::markdown(&parts),
            summary: Some(on_screen.as_ref().unwrap_or(&parts)),
            json: &|| pretty_json(self).map_err(Error::failed),
            html: &|| document::page(title, title, &parts, &BTreeSet::new()),
            noun: "Preview",
        };
        answer::write(&source, format, output, pager, printer)
    }

    fn document(&self, title: &'static str, [above, below]: &[Vec<Part>; 2]) -> Vec<Part> {
        let mut parts = vec![Part::Heading(1, title.into())];
        parts.extend(above.iter().cloned());
        let consent = self.consent.as_ref();
        let consent = consent.map(|consent| fact("Consent", consent.message.clone()));
        let masked = self.scrubbing_report.and_then(masked);
        if self.total.calls > 0 {
            parts.push(Part::Facts(consent.into_iter().chain(masked).collect()));
            parts.extend(self.calls.clone().or_else(|| self.table()));
        }
        parts.extend(below.iter().cloned());
        parts
    }

    fn table(&self) -> Option<Part> {
        let row = |share: &Share| {
            share
                .figures
                .row(&share.name, place(share.address.as_ref()))
        };
        let mut rows: Vec<Vec<String>> = self.by_model.iter().map(row).collect();
        let parts_of_all = self.parts.iter();
        rows.extend(parts_of_all.map(|part| part.figures.row(&part.name, String::new())));
        rows.push(self.total.row("In all", String::new()));
        let heads = ["", "At", "Calls", "Input", "Output", "Cost"];
        Table::of(2, &heads, rows)
    }
}

fn place(address: Option<&String>) -> String {
    match address {
        None => "this machine".to_owned(),
        Some(file) if file.starts_with('/') => format!("the program {file}"),
        Some(address) => authority(address),
    }
}

/// `None` if nothing is masked.
fn masked(report: &ScrubbingReport) -> Option<Fact> {
    if !report.sensitive_data_scrubbed {
        return Some(fact("Masked", "nothing, because of `--no-scrub`"));
    }
    let sources = report.by_source.iter().map(|(source, by_type)| {
        let types = by_type.iter();
        let types = types.map(|(id, n)| format!("{} {}", thousands(*n), secret_type(id, *n)));
        format!("{source}: {}", types.collect::<Vec<_>>().join(", ")).into()
    });
    (!report.by_source.is_empty()).then(|| facts("Masked", sources))
}

fn facts(label: &'static str, values: impl Iterator<Item = Line>) -> Fact {
    Fact {
        label: label.into(),
        values: values.collect(),
        most_lines: None,
    }
}

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
        facts.push(self::facts("Sent to", receivers.into_iter().map(receiver)));
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
