//! The end of a loop: its summary, its diff or its JSON, and the exit code.

use crate::commands::exit_of_loop;
use crate::commands::face::batch::{CHECK_KEYS, RAISE_MONTH};
use crate::error::{Error, Exit};
use crate::records::refinements::SpecFile;
use crate::refinement::event::StopCause;
use crate::refinement::report::RefinementReport;
use crate::refinement::state::{LoopPhase, RefinementLoop, RefinementState};
use crate::stopping::evaluation::{Class, Evaluation};
use crate::terminal::document::screen;
use crate::terminal::output::printer::Verbosity;
use crate::terminal::output::unified_diff::unified_diff;
use crate::terminal::report::refinement_summary::{LoopPlaces, decision, summary};

use super::files::{display, read_text};
use super::prepare::Starting;
use super::shell_word;
use super::target::Target;

/// Prints what a loop has come to, and returns its exit code.
///
/// # Errors
///
/// When the loop can be resumed; the error says how.
pub(super) fn end(starting: &Starting<'_>, state: &RefinementState) -> Result<Exit, Error> {
    let (output, app) = (&starting.args.output, starting.app);
    let (environment, printer) = (app.environment, app.printer);
    let refined = state.current();
    let is_text = !output.diff && !output.json.is_json();
    if output.diff {
        printer.exact_result(&diff(starting, refined)?)?;
    } else if output.json.is_json() {
        printer.json(&RefinementReport::of(refined))?;
    } else {
        let traits = printer.out_traits();
        let width = traits.is_terminal.then_some(traits.width);
        let mut places = places(starting, refined);
        if printer.verbosity() == Verbosity::Quiet {
            places.next.clear();
        }
        let screen = screen(&summary(refined, &places), width, traits.paint);
        output.pager.pager(environment).result(&screen, printer)?;
    }
    let (cause, message) = match &refined.phase {
        LoopPhase::Stopped { cause, message } => (*cause, message.as_str()),
        LoopPhase::Open => (StopCause::Interrupt, "it was interrupted"),
        LoopPhase::Ended => {
            if !is_text {
                // The result does not say it to people.
                printer.note(&decision(refined));
            }
            let class = refined.evaluation().and_then(Evaluation::class);
            return Ok(class.map_or(Exit::Failed, |class| exit_of_loop(class, Exit::Answer)));
        }
    };
    let read = starting.target.working_file(Some(refined));
    Err(stopped(cause, message, read))
}

/// Explains why a loop stopped before its end, and how it continues. `read` is the file that its
/// iteration works on.
fn stopped(cause: StopCause, message: &str, read: &SpecFile) -> Error {
    let (exit, remedy) = match cause {
        StopCause::Interrupt => (Exit::Interrupted, None),
        StopCause::CostCeiling => (Exit::Ceiling, None),
        StopCause::MonthlyBudget => (Exit::Ceiling, Some(RAISE_MONTH)),
        StopCause::Authentication | StopCause::Quota => (Exit::Failed, Some(CHECK_KEYS)),
        StopCause::NoAnswer => {
            let remedy = "choose models that keep a form: `--panel NAME`, `--judge MODEL`";
            (Exit::Failed, Some(remedy))
        }
        StopCause::DocumentChanged => (Exit::Failed, None),
    };
    let error = Error::new(exit, format!("the loop is stopped: {message}"));
    match (cause, remedy) {
        (StopCause::DocumentChanged, _) => error
            .hint(format!("`{}` is as you saved it", display(read)))
            .hint("merge what was found into it with the same command"),
        (StopCause::CostCeiling, _) => {
            error.hint("resume it with the same command and a higher ceiling: `--max-cost USD`")
        }
        (_, remedy) => error.hint_if(remedy).hint(RESUME),
    }
}

/// How many iterations the next step adds to a loop that has used up its own.
const MORE_ITERATIONS: u64 = 3;

pub(super) const RESUME: &str =
    "resume it with the same command: what was answered is not asked again";

/// Returns the changes of the whole loop.
fn diff(starting: &Starting<'_>, refined: &RefinementLoop) -> Result<String, Error> {
    let target = &starting.target;
    let original = starting.store.original(refined.original());
    let mut before = original.map(|original| original.text).ok_or_else(|| {
        let folder = starting.store.files.folder.display();
        Error::failed("the text that the loop changed first is not there any more")
            .hint(format!("see what was changed in `{folder}/changes.md`"))
    })?;
    let mut after = match refined.last_written() {
        Some(_) => read_text(&target.output)?,
        None => before.clone(),
    };
    starting.mask.apply([&mut before, &mut after]);
    let paint = starting.app.printer.out_traits().paint;
    let names = (display(&target.source), display(&target.output));
    Ok(unified_diff((&names.0, &before), (&names.1, &after), paint))
}

fn places(starting: &Starting<'_>, refined: &RefinementLoop) -> LoopPlaces {
    let target = &starting.target;
    let files = &starting.store.files;
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
    let command = target.command();
    let document = display(&target.output);
    let again = format!("conclave refine {} --in-place", shell_word(&document));
    let evaluation = refined.evaluation();
    let class = evaluation.and_then(Evaluation::class);
    match (&refined.phase, class) {
        (LoopPhase::Ended, Some(Class::Done | Class::Converged)) => vec![(
            "See what has changed".to_owned(),
            format!("{command} --diff"),
        )],
        (LoopPhase::Ended, Some(Class::Exhausted)) => {
            let iterations = refined.criteria.max_iterations + MORE_ITERATIONS;
            vec![(
                "Read what is open, and continue with more iterations".to_owned(),
                format!("{command} --max-iterations {iterations}"),
            )]
        }
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
