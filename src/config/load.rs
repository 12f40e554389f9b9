//! The layers of settings: defaults, then `config.json`, then the environment. Flags come last,
//! where commands apply them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::files::SizeLimit;

use super::edit;
use super::endpoints::KeyLocation;
use super::env::Environment;
use super::key_detection::{holds_key, is_key_name};
use super::paths::{self, ExposedPath};
use super::setting::{self, Parts, Read, SETTINGS, Setting};
use super::settings::{SettingOrigin, Settings};
use super::value::{ConfigValue, NO_KEYS_HERE, ValueError};
use crate::domain::names::did_you_mean;

/// The reason why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("cannot read `{}`", path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("`{}` is not JSON", path.display())]
    NotJson {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error("`{}` is not a JSON object", path.display())]
    NotAnObject { path: PathBuf },
    #[error(
        "unknown setting `{name}` in `{}`{}",
        path.display(),
        did_you_mean(name, setting::names())
    )]
    UnknownName { path: PathBuf, name: String },
    #[error("`{setting}`{} is `{value}`, but must be {}", origin.place(), setting.expects)]
    BadValue {
        origin: SettingOrigin,
        setting: &'static Setting,
        value: String,
    },
    #[error("`{setting}` is set twice in `{}`", path.display())]
    Twice {
        path: PathBuf,
        setting: &'static Setting,
    },
    #[error("`{variable}` is not JSON, but must be {}", setting.expects)]
    VariableNotJson {
        variable: String,
        setting: &'static Setting,
        source: serde_json::Error,
    },
    #[error("{0}, so its `api_key_cmd` is not run")]
    Untrusted(ExposedPath),
    #[error("`{}`{} {}", error.at, origin.place(), error.what)]
    Part {
        origin: SettingOrigin,
        error: ValueError,
    },
}

impl SettingsError {
    /// Returns the fix, for people.
    pub fn remedy(&self) -> String {
        match self {
            Self::Unreadable { path, .. } => format!(
                "make `{}` a readable text file, or set `CONCLAVE_HOME` to another folder",
                path.display()
            ),
            Self::Untrusted(exposed) => exposed.remedy(),
            Self::NotJson { .. } | Self::NotAnObject { .. } | Self::Twice { .. } => {
                "fix or remove it".to_owned()
            }
            Self::UnknownName { name, .. } => {
                format!("remove it with `conclave config unset '{name}'`")
            }
            Self::BadValue {
                origin: SettingOrigin::File(_),
                setting,
                ..
            } => format!(
                "change it with `conclave config set {setting} VALUE`, or remove it with \
                 `conclave config unset {setting}`"
            ),
            Self::BadValue {
                origin: SettingOrigin::Variable(variable),
                ..
            }
            | Self::Part {
                origin: SettingOrigin::Variable(variable),
                ..
            }
            | Self::VariableNotJson { variable, .. } => format!("change or unset {variable}"),
            Self::Part {
                origin: SettingOrigin::File(_),
                ..
            } => "fix or remove it there".to_owned(),
            Self::BadValue {
                origin: SettingOrigin::CommandLine,
                ..
            }
            | Self::Part {
                origin: SettingOrigin::CommandLine,
                ..
            } => "give another value".to_owned(),
        }
    }
}

impl Settings {
    /// Returns the defaults with the user's file laid over them, and the environment over both. A
    /// missing file sets nothing.
    pub fn load(file: &Path, environment: &Environment) -> Result<Self, SettingsError> {
        let text = paths::read_optional(file, SizeLimit::SETTINGS).map_err(|source| {
            SettingsError::Unreadable {
                path: file.to_owned(),
                source,
            }
        })?;
        let settings = match text {
            Some(text) => {
                let settings = Self::default().with_file(file, &text)?;
                settings.check_commands(file)?;
                settings
            }
            None => Self::default(),
        };
        settings.with_environment(environment)
    }

    /// Checks a value that is to be set, before it is anywhere.
    pub fn check_new(setting: &'static Setting, value: &Value) -> Result<(), SettingsError> {
        Self::default().set(setting, value, &SettingOrigin::CommandLine)
    }

    /// Refuses commands from a file that others can change: they would run with the user's rights.
    fn check_commands(&self, file: &Path) -> Result<(), SettingsError> {
        let has_command = self
            .endpoints
            .iter()
            .any(|entry| matches!(entry.key, Some(KeyLocation::Command(_))));
        match has_command.then(|| paths::changeable_by_others(file)) {
            Some(Some(exposed)) => Err(SettingsError::Untrusted(exposed)),
            Some(None) | None => Ok(()),
        }
    }

    /// Lays the variables that are set over these.
    pub fn with_environment(mut self, environment: &Environment) -> Result<Self, SettingsError> {
        for setting in &SETTINGS {
            let variable = setting.variable();
            let Some(text) = environment.text(&variable) else {
                continue;
            };
            let origin = SettingOrigin::Variable(variable.clone());
            if setting.parts == Parts::None {
                // A variable is text; where a number is expected, the text must be one.
                let number = text.parse().ok().map(Value::Number);
                match (self.set(setting, &Value::from(text), &origin), number) {
                    (Err(_), Some(number)) => self.set(setting, &number, &origin)?,
                    (set, _) => set?,
                }
            } else {
                let value = serde_json::from_str(text).map_err(|source| {
                    SettingsError::VariableNotJson {
                        variable,
                        setting,
                        source,
                    }
                })?;
                self.set(setting, &value, &origin)?;
            }
            self.origins.insert(setting.name, origin);
        }
        Ok(self)
    }

    /// Lays a file's settings over these.
    pub fn with_file(mut self, path: &Path, text: &str) -> Result<Self, SettingsError> {
        let path = path.to_owned();
        let fields = match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => return Err(SettingsError::NotAnObject { path }),
            Err(source) => return Err(SettingsError::NotJson { path, source }),
        };
        let origin = SettingOrigin::File(path.clone());
        let refused = |at: &str, what: &str| SettingsError::Part {
            origin: origin.clone(),
            error: ValueError::new(at, what),
        };
        if let Some(at) = edit::repeated(text) {
            return Err(refused(&at, "is set twice"));
        }
        for (name, value) in fields {
            let Some(setting) = setting::find(&name) else {
                if is_key_name(&name) || holds_key(&name) {
                    return Err(refused(&name, NO_KEYS_HERE));
                }
                return Err(SettingsError::UnknownName { path, name });
            };
            if self.origins.insert(setting.name, origin.clone()).is_some() {
                return Err(SettingsError::Twice { path, setting });
            }
            self.set(setting, &value, &origin)?;
        }
        Ok(self)
    }

    fn set(
        &mut self,
        setting: &'static Setting,
        value: &Value,
        origin: &SettingOrigin,
    ) -> Result<(), SettingsError> {
        match setting.read {
            Read::Plain(read) => read(self, value).ok_or_else(|| SettingsError::BadValue {
                origin: origin.clone(),
                setting,
                value: shown(value, origin),
            }),
            Read::WithPlaces(read) => {
                let origin = origin.clone();
                read(self, &ConfigValue::new(setting.name, value))
                    .map_err(|error| SettingsError::Part { origin, error })
            }
        }
    }
}

/// Returns a wrong value for a message: a long one is cut, and a key is left out. The text of a
/// variable or an argument has no quotation marks.
fn shown(value: &Value, origin: &SettingOrigin) -> String {
    const MOST_CHARACTERS: usize = 80;
    let text = match (value, origin) {
        (Value::String(text), SettingOrigin::Variable(_) | SettingOrigin::CommandLine) => {
            text.clone()
        }
        (value, _) => value.to_string(),
    };
    match text.char_indices().nth(MOST_CHARACTERS) {
        _ if holds_key(&text) => "…".to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests;
