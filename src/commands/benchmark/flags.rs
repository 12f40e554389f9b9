//! The flags of a run, in the groups of its help.

use std::path::PathBuf;

use crate::benchmark::run::Partition;
use crate::commands::completions::values::{Names::Models, completer};
use crate::commands::flags::{AnswerFormat, FormatFlags, PagerFlag, confidence, share};
use crate::domain::answer::confidence::Confidence;
use crate::session::batch::elsewhere::Elsewhere;
use crate::suites::field_pair;
use crate::suites::suite::{StopLimit, StopSettings};

/// Consultations at once, unless flag or suite say otherwise.
const DEFAULT_JOBS: u32 = 4;

/// Which cases are run, and how often.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Cases")]
pub(super) struct CaseFlags {
    /// Read other fields than those of cases: `question=input,expected=target`, also `options`
    /// (one, or `a+b+c`), `context`, `id` and `tags`; `index=1` if numbers count options from 1
    #[arg(long, value_name = "FIELD=NAME", value_delimiter = ',', value_parser = field_pair)]
    pub(super) field: Vec<(String, String)>,

    /// Run only cases with this tag; give it several times for several tags
    #[arg(long, value_name = "TAG")]
    pub(super) tag: Vec<String>,

    /// Run at most this many cases, in the order of the suite
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) limit: Option<u32>,

    /// Run one of several parts, such as 2/8: on eight machines, each runs one. `conclave benchmark
    /// merge` puts them together
    #[arg(long, value_name = "PART/PARTS")]
    pub(super) partition: Option<Partition>,

    /// Answer each case this often [default: 1]
    #[arg(long, value_name = "TIMES", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) repeat: Option<u32>,

    /// Consult on a case at most this often when there is no answer [default: 2]
    #[arg(long, value_name = "TIMES", value_parser = clap::value_parser!(u32).range(1..=10))]
    pub(super) attempts: Option<u32>,
}

/// Who answers instead of or beside the panel, and who grades.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Baseline")]
pub(super) struct BaselineFlags {
    /// Let this model alone answer each case, with one call, instead of the panel
    #[arg(long, value_name = "MODEL", add = completer(Models))]
    pub(super) single: Option<String>,

    /// Let the panel and a single model answer the same cases, and compare them [the model is that
    /// of --single, or the judge's]
    #[arg(long)]
    pub(super) compare: bool,

    /// The model that grades answers of cases with `match: judge` [default: the suite's `grader`]
    #[arg(long, value_name = "MODEL", add = completer(Models))]
    pub(super) grader: Option<String>,
}

/// When a run stops.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Stop conditions")]
pub(super) struct StopFlags {
    /// Stop after this many attempts [default: 50; a run that needs more is refused, so that you
    /// set it]
    #[arg(long, value_name = "N|off", value_parser = count_limit)]
    pub(super) max_attempts: Option<StopLimit<u64>>,

    /// Stop when this many cases in a row have a wrong answer or none [default: 3]
    #[arg(long, value_name = "N|off", value_parser = count_limit)]
    pub(super) max_consecutive_fails: Option<StopLimit<u64>>,

    /// Stop when more than this share of the last cases has a wrong answer or none [default: 0.3]
    #[arg(long, value_name = "0.0-1.0|off", value_parser = share_limit)]
    pub(super) max_reject_rate: Option<StopLimit<Confidence>>,

    /// Stop when more than this share of the last cases needed a second attempt [default: 0.5]
    #[arg(long, value_name = "0.0-1.0|off", value_parser = share_limit)]
    pub(super) max_retry_rate: Option<StopLimit<Confidence>>,

    /// Finished cases before a rate can stop the run [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) min_items: Option<u32>,

    /// Finished cases that the rates look back on [default: 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) window: Option<u32>,
}

/// What each process of a run may change.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ProcessFlags {
    /// Run this many consultations at once [default: 4]
    #[arg(
        short,
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1000),
        help_heading = "Cases"
    )]
    jobs: Option<u32>,

    #[command(flatten)]
    pub(super) stop: StopFlags,

    #[command(flatten)]
    pub(super) output: ReportFlags,
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
    #[arg(long, value_name = "0.0-1.0", value_parser = share)]
    pub(super) fail_under: Option<f64>,

    /// Print only the report and errors
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,

    /// Print a line for each finished case
    #[arg(short, long)]
    verbose: bool,
}

impl ProcessFlags {
    /// The flag's, the suite's, or the default. Elsewhere, it is the flag's, or as many as can be
    /// held there.
    pub(super) fn jobs(&self, of_suite: Option<u32>, place: Option<&dyn Elsewhere>) -> usize {
        let here = || of_suite.or(Some(DEFAULT_JOBS)).filter(|_| place.is_none());
        let jobs = self.jobs.or_else(here);
        jobs.and_then(|jobs| usize::try_from(jobs).ok())
            .unwrap_or(usize::MAX)
    }
}

impl StopFlags {
    pub(super) fn settings(&self) -> StopSettings {
        StopSettings {
            max_retry_rate: self.max_retry_rate,
            max_reject_rate: self.max_reject_rate,
            max_consecutive_fails: self.max_consecutive_fails,
            max_total_attempts: self.max_attempts,
            min_items: self.min_items,
            window: self.window,
        }
    }
}

impl ReportFlags {
    pub(super) fn format(&self) -> AnswerFormat {
        self.format.for_output(self.output.as_deref())
    }
}

fn limit<T>(text: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<StopLimit<T>, String> {
    match text.trim() {
        "off" => Ok(StopLimit::Off),
        text => match read(text) {
            Ok(limit) => Ok(StopLimit::At(limit)),
            Err(expected) => Err(format!("{expected}, or `off`")),
        },
    }
}

fn count_limit(text: &str) -> Result<StopLimit<u64>, String> {
    limit(text, |text| {
        let number = text.parse::<u32>().ok().filter(|number| *number > 0);
        let number = number.map(u64::from);
        number.ok_or_else(|| "must be a number from 1".to_owned())
    })
}

fn share_limit(text: &str) -> Result<StopLimit<Confidence>, String> {
    limit(text, confidence)
}
