//! A moment in UTC, as stored in files and artifacts. Only the driver reads the clock.

use std::fmt;
use std::time::Duration;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01T00:00:00Z; serialized as RFC 3339 with milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(with = "String", extend("format" = "date-time")))]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Returns the moment `later` after this one, rounded up to the millisecond, so that nothing
    /// happens too early.
    #[must_use]
    pub fn after(self, later: Duration) -> Self {
        Self(self.0.saturating_add(
            i64::try_from(later.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX),
        ))
    }

    /// Returns the moment `earlier` before this one, rounded up to the millisecond.
    #[must_use]
    pub fn before(self, earlier: Duration) -> Self {
        Self(self.0.saturating_sub(
            i64::try_from(earlier.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX),
        ))
    }

    /// Zero if it is not earlier.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.ms_since(earlier))
    }

    /// Zero when it is not earlier.
    pub fn ms_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }

    /// `2026-11-21`.
    pub fn date(self) -> String {
        self.day().to_string()
    }

    /// The last valid day for moments outside the calendar.
    pub fn day(self) -> Date {
        jiff::Timestamp::from_millisecond(self.0)
            .map_or(Date::MAX, |at| at.to_zoned(TimeZone::UTC).date())
    }
}

/// Negative if the second is earlier.
pub fn days_between(from: Date, to: Date) -> i64 {
    to.duration_since(from).as_hours() / 24
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => write!(f, "{moment:.3}"),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let moment: jiff::Timestamp = text.parse().map_err(serde::de::Error::custom)?;
        Ok(Self(moment.as_millisecond()))
    }
}

/// Durations as whole milliseconds, for `#[serde(with)]`.
pub mod milliseconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        u64::try_from(duration.as_millis())
            .unwrap_or(u64::MAX)
            .serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_written_and_read_as_rfc_3339() {
        let moment = Timestamp(1_795_252_598_042);
        assert_eq!(moment.to_string(), "2026-11-21T09:16:38.042Z");
        let json = serde_json::to_string(&moment).unwrap();
        assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), moment);
        assert_eq!(moment.date(), "2026-11-21");
    }
}
