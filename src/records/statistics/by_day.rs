//! Runs and spending by day of the user's calendar, read from narrow SQL indexes.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use rusqlite::{Connection, Result};

use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::record::statistics::{DayNumbers, Range};
use crate::domain::time::Timestamp;

use super::calendar::{date_of, days_between, shifted, start_of};
use crate::records::index::rows::{began_at, first_number};

/// Days that are listed one by one.
const MAX_DAYS: i32 = 60;

/// The days of a range.
#[derive(Debug)]
pub(super) struct DayWindow<'a> {
    zone: &'a TimeZone,
    /// The range's own first and last day, where it has one.
    first: Option<Date>,
    last: Option<Date>,
    /// The range's last day, or today when that is earlier.
    newest: Date,
}

impl<'a> DayWindow<'a> {
    pub(super) fn new(range: &Range, zone: &'a TimeZone, now: Timestamp) -> Self {
        let first = range.from.map(|from| date_of(from, zone));
        let last = range
            .until
            .map(|until| date_of(Timestamp(until.0.saturating_sub(1)), zone));
        let today = date_of(now, zone);
        Self {
            zone,
            first,
            last,
            newest: last.map_or(today, |last| last.min(today)),
        }
    }

    /// Includes days after today, which a wrong clock has dated.
    pub(super) fn total_days(&self, active: &ActiveDays) -> u64 {
        match (self.first.zip(self.last), active.first.zip(active.last)) {
            (Some((first, _)), _) => days_between(
                first,
                active
                    .last
                    .map_or(self.newest, |last| last.max(self.newest)),
            ),
            (None, Some((first, last))) => days_between(first, last),
            (None, None) => 0,
        }
    }
}

/// The days of a range that have a consultation, declined ones aside.
#[derive(Debug, Default)]
pub(super) struct ActiveDays {
    pub(super) days: u64,
    pub(super) first: Option<Date>,
    pub(super) last: Option<Date>,
}

impl ActiveDays {
    /// Steps from the first consultation of each day to the first of a later day.
    pub(super) fn read(
        connection: &Connection,
        mut numbers: std::ops::Range<i64>,
        zone: &TimeZone,
    ) -> Result<Self> {
        let mut statement = connection.prepare_cached(
            "SELECT number FROM consultations INDEXED BY idx_consultations_sums \
             WHERE number >= ?1 AND number < ?2 AND ended <> 'declined' \
             ORDER BY number LIMIT 1",
        )?;
        let mut active = Self::default();
        while !numbers.is_empty() {
            let mut rows = statement.query([numbers.start, numbers.end])?;
            let Some(row) = rows.next()? else { break };
            let number: i64 = row.get(0)?;
            let date = date_of(began_at(number), zone);
            active.days += 1;
            active.first = active.first.or(Some(date));
            active.last = Some(date);
            let Some(next) = date.tomorrow().ok().and_then(|next| start_of(next, zone)) else {
                break;
            };
            numbers.start = first_number(next);
            if numbers.start <= number {
                // A number has no room for a later day.
                break;
            }
        }
        Ok(active)
    }
}

/// Recent runs and spending.
#[derive(Debug)]
pub(super) struct ByDay {
    /// The newest days of the range.
    pub(super) days: Vec<DayNumbers>,
    pub(super) runs_in_thirty_days: u64,
    /// The calendar month of the newest day.
    pub(super) month: Cost,
}

impl ByDay {
    pub(super) fn read(
        connection: &Connection,
        window: &DayWindow<'_>,
        first_active: Option<Date>,
    ) -> Result<Self> {
        let newest = window.newest;
        let listed = window
            .first
            .or(first_active)
            .map(|first| first.max(shifted(newest, 1 - MAX_DAYS)));
        let thirty = shifted(newest, -29);
        let (month_first, month_last) = (newest.first_of_month(), newest.last_of_month());

        let begin = [Some(thirty), Some(month_first), listed]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(thirty);
        let days = spent(connection, begin, month_last, window.zone)?;
        let between = |first: Date, last: Date| {
            days.iter()
                .filter(move |day| (first..=last).contains(&day.date))
        };
        Ok(Self {
            days: listed
                .map(|first| between(first, newest).copied().collect())
                .unwrap_or_default(),
            runs_in_thirty_days: between(thirty, newest).map(|day| day.runs).sum(),
            month: between(month_first, month_last).map(|day| day.cost).sum(),
        })
    }
}

fn spent(
    connection: &Connection,
    first: Date,
    last: Date,
    zone: &TimeZone,
) -> Result<Vec<DayNumbers>> {
    let mut days = Vec::new();
    // When each day begins, as text: moments sort as their texts do.
    let mut borders = Vec::new();
    let mut date = first;
    while date <= last {
        let Some(start) = start_of(date, zone) else {
            break;
        };
        days.push(DayNumbers {
            date,
            runs: 0,
            cost: Cost::FREE,
        });
        borders.push(start.to_string());
        let Ok(next) = date.tomorrow() else { break };
        date = next;
    }
    let (Some(begin), Some(end)) = (borders.first(), start_of(date, zone)) else {
        return Ok(days);
    };

    let mut statement = connection.prepare_cached(
        "SELECT created_at, total_micro_usd, lower_bound, by_plan FROM consultations \
         WHERE created_at >= ?1 AND created_at < ?2 AND ended <> 'declined' ORDER BY created_at",
    )?;
    let mut rows = statement.query([begin, &end.to_string()])?;
    let mut later = borders.iter().skip(1).peekable();
    let mut places = days.iter_mut();
    let mut day = places.next();
    while let Some(row) = rows.next()? {
        let created_at = row.get_ref(0)?.as_str()?;
        while later
            .next_if(|border| border.as_str() <= created_at)
            .is_some()
        {
            day = places.next();
        }
        let Some(day) = &mut day else { break };
        let known: Option<i64> = row.get(1)?;
        day.runs += 1;
        day.cost += Cost {
            known: MicroUsd(u64::try_from(known.unwrap_or_default()).unwrap_or_default()),
            lower_bound: known.is_none() || row.get(2)?,
            by_plan: row.get(3)?,
        };
    }
    Ok(days)
}
