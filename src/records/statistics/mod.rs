//! The numbers of `consult-stats`, computed by SQL over the rows of the index.
//!
//! `calendar` maps spans of days to the user's calendar, `consultations` and `calls` add up the
//! rows of a range, `by_day` follows the days of the user's calendar.

pub mod calibration;
pub mod experience;
mod by_day;
pub mod calendar;
mod calls;
mod consultations;

use jiff::tz::TimeZone;
use rusqlite::{Connection, Result, Row};

use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::record::statistics::{
    CostNumbers, DateRange, Progress, QualityNumbers, Range, Statistics, Targets, UsageNumbers,
};
use crate::domain::time::Timestamp;
use crate::records::index::rows::numbers;

use by_day::{ActiveDays, ByDay, DayWindow};
use consultations::ConsultationSums;

pub fn statistics(
    connection: &mut Connection,
    range: &Range,
    zone: &TimeZone,
    now: Timestamp,
    targets: Targets,
) -> Result<Statistics> {
    // One transaction, so that all numbers are of the same moment.
    let transaction = connection.transaction()?;
    let numbers = numbers(range.from, range.until);
    let sums = ConsultationSums::read(&transaction, &numbers)?;
    let performance = consultations::performance(&transaction, &numbers, &sums)?;
    let models = calls::models(&transaction, &numbers)?;
    let window = DayWindow::new(range, zone, now);
    let active = ActiveDays::read(&transaction, numbers.clone(), zone)?;
    let by_day = ByDay::read(&transaction, &window, active.first)?;
    Ok(Statistics {
        schema_version: "1.0",
        range: range.clone(),
        usage: UsageNumbers {
            date_range: DateRange {
                start: active.first,
                end: active.last,
                total_days: window.total_days(&active),
            },
            active_days: active.days,
            avg_per_day: ratio(sums.usage.total, active.days),
            ..sums.usage.clone()
        },
        cost: CostNumbers {
            by_provider: calls::by_provider(&models),
            ..consultations::costs(&transaction, &numbers, &sums)?
        },
        per_day: by_day.days,
        success_criteria: Progress::new(
            targets,
            by_day.runs_in_thirty_days,
            performance.p50,
            by_day.month,
        ),
        quality: QualityNumbers {
            by_agreement: consultations::by_agreement(&transaction, &numbers)?,
            ..sums.quality
        },
        debate_value: sums.debate_value,
        early_termination: sums.early_termination,
        models,
        performance,
    })
}

/// The smallest value with that share of all at or below it. `None` without values.
fn percentile(all: u64, percent: u64) -> Option<u64> {
    let rank = all.saturating_mul(percent).div_ceil(100).max(1);
    (rank <= all).then_some(rank - 1)
}

#[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
fn ratio(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

/// Rounded half up.
fn average(sum: u64, of: u64) -> Option<u64> {
    sum.saturating_add(of / 2).checked_div(of)
}

/// Returns a count or a sum, which are never negative. Exact below 2^53.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates"
)]
fn count(row: &Row<'_>, name: &str) -> Result<u64> {
    row.get::<_, f64>(name).map(|sum| sum as u64)
}

/// Of three columns whose names begin so; a lower bound when one of them is.
fn cost(row: &Row<'_>, of: &str) -> Result<Cost> {
    let sum = |name: &str| count(row, &format!("{of}{name}"));
    Ok(Cost {
        known: MicroUsd(sum("micro_usd")?),
        lower_bound: sum("lower_bounds")? > 0,
        by_plan: sum("by_plan")? > 0,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::percentile;

    #[test]
    fn percentile_is_a_measured_value() {
        assert_eq!(percentile(0, 50), None);
        assert_eq!([50, 99].map(|percent| percentile(1, percent)), [Some(0); 2]);
        assert_eq!(
            [25, 50, 51, 100].map(|percent| percentile(4, percent)),
            [0, 1, 2, 3].map(Some)
        );
    }

    proptest! {
        #[test]
        fn percentile_is_the_first_value_with_its_share(
            all in 1..10_000u64,
            percent in 1..=100u64,
        ) {
            let before = percentile(all, percent).unwrap();
            prop_assert!((before + 1) * 100 >= percent * all);
            prop_assert!(before == 0 || before * 100 < percent * all);
        }
    }
}
