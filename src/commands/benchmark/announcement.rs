//! What is said before a run: its cases, its arms, what is masked, and what it costs.

use crate::benchmark::run::{Arm, ArmTerms, RunTerms};
use crate::commands::face::scrubbing::announce;
use crate::domain::text::clean;
use crate::session::batch::estimate::BatchEstimate;
use crate::session::benchmark::arms::ArmTemplates;
use crate::setup::panel::SMALL_PANEL;
use crate::setup::plan::template::PlanTemplate;
use crate::terminal::output::format::{cost_range, count, dollars, thousands};
use crate::terminal::output::printer::Printer;

/// Prints what is about to run.
pub(super) fn announce_run(terms: &RunTerms, printer: &Printer) {
    let part = match terms.partition {
        Some(partition) => format!(", part {partition}"),
        None => String::new(),
    };
    let repeated = match terms.repetitions {
        1 => String::new(),
        times => format!(", {times} times each"),
    };
    printer.note(&format!(
        "Benchmark {}: {}{repeated}{part}",
        clean(&terms.suite.name),
        count(terms.cases.len(), "case"),
    ));
    for arm in &terms.arms {
        printer.note(&format!("  {}", arm_line(arm)));
    }
}

/// Prints the notices of the arms, and what is masked in the cases.
pub(super) fn announce_arms(arms: &ArmTemplates, estimate: &BatchEstimate, printer: &Printer) {
    let mut notices: Vec<&String> = Vec::new();
    let panel = arms.of(Arm::Panel).map(PlanTemplate::common);
    for notice in arms.plans().flat_map(|plan| &plan.notices) {
        // A model that answers or grades alone is no small panel.
        let is_meant = !notice.ends_with(SMALL_PANEL)
            || panel.is_some_and(|panel| panel.notices.contains(notice));
        if is_meant && !notices.contains(&notice) {
            notices.push(notice);
        }
    }
    for notice in notices {
        printer.note(&format!("  {notice}"));
    }
    announce(&estimate.masked, &estimate.findings, printer);
}

/// Prints the number of calls and what they cost.
pub(super) fn announce_cost(estimate: &BatchEstimate, printer: &Printer) {
    let total = &estimate.total;
    printer.note(&format!(
        "Estimate: {} calls, {}",
        thousands(estimate.calls),
        cost_range(total.low, total.cost, total.high, dollars)
    ));
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
