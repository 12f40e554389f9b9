//! Statistics over many consultations, shown by `consult-stats`. Unknown values are `None` or not
//! counted, never 0.
//!
//! Percentiles use the nearest rank: the smallest value that is not below the given percentage of
//! all values.

use jiff::civil::Date;

use super::ids::{ModelRef, ProviderId};
use super::money::{Cost, MicroUsd, Saving};
use super::time::Timestamp;

/// Statistics of one span of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    pub range: Range,
    pub usage: UsageNumbers,
    pub performance: PerformanceNumbers,
    pub cost: CostNumbers,
    pub quality: QualityNumbers,
    pub debate: DebateNumbers,
    pub early_ends: EarlyEndNumbers,
    /// Sorted by cost, the most expensive first, then by name.
    pub models: Vec<ModelNumbers>,
    /// The last days of the range, sixty at most, oldest first and without gaps; the final one is
    /// the range's last day or today.
    pub days: Vec<DayNumbers>,
    pub progress: Progress,
}

/// A span of time. It contains the consultations that began in it, by the user's calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// The last seven days, today included.
    Week,
    /// The month of this day.
    Month(Date),
    /// From the first day to the last, both included; open if a bound is missing.
    Days {
        since: Option<Date>,
        until: Option<Date>,
    },
    AllTime,
}

/// A span in the calendar of a time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    pub span: Span,
    /// The first moment in the range.
    pub from: Option<Timestamp>,
    /// The first moment after the range.
    pub until: Option<Timestamp>,
    /// The name of the time zone.
    pub time_zone: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct UsageNumbers {
    /// Without the declined ones, which no number but `declined` counts.
    pub total: u64,
    pub completed: u64,
    pub aborted: u64,
    /// Their estimated cost was not agreed to: nothing was asked or spent.
    pub declined: u64,
    /// Neither completed nor aborted: the process was killed or is still running.
    pub unfinished: u64,
    /// Days of the first and the last consultation.
    pub first_and_last: Option<(Date, Date)>,
    /// From the day of the first consultation to that of the last, both included; for a range with
    /// two ends, its days up to today.
    pub total_days: u64,
    /// Days with a consultation.
    pub active_days: u64,
}

/// Durations of completed consultations, in milliseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PerformanceNumbers {
    /// Consultations with a recorded duration.
    pub measured: u64,
    pub p50: Option<u64>,
    pub p95: Option<u64>,
    pub p99: Option<u64>,
    /// Rounded half up.
    pub average: Option<u64>,
    /// The earliest of equals, here and below.
    pub fastest: Option<(String, u64)>,
    pub slowest: Option<(String, u64)>,
}

/// Costs of all consultations, aborted ones included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CostNumbers {
    pub total: Cost,
    pub tokens: u64,
    /// The total divided by the number of completed consultations, rounded half up to the
    /// micro-dollar; `None` if there are none.
    pub average: Option<Cost>,
    /// The cost of each provider's calls, the judge's included; the most expensive first. A
    /// consultation without recorded calls counts for no provider.
    pub by_provider: Vec<(ProviderId, ProviderNumbers)>,
    /// The earliest of equals, here and below.
    pub most_expensive: Option<(String, Cost)>,
    /// Among completed consultations with a fully known cost.
    pub cheapest: Option<(String, Cost)>,
    /// What the vendors' caches saved; `None` if no paid call reported a use of them.
    pub caching: Option<CachingNumbers>,
}

/// What the vendors' prompt caches saved, by the usage that they reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CachingNumbers {
    pub saved: Saving,
    /// True if calls are left out whose saving is unknown.
    pub incomplete: bool,
}

impl CachingNumbers {
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            saved: self.saved + other.saved,
            incomplete: self.incomplete || other.incomplete,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProviderNumbers {
    pub cost: Cost,
    pub tokens: u64,
    pub calls: u64,
}

/// Quality of completed consultations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QualityNumbers {
    /// Consultations that state a confidence.
    pub with_confidence: u64,
    pub average_confidence: Option<f64>,
    /// Confidence of at least 0.85.
    pub high_confidence: u64,
    /// Confidence below 0.70.
    pub low_confidence: u64,
    pub with_dissent: u64,
    /// Consultations whose record states how many experts supported the leading point.
    pub with_agreement: u64,
    pub average_agreement: Option<f64>,
    /// Consultations with a missing answer, a substitution or an answer that could not be read as
    /// asked.
    pub degraded: u64,
}

/// The effect of the rounds after the first, over completed consultations in which it is known
/// whether the experts moved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DebateNumbers {
    pub debates: u64,
    /// Experts of which it is known whether they moved: by comparison of their positions, or by
    /// their own statement in records of versions without a comparison.
    pub agents: u64,
    /// Of these, those whose position changed.
    pub changed: u64,
    /// The mean change in stated confidence per expert from beginning to end, over all that state
    /// both.
    pub average_confidence_increase: Option<f64>,
    /// Debates in which more than half of the experts changed their minds.
    pub high_value: u64,
    /// Consultations whose record states whether the verdict differs from the answer of Round 2.
    pub compared: u64,
    pub verdict_changed: u64,
    /// The cost of Rounds 3 and 4 in the compared consultations.
    pub later_rounds_cost: Cost,
}

/// Completed consultations that ended after Round 2.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlyEndNumbers {
    pub count: u64,
    /// The estimated cost of the skipped Rounds 3 and 4. A lower bound if that of a consultation
    /// is: the models without a price in these rounds are those of the rounds before.
    pub saved: Cost,
}

/// One model, under the name that was requested.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelNumbers {
    pub model: ModelRef,
    pub calls: u64,
    /// Calls that came back without an answer.
    pub failures: u64,
    /// Hedges in which this model was faster than the slow one.
    pub hedges_won: u64,
    pub cost: Cost,
    pub tokens: u64,
    /// Milliseconds to the first sign of an answer.
    pub first_token_p50: Option<u64>,
    pub first_token_p95: Option<u64>,
}

/// One day of the user's calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayNumbers {
    pub date: Date,
    pub runs: u64,
    pub cost: Cost,
}

/// The user's targets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Targets {
    /// Consultations in thirty days.
    pub runs: u64,
    /// Median duration in milliseconds: below this.
    pub median_ms: u64,
    /// Dollars in a calendar month: below this.
    pub month: MicroUsd,
}

/// Progress towards the targets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    pub targets: Targets,
    /// Consultations in the thirty days that end with the range, or today.
    pub runs_in_thirty_days: u64,
    /// The median of the range.
    pub median_ms: Option<u64>,
    /// The cost of the calendar month of the range's last day, or of today.
    pub month: Cost,
}

impl Progress {
    pub fn is_used_enough(&self) -> bool {
        self.runs_in_thirty_days >= self.targets.runs
    }

    /// Returns whether the median is below the target; `None` without measurements.
    pub fn is_fast_enough(&self) -> Option<bool> {
        self.median_ms.map(|median| median < self.targets.median_ms)
    }

    /// Returns whether the month's cost is below the target; `None` if the known part is below it
    /// and an unknown part comes on top.
    pub fn is_cheap_enough(&self) -> Option<bool> {
        match self.month.known < self.targets.month {
            true if self.month.lower_bound => None,
            within => Some(within),
        }
    }
}
