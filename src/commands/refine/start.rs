//! The real run: says where it writes, asks for consent, and begins or resumes the loop.

use crate::commands::face::run_consent;
use crate::commands::face::scrubbing::announce;
use crate::consultation::plan::Plan;
use crate::domain::money::MicroUsd;
use crate::domain::panel::Seat;
use crate::domain::text::clean;
use crate::engine::clock::Clock;
use crate::error::{Error, Exit};
use crate::records::refinements::LockedRefinement;
use crate::refinement::document::SpecDocument;
use crate::refinement::event::RefinementEventKind;
use crate::refinement::state::{RefinementLoop, RefinementState};
use crate::session::batch::estimate::BatchEstimate;
use crate::session::refinement::templates::RefinementTemplates;
use crate::stopping::evaluation::{Class, Evaluation};
use crate::terminal::output::format::{amount, cost_range, count, dollars, thousands};
use crate::terminal::output::printer::Printer;
use crate::terminal::report::refinement::changes_markdown;

use super::drive::Drive;
use super::files::{display, warn_of_unlisted};
use super::prepare::{Prepared, Starting};
use super::store::unreadable;
use super::target::LoopEntry;
use super::{RefineCommand, dry_run, outcome};

pub(super) fn run(command: &RefineCommand<'_>) -> Result<Exit, Error> {
    let RefineCommand { args, printer, .. } = *command;
    let clock = Clock::system();
    let (starting, locked) = Starting::read(command, clock)?;
    if let (LoopEntry::Ended, Some(state)) = (starting.entry, &starting.state)
        && !args.action.dry_run
    {
        printer.note(&ended_line(&starting, state.current()));
        // A full disk may have kept an earlier process from it.
        if !is_current(&starting, state)
            && let Ok(refinement) = starting.store.open(clock.now())
        {
            write_changes(&refinement, printer);
        }
        outcome::show(command, &starting, state)?;
        return outcome::exit(command, &starting, state);
    }
    starting.check_target()?;
    if !args.action.dry_run
        && let Some(missing) = starting.missing_end()?
    {
        return finish(command, &starting, locked, missing, clock);
    }
    let document = starting.working_document()?;
    warn_of_unlisted(starting.working_file(), &document, printer);
    check_items(&starting, &document)?;
    let prepared = Prepared::of(command, &starting, &document, clock)?;
    if !args.action.dry_run {
        announce_loop(&starting, printer);
    }
    announce_panel(&prepared.templates, printer);
    let total = &prepared.estimate.total;
    // Without a consultation, nothing was looked at.
    if total.calls > 0 {
        announce(&total.masked, &total.findings, printer);
    }
    if let Some(notice) = &prepared.estimate.notice {
        printer.note(notice);
    }
    if args.action.dry_run {
        return dry_run::show(command, &starting, &prepared, clock);
    }
    announce_cost(&prepared, printer);
    let spent = starting.spent();
    let ceiling = args.control.max_cost;
    let left = ceiling.map(|ceiling| MicroUsd(ceiling.0.saturating_sub(spent.0)));
    let month_rule =
        run_consent::agree(&prepared.estimate.total.total, prepared.rule, left, printer)?;

    let refinement = open(&starting, locked, clock)?;
    let drive = Drive {
        command,
        starting: &starting,
        prepared: &prepared,
        ceiling,
        month_rule,
        clock,
    };
    let ended = drive.to_end(refinement);
    prepared.stdin.warn_of_late_data(printer);
    ended
}

/// Records the end of a loop whose document is written. That takes no call, and so no key and no
/// consent.
fn finish(
    command: &RefineCommand<'_>,
    starting: &Starting,
    locked: Option<LockedRefinement>,
    missing: Vec<RefinementEventKind>,
    clock: Clock,
) -> Result<Exit, Error> {
    let printer = command.printer;
    announce_loop(starting, printer);
    let mut refinement = open(starting, locked, clock)?;
    for event in missing {
        refinement.record(clock.now(), event).map_err(unreadable)?;
    }
    write_changes(&refinement, printer);
    let state = refinement.state();
    outcome::show(command, starting, state)?;
    outcome::exit(command, starting, state)
}

fn write_changes(refinement: &LockedRefinement, printer: &Printer) {
    let changes = changes_markdown(refinement.state());
    if let Err(error) = refinement.write_changes(&changes) {
        printer.warning(&format!("Warning: {error}"));
    }
}

/// Returns whether the log for people is there and has all changes.
fn is_current(starting: &Starting, state: &RefinementState) -> bool {
    let written = std::fs::read_to_string(&starting.store.files().changes);
    written.is_ok_and(|written| written == changes_markdown(state))
}

/// Checks that the sections have items: every iteration over a document without any would be empty.
fn check_items(starting: &Starting, document: &SpecDocument) -> Result<(), Error> {
    let counts = document.measure().counts;
    if counts.is_none_or(|counts| counts.total() > 0) {
        return Ok(());
    }
    Err(Error::usage(format!(
        "the sections of `{}` have no list entries",
        display(&starting.target.source)
    ))
    .hint("write each claim and each question as a list entry: `- Where are the keys kept?`"))
}

/// Begins a loop, or resumes the one that was found.
fn open(
    starting: &Starting,
    locked: Option<LockedRefinement>,
    clock: Clock,
) -> Result<LockedRefinement, Error> {
    let (now, text) = (clock.now(), &starting.source_text);
    let Some(mut refinement) = locked else {
        let begun = starting.store.begin(now, starting.begun(), text);
        return begun.map_err(unreadable);
    };
    match starting.entry {
        LoopEntry::Resume => {
            for event in &starting.resumption {
                refinement.record(now, event.clone()).map_err(unreadable)?;
            }
            if refinement.state().current().last_written().is_none() {
                // The first merge may be into a text that a person has edited.
                let kept = refinement.keep_original(text);
                kept.map_err(|error| unreadable(error.into()))?;
            }
        }
        LoopEntry::New | LoopEntry::Ended => {
            let begun = refinement.begin(now, starting.begun(), text);
            begun.map_err(unreadable)?;
        }
    }
    Ok(refinement)
}

/// Prints what is about to be done, and which file is written.
fn announce_loop(starting: &Starting, printer: &Printer) {
    let source = display(&starting.target.source);
    match starting.resumed() {
        None => printer.note(&new_line(&source, starting)),
        Some(resumed) => printer.note(&resumed_line(&source, resumed)),
    }
    printer.note(&format!("  {}", starting.target));
}

/// Prints who works on the document.
fn announce_panel(templates: &RefinementTemplates, printer: &Printer) {
    let panel = templates.panel.common();
    printer.note(&format!("  panel: {}", clean(&panel_line(panel))));
    // The model that extracts alone is no small panel: its notices are not meant.
    for notice in &panel.notices {
        printer.note(&format!("  {notice}"));
    }
}

/// `security=openai:m, …; judge openai:m; 4 rounds`.
fn panel_line(plan: &Plan) -> String {
    let seat = |seat: &Seat| format!("{}={}", seat.persona.id, seat.model);
    let seats: Vec<String> = plan.panel.seats.iter().map(seat).collect();
    let judge = plan.panel.judges.first();
    let judge = judge.map(|judge| format!("; judge {judge}"));
    let rounds = count(plan.debate.rounds.number(), "round");
    format!(
        "{}{}; {rounds}",
        seats.join(", "),
        judge.unwrap_or_default()
    )
}

/// A person who runs the command again may expect that the last loop continues.
fn new_line(source: &str, starting: &Starting) -> String {
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

fn ended_line(starting: &Starting, ended: &RefinementLoop) -> String {
    let class = ended.evaluation().and_then(Evaluation::class);
    let what = if class.is_some_and(Class::is_success) {
        format!("{} has converged", display(&starting.target.output))
    } else {
        format!(
            "The loop over {} has ended, and nothing has changed since",
            display(&starting.target.source)
        )
    };
    format!("{what}; begin a new loop with `--restart`")
}

fn resumed_line(source: &str, resumed: &RefinementLoop) -> String {
    format!(
        "Resuming the loop over {source}: {} done, {} spent so far",
        count(resumed.merges().count(), "iteration"),
        amount(resumed.spend().cost)
    )
}

/// Prints the number of calls and what they cost.
fn announce_cost(prepared: &Prepared<'_>, printer: &Printer) {
    let estimate = &prepared.estimate;
    let line = |name: &str, part: &BatchEstimate| {
        let total = &part.total;
        format!(
            "{name}: {} calls, {}",
            thousands(part.calls),
            cost_range(total.low, total.cost, total.high, dollars)
        )
    };
    printer.note(&line("Estimate of the next iteration", &estimate.next));
    if estimate.iterations > 1 {
        let name = format!("Estimate of at most {} iterations", estimate.iterations);
        printer.note(&line(&name, &estimate.total));
    }
}
