//! Settings that are words or numbers: when another model is asked too, and what is done when one
//! fails for good.

use std::time::Duration;

use serde_json::{Value, json};

/// How long a call may show no sign of an answer before another model is asked too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HedgeAfter {
    Off,
    /// Zero asks two at once.
    After(Duration),
}

impl HedgeAfter {
    pub const WANTED: &'static str = "a number of seconds or `off`";

    /// Reads a word or a number of seconds, as a flag has it.
    pub fn of_text(text: &str) -> Option<Self> {
        match text.trim() {
            "off" => Some(Self::Off),
            text => seconds(text.parse().ok()?).map(Self::After),
        }
    }

    pub(super) fn of_json(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) if text.trim() == "off" => Some(Self::Off),
            Value::Number(number) => seconds(number.as_f64()?).map(Self::After),
            Value::Null
            | Value::Bool(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => None,
        }
    }
}

/// A time of at least nothing.
pub(super) fn seconds(number: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number).ok()
}

/// What becomes of an agent whose model has failed for good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    #[default]
    Ask,
    Substitute,
    Skip,
    Fail,
}

impl OnFailure {
    const WORDS: [(&'static str, Self); 4] = [
        ("ask", Self::Ask),
        ("substitute", Self::Substitute),
        ("skip", Self::Skip),
        ("fail", Self::Fail),
    ];

    pub(super) fn of_json(value: &Value) -> Option<Self> {
        let text = value.as_str()?.trim();
        Self::WORDS
            .into_iter()
            .find(|(word, _)| *word == text)
            .map(|(_, choice)| choice)
    }

    pub(super) fn to_json(self) -> Value {
        json!(match self {
            Self::Ask => "ask",
            Self::Substitute => "substitute",
            Self::Skip => "skip",
            Self::Fail => "fail",
        })
    }
}

/// Whether positions are compared after the debate, where there is a model for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DebateAnalysis {
    #[default]
    On,
    Off,
}

impl DebateAnalysis {
    const WORDS: [(&'static str, Self); 2] = [("on", Self::On), ("off", Self::Off)];

    pub(super) fn of_json(value: &Value) -> Option<Self> {
        let text = value.as_str()?.trim();
        Self::WORDS
            .into_iter()
            .find(|(word, _)| *word == text)
            .map(|(_, choice)| choice)
    }

    pub(super) fn to_json(self) -> Value {
        json!(match self {
            Self::On => "on",
            Self::Off => "off",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_a_word_or_a_time_of_at_least_nothing() {
        let after = |ms| Some(HedgeAfter::After(Duration::from_millis(ms)));
        let read = ["off", " 2.5 ", "0", "-1", "NaN", "soon", "", "1e400"].map(HedgeAfter::of_text);
        assert_eq!(
            read,
            [
                Some(HedgeAfter::Off),
                after(2_500),
                after(0),
                None,
                None,
                None,
                None,
                None
            ]
        );
        let read = [
            json!("off"),
            json!(3),
            json!("3"),
            json!(-1),
            json!(null),
            json!(true),
        ]
        .map(|value| HedgeAfter::of_json(&value));
        assert_eq!(
            read,
            [Some(HedgeAfter::Off), after(3_000), None, None, None, None]
        );
    }

    #[test]
    fn every_word_is_written_as_it_is_read() {
        for (word, choice) in OnFailure::WORDS {
            assert_eq!(
                (OnFailure::of_json(&json!(word)), choice.to_json()),
                (Some(choice), json!(word))
            );
        }
        for (word, choice) in DebateAnalysis::WORDS {
            assert_eq!(
                (DebateAnalysis::of_json(&json!(word)), choice.to_json()),
                (Some(choice), json!(word))
            );
        }
        assert_eq!(
            (
                OnFailure::of_json(&json!("panic")),
                OnFailure::of_json(&json!(1))
            ),
            (None, None)
        );
    }
}
