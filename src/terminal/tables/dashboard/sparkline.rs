//! Bar charts of one line, with one bar for each day.

use super::charset::Charset;
use super::line::{StyledLine, Tone, section};
use super::numbers::money;
use super::span::from_to;
use crate::domain::money::{Cost, MicroUsd};
use crate::domain::statistics::DayNumbers;
use crate::terminal::output::format::thousands;

/// From this width on the bars share their line with their label.
const ONE_LINE_FROM: usize = 60;
/// `Runs  `.
const LABEL: usize = 6;

/// A cost of which nothing is known.
const NOT_KNOWN: Cost = Cost {
    known: MicroUsd::ZERO,
    lower_bound: true,
};

/// Consultations and cost by day: the newest days that fit. `None` for a single day.
pub(super) fn days(days: &[DayNumbers], room: usize, charset: Charset) -> Option<Vec<StyledLine>> {
    let room = room.saturating_sub(StyledLine::ROW_INDENT);
    let is_one_line = room >= ONE_LINE_FROM;
    // The maximum over all days is at least as wide as that of the days shown.
    let beside = if is_one_line {
        LABEL
            + 2
            + charset
                .text(&most_cost(days))
                .chars()
                .count()
                .max(most_runs(days).len())
    } else {
        0
    };
    let days = days.get(days.len().saturating_sub(room.saturating_sub(beside))..)?;
    let (first, last) = (days.first()?, days.last()?);
    if days.len() < 2 || days.iter().all(|day| day.runs == 0) {
        return None;
    }
    let runs = bars(days.iter().map(|day| Some(day.runs)), charset);
    // A day with an unknown cost has no height.
    let cost = bars(
        days.iter()
            .map(|day| (day.cost != NOT_KNOWN).then_some(day.cost.known.0)),
        charset,
    );
    let (runs_most, cost_most) = (most_runs(days), most_cost(days));
    let rows = if is_one_line {
        vec![
            format!("{:LABEL$}{runs}  {runs_most}", "Runs"),
            format!("{:LABEL$}{cost}  {cost_most}", "Cost"),
        ]
    } else {
        vec![
            format!("Runs, {runs_most}:"),
            runs,
            format!("Cost, {cost_most}:"),
            cost,
        ]
    };
    let heading = format!("Per Day, {}", from_to(first.date, last.date));
    Some(section(
        &heading,
        rows.into_iter()
            .map(|row| StyledLine::row(row, Tone::Plain)),
    ))
}

fn most_runs(days: &[DayNumbers]) -> String {
    format!(
        "most {}",
        thousands(days.iter().map(|day| day.runs).max().unwrap_or(0))
    )
}

fn most_cost(days: &[DayNumbers]) -> String {
    let known = days
        .iter()
        .map(|day| day.cost.known)
        .max()
        .unwrap_or_default();
    match (Cost {
        known,
        lower_bound: days.iter().any(|day| day.cost.lower_bound),
    }) {
        NOT_KNOWN => "not known".to_owned(),
        most => format!("most {}", money(most)),
    }
}

/// Returns one bar for each value, relative to the highest. Only zero gets the lowest bar; an
/// unknown value is a question mark.
fn bars(values: impl Iterator<Item = Option<u64>> + Clone, charset: Charset) -> String {
    let highest = u128::from(values.clone().flatten().max().unwrap_or(0).max(1));
    let heights = charset.heights();
    let height = |value: u64| usize::try_from((u128::from(value) * 7).div_ceil(highest)).ok();
    values
        .map(|value| {
            height(value?)
                .and_then(|height| heights.get(height))
                .copied()
        })
        .map(|bar| bar.unwrap_or('?'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_zero_gets_the_lowest_bar_and_the_maximum_the_highest() {
        let values = [Some(0), Some(1), Some(500), Some(1_000), None];
        assert_eq!(bars(values.into_iter(), Charset::Unicode), "▁▂▅█?");
        assert_eq!(bars(values.into_iter(), Charset::Ascii), "_.=#?");
        assert_eq!(bars([Some(0), Some(0)].into_iter(), Charset::Unicode), "▁▁");
        assert_eq!(bars([Some(u64::MAX)].into_iter(), Charset::Unicode), "█");
    }
}
