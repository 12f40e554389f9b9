//! How far a run may go without asking: the flags that all paid runs share.

use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::consultation::plan::ControlRequest;
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::policy::hedging::HedgeAfter;
use crate::consultation::policy::substitution::OnFailure;
use crate::domain::answer::confidence::Confidence;
use crate::domain::cost::money::MicroUsd;
use crate::error::Error;
use crate::stopping::early_termination::Policy;
use crate::terminal::output::printer::Printer;
use crate::terminal::prompt::{StdinUse, can_ask};

/// The longest `--max-wait` in seconds, as in the settings.
const MAX_WAIT: u64 = 1_000_000;

const ON_FAILURE: &str = "\
ask         Ask you, on a terminal; otherwise let another model take over
substitute  Let another model take over
skip        Continue without it
fail        End the consultation";

const EARLY_STOP: &str = "\
ask    Ask you, on a terminal; otherwise like `auto`
auto   End if no guard objects
never  Hold all rounds";

/// Whether anything is sent, and what a run may cost. Every resumption may change it.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Control")]
pub(crate) struct SpendingFlags {
    /// Show what would be sent to which provider, with tokens and cost, and send nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Approve the cost, up to --max-cost if that is given, and answer yes to every other question
    #[arg(short, long)]
    pub(crate) yes: bool,

    /// Make no call that could bring the cost of the run above this amount; without a terminal, it
    /// approves an estimate within it [default: no ceiling]
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(crate) max_cost: Option<MicroUsd>,

    /// Make no more calls than this in a consultation to models that a plan pays for, retries
    /// included; --max-cost does not hold them [default: 60]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) max_calls: Option<u32>,
}

/// How a consultation goes on by itself. While many run at once, you cannot be asked.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Control")]
pub(crate) struct ControlFlags {
    #[command(flatten)]
    pub(crate) spending: SpendingFlags,

    /// What to do when a model fails for good [default: ask; refine: substitute; benchmark: fail,
    /// so that only the panel's own answers count]
    #[arg(long, value_name = "ACTION", value_parser = choice::<OnFailure>(ON_FAILURE))]
    pub(crate) on_failure: Option<OnFailure>,

    /// Ask a second model when the first shows no sign of an answer for this long; `off` for never
    /// [default: 30, or the model's own 95th percentile after 20 calls; benchmark: off]
    #[arg(long, value_name = "SECONDS|off", value_parser = hedge_after)]
    pub(crate) hedge_after: Option<HedgeAfter>,

    /// End a consultation when a round takes longer than this [default: 3600 if you cannot be
    /// asked, as by benchmark and refine]
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(1..=MAX_WAIT)
    )]
    pub(crate) max_wait: Option<u64>,

    /// Refuse substitutions, and end a consultation when fewer agents answer than the panel has
    #[arg(long)]
    pub(crate) strict: bool,

    /// Whether to end after Round 2 when the experts agree [default: ask; auto if you cannot be
    /// asked, as by benchmark and refine]
    #[arg(long, value_name = "WHEN", value_parser = choice::<Policy>(EARLY_STOP))]
    pub(crate) early_stop: Option<Policy>,

    /// The judge's confidence in the agreement that an early stop needs [default: 0.90]
    #[arg(long, value_name = "0.0-1.0", value_parser = confidence)]
    pub(crate) confidence_threshold: Option<Confidence>,
}

/// What is fixed when a run begins: in which form everything is sent.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Control")]
pub(crate) struct SendingFlags {
    /// Send everything as it is: mask no keys, passwords and other secrets
    #[arg(long)]
    pub(crate) no_scrub: bool,
}

impl ControlFlags {
    /// Returns the flags for consultations of which many run at once.
    ///
    /// # Errors
    ///
    /// When a flag wants a person to be asked.
    pub(crate) fn request_for_many(&self, mode: ConsentMode) -> Result<ControlRequest, Error> {
        let asks = [
            ("--on-failure", self.on_failure == Some(OnFailure::Ask)),
            ("--early-stop", self.early_stop == Some(Policy::Ask)),
        ];
        match asks.iter().find(|(_, asks)| *asks) {
            None => Ok(self.request(mode)),
            Some((flag, _)) => Err(Error::usage(format!(
                "`{flag} ask` is for a single consultation: while many run at once, you cannot be \
                 asked"
            ))),
        }
    }

    pub(crate) fn request(&self, consent_mode: ConsentMode) -> ControlRequest {
        ControlRequest {
            consent_mode,
            max_cost: self.spending.max_cost,
            max_calls: self.spending.max_calls,
            on_failure: self.on_failure,
            hedge_after: self.hedge_after,
            max_wait: self.max_wait,
            strict: self.strict,
            early_termination: self.early_stop,
            confidence_threshold: self.confidence_threshold,
        }
    }
}

pub(crate) fn consent_mode(is_approved: bool, printer: &Printer, input: StdinUse) -> ConsentMode {
    match (is_approved, can_ask(printer, input)) {
        (true, _) => ConsentMode::PreApproved,
        (false, true) => ConsentMode::Interactive,
        (false, false) => ConsentMode::NonInteractive,
    }
}

/// The table has a name and its help on each line. A name that no value has stands for none.
pub(crate) fn choice<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    table: &'static str,
) -> impl TypedValueParser<Value = T> {
    let value = |name: &str| serde_json::from_value::<T>(name.into());
    debug_assert!(
        (table.lines().filter_map(|line| line.split(' ').next()))
            .all(|name| name == "auto" || value(name).is_ok()),
        "{table}"
    );
    let names = table.lines().map(|line| {
        let (name, help) = line.split_once(' ').unwrap_or((line, ""));
        PossibleValue::new(name).help(help.trim_start())
    });
    PossibleValuesParser::new(names).try_map(|name| {
        serde_json::from_value(name.into()).or_else(|_| serde_json::from_value(Value::Null))
    })
}

pub(crate) fn confidence(text: &str) -> Result<Confidence, String> {
    share(text).and_then(|share| Confidence::new(share).ok_or_else(no_share))
}

pub(crate) fn dollars(text: &str) -> Result<MicroUsd, String> {
    let amount = text.trim().trim_start_matches('$').parse().ok();
    amount
        .and_then(MicroUsd::from_usd)
        .ok_or_else(|| "must be an amount in dollars, such as 0.50".to_owned())
}

/// Reads a whole number of units, each with its seconds.
pub(crate) fn span_in(units: &[(&str, u64)], text: &str) -> Option<Duration> {
    let seconds = units.iter().find_map(|(unit, seconds)| {
        let number: u32 = text.trim().strip_suffix(unit)?.parse().ok()?;
        Some(u64::from(number) * seconds)
    });
    seconds.map(Duration::from_secs)
}

/// Reads a part of a whole.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let share = text.trim().parse().ok();
    let share = share.filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(no_share)
}

fn no_share() -> String {
    "must be between 0.0 and 1.0".to_owned()
}

pub(super) fn hedge_after(text: &str) -> Result<HedgeAfter, String> {
    HedgeAfter::of_text(text).ok_or_else(|| format!("must be {}", HedgeAfter::EXPECTED))
}
