//! When a provider wants to be asked again. Headers that say when a limit is reset are no hints:
//! their limit need not be the one that was met.

use std::time::Duration;

use crate::domain::time::Timestamp;

/// The longest hint that is passed on. No caller waits that long; beyond it times would overflow.
pub const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// The hint of the two headers: `retry-after-ms`, then `retry-after` in seconds or as a date,
/// counted from `now`.
pub(super) fn of_headers(
    milliseconds: Option<&str>,
    after: Option<&str>,
    now: Option<Timestamp>,
) -> Option<Duration> {
    let milliseconds = milliseconds.and_then(|text| seconds(text, 1e-3));
    milliseconds.or_else(|| after.and_then(|text| seconds(text, 1.0).or_else(|| until(text, now?))))
}

/// A number of seconds, or of the given fraction of one.
pub(super) fn seconds(text: &str, unit: f64) -> Option<Duration> {
    let number = text
        .trim()
        .parse::<f64>()
        .ok()
        .filter(|number| number.is_finite() && *number >= 0.0)?;
    Some(Duration::try_from_secs_f64(number * unit).map_or(LONGEST, |hint| hint.min(LONGEST)))
}

/// The time from `now` until an HTTP date; zero when it has passed.
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
