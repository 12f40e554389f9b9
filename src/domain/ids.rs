//! Names of things: consultations, seats, calls, models.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Names one consultation: `consult-` and a sortable, unique rest in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConsultationId(String);

impl ConsultationId {
    /// Makes an id from its unique part, which must sort by time (a ULID does).
    pub fn from_unique(unique: &str) -> Self {
        Self(format!("consult-{}", unique.to_ascii_lowercase()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ConsultationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Names a seat on the panel, unique within one consultation: a persona's id, with `-2`, `-3` …
/// when it sits twice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SeatId(String);

impl SeatId {
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// The judge's place. No expert's seat has this id.
    pub fn judge() -> Self {
        Self("judge".to_owned())
    }

    /// The judge's place when it decides a second time, with the experts in the opposite order. No
    /// expert's seat has this id.
    pub fn second_judge() -> Self {
        Self("judge-2".to_owned())
    }

    pub fn is_second_judge(&self) -> bool {
        self.0 == "judge-2"
    }

    /// The place of the cheap model that helps beside the panel. No expert's seat has this id.
    pub fn helper() -> Self {
        Self("clerk".to_owned())
    }

    pub fn is_clerk(&self) -> bool {
        self.0 == "clerk"
    }

    pub fn is_judge(&self) -> bool {
        self.0 == "judge"
    }

    /// Judge and clerk: whoever is asked without a seat on the panel.
    pub fn is_beside_the_panel(&self) -> bool {
        self.is_judge() || self.is_second_judge() || self.is_clerk()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SeatId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Numbers one attempt to get an answer from a model; counted from 1 within a consultation and
/// never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub u32);

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {}", self.0)
    }
}

/// Names a provider as the user writes it before the colon: `anthropic`, `openai`, `google`,
/// `local`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProviderId(String);

impl ProviderId {
    /// The embedded model's provider.
    pub const LOCAL: &'static str = "local";

    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_local(&self) -> bool {
        self.0 == Self::LOCAL
    }
}

impl fmt::Display for ProviderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A model at a provider, written `provider:model`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelRef {
    pub provider: ProviderId,
    pub model: String,
}

impl ModelRef {
    pub fn new(provider: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            provider: ProviderId::new(provider),
            model: model.into(),
        }
    }
}

impl ModelRef {
    /// Whether the name under which a provider served a model means the one that was asked for: the
    /// same in other letters, with a date, behind a folder, or what an alias stands for.
    pub fn is_served_as(&self, served: &str) -> bool {
        let plain = |name: &str| name.trim().trim_start_matches("models/").to_lowercase();
        let (asked, served) = (plain(&self.model), plain(served));
        // A variant such as `:free` is a way to be served, not a model of its own.
        let asked = asked
            .split_once(':')
            .filter(|(name, _)| name.contains('/'))
            .map_or(asked.as_str(), |(name, _)| name);
        let alias = asked
            .strip_suffix("-latest")
            .map(|stem| stem.trim_start_matches('~'));
        served == asked
            || without_date(&served) == Some(asked)
            || alias.is_some_and(|stem| served.starts_with(stem))
    }
}

/// The name without its trailing `-YYYY-MM-DD` or `-YYYYMMDD`.
pub fn without_date(model: &str) -> Option<&str> {
    [11, 9].into_iter().find_map(|length| {
        let (name, suffix) = model.split_at_checked(model.len().checked_sub(length)?)?;
        let digits: Vec<bool> = suffix.chars().map(|c| c.is_ascii_digit()).collect();
        let dated = suffix.starts_with("-20")
            && match length {
                11 => {
                    suffix.match_indices('-').map(|(at, _)| at).eq([0, 5, 8])
                        && digits.iter().filter(|d| **d).count() == 8
                }
                _ => digits.iter().skip(1).all(|d| *d),
            };
        (dated && !name.is_empty()).then_some(name)
    })
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.provider, self.model)
    }
}

/// A model that is not written `provider:model`.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` does not name a model as `provider:model`")]
pub struct ModelRefError(String);

impl FromStr for ModelRef {
    type Err = ModelRefError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            Some((provider, model)) if !provider.is_empty() && !model.is_empty() => {
                Ok(Self::new(provider, model))
            }
            _ => Err(ModelRefError(text.to_owned())),
        }
    }
}

// Written as one string, so that a model can be a key of a JSON object.
impl Serialize for ModelRef {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ModelRef {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_reference_keeps_colons_that_belong_to_the_model() {
        let model: ModelRef = "openrouter:vendor/name:free".parse().unwrap();
        assert_eq!(
            (model.provider.as_str(), model.model.as_str()),
            ("openrouter", "vendor/name:free")
        );
        assert!("no-colon".parse::<ModelRef>().is_err() && ":x".parse::<ModelRef>().is_err());
    }

    #[test]
    fn a_dated_name_and_what_an_alias_stands_for_are_the_same_model_and_another_name_is_not() {
        for (asked, served, same) in [
            ("gpt-6.1-sol", "gpt-6.1-sol-2026-09-01", true),
            ("claude-haiku-4-5", "claude-haiku-4-5-20251001", true),
            ("gemini-4-argon", "models/Gemini-4-Argon", true),
            ("mistral-large-latest", "mistral-large-2512", true),
            ("vendor/name:free", "vendor/name", true),
            ("qwen3:8b", "qwen3:8b", true),
            ("qwen3:8b", "qwen3:4b", false),
            ("gemini-2.5-pro", "gemini-3.8-flash", false),
            ("gpt-6.1-sol", "gpt-6.1-sol-mini", false),
        ] {
            assert_eq!(
                ModelRef::new("p", asked).is_served_as(served),
                same,
                "{asked} {served}"
            );
        }
    }
}
