//! The real run: says where it writes, asks for consent, begins or resumes the loop, drives it with
//! its progress on standard error, and shows how it ended.

use std::path::Path;

use crate::benchmark::run::Arm;
use crate::commands::App;
use crate::commands::face::batch::{ApprovedBatch, arm_line, cost_line, spent_so_far};
use crate::commands::face::consent::announce;
use crate::error::{Error, Exit};
use crate::files::{self, SizeLimit};
use crate::records::refinements::claims::claim;
use crate::records::refinements::{LockedRefinement, RefinementStoreError};
use crate::refinement::document::SpecDocument;
use crate::refinement::event::RefinementEventKind;
use crate::refinement::state::RefinementLoop;
use crate::session::benchmark::arms::arm_terms;
use crate::session::refinement::driver::RefinementDriver;
use crate::stopping::evaluation::{Class, Evaluation};
use crate::terminal::output::format::count;
use crate::terminal::output::printer::Printer;
use crate::terminal::progress::refinement::RefinementProgress;
use crate::terminal::report::refinement::changes_markdown;
use crate::text::clean::clean;

use super::files::{display, warn_of_unlisted};
use super::prepare::{LoopLeft, Prepared, Starting};
use super::target::{LoopEntry, Target};
use super::{RunArgs, dry_run, outcome};

pub(super) fn run(args: &RunArgs, spec: &Path, app: App<'_>) -> Result<Exit, Error> {
    let printer = app.printer;
    let (starting, locked) = Starting::read(args, spec, app)?;
    if let (LoopEntry::Ended, Some(state), false) = (
        starting.entry,
        &starting.state,
        args.control.spending.dry_run,
    ) {
        printer.note(&ended_line(&starting, state.current()));
        let written = files::read_own(&starting.store.files.changes, SizeLimit::DOCUMENT);
        let is_current = |written: Vec<u8>| written == changes_markdown(state).into_bytes();
        // A full disk may have kept an earlier process from it.
        if !written.is_ok_and(is_current)
            && let Ok(refinement) = starting.store.open(starting.clock.now())
        {
            write_changes(&refinement, printer);
        }
        return outcome::end(&starting, state);
    }
    starting.check_target()?;
    let before = starting.read_document()?;
    let left = match (starting.left(&before)?, args.control.spending.dry_run) {
        (LoopLeft::End(missing), false) => return finish(&starting, locked, missing),
        (left, _) => left,
    };
    let is_over = matches!(left, LoopLeft::End(_));
    let extracted = starting.extracted(&before)?;
    let document = extracted.as_ref().unwrap_or(&before);
    warn_of_unlisted(starting.working_file(), document, printer);
    check_items(&starting, document)?;
    let prepared = Prepared::of(&starting, left, document)?;
    if !args.control.spending.dry_run {
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
        announce(
            estimate.total.masked.as_ref(),
            &estimate.total.findings,
            printer,
        );
    }
    if let Some(notice) = &estimate.notice {
        printer.note(notice);
    }
    if args.control.spending.dry_run {
        return dry_run::show(&starting, &prepared, &before, is_over);
    }
    printer.note(&cost_line("Estimate of the next iteration", &estimate.next));
    if estimate.iterations > 1 {
        let name = format!("Estimate of at most {} iterations", estimate.iterations);
        printer.note(&cost_line(&name, &estimate.total));
    }
    let batch = prepared.batch(&starting)?;
    let approved = batch.agree()?;
    let refinement = open(&starting, locked)?;
    let ended = drive(&starting, &prepared, approved, refinement);
    prepared.stdin.warn_of_late_data(printer);
    ended
}

/// Drives an approved loop, shows its end, and returns the exit code.
fn drive(
    starting: &Starting<'_>,
    prepared: &Prepared<'_>,
    approved: ApprovedBatch<'_>,
    refinement: LockedRefinement,
) -> Result<Exit, Error> {
    let printer = starting.app.printer;
    let progress = RefinementProgress::new(printer);
    let driver = RefinementDriver {
        refinement,
        source: starting.target.source.clone(),
        output: starting.target.output.clone(),
        templates: &prepared.templates,
        planner: &prepared.planner,
        terms: starting.terms,
        mask: starting.mask.clone(),
        jobs: usize::try_from(starting.args.questions.jobs).unwrap_or(usize::MAX),
        clock: starting.clock,
        progress: &progress,
        changes: changes_markdown,
    };
    let end = approved.drive(async |batch| Box::pin(driver.drive(batch)).await);
    let refinement = end.map_err(|error| {
        error.hint(if starting.store.files.log.exists() {
            outcome::RESUME
        } else {
            "read what was answered with `conclave history`; a new loop asks again"
        })
    })?;
    outcome::end(starting, refinement.state())
}

/// Records the end of a loop whose document is written. That takes no call, and so no key and no
/// consent.
fn finish(
    starting: &Starting<'_>,
    locked: Option<LockedRefinement>,
    missing: Vec<RefinementEventKind>,
) -> Result<Exit, Error> {
    announce_loop(starting);
    let mut refinement = open(starting, locked)?;
    for event in missing {
        refinement.record(starting.clock.now(), event)?;
    }
    write_changes(&refinement, starting.app.printer);
    outcome::end(starting, refinement.state())
}

fn write_changes(refinement: &LockedRefinement, printer: &Printer) {
    let changes = changes_markdown(refinement.state());
    if let Err(error) = refinement.write_changes(&changes) {
        printer.warning(&format!("Warning: {error}"));
    }
}

/// Checks that the sections have items: every iteration over a document without any would be empty.
fn check_items(starting: &Starting<'_>, document: &SpecDocument) -> Result<(), Error> {
    let counts = document.measure().counts;
    if counts.is_none_or(|counts| counts.total() > 0) {
        return Ok(());
    }
    let source = display(&starting.target.source);
    Err(
        Error::usage(format!("the sections of `{source}` have no list entries")).hint(
            "write each claim and each question as a list entry: `- Where are the keys kept?`",
        ),
    )
}

/// Begins a loop, or resumes the one that was found.
fn open(
    starting: &Starting<'_>,
    locked: Option<LockedRefinement>,
) -> Result<LockedRefinement, Error> {
    let (now, text) = (starting.clock.now(), &starting.source_text);
    let output = &starting.target.output.path;
    claim(starting.app.home()?.path(), output).map_err(Error::failed)?;
    let Some(mut refinement) = locked else {
        return Ok(starting.store.begin(now, starting.begun(), text)?);
    };
    if starting.entry != LoopEntry::Resumed {
        refinement.begin(now, starting.begun(), text)?;
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

/// Prints what is about to be done, and which file is written.
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
