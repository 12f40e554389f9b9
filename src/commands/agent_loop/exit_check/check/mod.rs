//! The check itself: gathers the evidence of a turn, decides, and records both.
//!
//! A check is recorded once, and only if nothing else can go wrong but printing.

mod evidence;

use std::path::PathBuf;

use serde::Serialize;

use self::evidence::{CheckFiles, GatheredEvidence};
use crate::agent_loop::git::GitSnapshot;
use crate::agent_loop::response::ResponseFormat;
use crate::agent_loop::settings::LoopSettings;
use crate::agent_loop::store::{Store, Update};
use crate::commands::agent_loop::{LoopFlags, ThresholdFlag, mask, recorded, with_flags};
use crate::commands::flags::choice;
use crate::commands::{App, exit_of_loop};
use crate::domain::time::Timestamp;
use crate::engine::clock::Clock;
use crate::error::{Error, Exit, whole};
use crate::stopping::evaluation::{Decision, Evaluation};
use crate::stopping::exit_check::breaker::BreakerState;
use crate::stopping::exit_check::event::{ExitPolicy, ExitSettings, TurnRecord};
use crate::stopping::exit_check::evidence::TurnEvidence;
use crate::stopping::exit_check::run::LoopRunId;
use crate::stopping::exit_check::thresholds::ExitThresholds;
use crate::terminal::output::evaluation_text::{evaluation_text, turn_text};
use crate::terminal::output::printer::Printer;

pub(super) fn run(args: &CheckArgs, app: App<'_>) -> Result<Exit, Error> {
    let printer = app.printer;
    let store = args.run.folder.open()?;
    let file = LoopSettings::find(&store.path).map_err(Error::usage)?;
    let policy = args.strict_seed.then_some(ExitPolicy::StrictSeed);
    let settings = with_flags(&file, policy.unwrap_or_default(), &args.thresholds.given())?;
    let files = CheckFiles::new(args, &store)?;
    let clock = app.clock;
    let mut gathered = evidence::gather(args, &files, &store, &clock)?;
    let unmasked = std::mem::take(&mut gathered.unmasked);
    mask(&mut gathered.evidence, unmasked, app.environment)?;
    let warnings = [gathered.response_warning, gathered.test_warning];
    for warning in warnings.into_iter().flatten() {
        printer.warning(warning);
    }
    let update = record(args, &store, settings, &clock, gathered, printer)?;
    let Some(record) = update.event.turn() else {
        return Err(Error::failed("the log does not have the check"));
    };
    print(args, &update, record, printer)?;
    Ok(exit(&record.evaluation.decision))
}

fn record(
    args: &CheckArgs,
    store: &Store,
    settings: ExitSettings,
    clock: &Clock,
    mut gathered: GatheredEvidence,
    printer: &Printer,
) -> Result<Update, Error> {
    let mut new_loop = None;
    let update = store.update(|state| {
        let now = clock.now();
        let run = state.next_run(args.run.run.as_deref(), now);
        new_loop = state.new_loop(&run, Some(&gathered.evidence), now);
        let last = state
            .run(&run.id)
            .map(|run| check_name(&run.run.id, run.turn));
        if let Some(git) = &mut gathered.evidence.git
            && gathered.changed_since != last
        {
            // The tree that it was compared with is not that of the last check.
            git.changed_files = None;
        }
        state.check(run, now, gathered.evidence, settings)
    });
    let update = recorded(update, printer)?;
    if let Some(reason) = new_loop {
        printer.note(&format!("A new loop begins: {reason}."));
    }
    if let (Some(tree), Some(record)) = (gathered.tree, update.event.turn()) {
        let check = check_name(&record.run.id, record.turn);
        // Without it, the next check does not count the changed files.
        if let Err(error) = (GitSnapshot { check, tree }).write(&store.path) {
            printer.warning(&format!("⚠ Recorded, but {}", whole(&error)));
        }
    }
    Ok(update)
}

fn check_name(run: &LoopRunId, turn: u64) -> String {
    format!("run {run}, turn {turn}")
}

fn print(
    args: &CheckArgs,
    update: &Update,
    record: &TurnRecord,
    printer: &Printer,
) -> Result<(), Error> {
    let evaluation = &record.evaluation;
    if args.json {
        let time = update.event.time;
        let run = update.state.run(&record.run.id);
        let run = run.ok_or_else(|| Error::failed("the state does not have the check"))?;
        return Ok(printer.json(&CheckReport {
            schema_version: "1.0",
            time,
            run: &record.run.id,
            turn: record.turn,
            decision: evaluation.decision_name(),
            exit_code: exit(&evaluation.decision).code(),
            policy: record.settings.policy,
            evaluation,
            evidence: &record.evidence,
            circuit: &run.breaker.state(time),
            thresholds: &record.settings.thresholds,
        })?);
    }
    let traits = printer.out_traits();
    let text = if args.verbose {
        let title = format!("EXIT CHECK (turn {})", record.turn);
        evaluation_text(&title, evaluation, traits)
    } else {
        turn_text(record, traits)
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
    run: &'a LoopRunId,
    /// The number of the turn in its run.
    #[cfg_attr(test, schemars(range(min = 1)))]
    turn: u64,
    #[cfg_attr(test, schemars(with = "crate::stopping::evaluation::DecisionWord"))]
    decision: String,
    #[cfg_attr(test, schemars(extend("enum" = [0, 10, 11, 12, 13, 14, 130])))]
    exit_code: u8,
    policy: ExitPolicy,
    evaluation: &'a Evaluation,
    evidence: &'a TurnEvidence,
    /// The circuit after this check.
    circuit: &'a BreakerState,
    thresholds: &'a ExitThresholds,
}

fn exit(decision: &Decision) -> Exit {
    match decision {
        Decision::Continue => Exit::Answer,
        Decision::Stop { class, .. } => exit_of_loop(*class, Exit::Done),
    }
}

/// A promise that is longer is no tag.
const LONGEST_PROMISE: usize = 1000;

#[derive(Debug, clap::Args)]
pub(in crate::commands) struct CheckArgs {
    /// The agent's last response, as text or in its program's JSON; `-` reads standard input. If
    /// the state is in `.ralph`, the default is `last-response.md` there
    pub(super) response: Option<PathBuf>,

    /// The checklist, with Markdown task items; `-` reads standard input. If the
    /// state is in `.ralph`, the default is `@fix_plan.md` there
    pub(super) plan: Option<PathBuf>,

    #[command(flatten)]
    pub(super) run: LoopFlags,

    #[command(flatten)]
    pub(super) evidence: EvidenceFlags,

    #[command(flatten)]
    pub(super) thresholds: ThresholdFlags,

    /// Decide by the seven rules of the script that exit detection comes from, to the letter
    #[arg(long, help_heading = "Rules")]
    pub(super) strict_seed: bool,

    /// Print the decision as JSON, with its rules and its evidence
    #[arg(long, help_heading = "Output")]
    pub(super) json: bool,

    /// Print every rule with its value, instead of a line
    #[arg(short, long, conflicts_with = "json", help_heading = "Output")]
    pub(super) verbose: bool,
}

/// What else is known of the turn.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Evidence")]
pub(super) struct EvidenceFlags {
    /// The checklist, as PLAN
    #[arg(long, value_name = "FILE", conflicts_with = "plan")]
    pub(super) checklist: Option<PathBuf>,

    /// Measure progress by the Git working tree: commits, and files that are not ignored
    #[arg(long)]
    pub(super) git: bool,

    /// The result of the tests, or a command of the shell that runs them; its success is theirs
    #[arg(long, value_name = "passed|failed|COMMAND", value_parser = test_command)]
    pub(super) tests: Option<String>,

    /// End the command of the tests after this time; they have failed then [default: 600]
    #[arg(
        long,
        value_name = "SECONDS",
        requires = "tests",
        value_parser = clap::value_parser!(u64).range(1..=86_400)
    )]
    pub(super) tests_timeout: Option<u64>,

    /// The prompt; what the response repeats of it is ignored
    #[arg(long, value_name = "FILE")]
    pub(super) prompt: Option<PathBuf>,

    /// The text in a `<promise>` tag that means done [default: COMPLETE, DONE and the like]
    #[arg(long, value_name = "TEXT", value_parser = promise)]
    pub(super) promise: Option<String>,

    /// The exit code of the agent program
    #[arg(long, value_name = "CODE", allow_negative_numbers = true)]
    pub(super) agent_exit: Option<i32>,

    /// The format of the response
    #[arg(long, default_value = "auto", value_parser = choice::<ResponseFormatFlag>(FORMATS))]
    pub(super) format: ResponseFormatFlag,
}

/// `None` goes by its content; the name keeps clap from taking it for an absent flag.
type ResponseFormatFlag = Option<ResponseFormat>;

const FORMATS: &str = "\
auto      By its content
text      Text or Markdown
claude    Claude Code: --output-format json or stream-json
codex     Codex: exec --json
gemini    Gemini CLI: --output-format json or stream-json
opencode  opencode: run --format json";

/// Thresholds of the rules. A flag overrides the configuration file.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Rules")]
pub(super) struct ThresholdFlags {
    /// The stated confidence below which a person is asked for, in two turns in a row [default: 70]
    #[arg(long, value_name = "PERCENT")]
    pub(super) min_confidence: Option<u64>,

    /// The share of completed tasks that a completion needs [default: 80]
    #[arg(long, value_name = "PERCENT")]
    pub(super) min_completion: Option<u64>,

    /// The different errors of one turn that are still tolerated [default: 5]
    #[arg(long, value_name = "NUMBER")]
    pub(super) max_errors: Option<u64>,

    /// The turns in a row without progress that stop the loop [default: 3]
    #[arg(long, value_name = "NUMBER", alias = "stagnation-loops")]
    pub(super) stagnation_turns: Option<u64>,

    /// The most turns of a run [default: 100]
    #[arg(long, value_name = "NUMBER")]
    pub(super) max_turns: Option<u64>,
}

impl ThresholdFlags {
    pub(super) fn given(&self) -> [ThresholdFlag; 5] {
        [
            ("min_confidence", self.min_confidence),
            ("min_completion", self.min_completion),
            ("max_errors", self.max_errors),
            ("stagnation_turns", self.stagnation_turns),
            ("max_turns", self.max_turns),
        ]
    }
}

fn test_command(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("is empty; name `passed`, `failed` or a command".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

/// An empty promise would be kept by every text.
fn promise(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("is empty, and every response would fulfil it".to_owned()),
        text if text.chars().count() > LONGEST_PROMISE => {
            Err(format!("is longer than {LONGEST_PROMISE} characters"))
        }
        text => Ok(text.to_owned()),
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
