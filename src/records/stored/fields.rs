//! Reads JSON of any origin: a field that is missing or of an unexpected type is `None`.

use serde_json::{Map, Value};

use crate::domain::confidence::Confidence;
use crate::domain::money::{Cost, MicroUsd};
use crate::domain::time::Timestamp;

/// One JSON value, read as an object. Names are given in `snake_case`; `camelCase` is found as
/// well.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonFields<'a>(&'a Value);

impl<'a> JsonFields<'a> {
    pub(super) fn of(value: &'a Value) -> Self {
        Self(value)
    }

    /// Returns the value itself.
    pub(super) fn value(self) -> &'a Value {
        self.0
    }

    pub(super) fn get(self, name: &str) -> Option<&'a Value> {
        let fields = self.0.as_object()?;
        let spelled_otherwise = || fields.iter().find(|(key, _)| snake(key) == name);
        let value = fields.get(name);
        value
            .or_else(|| Some(spelled_otherwise()?.1))
            .filter(|value| !value.is_null())
    }

    /// Returns the object at a name; all fields of a missing one are missing.
    pub(super) fn at(self, name: &str) -> Self {
        Self(self.get(name).unwrap_or(&Value::Null))
    }

    pub(super) fn object(self, name: &str) -> Option<&'a Map<String, Value>> {
        self.get(name)?.as_object()
    }

    /// Returns the entries of a list; none where there is no list.
    pub(super) fn each(self, name: &str) -> impl Iterator<Item = JsonFields<'a>> + use<'a> {
        self.get(name)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(JsonFields)
    }

    /// Returns the entries of an object, in written order.
    pub(super) fn entries(
        self,
        name: &str,
    ) -> impl Iterator<Item = (&'a str, JsonFields<'a>)> + use<'a> {
        self.object(name)
            .into_iter()
            .flatten()
            .map(|(key, value)| (key.as_str(), JsonFields(value)))
    }

    /// Returns the value itself, when it is text.
    pub(super) fn as_text(self) -> Option<&'a str> {
        self.0.as_str()
    }

    /// Returns the value itself as an amount: exact where micro-dollars are written, else the
    /// nearest to the decimal.
    pub(super) fn as_cost(self) -> Option<Cost> {
        let written = self.count("micro_usd").map(MicroUsd);
        let known = written.or_else(|| self.number("usd").and_then(MicroUsd::from_usd))?;
        Some(Cost {
            known,
            lower_bound: self.flag("lower_bound").unwrap_or_default(),
        })
    }

    pub(super) fn text(self, name: &str) -> Option<String> {
        self.get(name)?.as_str().map(str::to_owned)
    }

    /// Returns text that is not blank.
    pub(super) fn nonblank(self, name: &str) -> Option<String> {
        self.text(name).filter(|text| !text.trim().is_empty())
    }

    /// Returns text, or the empty text.
    pub(super) fn text_or_empty(self, name: &str) -> String {
        self.text(name).unwrap_or_default()
    }

    /// Returns the texts in a list; other entries are skipped.
    pub(super) fn texts(self, name: &str) -> Vec<String> {
        self.each(name)
            .filter_map(|entry| entry.as_text().map(str::to_owned))
            .collect()
    }

    pub(super) fn flag(self, name: &str) -> Option<bool> {
        self.get(name)?.as_bool()
    }

    pub(super) fn number(self, name: &str) -> Option<f64> {
        self.get(name)?.as_f64()
    }

    /// Returns a count; a fraction is rounded.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range is checked just before"
    )]
    pub(super) fn count(self, name: &str) -> Option<u64> {
        let value = self.get(name)?;
        value.as_u64().or_else(|| {
            value
                .as_f64()
                .filter(|number| (0.0..1e15).contains(number))
                .map(|number| number.round() as u64)
        })
    }

    pub(super) fn confidence(self, name: &str) -> Option<Confidence> {
        self.number(name).and_then(Confidence::new)
    }

    /// Returns a moment. One without a time zone is in UTC.
    pub(super) fn moment(self, name: &str) -> Option<Timestamp> {
        let text = self.text(name)?;
        let in_utc = || {
            text.parse::<jiff::civil::DateTime>()
                .and_then(|civil| civil.to_zoned(jiff::tz::TimeZone::UTC))
        };
        let moment = text
            .parse::<jiff::Timestamp>()
            .or_else(|_| in_utc().map(|zoned| zoned.timestamp()))
            .ok()?;
        Some(Timestamp(moment.as_millisecond()))
    }
}

/// Converts `roundNumber` to `round_number`.
pub(super) fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_found_in_both_spellings_with_their_type() {
        let value = json!({
            "durationMs": 1500.4,
            "key_points": ["a", 1, "b"],
            "question": 7,
            "gone": null,
            "confidence": 1.5,
        });
        let fields = JsonFields::of(&value);
        assert_eq!(fields.count("duration_ms"), Some(1500));
        assert_eq!(
            fields.texts("key_points"),
            vec!["a".to_owned(), "b".to_owned()]
        );
        assert_eq!(fields.text("question"), None);
        assert_eq!(fields.get("gone"), None);
        assert_eq!(fields.confidence("confidence"), None);
        assert_eq!(fields.at("nowhere").text("x"), None);
        assert_eq!(fields.each("question").count(), 0);
    }

    #[test]
    fn decimals_round_to_micro_dollars_and_moments_default_to_utc() {
        let value = json!({
            "a": { "usd": 0.1 + 0.2 },
            "b": { "usd": 9.0, "micro_usd": 3, "lower_bound": true },
            "c": { "usd": -1 },
            "d": "2025-12-28T10:00:00+01:00",
            "e": "2025-12-28T09:00:00",
            "f": "yesterday",
        });
        let fields = JsonFields::of(&value);
        assert_eq!(
            fields.at("a").as_cost(),
            Some(Cost::exactly(MicroUsd(300_000)))
        );
        assert_eq!(fields.at("b").as_cost(), Some(Cost::at_least(MicroUsd(3))));
        assert_eq!(fields.at("c").as_cost(), None);
        assert_eq!(fields.moment("d"), fields.moment("e"));
        assert_eq!(fields.moment("f"), None);
        assert_eq!(
            fields
                .moment("e")
                .map(|moment| moment.to_string())
                .as_deref(),
            Some("2025-12-28T09:00:00.000Z")
        );
    }
}
