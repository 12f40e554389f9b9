//! Retry hints of providers. Headers with the reset time of a limit are not used: it need not be
//! the limit that was exceeded.

use std::time::Duration;

use crate::domain::time::Timestamp;

/// The longest returned hint. No caller waits that long, and larger values would overflow.
pub const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Reads the hint of the two headers: `retry-after-ms`, then `retry-after` in seconds or as a date
/// relative to `now`.
pub(super) fn of_headers(
    milliseconds: Option<&str>,
    after: Option<&str>,
    now: Option<Timestamp>,
) -> Option<Duration> {
    let milliseconds = milliseconds.and_then(|text| seconds(text, 1e-3));
    milliseconds.or_else(|| after.and_then(|text| seconds(text, 1.0).or_else(|| until(text, now?))))
}

/// Reads a number of units of `unit` seconds.
pub(super) fn seconds(text: &str, unit: f64) -> Option<Duration> {
    let number = text
        .trim()
        .parse::<f64>()
        .ok()
        .filter(|number| number.is_finite() && *number >= 0.0)?;
    Some(Duration::try_from_secs_f64(number * unit).map_or(LONGEST, |hint| hint.min(LONGEST)))
}

/// Returns the time from `now` until an HTTP date; zero if it has passed.
fn until(date: &str, now: Timestamp) -> Option<Duration> {
    Some(http_date(date)?.since(now).min(LONGEST))
}

/// Reads `Sat, 21 Nov 2026 09:00:00 GMT`.
pub fn http_date(text: &str) -> Option<Timestamp> {
    let moment = jiff::fmt::rfc2822::DateTimeParser::new()
        .parse_timestamp(text.trim())
        .ok()?;
    Some(Timestamp(moment.as_millisecond()))
}
