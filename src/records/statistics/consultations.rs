//! Sums and percentiles over the consultations of a range, by SQL. Each query reads one index of
//! the database alone.
//!
//! Confidences and agreements are summed in whole millionths, so that a sum does not depend on its
//! order. `total` instead of `sum`: it does not fail beyond 64 bits.

use std::ops::Range;

use rusqlite::{Connection, OptionalExtension, Result, Row, params};

use crate::domain::cost::money::{Cost, MicroUsd, Saving};
use crate::domain::record::statistics::{
    AgreementNumbers, CachingNumbers, CostNumbers, DebateNumbers, EarlyTerminationNumbers,
    PerformanceNumbers, PricedConsultation, QualityNumbers, StateNumbers, TimedConsultation,
    UsageNumbers,
};

use super::{average, cost, count, ratio};

/// Completed consultations. A condition of the whole query costs less than one of each sum.
const COMPLETED: &str = "
    SELECT
        count(*) AS completed,
        total(by_plan AND NOT lower_bound AND total_micro_usd IS 0) AS by_plan_alone,
        total(total_micro_usd) AS micro_usd,
        total(total_micro_usd IS NULL OR lower_bound) AS lower_bounds,
        total(by_plan) AS by_plan,
        total(total_tokens) AS tokens,
        count(duration_ms) AS measured,
        total(duration_ms) AS duration_ms,
        count(confidence) AS with_confidence,
        total(round(confidence * 1e6)) AS confidence,
        total(confidence >= 0.85) AS high_confidence,
        total(confidence < 0.70) AS low_confidence,
        total(dissent > 0) AS with_dissent,
        count(agreement) AS with_agreement,
        total(round(agreement * 1e6)) AS agreement,
        total(status = 'degraded') AS degraded,
        total(experts_heard > 0) AS debates,
        total(experts_heard) AS experts_heard,
        total(experts_changed) FILTER (WHERE experts_heard > 0) AS experts_changed,
        total(experts_changed > experts_heard - experts_changed)
            FILTER (WHERE experts_heard > 0) AS high_value,
        total(confidence_rise) AS confidence_rise,
        total(confidence_rise_of) AS confidence_rise_of,
        count(verdict_changed) AS compared,
        total(verdict_changed) AS verdicts_changed,
        total(later_rounds_micro_usd) FILTER (WHERE verdict_changed IS NOT NULL)
            AS later_rounds_micro_usd,
        total(later_rounds_lower_bound) FILTER (WHERE verdict_changed IS NOT NULL)
            AS later_rounds_lower_bounds,
        total(by_plan) FILTER (WHERE verdict_changed IS NOT NULL) AS later_rounds_by_plan,
        total(early_termination) AS early_terminations,
        total(saved_micro_usd) FILTER (WHERE early_termination) AS saved_micro_usd,
        total(saved_micro_usd IS NULL OR lower_bound) FILTER (WHERE early_termination)
            AS saved_lower_bounds,
        total(by_plan) FILTER (WHERE early_termination) AS saved_by_plan,
        count(cache_saved_micro_usd) AS cached,
        total(cache_saved_micro_usd) AS cache_saved_micro_usd,
        total(cache_saved_incomplete) AS cache_saved_incomplete
    FROM consultations INDEXED BY idx_consultations_sums
    WHERE ended = 'completed' AND number >= ?1 AND number < ?2";

/// Aborted and unfinished consultations, and the number of declined ones, which cost nothing.
const OTHERS: &str = "
    SELECT
        total(ended <> 'declined') AS others,
        total(ended = 'aborted') AS aborted,
        total(ended = 'declined') AS declined,
        total(total_micro_usd) AS micro_usd,
        total(total_micro_usd IS NULL OR lower_bound) AS lower_bounds,
        total(by_plan) AS by_plan,
        total(total_tokens) AS tokens,
        count(cache_saved_micro_usd) AS cached,
        total(cache_saved_micro_usd) AS cache_saved_micro_usd,
        total(cache_saved_incomplete) AS cache_saved_incomplete
    FROM consultations INDEXED BY idx_consultations_sums
    WHERE ended <> 'completed' AND number >= ?1 AND number < ?2";

/// Completed consultations by the share of experts that supported the leading point.
const BY_AGREEMENT: &str = "
    SELECT CAST(round(agreement * 100) AS INTEGER) AS percent, count(*)
    FROM consultations INDEXED BY idx_consultations_sums
    WHERE ended = 'completed' AND number >= ?1 AND number < ?2 AND agreement BETWEEN 0 AND 1
    GROUP BY percent ORDER BY percent DESC";

pub(super) fn by_agreement(
    connection: &Connection,
    numbers: &Range<i64>,
) -> Result<Vec<AgreementNumbers>> {
    let level = |row: &Row<'_>| {
        Ok(AgreementNumbers {
            percent: row.get(0)?,
            consultations: row.get(1)?,
        })
    };
    let mut statement = connection.prepare_cached(BY_AGREEMENT)?;
    let levels = statement.query_map([numbers.start, numbers.end], level)?;
    levels.collect()
}

/// The sums over the consultations of a range. What is no sum is missing.
#[derive(Debug)]
pub(super) struct ConsultationSums {
    pub(super) usage: UsageNumbers,
    pub(super) cost: CostNumbers,
    /// Completed consultations with a recorded duration.
    pub(super) measured: u64,
    /// Completed consultations that a plan paid for alone: they say nothing of what one costs.
    pub(super) by_plan_alone: u64,
    /// The sum of these durations in milliseconds.
    pub(super) duration_ms: u64,
    pub(super) quality: QualityNumbers,
    pub(super) debate_value: DebateNumbers,
    pub(super) early_termination: EarlyTerminationNumbers,
}

impl ConsultationSums {
    pub(super) fn read(connection: &Connection, numbers: &Range<i64>) -> Result<Self> {
        let range = [numbers.start, numbers.end];
        let mut sums = connection
            .prepare_cached(COMPLETED)?
            .query_row(range, Self::of_completed)?;
        connection
            .prepare_cached(OTHERS)?
            .query_row(range, |row| sums.add_others(row))?;
        Ok(sums)
    }

    fn add_others(&mut self, row: &Row<'_>) -> Result<()> {
        let (others, aborted) = (count(row, "others")?, count(row, "aborted")?);
        let states = &mut self.usage.by_state;
        self.usage.total = states.completed + others;
        (states.aborted, states.unfinished) = (aborted, others - aborted);
        states.declined = count(row, "declined")?;
        self.cost.total += cost(row, "")?;
        self.cost.total_tokens += count(row, "tokens")?;
        self.cost.caching = [self.cost.caching, caching(row)?]
            .into_iter()
            .flatten()
            .reduce(CachingNumbers::plus);
        Ok(())
    }

    fn of_completed(row: &Row<'_>) -> Result<Self> {
        let sum = |name: &str| count(row, name);
        let (changed, all) = (sum("experts_changed")?, sum("experts_heard")?);
        Ok(Self {
            usage: UsageNumbers {
                by_state: StateNumbers {
                    completed: sum("completed")?,
                    ..StateNumbers::default()
                },
                ..UsageNumbers::default()
            },
            cost: CostNumbers {
                total: cost(row, "")?,
                total_tokens: sum("tokens")?,
                caching: caching(row)?,
                ..CostNumbers::default()
            },
            measured: sum("measured")?,
            by_plan_alone: sum("by_plan_alone")?,
            duration_ms: sum("duration_ms")?,
            quality: QualityNumbers {
                with_confidence: sum("with_confidence")?,
                avg_confidence: mean(row, "confidence", "with_confidence")?,
                high_confidence: sum("high_confidence")?,
                low_confidence: sum("low_confidence")?,
                with_dissent: sum("with_dissent")?,
                with_agreement: sum("with_agreement")?,
                avg_agreement: mean(row, "agreement", "with_agreement")?,
                by_agreement: Vec::new(),
                degraded: sum("degraded")?,
            },
            debate_value: DebateNumbers {
                debates: sum("debates")?,
                agents_changed_mind: changed,
                total_agents: all,
                change_rate: ratio(changed, all),
                avg_confidence_increase: mean(row, "confidence_rise", "confidence_rise_of")?,
                high_value_debates: sum("high_value")?,
                verdicts_compared: sum("compared")?,
                verdicts_changed: sum("verdicts_changed")?,
                later_rounds_cost: cost(row, "later_rounds_")?,
            },
            early_termination: EarlyTerminationNumbers {
                count: sum("early_terminations")?,
                saved: cost(row, "saved_")?,
            },
        })
    }
}

pub(super) fn performance(
    connection: &Connection,
    numbers: &Range<i64>,
    sums: &ConsultationSums,
) -> Result<PerformanceNumbers> {
    let percentile = |percent: u64| {
        let Some(before) = super::percentile(sums.measured, percent) else {
            return Ok(None);
        };
        let sql = format!("SELECT duration_ms {DURATIONS} ORDER BY duration_ms LIMIT 1 OFFSET ?3");
        connection
            .prepare_cached(&sql)?
            .query_row(params![numbers.start, numbers.end, before], |row| {
                row.get(0)
            })
            .optional()
    };
    let extreme = |order: &str| {
        let sql =
            format!("SELECT id, duration_ms {DURATIONS} ORDER BY duration_ms {order} LIMIT 1");
        connection
            .prepare_cached(&sql)?
            .query_row([numbers.start, numbers.end], |row| {
                Ok(TimedConsultation {
                    id: row.get(0)?,
                    duration_ms: row.get(1)?,
                })
            })
            .optional()
    };
    Ok(PerformanceNumbers {
        measured: sums.measured,
        p50: percentile(50)?,
        p95: percentile(95)?,
        p99: percentile(99)?,
        avg_duration: average(sums.duration_ms, sums.measured),
        fastest_consultation: extreme("ASC, number")?,
        slowest_consultation: extreme("DESC, number")?,
    })
}

const DURATIONS: &str = "FROM consultations INDEXED BY idx_consultations_duration \
     WHERE ended = 'completed' AND duration_ms IS NOT NULL AND number >= ?1 AND number < ?2";

/// The providers' shares are the caller's.
pub(super) fn costs(
    connection: &Connection,
    numbers: &Range<i64>,
    sums: &ConsultationSums,
) -> Result<CostNumbers> {
    let extreme = |condition: &str, order: &str| {
        let sql = format!(
            "SELECT (SELECT id FROM consultations AS named WHERE named.number = priced.number), \
                total_micro_usd, lower_bound, by_plan \
             FROM consultations AS priced INDEXED BY idx_consultations_sums \
             WHERE number >= ?1 AND number < ?2 AND total_micro_usd IS NOT NULL {condition} \
             ORDER BY total_micro_usd {order}, number LIMIT 1"
        );
        connection
            .prepare_cached(&sql)?
            .query_row([numbers.start, numbers.end], |row| {
                Ok(PricedConsultation {
                    id: row.get(0)?,
                    cost: Cost {
                        known: MicroUsd(row.get(1)?),
                        lower_bound: row.get(2)?,
                        by_plan: row.get(3)?,
                    },
                })
            })
            .optional()
    };
    let priced = sums.usage.by_state.completed - sums.by_plan_alone;
    let average = average(sums.cost.total.known.0, priced).map(MicroUsd);
    Ok(CostNumbers {
        avg_per_consultation: average.map(MicroUsd::usd),
        avg_per_consultation_micro_usd: average,
        most_expensive: extreme("AND ended <> 'declined'", "DESC")?,
        cheapest: extreme(
            "AND ended = 'completed' AND NOT (lower_bound OR by_plan)",
            "ASC",
        )?,
        ..sums.cost.clone()
    })
}

/// `None` if it is known of no consultation.
#[expect(
    clippy::cast_possible_truncation,
    reason = "saturates, and is exact below 2^53"
)]
fn caching(row: &Row<'_>) -> Result<Option<CachingNumbers>> {
    let saved: f64 = row.get("cache_saved_micro_usd")?;
    let saved = Saving(saved as i64);
    let numbers = CachingNumbers {
        saved: saved.usd(),
        saved_micro_usd: saved,
        incomplete: count(row, "cache_saved_incomplete")? > 0,
    };
    Ok((count(row, "cached")? > 0).then_some(numbers))
}

/// Unrounded.
fn mean(row: &Row<'_>, millionths: &str, of: &str) -> Result<Option<f64>> {
    let (millionths, of): (f64, f64) = (row.get(millionths)?, row.get(of)?);
    Ok((of > 0.0).then(|| millionths / of / 1e6))
}
