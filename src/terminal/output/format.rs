//! Small phrases that several screens share: numbers, durations, names of models and rounds.

use std::time::Duration;

use jiff::tz::TimeZone;

use crate::domain::answer::confidence::{Basis, Calibrated};
use crate::domain::cost::money::Cost;
use crate::domain::panel::{Panel, Seat, unique_name};
use crate::domain::time::Timestamp;

pub use crate::domain::words::{
    LOCAL_QUALITY, amount, kilo, model_address, model_name, round_title, seconds, span, spent,
    stated, thousands,
};
pub use crate::text::clean::count;

/// The remark on a panel whose seats are all played by models of one vendor.
pub const ONE_FAMILY: &str = "agreement within one family is weak evidence";

/// `72s`.
pub fn whole_seconds(duration: Duration) -> String {
    format!("{}s", duration.as_secs())
}

/// `0:42`, `12:07`, `1:02:03`: a running clock.
pub fn clock(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

/// `14:05`, with the date on another day: a local time.
pub fn local_moment(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let local = |at: Timestamp| {
        let moment = jiff::Timestamp::from_millisecond(at.0).ok();
        moment.map(|moment| moment.to_zoned(zone.clone()))
    };
    match (local(at), local(now)) {
        (Some(at), Some(now)) if at.date() == now.date() => at.strftime("%H:%M").to_string(),
        (Some(at), _) => at.strftime("%Y-%m-%d %H:%M").to_string(),
        (None, _) => at.to_string(),
    }
}

/// Formats what may be spent: with two decimals.
pub fn dollars(cost: Cost) -> String {
    format!("{cost:.2}")
}

/// `$0.21 – $0.45 – $0.90`, or the one figure if all three are equal; `≥` before a lower bound.
pub fn cost_range(low: Cost, expected: Cost, high: Cost, figure: fn(Cost) -> String) -> String {
    if expected.is_unknown() {
        return figure(expected);
    }
    if high.is_unbilled() {
        return figure(high);
    }
    let mut figures = [low, expected, high]
        .map(|cost| figure(Cost::exactly(cost.known)))
        .to_vec();
    figures.dedup();
    let bound = if expected.lower_bound { "≥ " } else { "" };
    let plan = if expected.by_plan { " + plan" } else { "" };
    format!("{bound}{}{plan}", figures.join(" – "))
}

/// `84% (from 60 answers you graded)`: a probability and its basis.
pub fn calibrated_words(calibrated: &Calibrated) -> String {
    let percent = format!("{:.0}%", calibrated.probability * 100.0);
    match calibrated.basis {
        Basis::Panels { .. } => {
            format!("{percent} (panels that agreed as much were right that often)")
        }
        Basis::Experience { graded, .. } => {
            format!("{percent} (from {graded} answers you graded)")
        }
    }
}

/// `812 bytes`, `14 KB`, `3.2 MB`, in thousands.
pub fn bytes(number: u64) -> String {
    let tenths = |unit: u64| (number + unit / 20) / (unit / 10);
    let decimal = |unit: u64| format!("{}.{}", tenths(unit) / 10, tenths(unit) % 10);
    match number {
        ..1_000 => format!("{number} bytes"),
        1_000..1_000_000 => format!("{} KB", (number + 500) / 1_000),
        1_000_000..1_000_000_000 => format!("{} MB", decimal(1_000_000)),
        _ => format!("{} GB", decimal(1_000_000_000)),
    }
}

/// The seat's name; with its id where another seat has the same name.
pub fn seat_name(panel: &Panel, seat: &Seat) -> String {
    unique_name(&seat.id, seat.name(), panel.seats.iter().map(Seat::name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::cost::money::MicroUsd;

    #[test]
    fn equal_figures_are_shown_once_and_small_ones_in_full() {
        let range = |costs: [Cost; 3]| cost_range(costs[0], costs[1], costs[2], dollars);
        let exactly = |micro| Cost::exactly(MicroUsd(micro));
        assert_eq!(range([450_000; 3].map(exactly)), "$0.45");
        assert_eq!(
            range([1_200, 3_400, 90_000].map(exactly)),
            "$0.0012 – $0.0034 – $0.09"
        );
        assert_eq!(range([Cost::at_least(MicroUsd(120_000)); 3]), "≥ $0.12");
        assert_eq!(range([Cost::at_least(MicroUsd(0)); 3]), "price unknown");
    }

    #[test]
    fn clocks_and_counts_are_written_for_people() {
        assert_eq!(
            [7, 727, 3_723].map(|s| clock(Duration::from_secs(s))),
            ["0:07", "12:07", "1:02:03"]
        );
        let sizes = [812, 14_449, 3_249_999, 12_000_000_000].map(bytes);
        assert_eq!(sizes, ["812 bytes", "14 KB", "3.2 MB", "12.0 GB"]);
        assert_eq!(count(1, "expert"), "1 expert");
        assert_eq!(count(3, "expert"), "3 experts");
    }
}
