//! Maps spans of days to the calendar of a time zone. A day ends at the first moment of the next,
//! after 23, 24 or 25 hours.

use jiff::Span as Shift;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::domain::record::statistics::{Range, Span};
use crate::domain::time::Timestamp;

/// Maps a span to the calendar of a time zone at this moment.
pub fn range(span: Span, zone: &TimeZone, now: Timestamp) -> Range {
    let today = date_of(now, zone);
    let (first, last) = match span {
        Span::Week => (Some(shifted(today, -6)), Some(today)),
        Span::Month(day) => (Some(day.first_of_month()), Some(day.last_of_month())),
        Span::Days { since, until } => (since, until),
        Span::AllTime => (None, None),
    };
    Range {
        span,
        from: first.and_then(|first| start_of(first, zone)),
        until: last.and_then(|last| start_of(last.tomorrow().ok()?, zone)),
        time_zone: name(zone, now),
    }
}

/// Text that is not a day, or days in the wrong order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpanError {
    #[error("`{0}` is not a month; write it as year and month, such as `2026-11`")]
    Month(String),
    #[error("`{0}` is not a day; write it as year, month and day, such as `2026-11-21`")]
    Day(String),
    #[error("the first day `{since}` is after the last `{until}`")]
    Backwards { since: Date, until: Date },
}

/// `YYYY-MM`.
pub fn month(text: &str) -> Result<Span, SpanError> {
    let first = format!("{text}-01").parse().ok();
    let first = first.filter(|_| text.len() == 7).map(Span::Month);
    first.ok_or_else(|| SpanError::Month(text.to_owned()))
}

/// `YYYY-MM-DD`.
pub fn day(text: &str) -> Result<Date, SpanError> {
    let day = text.parse().ok().filter(|_| text.len() == 10);
    day.ok_or_else(|| SpanError::Day(text.to_owned()))
}

/// Both included.
pub fn days(since: Option<Date>, until: Option<Date>) -> Result<Span, SpanError> {
    match (since, until) {
        (Some(since), Some(until)) if since > until => Err(SpanError::Backwards { since, until }),
        (None, None) => Ok(Span::AllTime),
        (since, until) => Ok(Span::Days { since, until }),
    }
}

pub fn date_of(at: Timestamp, zone: &TimeZone) -> Date {
    let farthest = if at.0 < 0 {
        jiff::Timestamp::MIN
    } else {
        jiff::Timestamp::MAX
    };
    zone.to_datetime(jiff::Timestamp::from_millisecond(at.0).unwrap_or(farthest))
        .date()
}

/// `None` beyond the range of the calendar.
pub(super) fn start_of(date: Date, zone: &TimeZone) -> Option<Timestamp> {
    let start = date.to_zoned(zone.clone()).ok()?.start_of_day().ok()?;
    Some(Timestamp(start.timestamp().as_millisecond()))
}

/// At most the last day of the calendar.
pub(super) fn shifted(date: Date, days: i32) -> Date {
    date.saturating_add(Shift::new().days(days))
}

/// Both included; 0 when the first is after the last.
pub(super) fn days_between(first: Date, last: Date) -> u64 {
    let apart = (last - first).get_days();
    u64::try_from(i64::from(apart) + 1).unwrap_or_default()
}

/// Returns the zone's name in the time zone database, or its offset from UTC.
fn name(zone: &TimeZone, now: Timestamp) -> String {
    let offset = || {
        jiff::Timestamp::from_millisecond(now.0)
            .map(|now| zone.to_offset(now).to_string())
            .unwrap_or_default()
    };
    zone.iana_name().map_or_else(offset, str::to_owned)
}
