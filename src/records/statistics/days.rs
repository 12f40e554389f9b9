//! Computes summaries from the rows of a period, and stores those of whole days in UTC.
//!
//! Invariant: a stored day that is not stale equals the summary of its rows. So the summary of a
//! period is that of its stored whole days and of the rows at its two edges.

use std::collections::BTreeSet;
use std::ops::Range;

use jiff::civil::{Date, date};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Result, Row, TransactionBehavior, params_from_iter};

use crate::domain::time::Timestamp;
use crate::records::index::rows::first_number;

use super::summary::{ConsultationSums, Extreme, Extremes, ModelSums, Summary};

/// Milliseconds.
const DAY: i64 = 86_400_000;

/// Sums up all stale days in one transaction.
pub fn refresh(connection: &mut Connection) -> Result<()> {
    if stale_days(connection)?.is_empty() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for day in stale_days(&transaction)? {
        store(&transaction, day, &of_rows(&transaction, keys_of_day(day))?)?;
    }
    transaction.execute("DELETE FROM stale_days", [])?;
    transaction.commit()
}

/// Summarizes the consultations that began in a period. Stale days are summed up for this query
/// only.
pub(super) fn summarize(
    connection: &Connection,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
) -> Result<Summary> {
    let first_whole =
        from.map(|from| from.0.div_euclid(DAY) + i64::from(from.0.rem_euclid(DAY) != 0));
    let behind_whole = until.map(|until| until.0.div_euclid(DAY));
    if first_whole
        .zip(behind_whole)
        .is_some_and(|(first, behind)| first >= behind)
    {
        return of_rows(connection, keys(from, until));
    }
    let midnight = |day: Option<i64>| day.map(|day| Timestamp(day.saturating_mul(DAY)));
    let mut summary = match from {
        Some(_) => of_rows(connection, keys(from, midnight(first_whole)))?,
        None => Summary::default(),
    };
    if until.is_some() {
        add_rows(
            &mut summary,
            connection,
            keys(midnight(behind_whole), until),
        )?;
    }
    let whole = midnight(first_whole).map_or(FIRST_DAY, day_of)
        ..midnight(behind_whole).map_or(Date::MAX, day_of);
    let stale: BTreeSet<Date> = stale_days(connection)?
        .into_iter()
        .filter(|day| whole.contains(day))
        .collect();
    add_stored(&mut summary, connection, &whole, &stale)?;
    for day in stale {
        add_rows(&mut summary, connection, keys_of_day(day))?;
    }
    Ok(summary)
}

/// The first day that fits a key; earlier dates count as this one, and later than the last as the
/// last.
const FIRST_DAY: Date = date(1970, 1, 1);

fn day_of(at: Timestamp) -> Date {
    jiff::Timestamp::from_millisecond(at.0)
        .map_or(Date::MAX, |at| at.to_zoned(jiff::tz::TimeZone::UTC).date())
}

/// Returns when the consultation of a key began.
pub(super) fn began(number: i64) -> Timestamp {
    Timestamp(number >> first_number(Timestamp(1)).trailing_zeros())
}

/// Returns the last moment that fits a key.
fn last_moment() -> Timestamp {
    began(i64::MAX)
}

fn stale_days(connection: &Connection) -> Result<BTreeSet<Date>> {
    let mut statement = connection.prepare_cached("SELECT day FROM stale_days")?;
    let days = statement.query_map([], |row| row.get::<_, String>(0))?;
    let last = day_of(last_moment());
    // Text that is not a day has no rows.
    days.filter_map(|day| {
        day.map(|day| Some(day.parse::<Date>().ok()?.clamp(FIRST_DAY, last)))
            .transpose()
    })
    .collect()
}

fn keys_of_day(day: Date) -> Range<i64> {
    let midnight = |day: Date| {
        day.to_zoned(jiff::tz::TimeZone::UTC)
            .ok()
            .map(|midnight| Timestamp(midnight.timestamp().as_millisecond()))
    };
    keys(midnight(day), day.tomorrow().ok().and_then(midnight))
}

/// Returns the keys of a period.
pub(super) fn keys(from: Option<Timestamp>, until: Option<Timestamp>) -> Range<i64> {
    let end = until
        .filter(|until| *until <= last_moment())
        .map_or(i64::MAX, first_number);
    from.map_or(0, first_number)..end
}

fn of_rows(connection: &Connection, keys: Range<i64>) -> Result<Summary> {
    let mut summary = Summary::default();
    add_rows(&mut summary, connection, keys)?;
    Ok(summary)
}

fn add_rows(summary: &mut Summary, connection: &Connection, keys: Range<i64>) -> Result<()> {
    if keys.is_empty() {
        return Ok(());
    }
    let mut statement = connection.prepare_cached(
        "SELECT number, ended, total_micro_usd, lower_bound, total_tokens, duration_ms, confidence,
            dissent, agreement, status, experts_heard, experts_changed, confidence_rise,
            confidence_rise_of, verdict_changed, later_rounds_micro_usd, later_rounds_lower_bound,
            early_termination, saved_micro_usd
        FROM consultations WHERE number >= ?1 AND number < ?2",
    )?;
    let mut rows = statement.query([keys.start, keys.end])?;
    while let Some(row) = rows.next()? {
        add_consultation(summary, row)?;
    }
    let mut statement = connection.prepare_cached(
        "SELECT provider, model, failed, hedge_won, micro_usd, lower_bound, input_tokens,
            output_tokens, first_token_ms
        FROM calls WHERE number >= ?1 AND number < ?2",
    )?;
    let mut rows = statement.query([keys.start, keys.end])?;
    while let Some(row) = rows.next()? {
        add_call(summary, row)?;
    }
    Ok(())
}

fn add_consultation(summary: &mut Summary, row: &Row<'_>) -> Result<()> {
    let number: i64 = row.get(0)?;
    let ended = row.get_ref(1)?;
    let is_completed = ended == ValueRef::Text(b"completed");
    let cost: Option<i64> = row.get(2)?;
    let lower_bound = cost.is_none() || row.get::<_, bool>(3)?;
    let mut sums = ConsultationSums {
        total: 1,
        completed: is_completed.into(),
        aborted: (ended == ValueRef::Text(b"aborted")).into(),
        micro_usd: cost.unwrap_or_default(),
        lower_bound: lower_bound.into(),
        tokens: row.get::<_, Option<i64>>(4)?.unwrap_or_default(),
        ..ConsultationSums::default()
    };
    let one = |value: i64| Extreme {
        number,
        value,
        lower_bound,
    };
    let mut extremes = Extremes {
        dearest: cost.map(one),
        ..Extremes::default()
    };
    if is_completed {
        extremes.cheapest = cost.filter(|_| !lower_bound).map(one);
        if let Some(duration) = row.get::<_, Option<i64>>(5)? {
            sums.duration_ms = duration;
            extremes.fastest = Some(Extreme {
                number,
                value: duration,
                lower_bound: false,
            });
            extremes.slowest = extremes.fastest;
            summary.durations.push(packed(duration));
        }
        if let Some(confidence) = row.get::<_, Option<f64>>(6)? {
            sums.with_confidence = 1;
            sums.confidence = millionths(confidence);
            sums.high_confidence = (confidence >= 0.85).into();
            sums.low_confidence = (confidence < 0.70).into();
        }
        sums.with_dissent = (row.get::<_, Option<i64>>(7)?.unwrap_or_default() > 0).into();
        if let Some(agreement) = row.get::<_, Option<f64>>(8)? {
            sums.with_agreement = 1;
            sums.agreement = millionths(agreement);
        }
        sums.degraded = (row.get_ref(9)? == ValueRef::Text(b"degraded")).into();
        let [heard, changed]: [i64; 2] = [row.get(10)?, row.get(11)?];
        if heard > 0 {
            sums.debates = 1;
            sums.experts_heard = heard;
            sums.experts_changed = changed;
            sums.high_value = (changed.saturating_mul(2) > heard).into();
        }
        // Stated confidences are known without a comparison of positions.
        sums.confidence_rise = row.get(12)?;
        sums.confidence_rise_of = row.get(13)?;
        if let Some(verdict_changed) = row.get::<_, Option<bool>>(14)? {
            sums.compared = 1;
            sums.verdict_changed = verdict_changed.into();
            // Without these rounds they cost nothing.
            sums.later_rounds_micro_usd = row.get::<_, Option<i64>>(15)?.unwrap_or_default();
            sums.later_rounds_lower_bound = row.get::<_, bool>(16)?.into();
        }
        if row.get(17)? {
            sums.early_terminations = 1;
            sums.saved_micro_usd = row.get::<_, Option<i64>>(18)?.unwrap_or_default();
        }
    }
    summary.sums.add(sums);
    summary.extremes.add(&extremes);
    Ok(())
}

fn add_call(summary: &mut Summary, row: &Row<'_>) -> Result<()> {
    let [failures, hedges_won, micro_usd, lower_bound]: [i64; 4] =
        [row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?];
    let tokens = row.get::<_, i64>(6)?.saturating_add(row.get(7)?);
    let first_token: Option<i64> = row.get(8)?;
    let call = ModelSums {
        calls: 1,
        failures,
        hedges_won,
        micro_usd,
        lower_bound,
        tokens,
        first_tokens: Vec::new(),
    };
    summary.add_to_model(
        row.get_ref(0)?.as_str()?,
        row.get_ref(1)?.as_str()?,
        |sums| {
            sums.add(call);
            sums.first_tokens.extend(first_token.map(packed));
        },
    );
    Ok(())
}

/// Four bytes hold 49 days, longer than anything measured here.
fn packed(milliseconds: i64) -> u32 {
    u32::try_from(milliseconds.max(0)).unwrap_or(u32::MAX)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "from 0 to 1, and any other number saturates"
)]
fn millionths(share: f64) -> i64 {
    (share * 1e6).round() as i64
}

/// The columns of `days` behind the sums: the extremes, by key, with their values.
const EXTREME_COLUMNS: [&str; 9] = [
    "fastest",
    "fastest_ms",
    "slowest",
    "slowest_ms",
    "dearest",
    "dearest_micro_usd",
    "dearest_lower_bound",
    "cheapest",
    "cheapest_micro_usd",
];

/// Stores a day's summary, replacing an earlier one. A day without consultations is not stored.
fn store(connection: &Connection, day: Date, summary: &Summary) -> Result<()> {
    let day = day.to_string();
    connection
        .prepare_cached("DELETE FROM days WHERE day = ?1")?
        .execute([&day])?;
    connection
        .prepare_cached("DELETE FROM model_days WHERE day = ?1")?
        .execute([&day])?;
    if summary.sums.total > 0 {
        let mut sums = summary.sums.clone();
        let Extremes {
            fastest,
            slowest,
            dearest,
            cheapest,
        } = summary.extremes;
        let key = |one: Option<Extreme>| one.map(|one| one.number);
        let value = |one: Option<Extreme>| one.map(|one| one.value);
        let bound = dearest.map(|one| i64::from(one.lower_bound));
        let extremes = [
            key(fastest),
            value(fastest),
            key(slowest),
            value(slowest),
            key(dearest),
            value(dearest),
            bound,
            key(cheapest),
            value(cheapest),
        ];
        let columns = sums.columns().map(|(column, _)| column);
        let names = ["day"]
            .into_iter()
            .chain(columns)
            .chain(EXTREME_COLUMNS)
            .chain(["durations"]);
        let values = [Value::from(day.clone())]
            .into_iter()
            .chain(sums.columns().map(|(_, sum)| Value::from(*sum)))
            .chain(extremes.map(Value::from))
            .chain([Value::from(bytes(&summary.durations))]);
        insert(connection, "days", names, values)?;
    }
    for (provider, models) in &summary.models {
        for (model, sums) in models {
            let mut sums = sums.clone();
            let columns = sums.columns().map(|(column, _)| column);
            let names = ["day", "provider", "model"]
                .into_iter()
                .chain(columns)
                .chain(["first_tokens"]);
            let values = [&day, provider, model]
                .map(|text| Value::from(text.clone()))
                .into_iter()
                .chain(sums.columns().map(|(_, sum)| Value::from(*sum)))
                .chain([Value::from(bytes(&sums.first_tokens))]);
            insert(connection, "model_days", names, values)?;
        }
    }
    Ok(())
}

fn insert(
    connection: &Connection,
    table: &str,
    names: impl Iterator<Item = &'static str>,
    values: impl Iterator<Item = Value>,
) -> Result<()> {
    let names: Vec<&str> = names.collect();
    let places = vec!["?"; names.len()].join(", ");
    let statement = format!(
        "INSERT INTO {table} ({}) VALUES ({places})",
        names.join(", ")
    );
    connection
        .prepare_cached(&statement)?
        .execute(params_from_iter(values))
        .map(drop)
}

/// Adds stored days.
fn add_stored(
    summary: &mut Summary,
    connection: &Connection,
    whole: &Range<Date>,
    stale: &BTreeSet<Date>,
) -> Result<()> {
    let stale: BTreeSet<String> = stale.iter().map(Date::to_string).collect();
    let whole = whole.start.to_string()..whole.end.to_string();

    let mut sums = ConsultationSums::default();
    let first = 2 + sums.columns().len();
    let columns = sums
        .columns()
        .map(|(column, _)| column)
        .into_iter()
        .chain(EXTREME_COLUMNS)
        .collect::<Vec<_>>()
        .join(", ");
    let mut statement = connection.prepare_cached(&format!(
        "SELECT day, durations, {columns} FROM days WHERE day >= ?1 AND day < ?2"
    ))?;
    let mut rows = statement.query([&whole.start, &whole.end])?;
    while let Some(row) = rows.next()? {
        if stale.contains(row.get_ref(0)?.as_str()?) {
            continue;
        }
        for (at, (_, sum)) in (2..).zip(sums.columns()) {
            *sum = row.get(at)?;
        }
        summary.sums.add(sums.clone());
        let one = |at: usize| -> Result<Option<Extreme>> {
            let key: Option<i64> = row.get(first + at)?;
            key.map(|number| {
                Ok(Extreme {
                    number,
                    value: row.get(first + at + 1)?,
                    lower_bound: false,
                })
            })
            .transpose()
        };
        let mut dearest = one(4)?;
        if let Some(dearest) = &mut dearest {
            dearest.lower_bound = row.get(first + 6)?;
        }
        summary.extremes.add(&Extremes {
            fastest: one(0)?,
            slowest: one(2)?,
            dearest,
            cheapest: one(7)?,
        });
        summary
            .durations
            .extend(numbers(row.get_ref(1)?.as_blob()?));
    }

    let mut sums = ModelSums::default();
    let columns = sums.columns().map(|(column, _)| column).join(", ");
    let mut statement = connection.prepare_cached(&format!(
        "SELECT day, provider, model, first_tokens, {columns} FROM model_days \
         WHERE day >= ?1 AND day < ?2"
    ))?;
    let mut rows = statement.query([&whole.start, &whole.end])?;
    while let Some(row) = rows.next()? {
        if stale.contains(row.get_ref(0)?.as_str()?) {
            continue;
        }
        for (at, (_, sum)) in (4..).zip(sums.columns()) {
            *sum = row.get(at)?;
        }
        let first_tokens = row.get_ref(3)?.as_blob()?;
        summary.add_to_model(
            row.get_ref(1)?.as_str()?,
            row.get_ref(2)?.as_str()?,
            |known| {
                known.add(sums.clone());
                known.first_tokens.extend(numbers(first_tokens));
            },
        );
    }
    Ok(())
}

/// Numbers as four bytes each, least first.
fn bytes(numbers: &[u32]) -> Vec<u8> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|bytes| u32::from_le_bytes(*bytes))
}
