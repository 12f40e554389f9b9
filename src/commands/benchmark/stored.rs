//! The sub-commands on stored runs: list, report and merge. Also finds the run that a person names,
//! and ends a run with its report and exit code.

use std::path::Path;

use serde::Serialize;

use super::flags::ReportFlags;
use crate::benchmark::junit::junit;
use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::run::{Arm, RunId};
use crate::benchmark::state::{BenchmarkStateView, BenchmarkStatus};
use crate::commands::App;
use crate::commands::completions::ids;
use crate::commands::face::answer::{self, AnswerText, check_output};
use crate::commands::face::batch::{CHECK_KEYS, RAISE_MONTH};
use crate::config::paths::Home;
use crate::domain::ids::short_id;
use crate::error::{Error, Exit, whole};
use crate::files::log::LogError;
use crate::files::write::{Access, write_atomically};
use crate::records::lookup::LookupError;
use crate::records::runs::{RunStore, StoredRun};
use crate::session::benchmark::merge::merge;
use crate::stopping::batch::reason::{BatchStopReason, StopCondition};
use crate::terminal::output::format::{amount, count};
use crate::terminal::report::benchmark::{markdown, page, summary};
use crate::text::clean::{clean, pretty_json};

/// Runs that an error lists.
const MAX_LISTED: usize = 5;

/// List runs, newest first
#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// Write JSON
    #[arg(long)]
    json: bool,
}

/// Print the report of a run, in any format
#[derive(Debug, clap::Args)]
pub(super) struct ReportArgs {
    /// The run: its id, a unique prefix, its folder, or `last`
    #[arg(default_value = "last", value_name = "RUN", add = ids::runs())]
    run: String,

    #[command(flatten)]
    pub(super) output: ReportFlags,
}

/// Put runs of parts of one suite together, as one run with all results
#[derive(Debug, clap::Args)]
pub(super) struct MergeArgs {
    /// The runs: their ids, unique prefixes, or folders
    #[arg(required = true, num_args = 2.., value_name = "RUN", add = ids::runs())]
    runs: Vec<String>,

    /// Merge them although parts of the suite are missing
    #[arg(long)]
    partial: bool,

    #[command(flatten)]
    pub(super) output: ReportFlags,
}

/// A run in the list, which begins with the newest.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ListedRun {
    /// The name of the suite.
    suite: String,
    /// The known cost so far, unfinished case runs included.
    #[cfg_attr(test, schemars(range(min = 0)))]
    cost_usd: f64,
    #[serde(flatten)]
    view: BenchmarkStateView,
}

pub(super) fn list(args: &ListArgs, app: App<'_>) -> Result<Exit, Error> {
    let store = store(&app.home()?);
    let mut runs: Vec<StoredRun> = Vec::new();
    for id in &store.newest_first().map_err(Error::failed)? {
        match store.load(id) {
            Ok(run) => runs.push(run),
            Err(error) => app.printer.warning(&format!("{id}: {}", whole(&error))),
        }
    }
    if args.json {
        let listed = runs.iter().map(|run| ListedRun {
            suite: run.state.begun.terms.suite.name.clone(),
            cost_usd: run.state.spend().cost.known.usd(),
            view: run.view(),
        });
        app.printer.json(&listed.collect::<Vec<_>>())?;
    } else if runs.is_empty() {
        app.printer
            .note("There are no runs yet. Begin one with `conclave benchmark SUITE`.");
    } else {
        let lines: Vec<String> = runs.iter().map(line).collect();
        app.printer.result(&(lines.join("\n") + "\n"))?;
    }
    Ok(Exit::Answer)
}

/// `bench-01k…  complete   starter  60 of 60 cases  $0.42`.
fn line(run: &StoredRun) -> String {
    let state = &run.state;
    let done = state.results.len() as u64;
    format!(
        "{}  {:<11}  {}  {done} of {}  {}",
        state.begun.run,
        run.status.name(),
        clean(&state.begun.terms.suite.name),
        count(done + state.workload().remaining, "case run"),
        amount(state.spend().cost)
    )
}

pub(super) fn report(args: &ReportArgs, app: App<'_>) -> Result<Exit, Error> {
    check_outputs(&args.output)?;
    let store = store(&app.home()?);
    let stored = store.load(&find(&store, &args.run)?)?;
    let report = BenchmarkReport::of(&stored.state, stored.view());
    show(&report, &args.output, app)?;
    check_accuracy(&report, &args.output)
}

pub(super) fn merge_runs(args: &MergeArgs, app: App<'_>) -> Result<Exit, Error> {
    check_outputs(&args.output)?;
    let store = store(&app.home()?);
    let mut parts: Vec<StoredRun> = Vec::new();
    for name in &args.runs {
        parts.push(load_anywhere(&store, name)?);
    }
    let id = RunId::from_unique(&ulid::Ulid::generate().to_string());
    let merged = merge(id.clone(), &parts)?;
    if let Some(missing) = merged.missing.as_ref().filter(|_| !args.partial) {
        let error = Error::failed(format!("there is no run of {missing}"));
        return Err(error.hint("merge all parts, or leave these out with `--partial`"));
    }
    let now = app.clock.now();
    let mut run = store.create(now, merged.begun)?;
    for event in merged.events {
        run.record(now, event)?;
    }
    app.printer
        .note(&format!("{} runs are merged as {id}", parts.len()));
    if let Some(missing) = &merged.missing {
        app.printer
            .warning(&format!("the report lacks the cases of {missing}"));
    }
    let state = run.state();
    let report = BenchmarkReport::of(state, state.view(state.status()));
    show(&report, &args.output, app)?;
    exit(&report, &args.output)
}

pub(super) fn store(home: &Home) -> RunStore {
    RunStore::in_folder(home.runs_folder())
}

/// By its id, a unique prefix, its folder, or `last`.
pub(super) fn find(store: &RunStore, name: &str) -> Result<RunId, Error> {
    let found = store.find(name).map_err(Error::usage)?;
    found.map_err(|error| match &error {
        LookupError::NotFound if name == "last" => {
            Error::usage("there are no runs yet").hint("begin one with `conclave benchmark SUITE`")
        }
        LookupError::NotFound => Error::usage(format!("there is no run `{name}`"))
            .hint("list the runs with `conclave benchmark list`"),
        LookupError::Ambiguous(runs) => {
            let named: Vec<&str> = runs.iter().take(MAX_LISTED).map(RunId::as_str).collect();
            Error::usage(format!("`{name}` could be several runs"))
                .hint(format!("name one of them: {}", named.join(", ")))
        }
    })
}

fn load_anywhere(store: &RunStore, name: &str) -> Result<StoredRun, Error> {
    let log = Path::new(name).join("log.jsonl");
    Ok(if log.is_file() {
        RunStore::load_log(&log)?
    } else {
        store.load(&find(store, name)?)?
    })
}

impl From<LogError> for Error {
    fn from(error: LogError) -> Self {
        match &error {
            LogError::Busy(_) | LogError::NoLocks { .. } => {
                Self::usage(error).hint("wait until that process has ended, or end it")
            }
            LogError::Write(_) | LogError::Misfit { .. } => Self::failed(error),
            _ => Self::usage(error),
        }
    }
}

/// Checks before anything is spent that the report can be written.
pub(super) fn check_outputs(flags: &ReportFlags) -> Result<(), Error> {
    check_output(flags.output.as_deref())?;
    check_output(flags.junit.as_deref())
}

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
    let source = AnswerText {
        markdown: &markdown(report),
        summary: Some(&summary(report)),
        json: &|| pretty_json(report).map_err(Error::failed),
        html: &|| page(report),
        noun: "Report",
    };
    answer::write(&source, format, flags.output.as_deref(), &pager, printer)
}

pub(super) fn exit(report: &BenchmarkReport, flags: &ReportFlags) -> Result<Exit, Error> {
    if report.run_status != BenchmarkStatus::Complete {
        return Err(stopped(report));
    }
    check_accuracy(report, flags)
}

/// Of the panel, or of the single model if it is alone.
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

fn stopped(report: &BenchmarkReport) -> Error {
    let run = short_id(report.run_id.as_str());
    let resume = format!("conclave benchmark --resume {run}");
    let Some(BatchStopReason {
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
    let run = short_id(run.as_str());
    error.hint(format!(
        "resume it with `conclave benchmark --resume {run}`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_published() {
        crate::schema::check::<Vec<ListedRun>>(
            "benchmark_list",
            "What `conclave benchmark list --json` prints",
        );
    }
}
