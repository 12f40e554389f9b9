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

/// Names a seat on the panel, unique within one consultation: a persona's id, with `-2`, `-3` … when it sits twice.
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

    pub fn is_judge(&self) -> bool {
        self.0 == "judge"
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

/// Numbers one attempt to get an answer from a model; counted from 1 within a consultation and never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub u32);

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {}", self.0)
    }
}

/// Names a provider as the user writes it before the colon: `anthropic`, `openai`, `google`, `local`.
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
        Self { provider: ProviderId::new(provider), model: model.into() }
    }
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.provider, self.model)
    }
}

/// A model that is not written `provider:model`.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` does not name a model as `provider:model`")]
pub struct NotAModelRef(String);

impl FromStr for ModelRef {
    type Err = NotAModelRef;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            Some((provider, model)) if !provider.is_empty() && !model.is_empty() => Ok(Self::new(provider, model)),
            _ => Err(NotAModelRef(text.to_owned())),
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
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_reference_keeps_colons_that_belong_to_the_model() {
        let model: ModelRef = "openrouter:vendor/name:free".parse().unwrap();
        assert_eq!((model.provider.as_str(), model.model.as_str()), ("openrouter", "vendor/name:free"));
        assert!("no-colon".parse::<ModelRef>().is_err() && ":x".parse::<ModelRef>().is_err());
    }
}
