//! The flags of a check.

use std::path::PathBuf;

use crate::agent_loop::response::ResponseFormat;
use crate::commands::agent_loop::LoopFlags;
use crate::commands::agent_loop::ThresholdFlag;
use crate::commands::flags::choice;

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

    /// Print only the line of the decision
    #[arg(short, long, conflicts_with = "json", help_heading = "Output")]
    pub(super) quiet: bool,
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
auto    By its content
text    Text or Markdown
claude  Claude Code: --output-format json or stream-json
codex   Codex: exec --json
gemini  Gemini CLI: --output-format json or stream-json";

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
    /// Returns the flags that are given, with what they set.
    pub(super) fn given(&self) -> Vec<ThresholdFlag> {
        let all = [
            ("min_confidence", self.min_confidence),
            ("min_completion", self.min_completion),
            ("max_errors", self.max_errors),
            ("stagnation_turns", self.stagnation_turns),
            ("max_turns", self.max_turns),
        ];
        let all = all.into_iter();
        all.filter_map(|(setting, value)| Some((setting, value?)))
            .collect()
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
