//! The check itself: gathers the evidence of a turn, decides, and records both.
//!
//! A check is recorded once, and only if nothing else can go wrong but printing.

mod flags;
mod evidence;

use serde::Serialize;

use crate::agent_loop::git::GitSnapshot;
use crate::agent_loop::settings::LoopSettings;
use crate::agent_loop::store::{self, Store, Update};
use crate::agent_loop::test_command::TestEnd;
use crate::commands::agent_loop::{mask, recorded, with_flags};
use crate::commands::{App, exit_of_loop};
use crate::domain::time::Timestamp;
use crate::engine::clock::Clock;
use crate::error::{Error, Exit, whole};
use crate::stopping::evaluation::{Class, Decision, Evaluation};
use crate::stopping::exit_check::breaker::BreakerState;
use crate::stopping::exit_check::event::{ExitPolicy, ExitSettings, TurnRecord};
use crate::stopping::exit_check::evidence::TurnEvidence;
use crate::stopping::exit_check::run::RunId;
use crate::stopping::exit_check::thresholds::ExitThresholds;
use crate::terminal::output::evaluation_text::{decision_text, evaluation_text};
use crate::terminal::output::printer::Printer;

use self::evidence::{CheckFiles, GatheredEvidence};

pub(in crate::commands) use self::flags::CheckArgs;

pub(super) fn run(args: &CheckArgs, app: App<'_>) -> Result<Exit, Error> {
    let printer = app.printer;
    let store = args.run.folder.open()?;
    let file = LoopSettings::find(&store.folder.path).map_err(Error::usage)?;
    let policy = args.strict_seed.then_some(ExitPolicy::StrictSeed);
    let settings = with_flags(&file, policy.unwrap_or_default(), &args.thresholds.given())?;
    let files = CheckFiles::new(args, &store.folder)?;
    let clock = Clock::system();
    let mut gathered = evidence::gather(args, &files, &store.folder, &clock)?;
    let unmasked = std::mem::take(&mut gathered.unmasked);
    mask(&mut gathered.evidence, unmasked, app.environment)?;
    match gathered.test_end {
        Some(TestEnd::TimedOut) => {
            printer.warning("⚠ The tests were ended at their time limit, and count as failed");
        }
        Some(TestEnd::Unstartable) => printer.warning(
            "⚠ The command of the tests was not found or cannot be run; the tests count as failed",
        ),
        Some(TestEnd::Exited) | None => {}
    }
    let update = record(args, &store, settings, &clock, gathered, printer)?;
    let Some(record) = update.event.turn() else {
        return Err(Error::failed("the log does not have the check"));
    };
    print(args, &update, record, printer)?;
    Ok(exit(&record.evaluation.decision))
}

/// Decides and records, while no other check does.
fn record(
    args: &CheckArgs,
    store: &Store,
    settings: ExitSettings,
    clock: &Clock,
    gathered: GatheredEvidence,
    printer: &Printer,
) -> Result<Update, Error> {
    let GatheredEvidence {
        mut evidence,
        changed_since,
        tree,
        ..
    } = gathered;
    let update = store.update(|state| {
        let now = clock.now();
        let run = state.next_run(args.run.run.as_deref(), now, || store::fresh_run(now));
        let last = state
            .run(&run.id)
            .map(|run| check_name(&run.run.id, run.turn));
        if let Some(git) = &mut evidence.git
            && changed_since != last
        {
            // The tree that it was compared with is not that of the last check.
            git.changed_files = None;
        }
        state.check(run, now, evidence, settings)
    });
    let update = recorded(update, printer)?;
    if let (Some(tree), Some(record)) = (tree, update.event.turn()) {
        let check = check_name(&record.run.id, record.turn);
        // Without it, the next check does not count the changed files.
        if let Err(error) = (GitSnapshot { check, tree }).write(&store.folder.path) {
            printer.warning(&format!("⚠ Recorded, but {}", whole(&error)));
        }
    }
    Ok(update)
}

fn check_name(run: &RunId, turn: u64) -> String {
    format!("run {run}, turn {turn}")
}

fn print(
    args: &CheckArgs,
    update: &Update,
    record: &TurnRecord,
    printer: &Printer,
) -> Result<(), Error> {
    if args.json {
        let time = update.event.time;
        let run = update.state.run(&record.run.id);
        let run = run.ok_or_else(|| Error::failed("the state does not have the check"))?;
        let circuit = run.breaker.state(time);
        return Ok(printer.json(&CheckReport::new(time, record, &circuit))?);
    }
    let (evaluation, traits) = (&record.evaluation, printer.out_traits());
    let text = if args.quiet {
        decision_text(&evaluation.decision, traits)
    } else {
        let title = format!("EXIT CHECK (turn {})", record.turn);
        evaluation_text(&title, evaluation, traits)
    };
    Ok(printer.result(&text)?)
}

/// A checked turn: the decision, and everything that it depends on.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct CheckReport<'a> {
    #[cfg_attr(test, schemars(extend("const" = "1.0")))]
    schema_version: &'static str,
    time: Timestamp,
    /// The run that the turn belongs to: `--run`, or the time of its first check.
    run: &'a RunId,
    /// The number of the turn in its run.
    #[cfg_attr(test, schemars(range(min = 1)))]
    turn: u64,
    #[cfg_attr(test, schemars(with = "crate::stopping::evaluation::DecisionWord"))]
    decision: &'static str,
    #[cfg_attr(test, schemars(extend("enum" = [0, 10, 11, 12, 13, 14, 130])))]
    exit_code: u8,
    policy: ExitPolicy,
    evaluation: &'a Evaluation,
    evidence: &'a TurnEvidence,
    /// The circuit after this check.
    circuit: &'a BreakerState,
    thresholds: &'a ExitThresholds,
}

impl<'a> CheckReport<'a> {
    fn new(time: Timestamp, record: &'a TurnRecord, circuit: &'a BreakerState) -> Self {
        let evaluation = &record.evaluation;
        Self {
            schema_version: "1.0",
            time,
            run: &record.run.id,
            turn: record.turn,
            decision: evaluation.class().map_or("continue", Class::name),
            exit_code: exit(&evaluation.decision).code(),
            policy: record.settings.policy,
            evaluation,
            evidence: &record.evidence,
            circuit,
            thresholds: &record.settings.thresholds,
        }
    }
}

/// Returns the exit code of a decision.
fn exit(decision: &Decision) -> Exit {
    match decision {
        Decision::Continue => Exit::Answer,
        Decision::Stop { class, .. } => exit_of_loop(*class, Exit::Done),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_published() {
        let title = "What `conclave exit-check --json` prints";
        crate::schema::check::<CheckReport<'_>>("exit_check", title);
    }
}
