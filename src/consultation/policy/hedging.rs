//! Decides whether and when a slow call is hedged.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::domain::ids::ModelRef;

/// The shortest delay before a hedge, however fast a model usually is.
pub const EARLIEST: Duration = Duration::from_secs(2);

/// The longest delay in seconds.
const LATEST: f64 = 1_000_000.0;

/// The delay that a person asks for: a number of seconds, or `off`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HedgeAfter {
    Off,
    /// Zero asks two at once.
    After(Duration),
}

impl HedgeAfter {
    pub const EXPECTED: &'static str = "a number of seconds up to 1000000, or `off`";

    /// Reads a word or a number of seconds, as a flag has it.
    pub fn of_text(text: &str) -> Option<Self> {
        match text.trim() {
            "off" => Some(Self::Off),
            text => Self::of_seconds(text.parse().ok()?),
        }
    }

    pub fn of_json(value: &Value) -> Option<Self> {
        match value.as_str() {
            Some(text) => (text.trim() == "off").then_some(Self::Off),
            None => Self::of_seconds(value.as_f64()?),
        }
    }

    fn of_seconds(seconds: f64) -> Option<Self> {
        let is_usable = (0.0..=LATEST).contains(&seconds);
        is_usable.then(|| Self::After(Duration::from_secs_f64(seconds)))
    }
}

impl Serialize for HedgeAfter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_str("off"),
            Self::After(time) if time.subsec_nanos() == 0 => time.as_secs().serialize(serializer),
            Self::After(time) => time.as_secs_f64().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for HedgeAfter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::of_json(&value).ok_or_else(|| serde::de::Error::custom(Self::EXPECTED))
    }
}

/// The delay after which a call without any sign of an answer is hedged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HedgeRule {
    /// `None` for never.
    pub after: Option<Duration>,
    /// The delay for models with enough history: the 95th percentile of their time to the first
    /// token.
    pub by_model: BTreeMap<ModelRef, Duration>,
}

/// Reason why a call is not hedged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoHedge {
    /// No other vendor has a model that could answer.
    NoBackup,
    /// The possible models are unhealthy.
    NoHealthyBackup,
    /// A quarter of the run's calls have been hedged.
    QuotaUsed,
    /// The ceiling does not allow it.
    Ceiling,
    /// The fallback's provider is at its limit of calls in flight, or asked for a backoff.
    BackupBusy,
}

impl Default for HedgeRule {
    /// 30 s: models that reason are silent for longer than the 10 s of the original design.
    fn default() -> Self {
        Self {
            after: Some(Duration::from_secs(30)),
            by_model: BTreeMap::new(),
        }
    }
}

impl HedgeRule {
    /// `None` if it is never hedged.
    pub fn delay(&self, model: &ModelRef) -> Option<Duration> {
        let usual = self.after?;
        Some(
            self.by_model
                .get(model)
                .copied()
                .unwrap_or(usual)
                .max(EARLIEST.min(usual)),
        )
    }

    /// A quarter of them, at least one.
    pub fn quota(calls: usize) -> u32 {
        u32::try_from(calls / 4).unwrap_or(u32::MAX).max(1)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn models_with_history_have_their_own_delay_of_at_least_two_seconds() {
        let fast = ModelRef::new("p", "fast");
        let slow = ModelRef::new("p", "slow");
        let by_model = BTreeMap::from([
            (fast.clone(), Duration::from_millis(300)),
            (slow.clone(), Duration::from_secs(40)),
        ]);
        let rule = HedgeRule {
            by_model,
            ..HedgeRule::default()
        };
        let new = ModelRef::new("p", "new");
        assert_eq!(rule.delay(&fast), Some(EARLIEST));
        assert_eq!(rule.delay(&slow), Some(Duration::from_secs(40)));
        assert_eq!(rule.delay(&new), Some(Duration::from_secs(30)));
        let never = HedgeRule {
            after: None,
            ..rule
        };
        assert_eq!(never.delay(&slow), None);
    }

    #[test]
    fn a_quarter_of_the_calls_and_at_least_one_may_be_hedged() {
        assert_eq!([1, 3, 4, 9, 130].map(HedgeRule::quota), [1, 1, 1, 2, 32]);
    }

    #[test]
    fn a_delay_is_a_word_or_a_time_of_at_least_nothing() {
        let after = |ms| Some(HedgeAfter::After(Duration::from_millis(ms)));
        assert_eq!(HedgeAfter::of_text("off"), Some(HedgeAfter::Off));
        assert_eq!(HedgeAfter::of_text(" 2.5 "), after(2_500));
        assert_eq!(HedgeAfter::of_text("0"), after(0));
        for text in ["-1", "NaN", "soon", "", "1e400", "1.8e19", "1000001"] {
            assert_eq!(HedgeAfter::of_text(text), None, "{text}");
        }
        assert_eq!(HedgeAfter::of_json(&json!("off")), Some(HedgeAfter::Off));
        assert_eq!(HedgeAfter::of_json(&json!(3)), after(3_000));
        for value in [
            json!("3"),
            json!(-1),
            json!(1.8e19),
            json!(null),
            json!(true),
        ] {
            assert_eq!(HedgeAfter::of_json(&value), None, "{value}");
        }
    }
}
