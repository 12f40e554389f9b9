//! Flags that commands share: how far a run may go without asking, how the panel argues, and where
//! the output goes. Each group of flags becomes the plain data that setup takes.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::config::env::Environment;
use crate::config::hedge_after::HedgeAfter;
use crate::consultation::plan::mode::Mode;
use crate::consultation::plan::options::{JudgePasses, Rounds};
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::policy::substitution::OnFailure;
use crate::consultation::prompt::filter::PromptMaterial;
use crate::domain::confidence::Confidence;
use crate::domain::money::MicroUsd;
use crate::error::Error;
use crate::setup::request::{AnalysisRequest, ControlRequest, DebateRequest, PanelRequest};
use crate::stopping::early_termination::Policy;
use crate::terminal::output::pager::Pager;
use crate::terminal::output::printer::Verbosity;

/// The longest `--max-wait` in seconds, as in the settings.
pub(crate) const MAX_WAIT: u64 = 1_000_000;

/// The rounds of `--quick`: positions, and what the experts agree on.
const QUICK_ROUNDS: u8 = 2;

/// How far a run may go without asking.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Control")]
pub(crate) struct ControlFlags {
    /// Approve the cost, and answer yes to every other question
    #[arg(short, long)]
    pub(crate) yes: bool,

    /// Make no call that could bring the cost above this amount [default: no ceiling]
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(crate) max_cost: Option<MicroUsd>,

    /// What to do when a model fails for good [default: ask]
    #[arg(long, value_name = "ACTION", value_enum)]
    pub(crate) on_failure: Option<OnFailure>,

    /// Ask a second model when the first shows no sign of an answer for this long; `off` for never
    /// [default: 30, or the model's own 95th percentile after 20 calls]
    #[arg(long, value_name = "SECONDS|off")]
    pub(crate) hedge_after: Option<String>,

    /// End the run when a round takes longer than this [default: 3600 if you cannot be asked]
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(1..=MAX_WAIT)
    )]
    pub(crate) max_wait: Option<u64>,

    /// Refuse substitutions, and end the run when fewer agents answer than the panel has
    #[arg(long)]
    pub(crate) strict: bool,

    /// Whether to end after Round 2 when the experts agree [default: ask]
    #[arg(long, value_name = "WHEN", value_enum)]
    pub(crate) early_stop: Option<Policy>,

    /// The judge's confidence in the agreement that an early stop needs [default: 0.90]
    #[arg(long, value_name = "0.0-1.0", value_parser = confidence)]
    pub(crate) confidence_threshold: Option<Confidence>,
}

impl ControlFlags {
    /// Returns the flags as setup takes them.
    pub(crate) fn request(&self, consent_mode: ConsentMode) -> Result<ControlRequest, Error> {
        Ok(ControlRequest {
            consent_mode,
            max_cost: self.max_cost,
            on_failure: self.on_failure,
            hedge_after: self.hedge_after.as_deref().map(hedge_after).transpose()?,
            max_wait: self.max_wait.map(Duration::from_secs),
            strict: self.strict,
            early_termination: self.early_stop,
            confidence_threshold: self.confidence_threshold,
        })
    }
}

fn hedge_after(text: &str) -> Result<HedgeAfter, Error> {
    HedgeAfter::of_text(text).ok_or_else(|| {
        Error::usage(format!(
            "`--hedge-after` is `{text}`, but must be {}",
            HedgeAfter::EXPECTED
        ))
        .hint("for example: `--hedge-after 15`")
    })
}

/// Returns a value of a flag with its help.
fn value(name: &'static str, help: &'static str) -> PossibleValue {
    PossibleValue::new(name).help(help)
}

impl ValueEnum for Policy {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Ask, Self::Auto, Self::Never]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Ask => value("ask", "Ask you, on a terminal; otherwise like `auto`"),
            Self::Auto => value("auto", "End if no guard objects"),
            Self::Never => value("never", "Hold all rounds"),
        })
    }
}

/// Who sits on the panel.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct PanelFlags {
    /// The seats: `persona=provider:model`, separated by commas; or the name of a panel in the
    /// settings [default: three seats, if possible of three vendors whose keys are set]
    #[arg(long, value_name = "SEATS|NAME")]
    panel: Option<String>,

    /// The personas of the seats: names and `@sets`, separated by commas; or `auto` to let a model
    /// select them for the question [default: security, architecture, pragmatic]
    #[arg(long, value_name = "PERSONAS|auto")]
    personas: Option<String>,

    /// The model of a seat; give it once for each seat in order, or once for all seats [default:
    /// the best model of the seat's vendor]
    #[arg(short, long, value_name = "MODEL")]
    model: Vec<String>,

    /// The judge and its fallback models, separated by commas [default: the best model of OpenAI,
    /// then of other vendors whose keys are set]
    #[arg(long, value_name = "MODEL[,FALLBACK…]")]
    judge: Option<String>,
}

impl PanelFlags {
    /// Returns the flags as setup takes them.
    pub(crate) fn request(&self) -> PanelRequest {
        PanelRequest {
            panel: self.panel.clone(),
            personas: self.personas.clone(),
            models: self.model.clone(),
            judge: self.judge.clone(),
        }
    }
}

/// How the panel argues.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Debate")]
pub(crate) struct DebateFlags {
    #[command(flatten)]
    pub(crate) rounds: RoundFlags,

    /// Skip the comparison of positions before and after the debate, made by a cheap model
    #[arg(long)]
    pub(crate) no_debate_analysis: bool,
}

/// The rounds of a debate.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Debate")]
pub(crate) struct RoundFlags {
    /// How the panel argues [default: converge]
    #[arg(long, value_enum)]
    pub(crate) mode: Option<Mode>,

    /// How many rounds to hold: 1 shows the positions side by side, 2 adds what they agree on, 3
    /// the cross-examination, 4 the verdict [default: 4]
    #[arg(long, value_name = "1-4", value_parser = clap::value_parser!(u8).range(1..=4))]
    pub(crate) rounds: Option<u8>,

    /// Hold two rounds: positions, and what they agree on
    #[arg(long, conflicts_with = "rounds")]
    pub(crate) quick: bool,

    /// How often the judge decides: 2 repeats the verdict with the experts in the opposite order,
    /// to see whether it holds [default: 1]
    #[arg(long, value_name = "1|2", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(crate) judge_passes: Option<u8>,
}

impl DebateFlags {
    /// Returns the flags as setup takes them.
    pub(crate) fn request(&self) -> DebateRequest {
        DebateRequest {
            analysis: if self.no_debate_analysis {
                AnalysisRequest::Off
            } else {
                AnalysisRequest::BySettings
            },
            ..self.rounds.request()
        }
    }
}

impl RoundFlags {
    /// Returns the flags as setup takes them, with the debate analysis of the settings.
    pub(crate) fn request(&self) -> DebateRequest {
        DebateRequest {
            mode: self.mode,
            rounds: self
                .rounds
                .or(self.quick.then_some(QUICK_ROUNDS))
                .and_then(Rounds::new),
            judge_passes: self
                .judge_passes
                .and_then(|number| JudgePasses::of_number(number.into())),
            analysis: AnalysisRequest::BySettings,
        }
    }
}

impl ValueEnum for Mode {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Converge, Self::Explore]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Converge => value("converge", "No, because…: one answer, and the dissent"),
            Self::Explore => value(
                "explore",
                "Yes, and…: a menu of options with their trade-offs",
            ),
        })
    }
}

impl ValueEnum for OnFailure {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Ask, Self::Substitute, Self::Skip, Self::Fail]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Ask => value(
                "ask",
                "Ask you, on a terminal; otherwise let another model take over",
            ),
            Self::Substitute => value("substitute", "Let another model take over"),
            Self::Skip => value("skip", "Continue without it"),
            Self::Fail => value("fail", "End the consultation"),
        })
    }
}

/// Where the answer goes, and how much is printed on the way.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputFlags {
    #[command(flatten)]
    format: FormatFlags,

    /// Print the whole report on a terminal [default: a summary; files and pipes get all of it]
    #[arg(long)]
    pub(crate) full: bool,

    #[command(flatten)]
    pub(crate) pager: PagerFlag,

    /// Write the answer to a file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Print only the answer and errors
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Show the estimate of each call, retries and repaired answers; a new consultation also sends
    /// full debate artifacts
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// Show the judge's text while it is written
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) stream: bool,

    /// Ring the terminal's bell at the end, with a desktop notification where the terminal has them
    #[arg(long)]
    pub(crate) notify: bool,

    /// Write every event as a line of JSON to a file; `-` writes to standard error [default: no
    /// file]
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
}

/// Whether long texts on a terminal go through a pager.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct PagerFlag {
    /// Print long texts directly [default: through $PAGER, or less, on a terminal]
    #[arg(long)]
    no_pager: bool,
}

impl PagerFlag {
    pub(crate) fn pager(self, environment: &Environment) -> Pager {
        if self.no_pager {
            Pager::Off
        } else {
            Pager::of_variables(environment.pager(), environment.text("LESS"))
        }
    }
}

/// The format of an answer or a record, named or taken from the ending of its file.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct FormatFlags {
    /// The format [default: by the ending of --output, or markdown]
    #[arg(long, value_enum)]
    format: Option<AnswerFormat>,

    /// Write JSON, as `--format json` does
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// The format of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum AnswerFormat {
    #[value(alias = "md")]
    Markdown,
    Json,
    /// A page that needs no other file
    Html,
    /// Markdown, a line `---`, then JSON
    Both,
}

impl FormatFlags {
    /// Returns the format in which to write to this file, or to standard output.
    pub(crate) fn for_output(self, output: Option<&Path>) -> AnswerFormat {
        let ending = output.and_then(Path::extension).and_then(OsStr::to_str);
        let by_ending = match ending.map(str::to_ascii_lowercase).as_deref() {
            Some("json") => AnswerFormat::Json,
            Some("html" | "htm") => AnswerFormat::Html,
            Some(_) | None => AnswerFormat::Markdown,
        };
        if self.json {
            AnswerFormat::Json
        } else {
            self.format.unwrap_or(by_ending)
        }
    }
}

/// `--format json`, the long form of `--json` where the other format is text for people.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct ListFormatFlag {
    #[arg(long, value_enum, hide = true, conflicts_with = "json")]
    format: Option<ListFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ListFormat {
    Text,
    Json,
}

impl ListFormatFlag {
    pub(crate) fn is_json(self) -> bool {
        self.format == Some(ListFormat::Json)
    }
}

impl OutputFlags {
    pub(crate) fn format(&self) -> AnswerFormat {
        self.format.for_output(self.output.as_deref())
    }

    pub(crate) fn verbosity(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        }
    }

    /// Returns how much of the debate's artifacts later rounds are sent.
    pub(crate) fn material(&self) -> PromptMaterial {
        if self.verbose {
            PromptMaterial::Whole
        } else {
            PromptMaterial::Filtered
        }
    }
}

pub(crate) fn confidence(text: &str) -> Result<Confidence, String> {
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
    amount.ok_or_else(|| "must be an amount in dollars, such as 0.50".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_follows_the_ending_of_the_file_unless_it_is_named() {
        let flags = FormatFlags {
            format: None,
            json: false,
        };
        let by_ending = |name: &str| flags.for_output(Some(Path::new(name)));
        assert_eq!(flags.for_output(None), AnswerFormat::Markdown);
        assert_eq!(by_ending("x.json"), AnswerFormat::Json);
        assert_eq!(by_ending("x.md"), AnswerFormat::Markdown);
        assert_eq!(by_ending("folder.html/x.HTML"), AnswerFormat::Html);
        assert_eq!(by_ending("folder.html/x"), AnswerFormat::Markdown);
        assert_eq!(by_ending("x.txt"), AnswerFormat::Markdown);
        let named = FormatFlags {
            format: Some(AnswerFormat::Both),
            json: false,
        };
        assert_eq!(
            named.for_output(Some(Path::new("x.json"))),
            AnswerFormat::Both
        );
    }

    #[test]
    fn a_delay_that_is_no_number_is_refused_with_an_example() {
        assert_eq!(hedge_after("off").unwrap(), HedgeAfter::Off);
        let error = hedge_after("soon").unwrap_err();
        assert_eq!(
            error.to_string(),
            "`--hedge-after` is `soon`, but must be a number of seconds up to 1000000, or `off`"
        );
        assert_eq!(error.hints(), ["for example: `--hedge-after 15`"]);
    }
}
