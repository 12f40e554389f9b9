//! The real run: says where it writes, asks for consent, begins or resumes the loop, drives it with
//! its progress on standard error, and shows how it ended: its summary, its diff or its JSON.

use std::path::Path;

use super::files::{display, warn_of_unlisted};
use super::prepare::{LoopLeft, Prepared, Starting};
use super::target::{LoopEntry, Target};
use super::{Args, dry_run, shell_word};
use crate::benchmark::run::Arm;
use crate::commands::face::batch::{
    ApprovedBatch, CHECK_KEYS, RAISE_MONTH, arm_line, cost_line, spent_so_far,
};
use crate::commands::face::consent::announce;
use crate::commands::flags::check_place;
use crate::commands::{App, exit_of_loop};
use crate::domain::hash::sha256;
use crate::error::{Error, Exit};
use crate::files::{self, SizeLimit};
use crate::records::refinements::claims::claim;
use crate::records::refinements::{LockedRefinement, RefinementStoreError, SpecFile};
use crate::refinement::document::SpecDocument;
use crate::refinement::event::{RefinementEventKind, StopCause};
use crate::refinement::report::RefinementReport;
use crate::refinement::state::{LoopPhase, RefinementLoop, RefinementState};
use crate::session::batch::driver::BatchDriver;
use crate::session::batch::elsewhere::{Elsewhere, RunHeld};
use crate::session::benchmark::arms::arm_terms;
use crate::session::refinement::driver::RefinementDriver;
use crate::stopping::evaluation::{Class, Evaluation};
use crate::terminal::document::screen;
use crate::terminal::output::format::count;
use crate::terminal::output::printer::{Printer, Verbosity};
use crate::terminal::output::unified_diff::unified_diff;
use crate::terminal::progress::refinement::RefinementProgress;
use crate::terminal::report::refinement::changes_markdown;
use crate::terminal::report::refinement_summary::{LoopPlaces, decision, summary};
use crate::text::clean::clean;

pub(super) fn run(args: &Args, spec: &Path, app: App<'_>) -> Result<Exit, Error> {
    let printer = app.printer;
    let (starting, locked) = Starting::read(args, spec, app)?;
    let is_dry = args.control.spending.dry_run;
    if let (LoopEntry::Ended, Some(state), false) = (starting.entry, &starting.state, is_dry) {
        printer.note(&ended_line(&starting, state.current()));
        let written = files::read_own(&starting.store.files.changes, SizeLimit::DOCUMENT);
        let is_current = |written: Vec<u8>| written == changes_markdown(state).into_bytes();
        // A full disk may have kept an earlier process from it.
        if !written.is_ok_and(is_current)
            && let Ok(refinement) = starting.store.open(starting.clock.now())
        {
            write_changes(&refinement, printer);
        }
        return show_end(&starting, state);
    }
    starting.check_target()?;
    let before = starting.read_document()?;
    let left = match (starting.left(&before)?, is_dry) {
        (LoopLeft::End(missing), false) => return finish(&starting, locked, missing),
        (left, _) => left,
    };
    let is_over = matches!(left, LoopLeft::End(_));
    let extracted = starting.extracted(&before)?;
    let document = extracted.as_ref().unwrap_or(&before);
    warn_of_unlisted(starting.working_file(), document, printer);
    check_items(&starting, document)?;
    let place = args.fleet.connect(app)?;
    let place = place.as_deref();
    if let Some(resumed) = starting.resumed() {
        let held = held(&starting, resumed);
        check_place(resumed.begun.fleet.as_deref(), place, &held.id)?;
    }
    let prepared = Prepared::of(&starting, left, document, place)?;
    if !is_dry {
        announce_loop(&starting);
    }
    let panel = &prepared.templates.panel.common;
    let line = arm_line(&arm_terms(Arm::Panel, panel));
    printer.note(&format!("  {}", clean(&line)));
    // The model that extracts alone is no small panel: its notices are not meant.
    for notice in &panel.notices {
        printer.note(&format!("  {notice}"));
    }
    let estimate = &prepared.estimate;
    // Without a consultation, nothing was looked at.
    if estimate.total.calls > 0 {
        let total = &estimate.total;
        announce(total.masked.as_ref(), &total.findings, printer);
    }
    if let Some(notice) = &estimate.notice {
        printer.note(notice);
    }
    if is_dry {
        return dry_run::show(&starting, &prepared, &before, is_over);
    }
    printer.note(&cost_line("Estimate of the next iteration", &estimate.next));
    if estimate.iterations > 1 {
        let name = format!("Estimate of at most {} iterations", estimate.iterations);
        printer.note(&cost_line(&name, &estimate.total));
    }
    let batch = prepared.batch(&starting)?;
    let approved = batch.agree()?;
    let refinement = open(&starting, locked, place)?;
    drive(&starting, &prepared, (approved, place), refinement)
}

fn drive(
    starting: &Starting<'_>,
    prepared: &Prepared<'_>,
    (mut approved, place): (ApprovedBatch<'_>, Option<&dyn Elsewhere>),
    refinement: LockedRefinement,
) -> Result<Exit, Error> {
    let printer = starting.app.printer;
    let held = held(starting, refinement.state().current());
    if let Some(place) = place {
        approved = approved.held_by(place, &held)?;
    }
    let progress = RefinementProgress::new(printer);
    let driver = RefinementDriver {
        refinement,
        source: starting.target.source.clone(),
        output: starting.target.output.clone(),
        templates: &prepared.templates,
        batch: BatchDriver {
            planner: &prepared.planner,
            control: prepared.templates.resume_control.clone(),
            jobs: starting.args.questions.jobs(place),
            clock: starting.clock,
        },
        terms: starting.terms,
        mask: starting.mask.clone(),
        progress: &progress,
        changes: changes_markdown,
    };
    let end = approved.drive(async |batch| Box::pin(driver.drive(batch)).await);
    drop(progress);
    let refinement = end.map_err(|error| {
        error.hint(if starting.store.files.log.exists() {
            RESUME
        } else {
            "read what was answered with `conclave history`; a new loop asks again"
        })
    })?;
    if let Some(place) = place {
        let is_complete = refinement.state().current().phase == LoopPhase::Ended;
        place.end(&held, None, is_complete)?;
    }
    show_end(starting, refinement.state())
}

/// The loop of a document has one name elsewhere, from whichever process it is resumed.
fn held(starting: &Starting<'_>, current: &RefinementLoop) -> RunHeld {
    let folder = starting.store.files.folder.to_string_lossy();
    let hash = sha256(&format!("{folder} {}", current.begun_at));
    let hash: String = hash.chars().take(NAME).collect();
    RunHeld {
        id: format!("refine-{hash}"),
        name: display(&starting.target.source),
        total: 0,
        log: None,
    }
}

/// Needs no call, and so no key and no consent.
fn finish(
    starting: &Starting<'_>,
    locked: Option<LockedRefinement>,
    missing: Vec<RefinementEventKind>,
) -> Result<Exit, Error> {
    announce_loop(starting);
    let mut refinement = open(starting, locked, None)?;
    for event in missing {
        refinement.record(starting.clock.now(), event)?;
    }
    write_changes(&refinement, starting.app.printer);
    show_end(starting, refinement.state())
}

fn write_changes(refinement: &LockedRefinement, printer: &Printer) {
    let changes = changes_markdown(refinement.state());
    if let Err(error) = refinement.write_changes(&changes) {
        printer.warning(&format!("Warning: {error}"));
    }
}

/// Every iteration over a document without items would be empty.
fn check_items(starting: &Starting<'_>, document: &SpecDocument) -> Result<(), Error> {
    let counts = document.measure().counts;
    if counts.is_none_or(|counts| counts.total() > 0) {
        return Ok(());
    }
    let source = display(&starting.target.source);
    Err(Error::usage(format!(
        "the sections of `{source}` have no list entries that are claims or open questions"
    ))
    .hint("write each claim and each question as a list entry: `- Where are the keys kept?`"))
}

fn open(
    starting: &Starting<'_>,
    locked: Option<LockedRefinement>,
    place: Option<&dyn Elsewhere>,
) -> Result<LockedRefinement, Error> {
    let (now, text) = (starting.clock.now(), &starting.source_text);
    let (output, source) = (&starting.target.output.path, &starting.target.source.path);
    claim(starting.app.home()?.path(), output, source).map_err(Error::failed)?;
    let Some(mut refinement) = locked else {
        return Ok(starting.store.begin(now, starting.begun(place), text)?);
    };
    if starting.entry != LoopEntry::Resumed {
        refinement.begin(now, starting.begun(place), text)?;
        return Ok(refinement);
    }
    for event in &starting.resumption {
        refinement.record(now, event.clone())?;
    }
    if refinement.state().current().last_written().is_none() {
        // The first merge may be into a text that a person has edited.
        let kept = refinement.keep_original(text);
        kept.map_err(RefinementStoreError::from)?;
    }
    Ok(refinement)
}

fn announce_loop(starting: &Starting<'_>) {
    let printer = starting.app.printer;
    let source = display(&starting.target.source);
    printer.note(&match starting.resumed() {
        None => new_line(&source, starting),
        Some(resumed) => format!(
            "Resuming the loop over {source}: {} done, {}",
            count(resumed.merges().count(), "iteration"),
            spent_so_far(&resumed.spend())
        ),
    });
    printer.note(&format!("  {}", starting.target));
}

/// A person who runs the command again may expect that the last loop continues.
fn new_line(source: &str, starting: &Starting<'_>) -> String {
    let target = &starting.target;
    let ended = starting.earlier();
    let Some(before) = ended else {
        return format!("Refining {source}");
    };
    let line = format!("Refining {source} in a new loop: the last one has ended");
    if target.is_in_place() || before.last_written().is_none() || !target.output.exists() {
        return line;
    }
    let output = display(&target.output);
    format!(
        "{line}\n  It begins with {source} as it is now; to work on {output} instead, run \
         `conclave refine {output} --in-place`"
    )
}

fn ended_line(starting: &Starting<'_>, ended: &RefinementLoop) -> String {
    let Target { source, output, .. } = &starting.target;
    let class = ended.evaluation().and_then(Evaluation::class);
    let what = if class.is_some_and(Class::is_success) {
        format!("{} has converged", display(output))
    } else {
        let source = display(source);
        format!("The loop over {source} has ended, and nothing has changed since")
    };
    format!("{what}; begin a new loop with `--restart`")
}

/// Prints what a loop has come to, and returns its exit code.
///
/// # Errors
///
/// When the loop can be resumed; the error says how.
fn show_end(starting: &Starting<'_>, state: &RefinementState) -> Result<Exit, Error> {
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

/// `read` is the file that its iteration works on.
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

/// Characters that tell the loops of a fleet apart.
const NAME: usize = 26;

const RESUME: &str = "resume it with the same command: what was answered is not asked again";

fn diff(starting: &Starting<'_>, refined: &RefinementLoop) -> Result<String, Error> {
    let target = &starting.target;
    let original = starting.store.original(refined.original());
    let mut before = original.map(|original| original.text).ok_or_else(|| {
        let folder = starting.store.files.folder.display();
        Error::failed("the text from before the first change no longer exists")
            .hint(format!("see what was changed in `{folder}/changes.md`"))
    })?;
    let mut after = match refined.last_written() {
        Some(_) => target.output.read()?,
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
    let shown = |path: &Path| path.display().to_string();
    let document = written.unwrap_or_else(|| "not written yet".to_owned());
    let mut places = vec![("Document", document), ("Changes", shown(&files.changes))];
    places.extend(original.map(|original| ("Original", shown(&original.path))));
    places.push(("Log", shown(&files.log)));
    LoopPlaces {
        files: places,
        next: next_steps(target, refined),
    }
}

fn next_steps(target: &Target, refined: &RefinementLoop) -> Vec<(String, String)> {
    let command = target.command();
    let document = display(&target.output);
    let again = format!("conclave refine {} --in-place", shell_word(&document));
    let evaluation = refined.evaluation();
    let class = evaluation.and_then(Evaluation::class);
    let (what, command) = match class.filter(|_| refined.phase == LoopPhase::Ended) {
        Some(Class::Done | Class::Converged) => (
            "See what has changed".to_owned(),
            format!("{command} --diff"),
        ),
        Some(Class::Exhausted) => {
            let iterations = refined.criteria.max_iterations + MORE_ITERATIONS;
            let what = "Read what is open, and continue with more iterations";
            (
                what.to_owned(),
                format!("{command} --max-iterations {iterations}"),
            )
        }
        Some(Class::NeedsHuman) => {
            let what = format!("Decide the questions with [DEFERRED] in {document}");
            (what + ", then continue", again)
        }
        Some(Class::Stalled | Class::Halted | Class::Cancelled) => (
            format!("Edit what is open in {document}, then continue"),
            again,
        ),
        None => return Vec::new(),
    };
    vec![(what, command)]
}
