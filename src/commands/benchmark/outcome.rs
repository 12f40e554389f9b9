//! The end of a run: its report, and the exit code.

use crate::benchmark::junit::junit;
use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::run::{Arm, RunId};
use crate::benchmark::state::BenchmarkStatus;
use crate::commands::App;
use crate::commands::face::answer::{self, AnswerSource, check_output};
use crate::commands::face::batch::{CHECK_KEYS, RAISE_MONTH};
use crate::error::{Error, Exit};
use crate::files::write::{Access, write_atomically};
use crate::stopping::batch::reason::{StopCondition, StopReason};
use crate::terminal::report::benchmark::{markdown, page, summary};
use crate::text::clean::pretty_json;

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
    app: App<'_>,
) -> Result<(), Error> {
    let printer = app.printer;
    if let Some(path) = &flags.junit {
        write_atomically(path, junit(report).as_bytes(), Access::Normal).map_err(Error::failed)?;
        printer.note(&format!("JUnit results written to {}", path.display()));
    }
    let format = flags.format();
    let pager = flags.pager.pager(app.environment);
    let source = AnswerSource {
        markdown: &markdown(report),
        summary: Some(&summary(report)),
        json: &|| pretty_json(report).map_err(Error::failed),
        html: &|| page(report),
        noun: "Report",
    };
    answer::write(&source, format, flags.output.as_deref(), &pager, printer)
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
    let panel = report.arms.iter().find(|arm| arm.arm == Arm::Panel);
    let measured = panel.or(report.arms.first());
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
    let (exit, remedy) = match condition {
        StopCondition::Interrupted => (Exit::Interrupted, None),
        StopCondition::CostCeiling => (Exit::Ceiling, None),
        StopCondition::MonthlyBudget => (Exit::Ceiling, Some(RAISE_MONTH)),
        StopCondition::Authentication | StopCondition::Quota => (Exit::Stopped, Some(CHECK_KEYS)),
        StopCondition::ProbeFailed
        | StopCondition::ProviderOutage
        | StopCondition::AttemptBudget
        | StopCondition::ConsecutiveFails
        | StopCondition::RejectRate
        | StopCondition::RetryRate
        | StopCondition::Unanswered => (Exit::Stopped, None),
    };
    let cause = report.stop_error.as_ref();
    let cause = cause.map(|error| format!("; the last error: {error}"));
    let error = format!("the run is stopped: {message}{}", cause.unwrap_or_default());
    let error = Error::new(exit, error);
    if !report.merged_from.is_empty() {
        return error.hint(
            "resume the runs that it was merged from, and merge them again: `conclave benchmark \
             list`",
        );
    }
    match (condition, remedy) {
        (StopCondition::CostCeiling, _) => error.hint(format!(
            "resume it with a higher ceiling: `{resume} --max-cost USD`"
        )),
        (_, Some(remedy)) => error
            .hint(remedy)
            .hint(format!("then resume it with `{resume}`")),
        (_, None) => error.hint(format!("resume it with `{resume}`")),
    }
}

/// Says where a run that ends here can be resumed, for a failure that is not its own.
pub(super) fn resumable(error: Error, run: &RunId) -> Error {
    error.hint(format!(
        "resume it with `conclave benchmark --resume {run}`"
    ))
}
