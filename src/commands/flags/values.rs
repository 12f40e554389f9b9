//! Values of flags: their parsers, and their help.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::config::hedge_after::HedgeAfter;
use crate::domain::confidence::Confidence;
use crate::domain::money::MicroUsd;
use crate::setup::context::request::Scrubbing;
use crate::setup::request::Purpose;
use crate::terminal::output::printer::Verbosity;

/// A value of a flag, its name on the command line, and its help.
pub(crate) type Choice<T> = (T, &'static str, &'static str);

/// Returns the parser of a flag whose values have names.
pub(crate) fn choice<T: Copy + Send + Sync + 'static>(
    choices: impl IntoIterator<Item = &'static Choice<T>>,
) -> impl TypedValueParser<Value = T> {
    let choices: Vec<&'static Choice<T>> = choices.into_iter().collect();
    let names = choices.iter();
    let names = names.map(|(_, name, help)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(names).try_map(move |typed| {
        let chosen = choices.iter().find(|(_, name, _)| *name == typed);
        chosen.map(|(value, ..)| *value).ok_or("is no choice")
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

/// Returns how much the flags `--quiet` and `--verbose` print.
pub(crate) fn verbosity(quiet: bool, verbose: bool) -> Verbosity {
    match (quiet, verbose) {
        (true, _) => Verbosity::Quiet,
        (false, true) => Verbosity::Verbose,
        (false, false) => Verbosity::Normal,
    }
}

/// Returns what the flag `--no-scrub` decides.
pub(crate) fn scrubbing(no_scrub: bool) -> Scrubbing {
    if no_scrub {
        Scrubbing::Off
    } else {
        Scrubbing::On
    }
}

/// Returns what the flag `--dry-run` decides.
pub(crate) fn purpose(dry_run: bool) -> Purpose {
    if dry_run {
        Purpose::Preview
    } else {
        Purpose::Run
    }
}

/// Returns the ids of a group of flags.
pub(crate) fn ids<T: clap::Args>() -> Vec<clap::Id> {
    let command = T::augment_args(clap::Command::new(""));
    command
        .get_arguments()
        .map(|flag| flag.get_id().clone())
        .collect()
}
