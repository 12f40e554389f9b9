//! Sums and percentiles over the calls of a range, by model and by provider. Each query reads one
//! index of the database alone.

use std::cmp::Reverse;
use std::ops::Range;

use indexmap::IndexMap;
use rusqlite::{Connection, OptionalExtension, Result, params};

use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::record::statistics::{ModelNumbers, ProviderNumbers};

use super::{cost, count, percentile};
use crate::records::index::rows::numbers as all_numbers;

const SUMS: &str = "
    SELECT provider, model, calls, micro_usd, tokens, measured,
        ifnull(failures, 0.0) AS failures, ifnull(hedges_won, 0.0) AS hedges_won,
        ifnull(lower_bounds, 0.0) AS lower_bounds, ifnull(by_plan, 0.0) AS by_plan
    FROM (
        SELECT provider, model, count(*) AS calls, total(micro_usd) AS micro_usd,
            total(input_tokens + output_tokens) AS tokens, count(first_token_ms) AS measured
        FROM calls INDEXED BY idx_calls_model
        WHERE ?1 IS NULL OR number >= ?1 AND number < ?2
        GROUP BY provider, model
    ) LEFT JOIN (
        SELECT provider, model, total(failed) AS failures, total(hedge_won) AS hedges_won,
            total(lower_bound) AS lower_bounds, total(by_plan) AS by_plan
        FROM calls INDEXED BY idx_calls_exceptions
        WHERE (failed OR hedge_won OR lower_bound OR by_plan)
            AND (?1 IS NULL OR number >= ?1 AND number < ?2)
        GROUP BY provider, model
    ) USING (provider, model)
    ORDER BY provider, model";

/// Nothing for all time: a row is read in a third of the time without its number, which stands last
/// in an index.
fn bounds(numbers: &Range<i64>) -> (Option<i64>, Option<i64>) {
    let is_all = *numbers == all_numbers(None, None);
    let bound = |number| (!is_all).then_some(number);
    (bound(numbers.start), bound(numbers.end))
}

/// The most expensive first, then by name.
pub(super) fn models(connection: &Connection, numbers: &Range<i64>) -> Result<Vec<ModelNumbers>> {
    let mut models = Vec::new();
    let (from, until) = bounds(numbers);
    let mut statement = connection.prepare_cached(SUMS)?;
    let mut rows = statement.query(params![from, until])?;
    while let Some(row) = rows.next()? {
        let model = ModelRef::new(row.get::<_, String>(0)?, row.get::<_, String>(1)?);
        let measured = count(row, "measured")?;
        let first_token = |percent| first_token(connection, numbers, &model, measured, percent);
        models.push(ModelNumbers {
            calls: count(row, "calls")?,
            failures: count(row, "failures")?,
            hedges_won: count(row, "hedges_won")?,
            cost: cost(row, "")?,
            tokens: count(row, "tokens")?,
            first_token_p50_ms: first_token(50)?,
            first_token_p95_ms: first_token(95)?,
            demonstration: model.is_demonstration(),
            model,
        });
    }
    // Sorted by name before; the stable sort keeps that order at equal cost.
    models.sort_by_key(|numbers| Reverse(numbers.cost.known));
    Ok(models)
}

fn first_token(
    connection: &Connection,
    numbers: &Range<i64>,
    model: &ModelRef,
    measured: u64,
    percent: u64,
) -> Result<Option<u64>> {
    let Some(before) = percentile(measured, percent) else {
        return Ok(None);
    };
    // From the nearer end.
    let after = measured - 1 - before;
    let (order, skipped) = if before <= after {
        ("ASC", before)
    } else {
        ("DESC", after)
    };
    let sql = format!(
        "SELECT first_token_ms FROM calls INDEXED BY idx_calls_model
        WHERE provider = ?3 AND model = ?4 AND first_token_ms IS NOT NULL
            AND (?1 IS NULL OR number >= ?1 AND number < ?2)
        ORDER BY first_token_ms {order} LIMIT 1 OFFSET ?5"
    );
    let provider = model.provider.as_str();
    let (from, until) = bounds(numbers);
    connection
        .prepare_cached(&sql)?
        .query_row(
            params![from, until, provider, model.model, skipped],
            |row| row.get(0),
        )
        .optional()
}

/// The most expensive first, then by name.
pub(super) fn by_provider(models: &[ModelNumbers]) -> IndexMap<ProviderId, ProviderNumbers> {
    let mut providers: IndexMap<ProviderId, ProviderNumbers> = IndexMap::new();
    for numbers in models {
        let sums = providers.entry(numbers.model.provider.clone()).or_default();
        sums.cost += numbers.cost;
        sums.tokens = sums.tokens.saturating_add(numbers.tokens);
        sums.calls = sums.calls.saturating_add(numbers.calls);
        sums.failures = sums.failures.saturating_add(numbers.failures);
        sums.hedges_won = sums.hedges_won.saturating_add(numbers.hedges_won);
    }
    providers.sort_by(|one, numbers, other, others| {
        (others.cost.known, one).cmp(&(numbers.cost.known, other))
    });
    providers
}
