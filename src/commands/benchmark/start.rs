//! A new run: reads and checks the suite, prepares the arms, asks for consent, and drives it.

use std::path::Path;

use crate::benchmark::event::RunBegun;
use crate::benchmark::run::{RunId, RunTerms};
use crate::commands::face::{self, run_consent};
use crate::engine::clock::Clock;
use crate::error::{Error, Exit};
use crate::session::benchmark::arms::ArmPlanner;
use crate::session::benchmark::cases::CaseBook;
use crate::session::benchmark::estimate::estimate_run;
use crate::session::benchmark::request::{
    BenchmarkRequest, CaseSelection, check_budget, conditions,
};
use crate::setup::plan::Planner;
use crate::setup::request::Purpose;
use crate::stopping::batch::conditions::StopConditions;
use crate::suites::suite::Suite;
use crate::suites::{self, SuiteError};
use crate::terminal::output::printer::Printer;
use crate::terminal::prompt::StdinUse;

use super::announcement::{announce_arms, announce_cost, announce_run};
use super::drive::{Drive, consent_rule};
use super::{Command, dry_run, lookup, outcome};

pub(super) fn run(command: &Command<'_>, path: &Path) -> Result<Exit, Error> {
    let Command {
        args,
        environment,
        printer,
    } = *command;
    outcome::check_outputs(&args.output)?;
    let suite = read_suite(path, printer)?;
    let request = command.request().with_settings(&suite.settings);
    let clock = Clock::system();
    let consent_mode = face::consent_mode(args.limits.yes, printer, StdinUse::Free);
    let purpose = if args.limits.dry_run {
        Purpose::Preview
    } else {
        Purpose::Run
    };
    // What the selection leaves decides whether a grader is needed.
    let selected = request.terms(&suite, Vec::new())?;
    let conditions = conditions(StopConditions::default(), &request.stop)?;
    let case_runs = selected.cases.len() * request.arms().len() * repetitions(&selected);
    check_budget(&conditions, &request.stop, case_runs)?;
    let book = CaseBook::new(&suite, &selected)?;
    let planner = Planner::new(environment, printer, clock.now())?;
    let arms = ArmPlanner {
        planner: &planner,
        consent_mode,
        purpose,
        needs_grader: book.needs_grader(),
    };
    let arms = face::block_on(arms.prepare(&request))??;
    let mut terms = request.terms(&suite, arms.terms())?;
    terms.options.selects_personas = arms.selects_personas();
    let estimate = estimate_run(&terms.case_runs(), &book, &arms)?;
    if !args.limits.dry_run {
        announce_run(&terms, printer);
    }
    announce_arms(&arms, &estimate, printer);
    let rule = consent_rule(&arms, consent_mode)?;
    if args.limits.dry_run {
        return dry_run::show(&terms, &arms, &estimate, &rule, &args.output, printer);
    }
    announce_cost(&estimate, printer);
    let ceiling = terms.options.max_cost;
    let month_rule = run_consent::agree(&estimate.total, rule, ceiling, printer)?;

    let begun = RunBegun {
        run: RunId::from_unique(&ulid::Ulid::generate().to_string()),
        terms,
        conditions,
    };
    let store = lookup::store(&planner.sources().home);
    let run = store
        .create(clock.now(), begun)
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

impl Command<'_> {
    /// Returns the flags as a request.
    fn request(&self) -> BenchmarkRequest {
        let args = self.args;
        let rounds = args.rounds.request();
        let mut options = args.limits.options();
        options.grader.clone_from(&args.baseline.grader);
        options.mode = rounds.mode;
        options.judge_passes = args.rounds.judge_passes;
        BenchmarkRequest {
            cases: CaseSelection {
                tags: args.cases.tag.clone(),
                limit: args.cases.limit,
                partition: args.cases.partition,
            },
            panel: args.panel.request(),
            rounds: rounds.rounds,
            single: args.baseline.single.clone(),
            compare: args.baseline.compare,
            repetitions: args.cases.repeat,
            attempts_per_case: args.cases.attempts,
            stop: args.stop.settings(),
            options,
        }
    }
}

/// Reads a suite, and prints what is wrong with it.
pub(super) fn read_suite(path: &Path, printer: &Printer) -> Result<Suite, Error> {
    let suite = suites::read(path).map_err(|error| {
        for line in error.lines() {
            printer.warning(&format!("❌ {line}"));
        }
        let hint = match &error {
            SuiteError::Unreadable { .. } => "name a file or a folder of cases",
            SuiteError::Invalid { .. } => "fix what is listed; `--dry-run` checks a suite for free",
        };
        Error::usage(error).hint(hint)
    })?;
    for note in &suite.notes {
        printer.note(note);
    }
    Ok(suite)
}

fn repetitions(terms: &RunTerms) -> usize {
    usize::try_from(terms.repetitions).unwrap_or(usize::MAX)
}
