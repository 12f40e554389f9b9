//! The arguments of a bench, the figures of repeated measurements, and their table.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Instant;

/// Returns the nth number after `--`, without Cargo's own `--bench`.
pub(crate) fn argument<T: FromStr>(nth: usize) -> Option<T> {
    std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .nth(nth)?
        .parse()
        .ok()
}

/// Returns the milliseconds between two times, negative if `to` is the earlier one.
pub(crate) fn milliseconds(from: Instant, to: Instant) -> f64 {
    match to.checked_duration_since(from) {
        Some(after) => after.as_secs_f64() * 1e3,
        None => from.duration_since(to).as_secs_f64() * -1e3,
    }
}

/// The values of a repeated measurement.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures(pub(crate) Vec<f64>);

impl Figures {
    pub(crate) fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// Returns the quantile by nearest rank: of fewer than 100 values, the 0.99 quantile is the
    /// largest.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a rank among a few hundred"
    )]
    pub(crate) fn quantile(&self, part: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[((sorted.len() as f64 * part).ceil() as usize).clamp(1, sorted.len()) - 1]
    }
}

/// The largest values that meet the requirement.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limit {
    pub(crate) median: Option<f64>,
    pub(crate) p99: Option<f64>,
}

impl Limit {
    pub(crate) const NONE: Self = Self {
        median: None,
        p99: None,
    };

    pub(crate) fn of_median(limit: f64) -> Self {
        Self {
            median: Some(limit),
            p99: None,
        }
    }

    pub(crate) fn of_p99(limit: f64) -> Self {
        Self {
            median: None,
            p99: Some(limit),
        }
    }
}

/// Prints a row of the table: a name, the median and the 99th percentile, each with its limit.
pub(crate) fn row(what: impl Display, figures: &Figures, limit: Limit) {
    let (median, p99) = (figures.median(), figures.quantile(0.99));
    print_row(
        what,
        median,
        limit.median,
        &format!("{p99:.2}"),
        limit.p99,
        limit.p99.is_none_or(|limit| p99 <= limit),
    );
}

/// Prints a row of the table with one figure.
pub(crate) fn single(what: impl Display, figure: f64, limit: Option<f64>) {
    print_row(what, figure, limit, "", None, true);
}

fn print_row(
    what: impl Display,
    median: f64,
    median_limit: Option<f64>,
    p99: &str,
    p99_limit: Option<f64>,
    p99_met: bool,
) {
    let met = match (median_limit, p99_limit) {
        (None, None) => "",
        (Some(limit), _) if median > limit => "NOT MET",
        (Some(_) | None, _) if p99_met => "met",
        (Some(_) | None, _) => "NOT MET",
    };
    let shown = |limit: Option<f64>| limit.map_or_else(String::new, |limit| format!("{limit:.2}"));
    println!(
        "{what:<56} {median:>9.2} {:>9} {p99:>9} {:>9}  {met}",
        shown(median_limit),
        shown(p99_limit)
    );
}

pub(crate) fn heading(what: impl Display) {
    println!(
        "\n{what:<56} {:>9} {:>9} {:>9} {:>9}",
        "median", "limit", "p99", "limit"
    );
}
