//! How far a run may go without asking.

use std::time::Duration;

use clap::Arg;

use crate::config::hedge_after::HedgeAfter;
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::policy::substitution::OnFailure;
use crate::domain::confidence::Confidence;
use crate::domain::money::MicroUsd;
use crate::setup::request::ControlRequest;
use crate::stopping::early_termination::Policy;

use super::values::{Choice, choice, confidence, dollars, hedge_after};

/// The longest `--max-wait` in seconds, as in the settings.
pub(crate) const MAX_WAIT: u64 = 1_000_000;

/// The values of `--on-failure`.
pub(crate) const ON_FAILURE: [Choice<OnFailure>; 4] = [
    (
        OnFailure::Ask,
        "ask",
        "Ask you, on a terminal; otherwise let another model take over",
    ),
    (
        OnFailure::Substitute,
        "substitute",
        "Let another model take over",
    ),
    (OnFailure::Skip, "skip", "Continue without it"),
    (OnFailure::Fail, "fail", "End the consultation"),
];

const EARLY_STOP: [Choice<Policy>; 3] = [
    (
        Policy::Ask,
        "ask",
        "Ask you, on a terminal; otherwise like `auto`",
    ),
    (Policy::Auto, "auto", "End if no guard objects"),
    (Policy::Never, "never", "Hold all rounds"),
];

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
    #[arg(long, value_name = "ACTION", value_parser = choice(&ON_FAILURE))]
    pub(crate) on_failure: Option<OnFailure>,

    /// Ask a second model when the first shows no sign of an answer for this long; `off` for never
    /// [default: 30, or the model's own 95th percentile after 20 calls]
    #[arg(long, value_name = "SECONDS|off", value_parser = hedge_after)]
    pub(crate) hedge_after: Option<HedgeAfter>,

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
    #[arg(long, value_name = "WHEN", value_parser = choice(&EARLY_STOP))]
    pub(crate) early_stop: Option<Policy>,

    /// The judge's confidence in the agreement that an early stop needs [default: 0.90]
    #[arg(long, value_name = "0.0-1.0", value_parser = confidence)]
    pub(crate) confidence_threshold: Option<Confidence>,
}

impl ControlFlags {
    /// Returns the flags as setup takes them.
    pub(crate) fn request(&self, consent_mode: ConsentMode) -> ControlRequest {
        ControlRequest {
            consent_mode,
            max_cost: self.max_cost,
            on_failure: self.on_failure,
            hedge_after: self.hedge_after,
            max_wait: self.max_wait.map(Duration::from_secs),
            strict: self.strict,
            early_termination: self.early_stop,
            confidence_threshold: self.confidence_threshold,
        }
    }
}

/// Returns a flag of [`ControlFlags`] for a run of many consultations, with the help of that run.
/// While many run at once, you cannot be asked.
pub(crate) fn for_many(flag: Arg, help: &[(&str, &'static str)]) -> Arg {
    let id = flag.get_id().clone();
    let words = help.iter().find(|(name, _)| id == *name);
    let flag = match (words, id.as_str()) {
        (Some((_, words)), _) => flag.help(*words),
        (None, "max_wait") => {
            flag.help("End a consultation when a round takes longer than this [default: 3600]")
        }
        (None, "strict") => flag.help(
            "Refuse substitutions, and end a consultation when fewer agents answer than the panel \
             has",
        ),
        (None, _) => flag,
    };
    match id.as_str() {
        "on_failure" => flag.value_parser(choice(unasked(&ON_FAILURE, OnFailure::Ask))),
        "early_stop" => flag.value_parser(choice(unasked(&EARLY_STOP, Policy::Ask))),
        _ => flag,
    }
}

/// Leaves out the value that asks.
fn unasked<T: PartialEq>(
    choices: &'static [Choice<T>],
    ask: T,
) -> impl Iterator<Item = &'static Choice<T>> {
    choices.iter().filter(move |(value, ..)| *value != ask)
}
