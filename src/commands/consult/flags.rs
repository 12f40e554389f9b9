//! Flags that asking anew and going on have in common: how far it may go by itself, and what is
//! told of it where.

use std::path::PathBuf;

use crate::consultation::plan::mode::Mode;
use crate::consultation::policy::substitution::OnFailure;
use crate::domain::confidence::Confidence;
use crate::domain::money::MicroUsd;
use crate::stopping::early_termination::Policy;
use crate::terminal::output::printer::Verbosity;

/// How far the consultation may go by itself.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Control")]
pub(crate) struct ControlFlags {
    /// Agree to the cost, and to every other question, in advance
    #[arg(short, long)]
    pub(crate) yes: bool,

    /// Make no call that could bring the cost above this
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(crate) max_cost: Option<MicroUsd>,

    /// What to do when a model fails for good
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) on_failure: Option<FailureChoice>,

    /// Ask a second model when the first shows no sign of an answer for so many seconds; or `off`
    #[arg(long, value_name = "SECONDS|off")]
    pub(crate) hedge_after: Option<String>,

    /// End when a round takes longer than this
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_wait: Option<u64>,

    /// Refuse substitutes, and results that are less than the panel promised
    #[arg(long)]
    pub(crate) strict: bool,

    /// Who decides whether to end after Round 2 when the experts agree
    #[arg(long, value_name = "WHO", value_enum)]
    pub(crate) early_stop: Option<EarlyStopChoice>,

    /// How sure of what they agree on the judge has to be for that [default: 0.90]
    #[arg(long, value_name = "0.0-1.0", value_parser = share)]
    pub(crate) confidence_threshold: Option<Confidence>,
}

/// What `--early-stop` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum EarlyStopChoice {
    /// You, on a terminal; else as `auto`
    Ask,
    /// The guards: only when nothing speaks against it
    Auto,
    /// Nobody: all rounds are held
    Never,
}

impl From<EarlyStopChoice> for Policy {
    fn from(choice: EarlyStopChoice) -> Self {
        match choice {
            EarlyStopChoice::Ask => Self::Ask,
            EarlyStopChoice::Auto => Self::Auto,
            EarlyStopChoice::Never => Self::Never,
        }
    }
}

/// How the panel is to argue.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Debate")]
pub(crate) struct DebateFlags {
    /// How the panel argues [default: converge]
    #[arg(long, value_enum)]
    pub(crate) mode: Option<ModeChoice>,

    /// How many rounds are held: 1 shows the positions side by side, 2 adds what they agree on, 3
    /// the cross-examination, 4 the verdict
    #[arg(long, value_name = "1-4", value_parser = clap::value_parser!(u8).range(1..=4))]
    pub(crate) rounds: Option<u8>,

    /// Two rounds: positions, and what they agree on
    #[arg(long, conflicts_with = "rounds")]
    pub(crate) quick: bool,

    /// Do not have a cheap model compare what each expert held before and after the debate
    #[arg(long)]
    pub(crate) no_debate_analysis: bool,

    /// How often the judge decides: with 2, once more with the experts in the opposite order, to
    /// see whether the verdict holds
    #[arg(long, value_name = "1|2", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(crate) judge_passes: Option<u8>,
}

/// What `--mode` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ModeChoice {
    /// No, because…: one answer, and what speaks against it
    Converge,
    /// Yes, and…: a menu of options with their trade-offs
    Explore,
}

impl From<ModeChoice> for Mode {
    fn from(choice: ModeChoice) -> Self {
        match choice {
            ModeChoice::Converge => Self::Converge,
            ModeChoice::Explore => Self::Explore,
        }
    }
}

/// What `--on-failure` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FailureChoice {
    /// Ask on a terminal, else let another model take over
    Ask,
    /// Let another model take over
    Substitute,
    /// Go on without it
    Skip,
    /// End
    Fail,
}

impl From<FailureChoice> for OnFailure {
    fn from(choice: FailureChoice) -> Self {
        match choice {
            FailureChoice::Ask => Self::Ask,
            FailureChoice::Substitute => Self::Substitute,
            FailureChoice::Skip => Self::Skip,
            FailureChoice::Fail => Self::Fail,
        }
    }
}

/// Where the answer goes, and how much is told on the way.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputFlags {
    /// What is written to standard output
    #[arg(long, value_enum, default_value_t = Format::Markdown)]
    pub(crate) format: Format,

    /// Write the answer to a file instead, whole or not at all
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Say nothing but errors
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Show the estimate by call, retries, and what was mended in answers; a new consultation sends
    /// full debate artifacts
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// Show the judge's text as it is written
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) stream: bool,

    /// Write every event as a line of JSON to a file, or to standard error with `-`
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
}

/// The forms of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    Markdown,
    Json,
    /// Markdown, a line `---`, JSON
    Both,
}

impl OutputFlags {
    pub(crate) fn verbosity(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        }
    }
}

fn share(text: &str) -> Result<Confidence, String> {
    text.trim()
        .parse()
        .ok()
        .and_then(Confidence::new)
        .ok_or_else(|| "must be between 0.0 and 1.0".to_owned())
}

pub(crate) fn dollars(text: &str) -> Result<MicroUsd, String> {
    let amount = text
        .trim()
        .trim_start_matches('$')
        .parse()
        .ok()
        .and_then(MicroUsd::from_usd);
    amount.ok_or_else(|| "must be an amount of dollars such as 0.50".to_owned())
}
