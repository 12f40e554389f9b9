//! `--dry-run`: what a run would ask of which vendor and at what cost, without any call.

use serde_json::{Value, json};

use crate::benchmark::run::RunTerms;
use crate::commands::face::run_consent::{decision, model_lines};
use crate::commands::flags::AnswerFormat;
use crate::consultation::policy::consent::{ConsentRule, Gate};
use crate::domain::text::{clean, pretty_json};
use crate::error::{Error, Exit};
use crate::files::write::{Access, write_atomically};
use crate::session::batch::estimate::BatchEstimate;
use crate::session::benchmark::arms::ArmTemplates;
use crate::terminal::output::format::{cost_range, count, dollars, thousands};
use crate::terminal::output::printer::Printer;

use super::announcement::arm_line;
use super::flags::ReportFlags;

/// Shows the run.
pub(super) fn show(
    terms: &RunTerms,
    arms: &ArmTemplates,
    estimate: &BatchEstimate,
    rule: &ConsentRule,
    flags: &ReportFlags,
    printer: &Printer,
) -> Result<Exit, Error> {
    let gate = rule.decide(&estimate.total, terms.options.max_cost);
    let text = match flags.format() {
        AnswerFormat::Json => {
            pretty_json(&as_json(terms, arms, estimate, &gate)).map_err(Error::failed)? + "\n"
        }
        AnswerFormat::Markdown => clean(&as_text(terms, estimate, &gate)),
        AnswerFormat::Html | AnswerFormat::Both => {
            return Err(Error::usage("a dry run is text or JSON").hint("add `--json`"));
        }
    };
    let written = match &flags.output {
        Some(output) => {
            write_atomically(output, text.as_bytes(), Access::Normal).map_err(Error::failed)
        }
        None => printer.result(&text).map_err(Error::failed),
    };
    written.map(|()| Exit::Answer)
}

fn as_text(terms: &RunTerms, estimate: &BatchEstimate, gate: &Gate) -> String {
    let mut lines = vec![
        format!(
            "The suite {} is correct: {} of {} {} selected.",
            terms.suite.name,
            terms.cases.len(),
            count(
                usize::try_from(terms.suite.cases).unwrap_or(usize::MAX),
                "case"
            ),
            if terms.cases.len() == 1 { "is" } else { "are" },
        ),
        String::new(),
    ];
    lines.extend(terms.arms.iter().map(arm_line));
    lines.push(String::new());
    lines.extend(model_lines(estimate));
    let total = &estimate.total;
    lines.push(format!(
        "In all: {} calls, {}",
        thousands(estimate.calls),
        cost_range(total.low, total.cost, total.high, dollars)
    ));
    lines.push(String::new());
    lines.push(format!("A run {}.", decision(gate, &estimate.total)));
    lines.join("\n") + "\n"
}

fn as_json(terms: &RunTerms, arms: &ArmTemplates, estimate: &BatchEstimate, gate: &Gate) -> Value {
    let vendors = estimate.by_model.iter().map(|(model, share)| {
        let templates = arms.all().map(|(_, template)| template);
        let address = templates
            .chain(arms.grader())
            .find_map(|template| template.addresses().get(&model.provider));
        json!({
            "model": model,
            "address": address,
            "calls": share.calls,
            "input_tokens": share.estimate.input_tokens,
            "output_tokens": share.estimate.output_tokens,
            "low_usd": share.estimate.low.known.usd(),
            "cost_usd": share.estimate.cost.known.usd(),
            "high_usd": share.estimate.high.known.usd(),
        })
    });
    let total = &estimate.total;
    json!({
        "schema_version": "1.0",
        "terms": terms,
        "calls": estimate.calls,
        "input_tokens": total.input_tokens,
        "output_tokens": total.output_tokens,
        "low_usd": total.low.known.usd(),
        "cost_usd": total.cost.known.usd(),
        "high_usd": total.high.known.usd(),
        "cost_is_lower_bound": total.cost.lower_bound,
        "by_model": vendors.collect::<Vec<_>>(),
        "decision": decision(gate, &estimate.total),
    })
}
