//! The settings `endpoints` and `local_servers`: the user's own servers, changes to known providers,
//! and where to look for servers on the user's own machine.
//!
//! An entry never holds a key, only its source. A missing field stays `None`: its default is
//! decided where the server is used.

use std::collections::BTreeSet;

use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde_json::{Value, json};

use super::env::Environment;
use super::keys::detection::holds_key;
use super::value::{ConfigValue, NAME_RULE, ValueError, is_name, optional};
use crate::domain::ids::ProviderId;
use crate::domain::model::address::{self, Bare};
use crate::domain::model::dialect::{Structure, TokensField, WireFormat};
use crate::domain::model::program::of_vendor;
use crate::domain::model::vendors::{self, VENDORS};

/// One entry. As JSON, it is what would be written under its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EndpointEntry {
    /// The part before the colon in the names of its models.
    #[serde(skip)]
    pub name: String,
    /// As the user wrote it. `None` only in an entry that changes a known provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    #[serde(flatten)]
    pub key: Option<KeyLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens_field: Option<TokensField>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_output: Option<Structure>,
    /// Most calls in flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_in_flight: Option<u32>,
    /// Its models cost nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<WireFormat>,
}

/// The source of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum KeyLocation {
    /// The variable of this name.
    #[serde(rename = "api_key_env")]
    Variable(String),
    /// The output of this command.
    #[serde(rename = "api_key_cmd")]
    Command(String),
}

pub const FIELDS: [&str; 9] = [
    "name",
    "base_url",
    "api_key_env",
    "api_key_cmd",
    "max_tokens_field",
    "structured_output",
    "max_in_flight",
    "free",
    "dialect",
];

/// The form of the setting.
pub(super) const EXPECTED: &str =
    "an object of servers by name, or a list of objects with a `name`";

const MAX_TOKENS_FIELDS: [&str; 2] = ["max_tokens", "max_completion_tokens"];
const STRUCTURED_OUTPUTS: [&str; 3] = ["json_schema", "json_object", "none"];
const DIALECTS: [&str; 5] = ["openai", "responses", "anthropic", "gemini", "ollama"];

/// An object of entries by name, or a list of entries with a `name`.
pub(super) fn read(setting: &ConfigValue<'_>) -> Result<Vec<EndpointEntry>, ValueError> {
    let named = match setting.value {
        Value::Array(list) => list.iter().map(|item| with_name(setting, item)).collect(),
        Value::Object(_) => setting.named(),
        _ => Err(setting.error(format!("must be {EXPECTED}"))),
    }?;
    let mut seen = BTreeSet::new();
    let entry = |(name, place): (String, ConfigValue<'_>)| {
        if !seen.insert(name.clone()) {
            return Err(place.error("is a second entry with this name"));
        }
        let entry = EndpointEntry::read(name, &place)?;
        if entry.base_url.is_none() && vendors::find(&entry.name).is_none() {
            return Err(place.error(format!(
                "has no `base_url`, and `{}` is not a known provider",
                entry.name
            )));
        }
        Ok(entry)
    };
    named.into_iter().map(entry).collect()
}

fn with_name<'a>(
    setting: &ConfigValue<'_>,
    item: &'a Value,
) -> Result<(String, ConfigValue<'a>), ValueError> {
    let name = item["name"].as_str().filter(|name| is_name(name));
    let name = name.ok_or_else(|| setting.error(format!("must be {EXPECTED}: {NAME_RULE}")))?;
    let place = ConfigValue::new(format!("{}.{name}", setting.at), item);
    Ok((name.to_owned(), place))
}

impl EndpointEntry {
    fn read(name: String, place: &ConfigValue<'_>) -> Result<Self, ValueError> {
        if name == ProviderId::LOCAL {
            return Err(place.error("cannot have this name: it is reserved for the embedded model"));
        }
        let is_program = of_vendor(&ProviderId::new(name.as_str())).is_some();
        if is_program || name == ProviderId::COMMAND {
            return Err(place.error("cannot have this name: it is reserved for a program"));
        }
        let fields = place.fields(&FIELDS)?;
        let key = match (fields.get("api_key_env"), fields.get("api_key_cmd")) {
            (Some(_), Some(_)) => {
                return Err(
                    place.error("has both `api_key_env` and `api_key_cmd`; set only one of them")
                );
            }
            (Some(variable), None) => Some(KeyLocation::Variable(variable_name(variable)?)),
            (None, Some(command)) => Some(KeyLocation::Command(command_line(command)?)),
            (None, None) => None,
        };
        Ok(Self {
            base_url: optional(&fields, "base_url", base_url)?,
            key,
            max_tokens_field: optional(&fields, "max_tokens_field", |field| {
                field.choice(&MAX_TOKENS_FIELDS)
            })?,
            structured_output: optional(&fields, "structured_output", |field| {
                field.choice(&STRUCTURED_OUTPUTS)
            })?,
            max_in_flight: optional(&fields, "max_in_flight", ConfigValue::count)?,
            free: optional(&fields, "free", ConfigValue::truth)?,
            dialect: optional(&fields, "dialect", |field| field.choice(&DIALECTS))?,
            name,
        })
    }
}

/// Reads an address that holds no secret.
pub(super) fn base_url(place: &ConfigValue<'_>) -> Result<String, ValueError> {
    let text = place.text()?;
    address::parse(&text, Bare::Https).map_err(|what| place.error(what))?;
    Ok(text)
}

/// Refuses a key in its place.
fn variable_name(place: &ConfigValue<'_>) -> Result<String, ValueError> {
    let name = place.text()?;
    let is_name = !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let looks_random = name.len() > 20
        && name.chars().any(|c| c.is_ascii_lowercase())
        && name.chars().any(|c| c.is_ascii_digit());
    if is_name && !looks_random {
        Ok(name)
    } else {
        Err(place.error(
            "must be the name of the variable that holds the key, such as `WORK_API_KEY`, not the \
             key itself",
        ))
    }
}

/// Refuses a key in its place.
fn command_line(place: &ConfigValue<'_>) -> Result<String, ValueError> {
    let command = place.text()?;
    if holds_key(&command) {
        return Err(place.error(
            "must be a command that prints the key, such as `pass show openai`, and must not \
             contain the key itself",
        ));
    }
    Ok(command)
}

/// Values that servers without keys are given, because their clients want one.
const PLACEHOLDERS: [&str; 2] = ["sk-no-key-required", "gpt4all"];

/// The shortest key that no digit sets apart from words, in bytes: `lm-studio` and `not-needed` are
/// no secrets.
const SHORTEST_WORD: usize = 12;

/// The shortest key with a letter and a digit, in bytes.
const SHORTEST: usize = 8;

/// The variables of the known vendors, and those that the entries name. No command runs for this.
pub fn keys_in_variables(
    entries: &[EndpointEntry],
    environment: &Environment,
) -> Vec<SecretString> {
    let vendors = VENDORS.iter().flat_map(|vendor| vendor.key_variables);
    let named = entries.iter().filter_map(|entry| match &entry.key {
        Some(KeyLocation::Variable(name)) => Some(name.as_str()),
        Some(KeyLocation::Command(_)) | None => None,
    });
    let variables = vendors.copied().chain(named);
    let keys = variables.filter_map(|name| environment.secret(name));
    keys.filter(is_secret).collect()
}

/// Servers without keys are given words.
pub fn is_secret(key: &SecretString) -> bool {
    let key = key.expose_secret();
    let has = |is: fn(&char) -> bool| key.chars().any(|c| is(&c));
    let is_mixed = has(char::is_ascii_digit) && has(char::is_ascii_alphabetic);
    let shortest = if is_mixed { SHORTEST } else { SHORTEST_WORD };
    key.len() >= shortest && !PLACEHOLDERS.contains(&key)
}

/// The addresses to look for servers that need no key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LocalServers {
    /// The usual ports of this machine.
    #[default]
    Auto,
    /// None.
    None,
    /// These, as the user wrote them.
    #[serde(untagged)]
    At(Vec<String>),
}

impl LocalServers {
    /// An empty list means none.
    pub(super) fn read(setting: &ConfigValue<'_>) -> Result<Self, ValueError> {
        let no_form = || setting.error("must be `auto`, `none` or a list of addresses");
        let addresses: Vec<Value> = match setting.value {
            Value::String(text) => match text.trim() {
                "auto" => return Ok(Self::Auto),
                "none" => return Ok(Self::None),
                text => text
                    .split(',')
                    .map(|address| json!(address.trim()))
                    .collect(),
            },
            Value::Array(list) => list.clone(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                return Err(no_form());
            }
        };
        let addresses = addresses
            .iter()
            .map(|value| base_url(&ConfigValue::new(&setting.at, value)))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(if addresses.is_empty() {
            Self::None
        } else {
            Self::At(addresses)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(json: &str) -> Result<Vec<EndpointEntry>, String> {
        let value = serde_json::from_str(json).unwrap();
        read(&ConfigValue::new("endpoints", &value))
            .map_err(|error| format!("{} {}", error.at, error.what))
    }

    #[test]
    fn a_list_and_an_object_mean_the_same_in_both_spellings() {
        let list = r#"[{"name": "work", "baseUrl": "https://h/v1", "apiKeyEnv": "WORK_KEY", "maxTokensField": "max_completion_tokens",
                         "structuredOutput": "json_object", "maxInFlight": 2, "free": true, "dialect": "anthropic"}]"#;
        let object = r#"{"work": {"base_url": "https://h/v1", "api_key_env": "WORK_KEY", "max_tokens_field": "max_completion_tokens",
                         "structured_output": "json_object", "max_in_flight": 2, "free": true, "dialect": "anthropic"}}"#;
        let read = entries(list).unwrap();
        assert_eq!(read, entries(object).unwrap());
        assert_eq!(read[0].key, Some(KeyLocation::Variable("WORK_KEY".into())));
        let written: Value = serde_json::from_str(object).unwrap();
        assert_eq!(serde_json::to_value(&read[0]).unwrap(), written["work"]);
    }

    #[test]
    fn a_known_provider_needs_no_address_and_any_other_name_does() {
        let known = entries(r#"{"anthropic": {"api_key_cmd": "pass show a"}}"#).unwrap();
        let command = KeyLocation::Command("pass show a".into());
        assert_eq!(known[0].key, Some(command));
        let error = entries(r#"{"acme": {"api_key_env": "K"}}"#).unwrap_err();
        let message = "endpoints.acme has no `base_url`, and `acme` is not a known provider";
        assert_eq!(error, message);
    }

    fn assert_refused(json: &str, at: &str, words: &str) {
        let error = entries(json).unwrap_err();
        let place = format!("endpoints{at} ");
        assert!(error.starts_with(&place), "{json}: {error}");
        assert!(error.contains(words), "{json}: {error}");
        assert!(!error.contains("secret"), "{error}");
    }

    #[test]
    fn errors_name_the_place_and_show_no_value() {
        for (field, value, words) in [
            ("base_ulr", r#""x""#, "did you mean `base_url`?"),
            ("api_key", r#""sk-secret""#, "`api_key_env`"),
            ("key", r#""sk-secret""#, "`api_key_cmd`"),
            ("token", r#""sk-secret""#, "`api_key_cmd`"),
            ("api_key_env", r#""sk-secret""#, "not the key itself"),
            (
                "api_key_env",
                r#""AIzaSysecret0123456789a""#,
                "not the key itself",
            ),
            ("max_in_flight", "0", "from 1 to 1000"),
            ("free", r#""yes""#, "true or false"),
            ("dialect", r#""grpc""#, "`gemini`"),
            ("baseUrl", r#""h""#, "twice"),
        ] {
            let json = format!(r#"{{"w": {{"base_url": "h", "{field}": {value}}}}}"#);
            assert_refused(&json, &format!(".w.{field}"), words);
        }
        for (address, words) in [
            ("https://u:secret@h/v1", "user name"),
            ("https://h/v1?key=secret", "`?`"),
            ("ftp://h", "http"),
        ] {
            let json = format!(r#"{{"w": {{"base_url": "{address}"}}}}"#);
            assert_refused(&json, ".w.base_url", words);
        }
        for (json, at, words) in [
            (
                r#"{"w": {"base_url": "h", "api_key_env": "A", "api_key_cmd": "b"}}"#,
                ".w",
                "both",
            ),
            (r#"{"W": {"base_url": "h"}}"#, ".W", "a-z"),
            (r#"{"local": {"base_url": "h"}}"#, ".local", "embedded"),
            (r#"[{"base_url": "h"}]"#, "", "objects with a `name`"),
            (
                r#"[{"name": "a", "base_url": "h"}, {"name": "a", "base_url": "i"}]"#,
                ".a",
                "second",
            ),
            (r#""sk-secret""#, "", "must be an object"),
            (r#"{"w": "sk-secret"}"#, ".w", "must be an object"),
        ] {
            assert_refused(json, at, words);
        }
    }

    fn keys(entries: &[EndpointEntry], variables: &[(&str, &str)]) -> Vec<String> {
        let environment = Environment::of(variables.iter().copied());
        let keys = keys_in_variables(entries, &environment);
        keys.iter()
            .map(|key| key.expose_secret().to_owned())
            .collect()
    }

    #[test]
    fn every_variable_of_a_vendor_counts_not_only_the_first_one_set() {
        let variables = [
            ("GEMINI_API_KEY", "gemini-value"),
            ("GOOGLE_API_KEY", "google-value\n"),
            ("UNRELATED", "other-value-1"),
        ];
        let mut found = keys(&[], &variables);
        found.sort();
        assert_eq!(found, ["gemini-value", "google-value"]);
    }

    #[test]
    fn variables_of_endpoints_count_and_commands_do_not_run() {
        let entry = |key| EndpointEntry {
            name: "work".to_owned(),
            key: Some(key),
            ..EndpointEntry::default()
        };
        let entries = [
            entry(KeyLocation::Variable("WORK_KEY".to_owned())),
            entry(KeyLocation::Command("exit 1".to_owned())),
        ];
        assert_eq!(keys(&entries, &[("WORK_KEY", "sk-12345")]), ["sk-12345"]);
    }

    #[test]
    fn words_in_place_of_a_key_are_no_secrets() {
        for word in [
            "EMPTY",
            "ollama",
            "lm-studio",
            "not-needed",
            "gpt4all",
            "sk-no-key-required",
            "123456",
        ] {
            assert!(!is_secret(&SecretString::from(word)), "{word}");
        }
        for key in ["sk-12345", "correct-horse-battery", "4f9a2c71"] {
            assert!(is_secret(&SecretString::from(key)), "{key}");
        }
    }

    #[test]
    fn words_texts_and_lists_are_read() {
        let read = |value: Value| {
            LocalServers::read(&ConfigValue::new("local_servers", &value))
                .map_err(|error| error.what)
        };
        assert_eq!(read(json!("auto")), Ok(LocalServers::Auto));
        assert_eq!(read(json!("none")), Ok(LocalServers::None));
        assert_eq!(read(json!([])), Ok(LocalServers::None));
        let two = ["127.0.0.1:1234", "http://box:8000"];
        let at_two = LocalServers::At(two.map(ToOwned::to_owned).to_vec());
        assert_eq!(read(json!(two.join(", "))).as_ref(), Ok(&at_two));
        assert_eq!(read(json!(two)), Ok(at_two));
        for wrong in [json!("a b"), json!(true), json!("x,")] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
