//! When a limit ends, in the words of programs.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{Span, ToSpan};

use crate::domain::time::Timestamp;
use crate::text::pattern::Pattern;

/// Returns the moment: `resets 7:23pm (UTC)`, `try again at Mar 10th, 2026 3:39 AM`, `try again in
/// 2 hours`, `limit reached|1766502000`. A time without a zone is the user's, one without a day the
/// next.
pub(super) fn reset(text: &str, now: Timestamp, user: &TimeZone) -> Option<Timestamp> {
    static EPOCH: Pattern = Pattern::new(r"\|(\d{10})\b");
    static LATER: Pattern =
        Pattern::new(r"(?i)(?:resets|again) in ((?:\d+(?:\.\d+)? ?[a-z]+(?:, | )?)+)");
    let part =
        |pattern: &'static Pattern| pattern.all(text).next()?.extract::<1>().1.first().copied();
    let at = jiff::Timestamp::from_millisecond(now.0).ok()?;
    let moment = if let Some(seconds) = part(&EPOCH) {
        jiff::Timestamp::from_second(seconds.parse().ok()?).ok()?
    } else if let Some(wait) = part(&LATER) {
        let wait: Span = wait.trim().parse().ok()?;
        let end = at.to_zoned(user.clone()).checked_add(wait);
        end.ok()?.timestamp()
    } else {
        time_of_day(text, at, user)?
    };
    Some(Timestamp(moment.as_millisecond()))
}

fn time_of_day(text: &str, now: jiff::Timestamp, user: &TimeZone) -> Option<jiff::Timestamp> {
    static TIME: Pattern = Pattern::new(concat!(
        r"(?i)(?:resets?|again)(?: at| on)?\s+",
        r"(?:(?<day>[a-z]{3})[a-z]*\.? (?<of>\d{1,2})(?:st|nd|rd|th)?,?\s+",
        r"(?:(?<year>20\d\d),?\s+)?(?:at )?)?",
        r"(?<hour>\d{1,2})(?::(?<minute>\d\d))?\s*(?<half>[ap])\.?m\b\.?",
        r"(?:\s*\((?<zone>[a-z0-9_/+-]+)\))?",
    ));
    let found = TIME.all(text).next()?;
    let part = |name: &str| found.name(name).map(|part| part.as_str());
    let zone = part("zone").and_then(|zone| TimeZone::get(zone).ok());
    let zone = zone.unwrap_or_else(|| user.clone());
    let (hour, half) = (part("hour")?, part("half")?);
    let time = format!("{hour}:{} {half}m", part("minute").unwrap_or("00"));
    let time = Time::strptime("%I:%M %p", time).ok()?;
    let today = now.to_zoned(zone.clone()).date();
    let days = match (part("day"), part("of")) {
        (Some(month), Some(day)) => {
            let year = part("year").and_then(|year| year.parse().ok());
            let years = year.map_or(today.year()..=today.year() + 1, |year| year..=year);
            let date = |year| Date::strptime("%b %d %Y", format!("{month} {day} {year}")).ok();
            years.filter_map(date).collect()
        }
        _ => vec![today, today.saturating_add(1.day())],
    };
    let moments = days.into_iter().map(|day: Date| day.to_datetime(time));
    let moments = moments.filter_map(|at| at.to_zoned(zone.clone()).ok());
    // The minute that a program writes may have begun.
    let ends = moments.map(|at| at.timestamp());
    let mut ends = ends.flat_map(|at| [at, at.saturating_add(1.minute()).unwrap_or(at)]);
    ends.find(|end| *end > now)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds from 2026-03-09T10:00:30Z until the end of a limit, for a user in New York, where it
    /// is six in the morning.
    fn wait(text: &str) -> Option<u64> {
        let now: jiff::Timestamp = "2026-03-09T10:00:30Z".parse().unwrap();
        let now = Timestamp(now.as_millisecond());
        let zone = TimeZone::get("America/New_York").unwrap();
        reset(text, now, &zone).map(|at| at.since(now).as_secs())
    }

    #[test]
    fn the_end_of_a_limit_is_read_in_every_wording_and_zone() {
        const DAY: u64 = 86_400;
        let cases = [
            (
                "You've hit your 5-hour limit · resets 7:23pm (UTC)",
                Some(9 * 3600 + 22 * 60 + 30),
            ),
            // Eight in the evening there now.
            (
                "You've hit your limit · resets 3pm (Asia/Seoul)",
                Some(20 * 3600 - 30),
            ),
            ("resets 10am (UTC)", Some(30)),
            ("resets 10:00 AM (UTC)", Some(30)),
            ("resets 9:59am (UTC)", Some(DAY - 90)),
            ("resets 12am (UTC)", Some(14 * 3600 - 30)),
            ("resets 12pm (Nowhere/Else)", Some(6 * 3600 - 30)),
            ("Claude AI usage limit reached|1773050450", Some(20)),
            ("Claude AI usage limit reached|1766502000", Some(0)),
            ("or try again at 7:32 PM.", Some(13 * 3600 + 31 * 60 + 30)),
            ("or try again at 5:32 AM.", Some(DAY - 28 * 60 - 30)),
            (
                "send a request to your admin or try again at Mar 10th, 2026 3:39 AM.",
                Some(DAY - 2 * 3600 - 21 * 60 - 30),
            ),
            ("resets Mar 12, 6am", Some(3 * DAY - 30)),
            (
                "resets Mar 12 at 6am (America/New_York)",
                Some(3 * DAY - 30),
            ),
            ("resets Mar 1, 5am", Some(357 * DAY - 30)),
            ("Try again in 1.5s.", Some(1)),
            ("Try again in 500ms", Some(0)),
            (
                "try again in 2 days 3 hours 5 minutes.",
                Some(2 * DAY + 3 * 3600 + 300),
            ),
            ("resets in 1 hour, 30 min", Some(5400)),
            ("Try again later.", None),
            ("resets soon", None),
            ("resets 25:00am", None),
            ("resets 13pm", None),
            ("resets 7", None),
            ("try again at Foo 10th, 2026 3:39 AM", None),
            ("try again at Mar 10th, 2020 3:39 AM", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(wait(text), expected, "{text}");
        }
    }
}
