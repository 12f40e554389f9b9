//! `--dry-run`: what a run would ask of which vendor and at what cost, without any call.

use serde::Serialize;

use crate::benchmark::run::{Arm, ArmTerms, RunTerms};
use crate::commands::face::answer::write_text;
use crate::commands::face::batch::{
    ModelFigures, PartFigures, cost_line, model_figures, model_lines,
};
use crate::commands::flags::AnswerFormat;
use crate::error::{Error, Exit};
use crate::session::batch::estimate::BatchEstimate;
use crate::session::benchmark::arms::ArmTemplates;
use crate::terminal::output::format::count;
use crate::terminal::output::printer::Printer;
use crate::text::clean::{clean, pretty_json};

use super::flags::ReportFlags;

/// What a run would ask: one attempt of each case run, and its grading. Nothing is sent.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct PreviewedRun<'a> {
    #[cfg_attr(test, schemars(extend("const" = "1.0")))]
    schema_version: &'static str,
    terms: &'a RunTerms,
    #[serde(flatten)]
    total: PartFigures,
    /// In alphabetical order.
    by_model: Vec<ModelFigures<'a>>,
    /// What the cost gate would do, in words.
    decision: &'static str,
    #[serde(skip)]
    estimate: &'a BatchEstimate,
}

impl<'a> PreviewedRun<'a> {
    pub(super) fn of(
        terms: &'a RunTerms,
        arms: &'a ArmTemplates,
        estimate: &'a BatchEstimate,
        decision: &'static str,
    ) -> Self {
        Self {
            schema_version: "1.0",
            terms,
            total: PartFigures::of(estimate.calls, &estimate.total),
            by_model: model_figures(estimate, arms.templates()),
            decision,
            estimate,
        }
    }
}

/// Shows the run.
pub(super) fn show(
    run: &PreviewedRun<'_>,
    flags: &ReportFlags,
    printer: &Printer,
) -> Result<Exit, Error> {
    let text = match flags.format() {
        AnswerFormat::Json => pretty_json(run).map_err(Error::failed)? + "\n",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_published() {
        crate::schema::check::<PreviewedRun<'_>>(
            "benchmark_dry_run",
            "What `conclave benchmark SUITE --dry-run --json` prints",
        );
    }
}
