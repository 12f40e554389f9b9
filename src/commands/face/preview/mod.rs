//! `--dry-run`: what a run would send, and what it is expected to cost. Every paid command shows
//! the same figures and adds its own.

pub(crate) mod consultation;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;

use super::answer::{self, AnswerText};
use super::consent::GateDecision;
use crate::commands::flags::AnswerFormat;
use crate::consultation::policy::estimate::Estimate;
use crate::domain::context::ScrubbingReport;
use crate::domain::cost::money::Cost;
use crate::domain::ids::ProviderId;
use crate::domain::model::address::authority;
use crate::domain::words::secret_type;
use crate::error::Error;
use crate::session::batch::estimate::BatchEstimate;
use crate::terminal::document::{self, Fact, Line, Part, Table, fact};
use crate::terminal::output::format::{amount, cost_range, thousands};
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
