//! What the user has decided, in layers: defaults, then `config.json`, then the environment. Flags come last, where commands apply them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::domain::money::MicroUsd;

use super::env::Environment;
use super::keys::{Key, closest};
use super::paths;

/// All settings with their values in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// A consultation whose estimate is below this is not asked about; zero always asks.
    pub always_allow_under: MicroUsd,
    /// Most tokens an answer may take, thinking included.
    pub max_output_tokens: u64,
    pub connect_timeout: Duration,
    /// Between two bytes of an answer.
    pub idle_timeout: Duration,
    /// Threads of the embedded model; its own choice when not set.
    pub local_threads: Option<u32>,
    /// Most tokens of prompt and answer of the embedded model together.
    pub local_context: u64,
    /// The embedded model by name.
    pub local_model: Option<String>,
    /// The experts, one entry a seat, as `--panel` takes them.
    pub panel: Option<Vec<String>>,
    /// The judge, as `--judge` takes it.
    pub judge: Option<String>,
    /// The keys that are not at their default, and where they were set.
    pub origins: BTreeMap<Key, Origin>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            always_allow_under: MicroUsd(500_000),
            max_output_tokens: 16_384,
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(120),
            local_threads: None,
            local_context: 8_192,
            local_model: None,
            panel: None,
            judge: None,
            origins: BTreeMap::new(),
        }
    }
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    File(PathBuf),
    /// An environment variable.
    Variable(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadSettings {
    #[error("cannot read `{}`", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("`{}` is not JSON", path.display())]
    NotJson { path: PathBuf, source: serde_json::Error },
    #[error("`{}` does not hold an object of settings", path.display())]
    NotAnObject { path: PathBuf },
    #[error("unknown setting `{key}` in `{}`{}", path.display(), suggestion.map(|key| format!("; did you mean `{key}`?")).unwrap_or_default())]
    UnknownKey { path: PathBuf, key: String, suggestion: Option<Key> },
    #[error("`{key}` in `{origin}` is `{value}`, and must be {}", key.wants())]
    BadValue { origin: Origin, key: Key, value: String },
    #[error("`{key}` is given twice in `{}`", path.display())]
    Twice { path: PathBuf, key: Key },
}

impl Settings {
    /// The defaults with the user's file laid over them, and the environment over both. A file that is not there sets nothing.
    pub fn load(file: &Path, environment: &Environment) -> Result<Self, BadSettings> {
        let text = paths::read_optional(file).map_err(|source| BadSettings::Unreadable { path: file.to_owned(), source })?;
        let settings = match text {
            Some(text) => Self::default().with_file(file, &text)?,
            None => Self::default(),
        };
        settings.with_environment(environment)
    }

    /// Lays the variables that are set over these.
    pub fn with_environment(mut self, environment: &Environment) -> Result<Self, BadSettings> {
        for key in Key::ALL {
            let Some(text) = environment.text(key.variable()) else { continue };
            let origin = Origin::Variable(key.variable());
            // A variable is text; where a number is wanted, the text must be one.
            let number = text.parse::<serde_json::Number>().ok().map(Value::Number);
            if self.set(key, &Value::String(text.to_owned())).or_else(|| self.set(key, &number?)).is_none() {
                return Err(BadSettings::BadValue { origin, key, value: text.to_owned() });
            }
            self.origins.insert(key, origin);
        }
        Ok(self)
    }

    /// Lays a file's settings over these.
    pub fn with_file(mut self, path: &Path, text: &str) -> Result<Self, BadSettings> {
        let path = path.to_owned();
        let json: Value = match serde_json::from_str(text) {
            Ok(json) => json,
            Err(source) => return Err(BadSettings::NotJson { path, source }),
        };
        let Value::Object(fields) = json else { return Err(BadSettings::NotAnObject { path }) };
        for (name, value) in fields {
            let Some(key) = Key::of(&name) else {
                return Err(BadSettings::UnknownKey { path, suggestion: closest(&name), key: name });
            };
            if self.origins.insert(key, Origin::File(path.clone())).is_some() {
                return Err(BadSettings::Twice { path, key });
            }
            if self.set(key, &value).is_none() {
                return Err(BadSettings::BadValue { origin: Origin::File(path), key, value: value.to_string() });
            }
        }
        Ok(self)
    }

    /// Takes a value; `None` when it is not one for this key.
    fn set(&mut self, key: Key, value: &Value) -> Option<()> {
        let text = || value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(ToOwned::to_owned);
        let count = || value.as_u64().filter(|count| *count > 0);
        let seconds = || Duration::try_from_secs_f64(value.as_f64()?).ok().filter(|time| !time.is_zero());
        match key {
            Key::AlwaysAllowUnder => self.always_allow_under = MicroUsd::from_usd(value.as_f64()?)?,
            Key::MaxOutputTokens => self.max_output_tokens = count()?,
            Key::ConnectTimeoutSeconds => self.connect_timeout = seconds()?,
            Key::IdleTimeoutSeconds => self.idle_timeout = seconds()?,
            Key::LocalThreads => self.local_threads = Some(u32::try_from(count()?).ok()?),
            Key::LocalContext => self.local_context = count()?,
            Key::LocalModel => self.local_model = Some(text()?),
            Key::Judge => self.judge = Some(text()?),
            Key::Panel => self.panel = Some(seats(value)?),
        }
        Some(())
    }
}

/// A panel's entries, from a list or from a text with commas.
fn seats(value: &Value) -> Option<Vec<String>> {
    let entries: Vec<String> = match value {
        Value::String(text) => text.split(',').map(|entry| entry.trim().to_owned()).collect(),
        Value::Array(list) => list.iter().map(|entry| entry.as_str().map(|text| text.trim().to_owned())).collect::<Option<_>>()?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return None,
    };
    (!entries.is_empty() && entries.iter().all(|entry| !entry.is_empty())).then_some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, String> {
        Settings::default().with_file(Path::new("config.json"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn every_key_is_read_and_its_origin_is_kept() {
        let settings = read(
            r#"{"alwaysAllowUnder": 1.25, "max_output_tokens": 9000, "connect_timeout_seconds": 2.5, "idle_timeout_seconds": 60,
                "local_threads": 4, "local_context": 4096, "local_model": "small", "panel": "a, b", "judge": "openai:x"}"#,
        )
        .unwrap();
        assert_eq!(settings.always_allow_under, MicroUsd(1_250_000));
        assert_eq!((settings.connect_timeout, settings.idle_timeout), (Duration::from_millis(2_500), Duration::from_secs(60)));
        assert_eq!((settings.max_output_tokens, settings.local_threads, settings.local_context), (9_000, Some(4), 4_096));
        assert_eq!(settings.panel.unwrap(), ["a", "b"]);
        assert_eq!((settings.local_model.as_deref(), settings.judge.as_deref()), (Some("small"), Some("openai:x")));
        assert_eq!(settings.origins.len(), Key::ALL.len());
        assert_eq!(settings.origins[&Key::Judge].to_string(), "config.json");
    }

    #[test]
    fn zero_means_zero_and_an_empty_file_of_settings_changes_nothing() {
        assert_eq!(read(r#"{"always_allow_under": 0}"#).unwrap().always_allow_under, MicroUsd::ZERO);
        assert_eq!(read("{}").unwrap(), Settings::default());
        assert_eq!(Settings::load(Path::new("/nowhere/config.json"), &Environment::default()).unwrap(), Settings::default());
    }

    #[test]
    fn what_cannot_be_used_is_named_with_its_file() {
        assert_eq!(
            read(r#"{"always_alow_under": 1}"#).unwrap_err(),
            "unknown setting `always_alow_under` in `config.json`; did you mean `always_allow_under`?"
        );
        assert_eq!(read(r#"{"zzz": 1}"#).unwrap_err(), "unknown setting `zzz` in `config.json`");
        assert_eq!(
            read(r#"{"local_context": "big"}"#).unwrap_err(),
            r#"`local_context` in `config.json` is `"big"`, and must be a whole number above 0"#
        );
        for (key, value) in
            [("always_allow_under", "-1"), ("idle_timeout_seconds", "0"), ("panel", "[1]"), ("panel", "[]"), ("judge", "\"\"")]
        {
            assert!(read(&format!(r#"{{"{key}": {value}}}"#)).unwrap_err().contains("must be"), "{key} {value}");
        }
        assert_eq!(
            read(r#"{"always_allow_under": 1, "alwaysAllowUnder": 2}"#).unwrap_err(),
            "`always_allow_under` is given twice in `config.json`"
        );
        assert_eq!(read("[]").unwrap_err(), "`config.json` does not hold an object of settings");
        assert_eq!(read("{").unwrap_err(), "`config.json` is not JSON");
    }

    #[test]
    fn the_environment_outweighs_the_file() {
        let environment = |value| Environment::of([("CONCLAVE_ALWAYS_ALLOW_UNDER", value), ("CONCLAVE_PANEL", "a,b")]);
        let settings = read(r#"{"always_allow_under": 1, "judge": "x"}"#).unwrap().with_environment(&environment("0.1")).unwrap();
        assert_eq!((settings.always_allow_under, settings.judge.as_deref()), (MicroUsd(100_000), Some("x")));
        assert_eq!(settings.panel.unwrap(), ["a", "b"]);
        assert_eq!(settings.origins[&Key::AlwaysAllowUnder].to_string(), "CONCLAVE_ALWAYS_ALLOW_UNDER");
        assert_eq!(
            Settings::default().with_environment(&environment("much")).unwrap_err().to_string(),
            "`always_allow_under` in `CONCLAVE_ALWAYS_ALLOW_UNDER` is `much`, and must be an amount of dollars such as 0.50"
        );
    }
}
