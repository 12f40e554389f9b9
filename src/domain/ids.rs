//! Ids of consultations, seats, agents, calls, providers and models.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Identifies a consultation, and names its files: `consult-` and a sortable, unique part in lower
/// case.
///
/// Invariant: it has only ASCII letters, digits, `.`, `_` and `-`, and begins with a letter or a
/// digit. So it stays in its folder as a part of a path, means nothing to a shell, and is no option
/// of a command.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(into = "String", try_from = "String")]
pub struct ConsultationId(String);

/// Error for a text that cannot identify a consultation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its id is not made of letters, digits, `.`, `_` and `-` alone, or is too long")]
pub struct ConsultationIdError;

impl ConsultationId {
    /// Bytes of the longest id: with any suffix it is still the name of a file.
    const LONGEST: usize = 200;

    /// Creates an id from its unique part, which must sort by time (a ULID does).
    pub fn from_unique(unique: &str) -> Self {
        Self(format!("consult-{}", unique.to_ascii_lowercase()))
    }

    pub fn parse(id: &str) -> Result<Self, ConsultationIdError> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let begins_well = id.starts_with(|first: char| first.is_ascii_alphanumeric());
        if begins_well && id.len() <= Self::LONGEST && id.bytes().all(is_allowed) {
            Ok(Self(id.to_owned()))
        } else {
            Err(ConsultationIdError)
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn short(&self) -> &str {
        short_id(&self.0)
    }
}

/// Returns the form of the id of a consultation or a run for messages, which commands take too:
/// without `consult-`, and of a ULID the time to the millisecond and ten random bits.
pub fn short_id(id: &str) -> &str {
    let id = id.strip_prefix("consult-").unwrap_or(id);
    let unique = id.strip_prefix("bench-").unwrap_or(id);
    let rest = if unique.len() == 26 { 14 } else { 0 };
    id.get(..id.len() - rest).unwrap_or(id)
}

impl TryFrom<String> for ConsultationId {
    type Error = ConsultationIdError;

    fn try_from(id: String) -> Result<Self, ConsultationIdError> {
        Self::parse(&id)
    }
}

impl fmt::Display for ConsultationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<ConsultationId> for String {
    fn from(id: ConsultationId) -> Self {
        id.0
    }
}

/// Identifies a seat, unique within one consultation: a persona's id, with `-2`, `-3` … if it sits
/// more than once. Never equal to the id of an agent outside the panel (see [`AgentId`]).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct SeatId(String);

impl SeatId {
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
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

/// Identifies an agent: an expert by its seat, or one outside the panel. Serialized as one string.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(from = "String", into = "String")]
pub enum AgentId {
    /// An expert.
    Seat(SeatId),
    /// Merges the experts' answers and decides; written `judge`.
    Judge,
    /// The judge of the second pass, with the experts in the opposite order; written `judge-2`.
    SecondJudge,
    /// The cheap model that selects personas and compares texts; written `clerk`.
    Helper,
}

impl AgentId {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Seat(seat) => seat.as_str(),
            Self::Judge => "judge",
            Self::SecondJudge => "judge-2",
            Self::Helper => "clerk",
        }
    }

    /// `None` for an agent outside the panel.
    pub fn seat(&self) -> Option<&SeatId> {
        match self {
            Self::Seat(seat) => Some(seat),
            Self::Judge | Self::SecondJudge | Self::Helper => None,
        }
    }
}

impl From<String> for AgentId {
    fn from(id: String) -> Self {
        match id.as_str() {
            "judge" => Self::Judge,
            "judge-2" => Self::SecondJudge,
            "clerk" => Self::Helper,
            _ => Self::Seat(SeatId(id)),
        }
    }
}

impl From<&str> for AgentId {
    fn from(id: &str) -> Self {
        Self::from(id.to_owned())
    }
}

impl From<&SeatId> for AgentId {
    fn from(seat: &SeatId) -> Self {
        Self::Seat(seat.clone())
    }
}

impl From<AgentId> for String {
    fn from(agent: AgentId) -> Self {
        agent.as_str().to_owned()
    }
}

impl PartialEq<SeatId> for AgentId {
    fn eq(&self, seat: &SeatId) -> bool {
        self.seat() == Some(seat)
    }
}

impl PartialEq<AgentId> for SeatId {
    fn eq(&self, agent: &AgentId) -> bool {
        agent == self
    }
}

// Ordered by the serialized id, so that tables and JSON objects keep their order.
impl Ord for AgentId {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl PartialOrd for AgentId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Identifies one call; counted from 1 within a consultation and never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub u32);

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {}", self.0)
    }
}

/// Identifies a timer; never reused within a consultation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TimerId(pub u32);

/// Identifies a provider, as written before the colon of a model: `anthropic`, `openai`, `google`,
/// `local`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct ProviderId(String);

impl ProviderId {
    /// The embedded model's provider.
    pub const LOCAL: &'static str = "local";
    /// The first part of the ids of the settings' programs: `command:name`.
    pub const COMMAND: &'static str = "command";

    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_local(&self) -> bool {
        self.0 == Self::LOCAL
    }

    /// Returns the name of a program of the settings; `None` for any other provider.
    pub fn command(&self) -> Option<&str> {
        self.0.strip_prefix(Self::COMMAND)?.strip_prefix(':')
    }
}

impl fmt::Display for ProviderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A model at a provider, written `provider:model`. A program of the settings is its own provider,
/// `command:name`; its model is optional, `command:name:model`, and has the program's name if there
/// is none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(with = "String"))]
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
    /// Answers of the embedded model are of demonstration quality, and its stated confidences carry
    /// no information.
    pub fn is_demonstration(&self) -> bool {
        self.provider.is_local()
    }

    /// Equal except for case, a date, a folder or an alias, such as `sonnet`.
    pub fn is_served_as(&self, served: &str) -> bool {
        let plain = |name: &str| name.trim().trim_start_matches("models/").to_lowercase();
        let (asked, served) = (plain(&self.model), plain(served));
        // A variant such as `:free` changes how a model is served, not the model.
        let asked = asked
            .split_once(':')
            .filter(|(name, _)| name.contains('/'))
            .map_or(asked.as_str(), |(name, _)| name);
        let alias = asked
            .strip_suffix("-latest")
            .map(|stem| stem.trim_start_matches('~'));
        let is_family = asked.chars().all(|c| c.is_ascii_lowercase());
        served == asked
            || is_family && served.split('-').any(|part| part == asked)
            || without_date(&served) == Some(asked)
            || alias.is_some_and(|stem| served.starts_with(stem))
    }
}

/// Returns the name without its trailing `-YYYY-MM-DD` or `-YYYYMMDD`.
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
        if self.provider.command() == Some(&self.model) {
            return self.provider.fmt(f);
        }
        write!(f, "{}:{}", self.provider, self.model)
    }
}

/// Error for a model that is not written `provider:model`.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` does not name a model as `provider:model`")]
pub struct ModelRefError(String);

impl FromStr for ModelRef {
    type Err = ModelRefError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once(':').and_then(|(provider, model)| {
            if provider != ProviderId::COMMAND {
                return Some((provider, model));
            }
            let (name, model) = model.split_once(':').unwrap_or((model, model));
            let provider = text.get(..=provider.len() + name.len())?;
            (!name.is_empty()).then_some((provider, model))
        });
        match parts {
            Some((provider, model)) if !provider.is_empty() && !model.is_empty() => {
                Ok(Self::new(provider, model))
            }
            _ => Err(ModelRefError(text.to_owned())),
        }
    }
}

// Serialized as one string, so that a model can be a key of a JSON object.
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
    fn an_agent_is_serialized_as_its_id() {
        let agents = ["security", "judge", "judge-2", "clerk"].map(AgentId::from);
        assert_eq!(
            agents,
            [
                AgentId::Seat(SeatId::new("security")),
                AgentId::Judge,
                AgentId::SecondJudge,
                AgentId::Helper
            ]
        );
        let json = serde_json::to_string(&agents).unwrap();
        assert_eq!(json, r#"["security","judge","judge-2","clerk"]"#);
        assert_eq!(serde_json::from_str::<[AgentId; 4]>(&json).unwrap(), agents);
    }

    #[test]
    fn a_program_of_the_settings_is_a_provider_with_an_optional_model() {
        let read = |text: &str| {
            let model: ModelRef = text.parse().unwrap();
            assert_eq!(model.to_string(), text);
            let name = model.provider.command().map(ToOwned::to_owned);
            (name, model.model)
        };
        let expected = |name: Option<&str>, model: &str| (name.map(Into::into), model.to_owned());
        assert_eq!(read("command:own"), expected(Some("own"), "own"));
        assert_eq!(read("command:own:a/b:c"), expected(Some("own"), "a/b:c"));
        assert_eq!(read("codex:gpt-5.5"), expected(None, "gpt-5.5"));
        for text in ["command:", "command::m", "command", "command:a:"] {
            assert!(text.parse::<ModelRef>().is_err(), "{text}");
        }
    }

    #[test]
    fn ids_have_no_character_of_a_path_or_a_shell() {
        for name in ["consult-01kb", "consult-Ab_1.2-partial", "a", "0..9"] {
            assert_eq!(ConsultationId::parse(name).unwrap().as_str(), name);
        }
        let long = "a".repeat(201);
        for name in [
            "", ".", "..", ".a", "-a", "_a", "a/b", "../a", "a\\b", "a b", "a\nb", "a\0", "$(a)",
            "a`b`", "a'b", "a\"b", "a;b", "a*", "ä", &long,
        ] {
            assert_eq!(
                ConsultationId::parse(name),
                Err(ConsultationIdError),
                "{name:?}"
            );
        }
    }

    #[test]
    fn ids_of_other_characters_are_not_deserialized() {
        let id = |json: &str| serde_json::from_str::<ConsultationId>(json);
        assert_eq!(
            id(r#""consult-01kb""#).unwrap(),
            ConsultationId::from_unique("01KB")
        );
        assert!(id(r#""consult-$(touch PWNED)""#).is_err());
        assert!(id(r#""../../victim""#).is_err());
    }

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
    fn dated_names_and_aliases_mean_the_same_model() {
        for (asked, served, same) in [
            ("gpt-6.1-sol", "gpt-6.1-sol-2026-09-01", true),
            ("claude-haiku-4-5", "claude-haiku-4-5-20251001", true),
            ("gemini-4-argon", "models/Gemini-4-Argon", true),
            ("mistral-large-latest", "mistral-large-2512", true),
            ("vendor/name:free", "vendor/name", true),
            ("sonnet", "claude-sonnet-5-5", true),
            ("sonnet", "claude-opus-5-5", false),
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
