//! A run, new or resumed: reads its suite, prepares its arms, and asks for consent. A resumed run has
//! the cases and the models that it began with.

use std::path::Path;

use crate::benchmark::case::CaseId;
use crate::benchmark::event::{BenchmarkEventKind, RunBegun};
use crate::benchmark::run::{CaseRunId, RunId, RunOptions};
use crate::commands::face::batch::spent_so_far;
use crate::commands::flags::{check_place, consent_mode, planned};
use crate::commands::{App, block_on};
use crate::consultation::policy::consent::ConsentMode;
use crate::domain::cost::money::MicroUsd;
use crate::domain::ids::short_id;
use crate::error::{Error, Exit};
use crate::scrub::Scrubber;
use crate::session::batch::elsewhere::Elsewhere;
use crate::session::benchmark::arms::ArmPlanner;
use crate::session::benchmark::cases::CaseBook;
use crate::session::benchmark::earlier_spend::earlier_spending;
use crate::session::benchmark::estimate::estimate_run;
use crate::session::benchmark::request::{
    BenchmarkRequest, CaseSelection, check_budget, conditions,
};
use crate::setup::context::outgoing::mask;
use crate::setup::context::scrubber;
use crate::setup::plan::Planner;
use crate::stopping::batch::conditions::StopConditions;
use crate::suites::suite::Suite;
use crate::suites::{self, FieldMap, SuiteError};
use crate::terminal::output::format::count;
use crate::terminal::prompt::StdinUse;
use crate::terminal::report::report;

use super::prepared::PreparedRun;
use super::{Args, ResumeArgs, stored};

pub(super) fn start(args: &Args, path: &Path, app: App<'_>) -> Result<Exit, Error> {
    stored::check_outputs(&args.process.output)?;
    let consent_mode = consent_mode(args.control.spending.yes, app.printer, StdinUse::Free);
    let fields = args.cases.field.iter().cloned().collect();
    let (suite, scrubber) = read_suite(path, &fields, args.sending.no_scrub, app)?;
    let request = args.request(consent_mode)?.with_settings(&suite.settings);
    let clock = app.clock;
    // What the selection leaves decides whether a grader is needed.
    let selected = request.terms(&suite, Vec::new())?;
    let conditions = conditions(StopConditions::default(), &request.stop)?;
    let repetitions = usize::try_from(selected.repetitions).unwrap_or(usize::MAX);
    let case_runs = selected.cases.len() * request.arms().len() * repetitions;
    check_budget(&conditions, &request.stop, case_runs)?;
    let book = CaseBook::new(&suite, &selected)?;
    let place = args.fleet.connect(app)?;
    let mut planner = Planner::new(app.environment, app.printer, clock.now())?;
    let dry_run = args.control.spending.dry_run;
    let arms = planned(place.as_deref(), &mut planner, |planner| {
        let arms = ArmPlanner {
            planner,
            consent_mode,
            // Who is elsewhere has keys of their own.
            dry_run: dry_run || place.is_some(),
            judged: book.judged(),
        };
        block_on(arms.prepare(&request))?
    })?;
    let mut terms = request.terms(&suite, arms.terms())?;
    terms.options.selects_personas = arms.selects_personas();
    if let Some(scrubber) = &scrubber {
        // What is expected is compared as it is, and shown without secrets.
        mask(scrubber, |edit| {
            let cases = terms.cases.iter_mut();
            cases.for_each(|case| edit("suite", &mut case.expected));
        });
    }
    if let Some(place) = place.as_deref().filter(|_| !dry_run)
        && let Some(open) = place.open_run(&terms, &conditions)?
    {
        return join(args, path, (&open, place), app);
    }
    let estimate = estimate_run(&terms.case_runs(), &book, &arms)?;
    let run = PreparedRun {
        shapes: &suite.shapes,
        flags: &args.process,
        app,
        planner: &planner,
        book,
        arms,
        estimate,
        place: place.as_deref(),
    };
    let batch = run.batch(terms.options.control.max_cost, MicroUsd::ZERO)?;
    if dry_run {
        run.announce_arms();
        return run.preview(&batch, &terms, "selected");
    }
    run.announce(&terms);
    let approved = batch.agree()?;
    let begun = RunBegun {
        run: RunId::from_unique(&ulid::Ulid::generate().to_string()),
        terms,
        conditions,
        fleet: place.as_ref().map(|place| place.name().to_owned()),
    };
    if let Some(place) = place.as_deref() {
        let open = place.claim(&begun)?;
        if open != begun.run {
            return join(args, path, (&open, place), app);
        }
    }
    let store = stored::store(&planner.sources.home);
    let locked = store.create(clock.now(), begun)?;
    run.drive(locked, approved, suite.settings.jobs)
}

/// The same command has begun this run, here or on another machine.
fn join(
    args: &Args,
    suite: &Path,
    (run, place): (&RunId, &dyn Elsewhere),
    app: App<'_>,
) -> Result<Exit, Error> {
    let fleet = place.name();
    app.printer
        .note(&format!("The fleet {fleet} has this run already: {run}"));
    let args = ResumeArgs {
        run: run.to_string(),
        spending: args.control.spending,
        fleet: args.fleet.clone(),
        process: args.process.clone(),
    };
    go_on(&args, Some(suite), app)
}

pub(super) fn resume(args: &ResumeArgs, app: App<'_>) -> Result<Exit, Error> {
    go_on(args, None, app)
}

/// `suite` is where the suite lies on this machine, if it is not where it lay when the run began.
fn go_on(args: &ResumeArgs, suite: Option<&Path>, app: App<'_>) -> Result<Exit, Error> {
    stored::check_outputs(&args.process.output)?;
    let clock = app.clock;
    let place = args.fleet.connect(app)?;
    let mut planner = Planner::new(app.environment, app.printer, clock.now())?;
    let store = stored::store(&planner.sources.home);
    // A preview only reads.
    if let Some(place) = place.as_deref().filter(|_| !args.spending.dry_run) {
        let files = (&planner.sources.home, report as _, app.printer as _);
        place.import(&store, &args.run, files)?;
    }
    let id = stored::find(&store, &args.run)?;
    let locked = if args.spending.dry_run {
        None
    } else {
        Some(store.open(&id, clock.now())?)
    };
    let state = match &locked {
        Some(locked) => locked.state().clone(),
        None => store.load(&id)?.state,
    };
    if state.is_complete() {
        return Err(Error::usage(format!("{id} is complete")).hint(format!(
            "print its report with `conclave benchmark report {}`",
            short_id(id.as_str())
        )));
    }
    if !state.merged_from.is_empty() {
        let error = Error::usage(format!("{id} was merged from other runs"));
        return Err(error.hint("resume these, and merge them again"));
    }
    check_place(state.begun.fleet.as_deref(), place.as_deref(), id.as_str())?;
    let mut terms = state.begun.terms.clone();
    let control = &mut terms.options.control;
    control.max_calls = args.spending.max_calls.or(control.max_calls);
    let path = suite.unwrap_or(Path::new(&terms.suite.path));
    let elsewhere = place.as_ref().filter(|_| !path.exists());
    let elsewhere =
        elsewhere.map(|_| "if it lies elsewhere here, run the command that began the run");
    let (suite, _) = read_suite(path, &terms.suite.fields, terms.options.unmasked, app)
        .map_err(|error| error.hint_if(elsewhere))?;
    if suite.sha256 != terms.suite.sha256 {
        // Results of other cases would not add up.
        let path = path.display();
        let error = Error::usage(format!("the suite `{path}` has changed since {id} began"));
        return Err(error.hint("put it back as it was, or begin a new run"));
    }
    let conditions = conditions(state.batch.conditions, &args.process.stop.settings())?;
    let book = CaseBook::new(&suite, &terms)?;
    let consent_mode = consent_mode(args.spending.yes, app.printer, StdinUse::Free);
    let arms = planned(place.as_deref(), &mut planner, |planner| {
        let arms = ArmPlanner {
            planner,
            consent_mode,
            dry_run: args.spending.dry_run || place.is_some(),
            judged: book.judged(),
        };
        block_on(arms.prepare_resumed(&terms))?
    })?;

    let remaining: Vec<CaseRunId> = state.remaining().into_iter().cloned().collect();
    let mut spent = earlier_spending(&state, &planner.sources.home);
    if let Some(place) = &place {
        let all = place.spent(id.as_str())?;
        let unseen = all.0.saturating_sub(spent.counted().0);
        // It is in journals that are not in this home.
        spent.cost.known += MicroUsd(unseen);
    }
    app.printer.note(&format!(
        "Resuming {id}: {} of {} done, {}",
        state.results.len(),
        count(terms.case_runs().len(), "case run"),
        spent_so_far(&spent),
    ));
    let is_left = |id: &CaseId| remaining.iter().any(|run| run.case == *id);
    terms.cases.retain(|case| is_left(&case.id));
    let estimate = estimate_run(&remaining, &book, &arms)?;
    let run = PreparedRun {
        shapes: &suite.shapes,
        flags: &args.process,
        app,
        planner: &planner,
        book,
        arms,
        estimate,
        place: place.as_deref(),
    };
    let ceiling = args.spending.max_cost.or(terms.options.control.max_cost);
    let batch = run.batch(ceiling, spent.counted())?;
    let Some(mut locked) = locked else {
        run.announce_arms();
        return run.preview(&batch, &terms, "left");
    };
    run.announce(&terms);
    let approved = batch
        .agree()
        .map_err(|error| stored::resumable(error, &id))?;
    locked.record(clock.now(), BenchmarkEventKind::Resumed { conditions })?;
    run.drive(locked, approved, suite.settings.jobs)
}

impl Args {
    fn request(&self, consent_mode: ConsentMode) -> Result<BenchmarkRequest, Error> {
        let rounds = self.rounds.request();
        Ok(BenchmarkRequest {
            cases: CaseSelection {
                tags: self.cases.tag.clone(),
                limit: self.cases.limit,
                partition: self.cases.partition,
            },
            panel: self.panel.request(),
            rounds: rounds.rounds,
            single: self.baseline.single.clone(),
            compare: self.baseline.compare,
            repetitions: self.cases.repeat,
            attempts_per_case: self.cases.attempts,
            stop: self.process.stop.settings(),
            options: RunOptions {
                grader: self.baseline.grader.clone(),
                mode: rounds.mode,
                judge_passes: self.rounds.judge_passes,
                control: self.control.request_for_many(consent_mode)?,
                unmasked: self.sending.no_scrub,
                selects_personas: false,
            },
        })
    }
}

/// Masks the name, ids and tags of the suite, as they are stored and printed. Also returns the
/// scrubber that masked them, if any.
fn read_suite(
    path: &Path,
    fields: &FieldMap,
    unmasked: bool,
    app: App<'_>,
) -> Result<(Suite, Option<Scrubber>), Error> {
    let printer = app.printer;
    let mut suite = suites::read(path, fields).map_err(|error| {
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
    if unmasked {
        return Ok((suite, None));
    }
    let scrubber = scrubber::load(app.environment)?;
    mask(&scrubber, |edit| {
        edit("suite", &mut suite.name);
        for case in suite.cases.iter_mut().map(|entry| &mut entry.case) {
            edit("suite", &mut case.id.0);
            case.tags.iter_mut().for_each(|tag| edit("suite", tag));
        }
    });
    Ok((suite, Some(scrubber)))
}
