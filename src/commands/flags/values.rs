//! Values of flags: their parsers, and their help.

use clap::builder::PossibleValue;

use crate::config::hedge_after::HedgeAfter;
use crate::domain::confidence::Confidence;
use crate::domain::money::MicroUsd;

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

/// Reads a part of a whole.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let share = text.trim().parse().ok();
    share
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "must be between 0.0 and 1.0".to_owned())
}

pub(crate) fn hedge_after(text: &str) -> Result<HedgeAfter, String> {
    HedgeAfter::of_text(text).ok_or_else(|| format!("must be {}", HedgeAfter::EXPECTED))
}

/// Returns a value of a flag with its help.
pub(super) fn possible(name: &'static str, help: &'static str) -> PossibleValue {
    PossibleValue::new(name).help(help)
}
