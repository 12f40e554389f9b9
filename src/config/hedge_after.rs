//! The setting `hedge_after`: the delay before a second model is asked.

use std::time::Duration;

use serde_json::Value;

/// The time without any sign of an answer after which a second model is asked.
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
            text => super::value::duration(text.parse().ok()?).map(Self::After),
        }
    }

    pub(super) fn to_json(self) -> Value {
        match self {
            Self::Off => Value::from("off"),
            Self::After(time) => super::value::decimal(time.as_secs_f64()),
        }
    }

    pub(super) fn of_json(value: &Value) -> Option<Self> {
        match value.as_str() {
            Some(text) => (text.trim() == "off").then_some(Self::Off),
            None => super::value::duration(value.as_f64()?).map(Self::After),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
