//! The end of a loop: its summary, its diff or its JSON, and the exit code.

use crate::error::{Error, Exit};
use crate::records::refinements::SpecFile;
use crate::refinement::event::StopCause;
use crate::refinement::report::RefinementReport;
use crate::refinement::state::{LoopPhase, RefinementLoop, RefinementState};
use crate::stopping::evaluation::{Class, Evaluation};
use crate::terminal::output::printer::Verbosity;
use crate::terminal::output::unified_diff::unified_diff;
use crate::terminal::tables::refinement::{LoopPlaces, decision, screen};

use super::files::{display, read_text};
use super::flags::RefineFormat;
use super::prepare::Starting;
use super::target::Target;
use super::{RefineCommand, shell_word};

/// Prints what a loop has come to.
pub(super) fn show(
    command: &RefineCommand<'_>,
    starting: &Starting,
    state: &RefinementState,
) -> Result<(), Error> {
    let RefineCommand {
        args,
        environment,
        printer,
    } = *command;
    let refined = state.current();
    if args.output.diff {
        let diff = diff(command, starting, refined)?;
        return printer.exact_result(&diff).map_err(Error::failed);
    }
    match args.output.format() {
        RefineFormat::Json => printer
            .json(&RefinementReport::of(refined))
            .map_err(Error::failed),
        RefineFormat::Text => {
            let traits = printer.out_traits();
            let width = traits.is_terminal.then_some(traits.width);
            let mut places = places(starting, refined);
            if printer.verbosity() == Verbosity::Quiet {
                places.next.clear();
            }
            let screen = screen(refined, &places, width, traits.paint);
            let pager = args.output.pager.pager(environment);
            pager.result(&screen, printer).map_err(Error::failed)
        }
    }
}

/// Returns the exit code of a loop whose result was shown.
///
/// # Errors
///
/// When the loop can be resumed; the error says how.
pub(super) fn exit(
    command: &RefineCommand<'_>,
    starting: &Starting,
    state: &RefinementState,
) -> Result<Exit, Error> {
    let refined = state.current();
    let (cause, message) = match &refined.phase {
        LoopPhase::Stopped { cause, message } => (*cause, message.clone()),
        LoopPhase::Open => (StopCause::Interrupt, "it was interrupted".to_owned()),
        LoopPhase::Ended => {
            let is_text = args_show_text(command);
            if !is_text {
                // The result does not say it to people.
                command.printer.note(&decision(refined));
            }
            let evaluation = refined.evaluation();
            return Ok(exit_of(evaluation.and_then(Evaluation::class)));
        }
    };
    let read = starting.target.working_file(Some(refined));
    Err(stopped(cause, &message, read))
}

fn args_show_text(command: &RefineCommand<'_>) -> bool {
    let output = command.args.output;
    !output.diff && output.format() == RefineFormat::Text
}

fn exit_of(class: Option<Class>) -> Exit {
    match class {
        Some(Class::Done | Class::Converged) => Exit::Answer,
        Some(Class::NeedsHuman) => Exit::NeedsHuman,
        Some(Class::Stalled) => Exit::Stalled,
        Some(Class::Exhausted) => Exit::Exhausted,
        Some(Class::Halted) => Exit::Halted,
        Some(Class::Cancelled) => Exit::Interrupted,
        None => Exit::Failed,
    }
}

/// Explains why a loop stopped before its end, and how it continues. `read` is the file that its
/// iteration works on.
fn stopped(cause: StopCause, message: &str, read: &SpecFile) -> Error {
    let exit = match cause {
        StopCause::Interrupt => Exit::Interrupted,
        StopCause::CostCeiling | StopCause::MonthlyBudget => Exit::Ceiling,
        StopCause::Authentication
        | StopCause::Quota
        | StopCause::NoAnswer
        | StopCause::DocumentChanged => Exit::Failed,
    };
    let error = Error::new(exit, format!("the loop is stopped: {message}"));
    match cause {
        StopCause::Interrupt => error.hint(RESUME),
        StopCause::NoAnswer => error
            .hint("choose models that keep a form: `--panel NAME`, `--judge MODEL`")
            .hint(RESUME),
        StopCause::DocumentChanged => error
            .hint(format!("`{}` is as you saved it", display(read)))
            .hint("merge what was found into it with the same command"),
        StopCause::CostCeiling => {
            error.hint("resume it with the same command and a higher ceiling: `--max-cost USD`")
        }
        StopCause::MonthlyBudget => error
            .hint("raise `monthly_budget` in config.json, or wait for the next month")
            .hint(RESUME),
        StopCause::Authentication | StopCause::Quota => error
            .hint("check keys and vendors with `conclave doctor`")
            .hint(RESUME),
    }
}

/// How many iterations the next step adds to a loop that has used up its own.
const MORE_ITERATIONS: u64 = 3;

const RESUME: &str = "resume it with the same command: what was answered is not asked again";

/// Says that a loop which failed in the middle can be resumed.
pub(super) fn resumable(error: Error) -> Error {
    error.hint(RESUME)
}

/// Returns the changes of the whole loop.
fn diff(
    command: &RefineCommand<'_>,
    starting: &Starting,
    refined: &RefinementLoop,
) -> Result<String, Error> {
    let target = &starting.target;
    let original = starting.store.original(refined.original());
    let before = original.map(|original| original.text).ok_or_else(|| {
        let folder = starting.store.files().folder.display();
        Error::failed("the text that the loop changed first is not there any more")
            .hint(format!("see what was changed in `{folder}/changes.md`"))
    })?;
    let after = match refined.last_written() {
        Some(_) => read_text(&target.output)?,
        None => before.clone(),
    };
    let paint = command.printer.out_traits().paint;
    let names = (display(&target.source), display(&target.output));
    Ok(unified_diff((&names.0, &before), (&names.1, &after), paint))
}

fn places(starting: &Starting, refined: &RefinementLoop) -> LoopPlaces {
    let target = &starting.target;
    let files = starting.store.files();
    let original = starting.store.original(refined.original());
    let written = refined.last_written().map(|_| display(&target.output));
    LoopPlaces {
        document: written.unwrap_or_else(|| "not written yet".to_owned()),
        changes: files.changes.display().to_string(),
        original: original.map(|original| original.path.display().to_string()),
        log: files.log.display().to_string(),
        next: next_steps(target, refined),
    }
}

/// Returns what a person can do after the end of a loop.
fn next_steps(target: &Target, refined: &RefinementLoop) -> Vec<(String, String)> {
    let source = shell_word(&display(&target.source));
    let document = display(&target.output);
    let again = format!("conclave refine {} --in-place", shell_word(&document));
    let evaluation = refined.evaluation();
    let class = evaluation.and_then(Evaluation::class);
    match (&refined.phase, class) {
        (LoopPhase::Ended, Some(Class::Done | Class::Converged)) => vec![(
            "See what has changed".to_owned(),
            format!("conclave refine {source} --diff"),
        )],
        (LoopPhase::Ended, Some(Class::Exhausted)) => vec![(
            "Read what is open, and continue with more iterations".to_owned(),
            format!(
                "conclave refine {source} --max-iterations {}",
                refined.criteria.max_iterations + MORE_ITERATIONS
            ),
        )],
        (LoopPhase::Ended, Some(Class::NeedsHuman)) => vec![(
            format!("Decide the questions with [DEFERRED] in {document}, then continue"),
            again,
        )],
        (LoopPhase::Ended, Some(Class::Stalled | Class::Halted | Class::Cancelled)) => vec![(
            format!("Edit what is open in {document}, then continue"),
            again,
        )],
        (LoopPhase::Ended, None) | (LoopPhase::Open | LoopPhase::Stopped { .. }, _) => Vec::new(),
    }
}
