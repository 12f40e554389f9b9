//! Figures of reports as people read them, and the sentences that every form of a report shares.

use crate::benchmark::statistics::Interval;
use crate::domain::cost::money::Cost;

use super::accuracy::Accuracy;

/// `75.0%`.
pub fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// `75%`.
pub fn whole_percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

/// `62.8-84.2%`.
pub fn interval(interval: Interval) -> String {
    format!("{:.1}-{}", interval.low * 100.0, percent(interval.high))
}

/// `75.0% (95% interval 62.8-84.2%)`.
pub fn accuracy(accuracy: &Accuracy) -> String {
    format!(
        "{} (95% interval {})",
        percent(accuracy.share),
        interval(accuracy.interval)
    )
}

/// `+6.7`.
pub fn points(difference: f64) -> String {
    let points = (difference * 1000.0).round() / 10.0;
    if points == 0.0 {
        "0.0".to_owned()
    } else {
        format!("{points:+.1}")
    }
}

/// `p = 0.29`, `p = 0.012`, `p < 0.001`.
pub fn p_value(p: f64) -> String {
    match p {
        p if p < 0.001 => "p < 0.001".to_owned(),
        p if p < 0.0995 => format!("p = {p:.3}"),
        p if p < 0.995 => format!("p = {p:.2}"),
        _ => "p = 1".to_owned(),
    }
}

/// `8.1`, `24`.
pub(super) fn times(ratio: f64) -> String {
    if ratio < 9.95 {
        format!("{ratio:.1}")
    } else {
        format!("{ratio:.0}")
    }
}

/// `$0.1200`, or `at least $0.1200`.
pub fn cost_in_words(cost: Cost) -> String {
    match cost.to_string().strip_prefix("≥ ") {
        Some(known) => format!("at least {known}"),
        None => cost.to_string(),
    }
}
