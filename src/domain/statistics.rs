//! What many consultations say together: the numbers of `consult-stats`, as plain data. What is not
//! known is `None` or not counted, never 0.
//!
//! Percentiles are by nearest rank: the smallest value that at least so many percent of all are not
//! above.

use jiff::civil::Date;

use super::ids::{ModelRef, ProviderId};
use super::money::{Cost, MicroUsd};
use super::time::Timestamp;

/// All numbers of one span of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    pub range: Range,
    pub usage: UsageNumbers,
    pub performance: PerformanceNumbers,
    pub cost: CostNumbers,
    pub quality: QualityNumbers,
    pub debate: DebateNumbers,
    pub early_ends: EarlyEndNumbers,
    /// By what they cost, the dearest first; those that cost the same by name.
    pub models: Vec<ModelNumbers>,
    /// The newest days of the range, oldest first, without gaps, sixty at most; ends with the
    /// range's last day, or today.
    pub days: Vec<DayNumbers>,
    pub progress: Progress,
}

/// Which consultations are meant: those that began in it, by the user's calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// The last seven days, today included.
    Week,
    /// The month that this day is in.
    Month(Date),
    /// From the first day to the last, both included; open where there is none.
    Days {
        since: Option<Date>,
        until: Option<Date>,
    },
    AllTime,
}

/// A span laid on the calendar of a time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    pub span: Span,
    /// The first moment that is in it.
    pub from: Option<Timestamp>,
    /// The first moment behind it.
    pub until: Option<Timestamp>,
    /// The name of the time zone whose days these are.
    pub time_zone: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct UsageNumbers {
    pub total: u64,
    pub completed: u64,
    pub aborted: u64,
    /// Neither: their process is gone, or still at it.
    pub unfinished: u64,
    /// Days of the first and the last consultation.
    pub first_and_last: Option<(Date, Date)>,
    /// From the day of the first to that of the last, both included; of a range with two ends the
    /// days of the range that have come.
    pub total_days: u64,
    /// Days with a consultation.
    pub active_days: u64,
}

/// Of completed consultations, in milliseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PerformanceNumbers {
    /// How many have a duration.
    pub measured: u64,
    pub p50: Option<u64>,
    pub p95: Option<u64>,
    pub p99: Option<u64>,
    /// Rounded half up.
    pub average: Option<u64>,
    /// Of those that took as long the earlier, here and below.
    pub fastest: Option<(String, u64)>,
    pub slowest: Option<(String, u64)>,
}

/// Of all consultations, aborted ones included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CostNumbers {
    pub total: Cost,
    pub tokens: u64,
    /// The total by completed consultations, rounded half up to the micro-dollar; `None` without
    /// one.
    pub average: Option<Cost>,
    /// The sum of each provider's calls, the judge's included; the dearest first. A consultation
    /// without recorded calls counts for no provider.
    pub by_provider: Vec<(ProviderId, ProviderNumbers)>,
    /// Of those that cost the same the earlier, here and below.
    pub most_expensive: Option<(String, Cost)>,
    /// Of completed ones whose cost is wholly known.
    pub cheapest: Option<(String, Cost)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProviderNumbers {
    pub cost: Cost,
    pub tokens: u64,
    pub calls: u64,
}

/// Of completed consultations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QualityNumbers {
    /// How many state a confidence.
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
    /// They lack a seat, or have a substitute or an answer that could not be read as asked.
    pub degraded: u64,
}

/// The effect of the rounds after the first, over completed consultations in which it is known
/// whether the experts moved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DebateNumbers {
    pub debates: u64,
    /// Experts known to have moved or not: because their positions were compared, or, in records of
    /// versions without a comparison, because they said so.
    pub agents: u64,
    /// Of these, those that held something else than at the beginning.
    pub changed: u64,
    /// The mean by expert of what they state at the end less what they stated at the beginning; of
    /// all that state both.
    pub average_confidence_increase: Option<f64>,
    /// Debates in which more than half of the experts changed their minds.
    pub high_value: u64,
    /// Consultations whose record states whether the verdict differs from what Round 2 alone would
    /// have said.
    pub compared: u64,
    pub verdict_changed: u64,
    /// What Rounds 3 and 4 of those that were compared cost.
    pub later_rounds_cost: Cost,
}

/// Completed consultations that ended after Round 2.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlyEndNumbers {
    pub count: u64,
    /// What Rounds 3 and 4 would have cost, as estimated.
    pub saved: MicroUsd,
}

/// One model as it was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelNumbers {
    pub model: ModelRef,
    pub calls: u64,
    /// Calls that came back without an answer.
    pub failures: u64,
    /// It was asked beside a slow one, and was faster.
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

/// How far it is to the targets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    pub targets: Targets,
    /// Consultations in the thirty days that end with the range, or today.
    pub runs_in_thirty_days: u64,
    /// Of the range.
    pub median_ms: Option<u64>,
    /// Of the calendar month of the range's last day, or today.
    pub month: Cost,
}

impl Progress {
    pub fn is_used_enough(&self) -> bool {
        self.runs_in_thirty_days >= self.targets.runs
    }

    /// `None` where nothing was measured.
    pub fn is_fast_enough(&self) -> Option<bool> {
        self.median_ms.map(|median| median < self.targets.median_ms)
    }

    /// `None` if the known part is below the target and an unknown part comes on top.
    pub fn is_cheap_enough(&self) -> Option<bool> {
        match self.month.known < self.targets.month {
            true if self.month.lower_bound => None,
            within => Some(within),
        }
    }
}
