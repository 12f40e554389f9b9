//! Statistics over many consultations, shown by `consult-stats` and printed by it as JSON. Unknown
//! values are `None` or not counted, never 0.
//!
//! Percentiles use the nearest rank: the smallest value that is not below the given percentage of
//! all values.

mod amounts;

use indexmap::IndexMap;
use jiff::civil::Date;
use serde::Serialize;

use self::amounts::{ItsCost, LaterCost, MonthCost, SavedCost, TotalCost};
use crate::domain::cost::money::{Cost, MicroUsd, Saving};
use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::time::Timestamp;

/// Statistics of one span of time. Money is in dollars, with the exact amount in micro-dollars
/// beside it. Counts without entries are 0; other unknown values are `None`. Percentiles are by
/// nearest rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Statistics {
    #[cfg_attr(test, schemars(extend("const" = "1.0")))]
    pub schema_version: &'static str,
    pub range: Range,
    pub usage: UsageNumbers,
    pub performance: PerformanceNumbers,
    pub cost: CostNumbers,
    pub quality: QualityNumbers,
    pub debate_value: DebateNumbers,
    pub early_termination: EarlyTerminationNumbers,
    /// Sorted by cost, the most expensive first, then by name.
    pub models: Vec<ModelNumbers>,
    /// The last days of the range, sixty at most, oldest first and without gaps; the final one is
    /// the range's last day or today.
    pub per_day: Vec<DayNumbers>,
    pub success_criteria: Progress,
}

/// A span of time. It contains the consultations that began in it, by the user's calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(into = "SpanDays")]
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

/// A [`Span`] as JSON.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SpanDays {
    #[cfg_attr(test, schemars(extend("enum" = ["week", "month", "days", "all_time"])))]
    span: &'static str,
    /// The first requested day.
    since: Option<Date>,
    /// The last requested day.
    until: Option<Date>,
}

impl From<Span> for SpanDays {
    fn from(span: Span) -> Self {
        let (span, since, until) = match span {
            Span::Week => ("week", None, None),
            Span::Month(day) => {
                let (first, last) = (day.first_of_month(), day.last_of_month());
                ("month", Some(first), Some(last))
            }
            Span::Days { since, until } => ("days", since, until),
            Span::AllTime => ("all_time", None, None),
        };
        Self { span, since, until }
    }
}

/// A span in the calendar of a time zone, in which the consultations began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Range {
    #[serde(flatten)]
    pub span: Span,
    /// The first moment in the range.
    pub from: Option<Timestamp>,
    /// The first moment after the range.
    #[serde(rename = "to")]
    pub until: Option<Timestamp>,
    /// The name of the time zone of the days.
    pub time_zone: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UsageNumbers {
    /// Without the declined ones, which no number but `declined` counts.
    pub total: u64,
    pub date_range: DateRange,
    /// Days with a consultation.
    pub active_days: u64,
    /// The total divided by the active days.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub avg_per_day: Option<f64>,
    pub by_state: StateNumbers,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DateRange {
    /// The day of the first consultation.
    pub start: Option<Date>,
    /// The day of the last consultation.
    pub end: Option<Date>,
    /// From the day of the first consultation to that of the last, both included; for a range with
    /// two ends, its days up to today.
    pub total_days: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StateNumbers {
    pub completed: u64,
    pub aborted: u64,
    /// Their estimated cost was not agreed to: nothing was asked or spent.
    pub declined: u64,
    /// Neither completed nor aborted: the process was killed or is still running.
    pub unfinished: u64,
}

/// Durations of completed consultations, in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PerformanceNumbers {
    /// Consultations with a recorded duration.
    pub measured: u64,
    pub p50: Option<u64>,
    pub p95: Option<u64>,
    pub p99: Option<u64>,
    /// Rounded half up.
    pub avg_duration: Option<u64>,
    /// The earliest of equals, here and below.
    pub fastest_consultation: Option<TimedConsultation>,
    pub slowest_consultation: Option<TimedConsultation>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimedConsultation {
    pub id: String,
    pub duration_ms: u64,
}

/// Costs of all consultations, aborted ones included.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CostNumbers {
    #[serde(flatten, with = "TotalCost")]
    pub total: Cost,
    /// The total divided by the number of completed consultations, rounded half up to the
    /// micro-dollar, and a lower bound if the total is one; `None` if there are none.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub avg_per_consultation: Option<f64>,
    pub avg_per_consultation_micro_usd: Option<MicroUsd>,
    pub total_tokens: u64,
    /// The cost of each provider's calls, the judge's included; the most expensive first, then by
    /// name. A consultation without recorded calls counts for no provider.
    pub by_provider: IndexMap<ProviderId, ProviderNumbers>,
    /// What the vendors' caches saved; `None` if no paid call reported a use of them.
    pub caching: Option<CachingNumbers>,
    /// The earliest of equals, here and below.
    pub most_expensive: Option<PricedConsultation>,
    /// Among completed consultations with a fully known cost.
    pub cheapest: Option<PricedConsultation>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PricedConsultation {
    pub id: String,
    #[serde(flatten, with = "ItsCost")]
    pub cost: Cost,
}

/// What the vendors' prompt caches saved, by the usage that they reported.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CachingNumbers {
    /// Negative if writing to the caches cost more than reading saved.
    pub saved: f64,
    pub saved_micro_usd: Saving,
    /// True if calls are left out whose saving is unknown.
    pub incomplete: bool,
}

impl CachingNumbers {
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let saved = self.saved_micro_usd + other.saved_micro_usd;
        Self {
            saved: saved.usd(),
            saved_micro_usd: saved,
            incomplete: self.incomplete || other.incomplete,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProviderNumbers {
    #[serde(flatten, with = "ItsCost")]
    pub cost: Cost,
    pub tokens: u64,
    pub calls: u64,
    /// Calls that came back without an answer.
    pub failures: u64,
    /// Hedges in which a model of this provider was faster than the slow one.
    pub hedges_won: u64,
}

/// Quality of completed consultations.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct QualityNumbers {
    /// Consultations that state a confidence.
    pub with_confidence: u64,
    /// Not rounded.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub avg_confidence: Option<f64>,
    /// Confidence of at least 0.85.
    pub high_confidence: u64,
    /// Confidence below 0.70.
    pub low_confidence: u64,
    pub with_dissent: u64,
    /// Consultations whose record states how many experts supported the leading point.
    pub with_agreement: u64,
    /// The share of experts that supported the leading point, not rounded.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub avg_agreement: Option<f64>,
    /// Consultations by that share, the highest first.
    pub by_agreement: Vec<AgreementNumbers>,
    /// Consultations with a missing answer, a substitution or an answer that could not be read as
    /// asked.
    pub degraded: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AgreementNumbers {
    /// The share of experts that supported the leading point, in percent.
    #[cfg_attr(test, schemars(range(min = 0, max = 100)))]
    pub percent: u8,
    pub consultations: u64,
}

/// The effect of the rounds after the first, over completed consultations in which it is known
/// whether the experts moved.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DebateNumbers {
    /// Consultations in which it is known whether the experts moved.
    pub debates: u64,
    /// Experts that changed their minds; refinements do not count.
    pub agents_changed_mind: u64,
    /// Experts whose positions were compared.
    pub total_agents: u64,
    /// The experts that changed their minds divided by all.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub change_rate: Option<f64>,
    /// The mean change in stated confidence per expert from beginning to end, over all that state
    /// both.
    #[cfg_attr(test, schemars(range(min = -1, max = 1)))]
    pub avg_confidence_increase: Option<f64>,
    /// Debates in which more than half of the experts changed their minds.
    pub high_value_debates: u64,
    /// Consultations whose record states whether the verdict differs from the answer of Round 2.
    pub verdicts_compared: u64,
    /// Those of them whose verdict differs.
    pub verdicts_changed: u64,
    /// The cost of Rounds 3 and 4 in the compared consultations.
    #[serde(flatten, with = "LaterCost")]
    pub later_rounds_cost: Cost,
}

/// Completed consultations that ended after Round 2.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EarlyTerminationNumbers {
    pub count: u64,
    /// The estimated cost of the skipped Rounds 3 and 4. A lower bound if that of a consultation
    /// is: the models without a price in these rounds are those of the rounds before.
    #[serde(flatten, with = "SavedCost")]
    pub saved: Cost,
}

/// One model, under the name that was requested.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ModelNumbers {
    /// `provider:model`.
    pub model: ModelRef,
    pub calls: u64,
    /// Calls that came back without an answer.
    pub failures: u64,
    /// Hedges in which this model was faster than the slow one.
    pub hedges_won: u64,
    pub tokens: u64,
    /// Milliseconds to the first sign of an answer.
    pub first_token_p50_ms: Option<u64>,
    pub first_token_p95_ms: Option<u64>,
    /// True for the embedded model, whose answers are of demonstration quality.
    pub demonstration: bool,
    #[serde(flatten, with = "ItsCost")]
    pub cost: Cost,
}

/// One day of the user's calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DayNumbers {
    pub date: Date,
    pub runs: u64,
    #[serde(flatten, with = "ItsCost")]
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

/// Progress towards the targets in the settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Progress {
    pub usage: UsageProgress,
    pub speed: SpeedProgress,
    pub cost: CostProgress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UsageProgress {
    /// Consultations in the thirty days that end with the range, or today.
    pub runs_in_thirty_days: u64,
    pub target: u64,
    pub met: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SpeedProgress {
    /// The median of the range.
    pub median_ms: Option<u64>,
    pub target_ms: u64,
    /// Whether the median is below the target; `None` without measurements.
    pub met: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CostProgress {
    /// The cost of the calendar month of the range's last day, or of today.
    #[serde(flatten, with = "MonthCost")]
    pub month: Cost,
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub target: f64,
    pub target_micro_usd: MicroUsd,
    /// Whether the month's cost is below the target; `None` if the known part is below it and an
    /// unknown part comes on top.
    pub met: Option<bool>,
}

impl Progress {
    pub fn new(targets: Targets, runs: u64, median_ms: Option<u64>, month: Cost) -> Self {
        let is_cheap = month.known < targets.month;
        Self {
            usage: UsageProgress {
                runs_in_thirty_days: runs,
                target: targets.runs,
                met: runs >= targets.runs,
            },
            speed: SpeedProgress {
                median_ms,
                target_ms: targets.median_ms,
                met: median_ms.map(|median| median < targets.median_ms),
            },
            cost: CostProgress {
                month,
                target: targets.month.usd(),
                target_micro_usd: targets.month,
                met: (!is_cheap || !month.lower_bound).then_some(is_cheap),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_published() {
        let title = "What `conclave consult-stats --json` prints";
        crate::schema::check::<Statistics>("consult_stats", title);
    }
}
