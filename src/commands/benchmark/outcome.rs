//! The end of a run: its report, and the exit code.

use std::path::Path;

use crate::benchmark::junit::junit;
use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::run::{Arm, RunId};
use crate::benchmark::state::BenchmarkStatus;
use crate::commands::face::answer::{self, AnswerSource, check_output};
use crate::commands::flags::AnswerFormat;
use crate::config::env::Environment;
use crate::domain::text::pretty_json;
use crate::error::{Error, Exit};
use crate::files::write::{Access, write_atomically};
use crate::stopping::batch::reason::{StopCondition, StopReason};
use crate::terminal::output::printer::Printer;
use crate::terminal::report::benchmark::{markdown, page};
use crate::terminal::tables::benchmark::screen;

use super::flags::ReportFlags;

/// Checks before anything is spent that the report can be written.
pub(super) fn check_outputs(flags: &ReportFlags) -> Result<(), Error> {
    check_output(flags.output.as_deref())?;
    check_output(flags.junit.as_deref())
}

/// Prints the report, and writes the files that are asked for.
pub(super) fn show(
    report: &BenchmarkReport,
    flags: &ReportFlags,
    environment: &Environment,
    printer: &Printer,
) -> Result<(), Error> {
    if let Some(path) = &flags.junit {
        write_junit(report, path, printer)?;
    }
    let format = flags.format();
    let traits = printer.out_traits();
    let pager = flags.pager.pager(environment);
    if format == AnswerFormat::Markdown && flags.output.is_none() && traits.is_terminal {
        let screen = screen(report, traits.width, traits.paint);
        return pager.result(&screen, printer).map_err(Error::failed);
    }
    let source = AnswerSource {
        markdown: &markdown(report),
        summary: None,
        json: &|| pretty_json(report).map_err(Error::failed),
        html: &|| page(report),
        noun: "Report",
    };
    answer::write(&source, format, flags.output.as_deref(), &pager, printer)
}

fn write_junit(report: &BenchmarkReport, path: &Path, printer: &Printer) -> Result<(), Error> {
    write_atomically(path, junit(report).as_bytes(), Access::Normal).map_err(Error::failed)?;
    printer.note(&format!("JUnit results written to {}", path.display()));
    Ok(())
}

/// Returns the exit code of a run whose report was shown.
pub(super) fn exit(report: &BenchmarkReport, flags: &ReportFlags) -> Result<Exit, Error> {
    if report.run_status != BenchmarkStatus::Complete {
        return Err(stopped(report));
    }
    check_accuracy(report, flags)
}

/// Fails below the share of `--fail-under`: of the panel, or of the single model if it is alone.
pub(super) fn check_accuracy(report: &BenchmarkReport, flags: &ReportFlags) -> Result<Exit, Error> {
    let Some(least) = flags.fail_under else {
        return Ok(Exit::Answer);
    };
    let measured = report
        .arms
        .iter()
        .find(|arm| arm.arm == Arm::Panel)
        .or(report.arms.first());
    let accuracy = measured.and_then(|arm| arm.accuracy.as_ref());
    match accuracy.map(|accuracy| accuracy.share) {
        Some(share) if share >= least => Ok(Exit::Answer),
        Some(share) => Err(Error::failed(format!(
            "{:.1}% of the answers are right, which is below {:.1}% (`--fail-under`)",
            share * 100.0,
            least * 100.0
        ))),
        None => Err(Error::failed("no case has a result (`--fail-under`)")),
    }
}

/// Explains why a run ended before its last case, and how to resume it.
fn stopped(report: &BenchmarkReport) -> Error {
    let resume = format!("conclave benchmark --resume {}", report.run_id);
    let Some(StopReason {
        condition, message, ..
    }) = &report.stop_reason
    else {
        return Error::new(Exit::Stopped, "the run ended before its last case")
            .hint(format!("resume it with `{resume}`"));
    };
    let exit = match condition {
        StopCondition::Interrupted => Exit::Interrupted,
        StopCondition::CostCeiling | StopCondition::MonthlyBudget => Exit::Ceiling,
        StopCondition::Authentication
        | StopCondition::Quota
        | StopCondition::ProbeFailed
        | StopCondition::ProviderOutage
        | StopCondition::AttemptBudget
        | StopCondition::ConsecutiveFails
        | StopCondition::RejectRate
        | StopCondition::RetryRate
        | StopCondition::Unanswered => Exit::Stopped,
    };
    let cause = match &report.stop_error {
        Some(error) => format!("; the last error: {error}"),
        None => String::new(),
    };
    let error = Error::new(exit, format!("the run is stopped: {message}{cause}"));
    if !report.merged_from.is_empty() {
        return error.hint(
            "resume the runs that it was merged from, and merge them again: `conclave benchmark \
             list`",
        );
    }
    match condition {
        StopCondition::CostCeiling => error.hint(format!(
            "resume it with a higher ceiling: `{resume} --max-cost USD`"
        )),
        StopCondition::MonthlyBudget => error
            .hint("raise `monthly_budget` in config.json, or wait for the next month")
            .hint(format!("then resume it with `{resume}`")),
        StopCondition::Authentication | StopCondition::Quota => error
            .hint("check keys and vendors with `conclave doctor`")
            .hint(format!("then resume it with `{resume}`")),
        StopCondition::Interrupted
        | StopCondition::ProbeFailed
        | StopCondition::ProviderOutage
        | StopCondition::AttemptBudget
        | StopCondition::ConsecutiveFails
        | StopCondition::RejectRate
        | StopCondition::RetryRate
        | StopCondition::Unanswered => error.hint(format!("resume it with `{resume}`")),
    }
}

/// Says where a run that ends here can be resumed, for a failure that is not its own.
pub(super) fn resumable(error: Error, run: &RunId) -> Error {
    error.hint(format!(
        "resume it with `conclave benchmark --resume {run}`"
    ))
}
