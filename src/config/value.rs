//! Values inside of settings, each with its place, so that an error can name it.
//!
//! No message shows a value: a misplaced one may be a key.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::keys::detection::{hide_keys, holds_key, is_key_name};
use crate::domain::names::{did_you_mean, snake_case};

/// A problem, and its place: `endpoints.work.base_url`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{at}` {what}")]
pub struct ValueError {
    pub at: String,
    pub what: String,
}

impl ValueError {
    /// Returns an error that shows no key, even if one was taken for a name.
    pub(super) fn new(at: &str, what: impl AsRef<str>) -> Self {
        Self {
            at: hide_keys(at),
            what: hide_keys(what.as_ref()),
        }
    }
}

/// A value, and its place.
#[derive(Clone, Debug)]
pub(super) struct ConfigValue<'a> {
    pub at: String,
    pub value: &'a Value,
}

impl<'a> ConfigValue<'a> {
    pub(super) fn new(at: impl Into<String>, value: &'a Value) -> Self {
        Self {
            at: at.into(),
            value,
        }
    }

    /// The problem is the rest of a sentence that begins with the place.
    pub(super) fn error(&self, what: impl AsRef<str>) -> ValueError {
        ValueError::new(&self.at, what)
    }

    pub(super) fn inside(&self, name: &str, value: &'a Value) -> Self {
        Self {
            at: format!("{}.{name}", self.at),
            value,
        }
    }

    /// Not empty.
    pub(super) fn text(&self) -> Result<String, ValueError> {
        let text = self
            .value
            .as_str()
            .map(str::trim)
            .filter(|text| !text.is_empty());
        text.map(ToOwned::to_owned)
            .ok_or_else(|| self.error("must be a string"))
    }

    /// From 1 to 1000.
    pub(super) fn count(&self) -> Result<u32, ValueError> {
        let count = self
            .value
            .as_u64()
            .and_then(|count| u32::try_from(count).ok())
            .filter(|count| (1..=1_000).contains(count));
        count.ok_or_else(|| self.error("must be a whole number from 1 to 1000"))
    }

    pub(super) fn truth(&self) -> Result<bool, ValueError> {
        self.value
            .as_bool()
            .ok_or_else(|| self.error("must be true or false"))
    }

    /// Returns the value that one of these words stands for.
    pub(super) fn choice<T: DeserializeOwned>(&self, words: &[&str]) -> Result<T, ValueError> {
        let word = self.value.as_str().map(str::trim);
        let chosen = word
            .filter(|word| words.contains(word))
            .and_then(|word| serde_json::from_value(word.into()).ok());
        chosen.ok_or_else(|| self.error(format!("must be one of `{}`", words.join("`, `"))))
    }

    /// Each must be known.
    pub(super) fn fields(&self, known: &[&'static str]) -> Result<ConfigFields<'a>, ValueError> {
        let mut fields = BTreeMap::new();
        for (name, value) in self.object()? {
            let place = self.inside(name, value);
            let snake = snake_case(name);
            let Some(field) = known.iter().find(|field| **field == snake) else {
                if is_key_name(name) {
                    return Err(place.error(NO_KEYS_HERE));
                }
                let meant = did_you_mean(name, known.iter().copied());
                return Err(place.error(format!("is not a field{meant}")));
            };
            if fields.insert(*field, place.clone()).is_some() {
                return Err(place.error("is set twice"));
            }
        }
        Ok(fields)
    }

    /// Returns the entries of an object by their names, which must fit before a colon and after a
    /// dot.
    pub(super) fn named(&self) -> Result<Vec<(String, ConfigValue<'a>)>, ValueError> {
        let entry = |(name, value): (&String, &'a Value)| {
            let place = self.inside(name, value);
            if is_name(name) {
                Ok((name.clone(), place))
            } else {
                Err(place.error(format!("is not a valid name: {NAME_RULE}")))
            }
        };
        self.object()?.iter().map(entry).collect()
    }

    fn object(&self) -> Result<&'a Map<String, Value>, ValueError> {
        self.value
            .as_object()
            .ok_or_else(|| self.error("must be an object"))
    }
}

/// The fields of an object by their names in `snake_case`.
pub(super) type ConfigFields<'a> = BTreeMap<&'static str, ConfigValue<'a>>;

pub(super) fn optional<'a, T>(
    fields: &ConfigFields<'a>,
    name: &str,
    read: impl FnOnce(&ConfigValue<'a>) -> Result<T, ValueError>,
) -> Result<Option<T>, ValueError> {
    fields.get(name).map(read).transpose()
}

/// At most eleven days, so that no sum of times overflows.
pub(super) fn duration(seconds: f64) -> Option<Duration> {
    let range = 0.0..=1_000_000.0;
    let seconds = Some(seconds).filter(|seconds| range.contains(seconds));
    seconds.map(Duration::from_secs_f64)
}

/// `10`, not `10.0`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is checked just before"
)]
pub(super) fn decimal(number: f64) -> Value {
    if number.fract() == 0.0 && (0.0..1e15).contains(&number) {
        json!(number as u64)
    } else {
        json!(number)
    }
}

/// Why there is no place for a key in the settings.
pub(super) const NO_KEYS_HERE: &str = "would store a key in the settings; name a variable \
    with `api_key_env`, or a command that prints the key with `api_key_cmd`";

pub(super) const NAME_RULE: &str = "use a-z, 0-9, `-` and `_`, and begin with a letter or a digit";

/// A key is refused.
pub(super) fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.starts_with(allowed)
        && name.chars().all(|c| allowed(c) || c == '-' || c == '_')
        && !holds_key(name)
}
