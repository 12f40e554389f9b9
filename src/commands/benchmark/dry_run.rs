//! `--dry-run`: what a run would ask of which vendor and at what cost, without any call.

use serde_json::{Map, Value, json};

use crate::benchmark::run::{Arm, ArmTerms, RunTerms};
use crate::commands::face::answer::write_text;
use crate::commands::face::batch::{cost_line, figures, model_lines};
use crate::commands::flags::AnswerFormat;
use crate::domain::text::{clean, pretty_json};
use crate::error::{Error, Exit};
use crate::session::batch::estimate::BatchEstimate;
use crate::session::benchmark::arms::ArmTemplates;
use crate::terminal::output::format::count;
use crate::terminal::output::printer::Printer;

use super::flags::ReportFlags;

/// A run that is only shown.
pub(super) struct PreviewedRun<'a> {
    pub(super) terms: &'a RunTerms,
    pub(super) arms: &'a ArmTemplates,
    pub(super) estimate: &'a BatchEstimate,
    /// What the cost gate would do.
    pub(super) decision: &'static str,
}

/// Shows the run.
pub(super) fn show(
    run: &PreviewedRun<'_>,
    flags: &ReportFlags,
    printer: &Printer,
) -> Result<Exit, Error> {
    let text = match flags.format() {
        AnswerFormat::Json => as_json(run)?,
        AnswerFormat::Markdown => clean(&as_text(run)),
        AnswerFormat::Html | AnswerFormat::Both => {
            return Err(Error::usage("a dry run is text or JSON").hint("add `--json`"));
        }
    };
    write_text(&text, flags.output.as_deref(), printer).map(|()| Exit::Answer)
}

/// `panel: security=openai:m, …; judge openai:m; 4 rounds`.
pub(super) fn arm_line(arm: &ArmTerms) -> String {
    let mut line = format!("{}: {}", arm.arm.name(), arm.seats.join(", "));
    if let Some(judge) = &arm.judge {
        line.extend(["; judge ", judge]);
    }
    if arm.arm == Arm::Panel {
        line.extend(["; ", &count(arm.rounds, "round")]);
    }
    line
}

fn as_text(run: &PreviewedRun<'_>) -> String {
    let PreviewedRun {
        terms,
        estimate,
        decision,
        ..
    } = run;
    let (all, selected) = (terms.suite.cases, terms.cases.len());
    let mut lines = vec![
        format!(
            "The suite {} is correct: {selected} of {} {} selected.",
            terms.suite.name,
            count(all, "case"),
            if selected == 1 { "is" } else { "are" },
        ),
        String::new(),
    ];
    lines.extend(terms.arms.iter().map(arm_line));
    lines.push(String::new());
    lines.extend(model_lines(estimate));
    lines.push(cost_line("In all", estimate));
    lines.push(String::new());
    lines.push(format!("A run {decision}."));
    lines.join("\n") + "\n"
}

fn as_json(run: &PreviewedRun<'_>) -> Result<String, Error> {
    let (arms, estimate) = (run.arms, run.estimate);
    let by_model = estimate.by_model.iter().map(|(model, share)| {
        let mut templates = arms
            .all()
            .map(|(_, template)| template)
            .chain(arms.grader());
        let address = templates.find_map(|template| template.addresses().get(&model.provider));
        let mut fields = Map::from_iter([("model".to_owned(), json!(model))]);
        fields.insert("address".to_owned(), json!(address));
        fields.extend(figures(share.calls, &share.estimate));
        fields.remove("cost_is_lower_bound");
        Value::Object(fields)
    });
    let mut fields = Map::from_iter([("schema_version".to_owned(), json!("1.0"))]);
    fields.insert("terms".to_owned(), json!(run.terms));
    fields.extend(figures(estimate.calls, &estimate.total));
    fields.insert("by_model".to_owned(), by_model.collect());
    fields.insert("decision".to_owned(), json!(run.decision));
    Ok(pretty_json(&fields).map_err(Error::failed)? + "\n")
}
