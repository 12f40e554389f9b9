//! `conclave benchmark --resume`: goes through what a stopped run has left, with the same cases and
//! the same models.

use std::path::Path;

use crate::benchmark::event::BenchmarkEventKind;
use crate::benchmark::run::CaseRunId;
use crate::commands::face::{self, run_consent};
use crate::domain::money::MicroUsd;
use crate::engine::clock::Clock;
use crate::error::{Error, Exit};
use crate::records::runs::LockedRun;
use crate::session::benchmark::arms::ArmPlanner;
use crate::session::benchmark::cases::CaseBook;
use crate::session::benchmark::estimate::estimate_run;
use crate::session::benchmark::request::conditions;
use crate::setup::plan::Planner;
use crate::setup::request::Purpose;
use crate::suites::suite::Suite;
use crate::terminal::output::format::{amount, count};
use crate::terminal::prompt::StdinUse;

use super::announcement::{announce_arms, announce_cost, announce_run};
use super::drive::{Drive, consent_rule};
use super::start::read_suite;
use super::{Command, lookup, outcome};

pub(super) fn run(command: &Command<'_>, name: &str) -> Result<Exit, Error> {
    let Command {
        args,
        environment,
        printer,
    } = *command;
    outcome::check_outputs(&args.output)?;
    let clock = Clock::system();
    let planner = Planner::new(environment, printer, clock.now())?;
    let store = lookup::store(&planner.sources().home);
    let id = lookup::find(&store, name)?;
    let mut run = store.open(&id, clock.now()).map_err(lookup::unreadable)?;
    if run.state().is_complete() {
        return Err(Error::usage(format!("{id} is complete")).hint(format!(
            "print its report with `conclave benchmark report {id}`"
        )));
    }
    if !run.state().merged_from().is_empty() {
        let error = Error::usage(format!("{id} was merged from other runs"));
        return Err(error.hint("resume these, and merge them again"));
    }
    let mut terms = run.state().terms().clone();
    let suite = read_suite(Path::new(&terms.suite.path), printer)?;
    check_suite(&run, &suite)?;
    let conditions = conditions(*run.state().conditions(), &args.stop.settings())?;
    let book = CaseBook::new(&suite, &terms)?;
    let consent_mode = face::consent_mode(args.limits.yes, printer, StdinUse::Free);
    let arms = ArmPlanner {
        planner: &planner,
        consent_mode,
        purpose: Purpose::Run,
        needs_grader: book.needs_grader(),
    };
    let arms = face::block_on(arms.prepare_again(&terms))??;

    let remaining: Vec<CaseRunId> = run.state().remaining().into_iter().cloned().collect();
    let spent = run.state().spend().cost;
    printer.note(&format!(
        "Resuming {id}: {} of {} done, {} spent so far",
        run.state().results().len(),
        count(terms.case_runs().len(), "case run"),
        amount(spent),
    ));
    terms
        .cases
        .retain(|case| remaining.iter().any(|run| run.case == case.id));
    let estimate = estimate_run(&remaining, &book, &arms)?;
    announce_run(&terms, printer);
    announce_arms(&arms, &estimate, printer);
    announce_cost(&estimate, printer);
    let rule = consent_rule(&arms, consent_mode)?;
    let ceiling = args.limits.max_cost.or(terms.options.max_cost);
    let left = ceiling.map(|ceiling| MicroUsd(ceiling.0.saturating_sub(spent.known.0)));
    let month_rule = run_consent::agree(&estimate.total, rule, left, printer)
        .map_err(|error| outcome::resumable(error, &id))?;

    run.record(clock.now(), BenchmarkEventKind::Resumed { conditions })
        .map_err(lookup::unreadable)?;
    let drive = Drive {
        command,
        planner: &planner,
        book: &book,
        arms: &arms,
        jobs: args.cases.jobs(suite.settings.jobs),
        ceiling,
        month_rule,
        clock,
    };
    drive.to_end(run)
}

/// Checks that the suite is the one that the run began with: results of other cases would not add
/// up.
fn check_suite(run: &LockedRun, suite: &Suite) -> Result<(), Error> {
    let begun = &run.state().terms().suite;
    if suite.sha256 == begun.sha256 {
        return Ok(());
    }
    Err(Error::usage(format!(
        "the suite `{}` has changed since {} began",
        begun.path,
        run.state().run()
    ))
    .hint("put it back as it was, or begin a new run"))
}
