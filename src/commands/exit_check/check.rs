//! The check itself: the evidence of a turn, the decision, and where both are kept.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::ValueEnum;

use crate::commands::flags::LoopFlags;
use crate::config::env::Environment;
use crate::error::{Error, Exit};
use crate::terminal::output::printer::{Printer, Verbosity};

/// The name of standard input among the files.
const STDIN: &str = "-";

#[derive(Debug, clap::Args)]
#[group(id = "check")]
pub(super) struct Args {
    /// The agent's last response, as text or in its program's JSON; `-` reads standard input
    /// [default: .ralph/last-response.md, if the state is in .ralph]
    response: Option<PathBuf>,

    /// The checklist, with Markdown task items; `-` reads standard input
    /// [default: .ralph/@fix_plan.md, if the state is in .ralph]
    plan: Option<PathBuf>,

    #[command(flatten)]
    run: LoopFlags,

    #[command(flatten)]
    evidence: EvidenceFlags,

    #[command(flatten)]
    thresholds: ThresholdFlags,

    /// Decide by the seven rules of the script that exit detection comes from, to the letter
    #[arg(long, help_heading = "Rules")]
    strict_seed: bool,

    /// Print the decision as JSON, with its rules and its evidence
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// Print only the line of the decision
    #[arg(short, long, conflicts_with = "json", help_heading = "Output")]
    quiet: bool,
}

/// What else is known of the turn.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Evidence")]
struct EvidenceFlags {
    /// The checklist, as PLAN
    #[arg(long, value_name = "FILE", conflicts_with = "plan")]
    checklist: Option<PathBuf>,

    /// Measure progress by the Git working tree: commits, and files that are not ignored
    #[arg(long)]
    git: bool,

    /// The result of the tests, or a command of the shell that runs them; its success is theirs
    #[arg(long, value_name = "passed|failed|COMMAND")]
    tests: Option<String>,

    /// End the command of the tests after this time; they have failed then [default: 600]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    tests_timeout: Option<u64>,

    /// The prompt; what the response repeats of it is ignored
    #[arg(long, value_name = "FILE")]
    prompt: Option<PathBuf>,

    /// The text of a `<promise>` tag that means done [default: COMPLETE, DONE and the like]
    #[arg(long, value_name = "TEXT")]
    promise: Option<String>,

    /// The exit code of the agent program
    #[arg(long, value_name = "CODE", allow_hyphen_values = true)]
    agent_exit: Option<i32>,

    /// The format of the response
    #[arg(long, value_enum, default_value_t = ResponseFormatFlag::Auto)]
    format: ResponseFormatFlag,
}

/// The format of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ResponseFormatFlag {
    /// By its content
    Auto,
    /// Text or Markdown
    Text,
    /// Claude Code: --output-format json or stream-json
    Claude,
    /// Codex: exec --json
    Codex,
    /// Gemini CLI: --output-format json
    Gemini,
}

/// Thresholds of the rules. A flag overrides the configuration file.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Rules")]
struct ThresholdFlags {
    /// The stated confidence below which a person is asked for, in two turns in a row [default: 70]
    #[arg(long, value_name = "PERCENT")]
    min_confidence: Option<u64>,

    /// The share of completed tasks that a completion needs [default: 80]
    #[arg(long, value_name = "PERCENT")]
    min_completion: Option<u64>,

    /// The different errors of one turn that are still tolerated [default: 5]
    #[arg(long, value_name = "NUMBER")]
    max_errors: Option<u64>,

    /// The turns in a row without progress that stop the loop [default: 3]
    #[arg(long, value_name = "NUMBER", alias = "stagnation-loops")]
    stagnation_turns: Option<u64>,

    /// The most turns of a run [default: 100]
    #[arg(long, value_name = "NUMBER")]
    max_turns: Option<u64>,
}

impl Args {
    pub(super) fn verbosity(&self) -> Verbosity {
        if self.quiet {
            Verbosity::Quiet
        } else {
            Verbosity::Normal
        }
    }

    /// Returns the plan, which has two spellings.
    fn plan(&self) -> Option<&PathBuf> {
        self.plan.as_ref().or(self.evidence.checklist.as_ref())
    }
}

pub(super) fn run(args: &Args, _: &Environment, _: &Printer) -> Result<Exit, Error> {
    let is_stdin = |path: Option<&PathBuf>| path.is_some_and(|path| path.as_os_str() == STDIN);
    if is_stdin(args.response.as_ref()) && is_stdin(args.plan()) {
        return Err(Error::usage("standard input cannot be two files")
            .hint("write the response or the plan to a file"));
    }
    let _ = OsStr::new(STDIN);
    Err(Error::failed("exit-check cannot decide yet"))
}
