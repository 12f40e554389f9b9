//! The flags of a run, in the groups of its help.

use std::path::PathBuf;
use std::str::FromStr;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::commands::flags::{AnswerFormat, FormatFlags, MAX_WAIT, PagerFlag, confidence, dollars};
use crate::config::hedge_after::HedgeAfter;
use crate::consultation::policy::substitution::OnFailure;
use crate::domain::confidence::Confidence;
use crate::domain::money::MicroUsd;
use crate::stopping::early_termination::Policy;
use crate::terminal::output::printer::Verbosity;

/// Consultations at once, unless a flag says otherwise.
pub(super) const DEFAULT_JOBS: u64 = 4;

/// Which cases are run, by whom, and how often.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Cases")]
pub(super) struct CaseFlags {
    /// Run only cases with this tag; give it several times for several tags
    #[arg(long, value_name = "TAG")]
    pub(super) tag: Vec<String>,

    /// Run at most this many cases, in the order of the suite
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) limit: Option<u32>,

    /// Run one of several parts, such as 2/8: on eight machines, each runs one. `conclave benchmark
    /// merge` puts them together
    #[arg(long, value_name = "PART/PARTS")]
    pub(super) partition: Option<String>,

    /// Answer each case this often [default: 1]
    #[arg(long, value_name = "TIMES", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) repeat: Option<u32>,

    /// Consult on a case at most this often when there is no answer [default: 2]
    #[arg(long, value_name = "TIMES", value_parser = clap::value_parser!(u32).range(1..=10))]
    pub(super) attempts: Option<u32>,

    /// Run this many consultations at once
    #[arg(
        short,
        long,
        value_name = "N",
        default_value_t = DEFAULT_JOBS,
        value_parser = clap::value_parser!(u64).range(1..=1000)
    )]
    pub(super) jobs: u64,
}

/// Who answers instead of or beside the panel, and who grades.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Baseline")]
pub(super) struct BaselineFlags {
    /// Let this model alone answer each case, with one call, instead of the panel
    #[arg(long, value_name = "MODEL")]
    pub(super) single: Option<String>,

    /// Let the panel and a single model answer the same cases, and compare them [the model is that
    /// of --single, or the judge's]
    #[arg(long)]
    pub(super) compare: bool,

    /// The model that grades answers of cases with `match: judge` [default: the suite's `grader`]
    #[arg(long, value_name = "MODEL")]
    pub(super) grader: Option<String>,
}

/// When a run stops.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Stop conditions")]
pub(super) struct StopFlags {
    /// Stop after this many attempts [default: 50; a run that needs more is refused, so that you
    /// set it]
    #[arg(long, value_name = "N|off")]
    pub(super) max_attempts: Option<Bound<u32>>,

    /// Stop when this many cases in a row have a wrong answer or none [default: 3]
    #[arg(long, value_name = "N|off")]
    pub(super) max_consecutive_fails: Option<Bound<u32>>,

    /// Stop when more than this share of the last cases has a wrong answer or none [default: 0.3]
    #[arg(long, value_name = "0.0-1.0|off")]
    pub(super) max_reject_rate: Option<Bound<Share>>,

    /// Stop when more than this share of the last cases needed a second attempt [default: 0.5]
    #[arg(long, value_name = "0.0-1.0|off")]
    pub(super) max_retry_rate: Option<Bound<Share>>,

    /// Finished cases before a rate can stop the run [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) min_items: Option<u32>,

    /// Finished cases that the rates look back on [default: 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) window: Option<u32>,
}

/// How far the run and each of its consultations may go.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Control")]
pub(super) struct LimitFlags {
    /// Approve the cost of the whole run
    #[arg(short, long)]
    pub(super) yes: bool,

    /// Make no call that could bring the cost of the whole run above this amount [default: no
    /// ceiling]
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(super) max_cost: Option<MicroUsd>,

    /// What to do when a model fails for good [default: fail, so that only the panel's own answers
    /// count]
    #[arg(long, value_name = "ACTION", value_parser = without(OnFailure::Ask))]
    pub(super) on_failure: Option<OnFailure>,

    /// Ask a second model when the first shows no sign of an answer for this long; `off` for never
    /// [default: off]
    #[arg(long, value_name = "SECONDS|off", value_parser = hedge_after)]
    pub(super) hedge_after: Option<HedgeAfter>,

    /// End a consultation when a round takes longer than this [default: 3600]
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(1..=MAX_WAIT)
    )]
    pub(super) max_wait: Option<u64>,

    /// Refuse substitutions, and end a consultation when fewer agents answer than the panel has
    #[arg(long)]
    pub(super) strict: bool,

    /// Whether to end after Round 2 when the experts agree [default: auto]
    #[arg(long, value_name = "WHEN", value_parser = without(Policy::Ask))]
    pub(super) early_stop: Option<Policy>,

    /// The judge's confidence in the agreement that an early stop needs [default: 0.90]
    #[arg(long, value_name = "0.0-1.0", value_parser = confidence)]
    pub(super) confidence_threshold: Option<Confidence>,

    /// Send the cases as they are: mask no keys, passwords and other secrets
    #[arg(long)]
    pub(super) no_scrub: bool,

    /// Check the suite, and show what would be asked of which vendor at what cost; send nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// Where the report goes, and how much is printed on the way.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(super) struct ReportFlags {
    #[command(flatten)]
    format: FormatFlags,

    #[command(flatten)]
    pub(super) pager: PagerFlag,

    /// Write the report to a file; .json, .html and .md choose the format [default: standard
    /// output]
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// Write the results of the cases to a JUnit file too
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,

    /// End with exit code 1 when a smaller share of the answers is right
    #[arg(long, value_name = "0.0-1.0")]
    pub(super) fail_under: Option<Share>,

    /// Print only the report and errors
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,

    /// Print a line for each finished case
    #[arg(short, long)]
    verbose: bool,
}

impl ReportFlags {
    pub(super) fn format(&self) -> AnswerFormat {
        self.format.for_output(self.output.as_deref())
    }

    pub(super) fn verbosity(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        }
    }
}

/// A limit that can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound<T> {
    Off,
    At(T),
}

impl<T> Bound<T> {
    /// Returns the limit; `None` if it is off.
    pub(super) fn limit(self) -> Option<T> {
        match self {
            Self::Off => None,
            Self::At(limit) => Some(limit),
        }
    }
}

impl FromStr for Bound<u32> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || "must be a number from 1, or `off`".to_owned();
        match text.trim() {
            "off" => Ok(Self::Off),
            text => match text.parse().map_err(|_| expected())? {
                0 => Err(expected()),
                number => Ok(Self::At(number)),
            },
        }
    }
}

impl FromStr for Bound<Share> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "off" => Ok(Self::Off),
            text => match text.parse() {
                Ok(share) => Ok(Self::At(share)),
                Err(_) => Err("must be between 0.0 and 1.0, or `off`".to_owned()),
            },
        }
    }
}

/// A part of a whole, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Share(f64);

impl Share {
    pub(super) fn get(self) -> f64 {
        self.0
    }
}

impl Eq for Share {}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let share = text.trim().parse().ok();
        share
            .filter(|share| (0.0..=1.0).contains(share))
            .map(Self)
            .ok_or_else(|| "must be between 0.0 and 1.0".to_owned())
    }
}

/// Returns the parser of an enum without one of its values: while many consultations run at once,
/// you cannot be asked.
fn without<T>(left_out: T) -> impl TypedValueParser<Value = T>
where
    T: ValueEnum + PartialEq + Send + Sync + 'static,
{
    let values = T::value_variants()
        .iter()
        .filter(|value| **value != left_out);
    let values: Vec<_> = values.filter_map(ValueEnum::to_possible_value).collect();
    PossibleValuesParser::new(values).try_map(|name| T::from_str(&name, false))
}

fn hedge_after(text: &str) -> Result<HedgeAfter, String> {
    HedgeAfter::of_text(text).ok_or_else(|| format!("must be {}", HedgeAfter::EXPECTED))
}
