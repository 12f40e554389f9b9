//! The layers of settings: defaults, then `config.json`, then the file of a repository, then the
//! environment. Flags come last, where commands apply them.
//!
//! The author of a repository controls its file: each row of the settings says whether it may be
//! set there, and how far.

use std::error::Error;
use std::io;
use std::path::Path;

use serde_json::{Map, Value};

use crate::files::{SizeLimit, resolved};

use super::endpoints::KeyLocation;
use super::env::Environment;
use super::keys::detection::{holds_key, is_key_name};
use super::repository::RepositoryFile;
use super::setting::{self, Parts, ReadError, SETTINGS, Setting};
use super::settings::{Repository, SettingOrigin, Settings};
use super::value::{NO_KEYS_HERE, ValueError};
use super::{edit, paths};
use crate::domain::names::did_you_mean;
use crate::text::node::{Node, toml};

/// The reason why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct SettingsError {
    what: String,
    /// The fix, for people.
    pub remedy: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl SettingsError {
    fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            remedy: remedy.into(),
            source: None,
        }
    }

    fn caused_by(self, source: impl Error + Send + Sync + 'static) -> Self {
        Self {
            source: Some(source.into()),
            ..self
        }
    }

    pub fn unreadable(path: &Path, source: io::Error) -> Self {
        let path = path.display();
        let remedy =
            format!("make `{path}` a readable text file, or set `CONCLAVE_HOME` to another folder");
        Self::new(format!("cannot read `{path}`"), remedy).caused_by(source)
    }

    fn form(origin: &SettingOrigin, setting: &Setting, value: &Value) -> Self {
        let remedy = match origin {
            SettingOrigin::File(_) => format!(
                "change it with `conclave config set {setting} VALUE`, or remove it with \
                 `conclave config unset {setting}`"
            ),
            origin => remedy(origin),
        };
        let (place, value) = (origin.place(), shown(value, origin));
        let expects = setting.expects;
        Self::new(
            format!("`{setting}`{place} is `{value}`, but must be {expects}"),
            remedy,
        )
    }

    fn part(origin: &SettingOrigin, error: &ValueError) -> Self {
        let ValueError { at, what } = error;
        Self::new(format!("`{at}`{} {what}", origin.place()), remedy(origin))
    }
}

fn remedy(origin: &SettingOrigin) -> String {
    match origin {
        SettingOrigin::File(_) | SettingOrigin::Repository(..) => {
            "fix or remove it there".to_owned()
        }
        SettingOrigin::Variable(variable) => format!("change or unset {variable}"),
        SettingOrigin::CommandLine => "give another value".to_owned(),
    }
}

const REMEDY: &str = "fix or remove it";

pub fn parse_object(path: &Path, text: &str) -> Result<Map<String, Value>, SettingsError> {
    let path = path.display();
    match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(SettingsError::new(
            format!("`{path}` is not a JSON object"),
            REMEDY,
        )),
        Err(source) => {
            Err(SettingsError::new(format!("`{path}` is not JSON"), REMEDY).caused_by(source))
        }
    }
}

impl Settings {
    /// A missing file sets nothing.
    pub fn load(
        file: &Path,
        repository: Option<RepositoryFile>,
        environment: &Environment,
    ) -> Result<Self, SettingsError> {
        let text = paths::read_optional(file, SizeLimit::SETTINGS)
            .map_err(|source| SettingsError::unreadable(file, source))?;
        let settings = match text {
            Some(text) => {
                let settings = Self::default().with_file(file, &text)?;
                settings.check_commands(file)?;
                settings
            }
            None => Self::default(),
        };
        let Some(file) = repository else {
            return settings.with_environment(environment);
        };
        let laid_over = settings.clone().with_repository(&file)?;
        let own = Box::new(settings.with_environment(environment)?);
        Ok(Self {
            repository: Some(Repository { file, own }),
            ..laid_over.with_environment(environment)?
        })
    }

    pub fn check_new(setting: &Setting, value: &Value) -> Result<(), SettingsError> {
        Self::default().set(setting, value, &|_| SettingOrigin::CommandLine)
    }

    /// The commands would run with the user's rights.
    fn check_commands(&self, file: &Path) -> Result<(), SettingsError> {
        let has_command = self
            .endpoints
            .iter()
            .any(|entry| matches!(entry.key, Some(KeyLocation::Command(_))));
        let exposed = has_command.then(|| paths::changeable_by_others(file));
        match exposed.flatten() {
            Some([who, remedy]) => {
                let what = format!("{who}, so its `api_key_cmd` is not run");
                Err(SettingsError::new(what, remedy))
            }
            None => Ok(()),
        }
    }

    pub fn with_environment(mut self, environment: &Environment) -> Result<Self, SettingsError> {
        for setting in SETTINGS.iter() {
            let variable = setting.variable();
            let Some(text) = environment.text(&variable) else {
                continue;
            };
            let origin = SettingOrigin::Variable(variable.clone());
            let here = |_: &str| origin.clone();
            if setting.parts == Parts::None {
                // A variable is text; where a number is expected, the text must be one.
                let number = text.parse().ok().map(Value::Number);
                match (self.set(setting, &Value::from(text), &here), number) {
                    (Err(_), Some(number)) => self.set(setting, &number, &here)?,
                    (set, _) => set?,
                }
            } else {
                let value = serde_json::from_str(text).map_err(|source| {
                    let expects = setting.expects;
                    let what = format!("`{variable}` is not JSON, but must be {expects}");
                    SettingsError::new(what, remedy(&origin)).caused_by(source)
                })?;
                self.set(setting, &value, &here)?;
            }
            self.origins.insert(setting.name, origin);
        }
        Ok(self)
    }

    pub fn with_file(self, path: &Path, text: &str) -> Result<Self, SettingsError> {
        let fields = parse_object(path, text)?;
        let origin = SettingOrigin::File(path.to_owned());
        if let Some(at) = edit::repeated(text) {
            let error = ValueError::new(&at, "is set twice");
            return Err(SettingsError::part(&origin, &error));
        }
        self.with_fields(fields, &|_| origin.clone())
    }

    fn with_repository(self, file: &RepositoryFile) -> Result<Self, SettingsError> {
        let path = &file.path;
        let text = resolved::within(&file.root, path)
            .and_then(|path| resolved::read_text(&path, SizeLimit::SETTINGS));
        let text = text.map_err(|source| {
            let what = format!("cannot read `{}`", path.display());
            SettingsError::new(what, REMEDY).caused_by(source)
        })?;
        let wrong = |line, problem: &str| {
            let what = format!("`{}`, line {line}: {problem}", path.display());
            SettingsError::new(what, REMEDY)
        };
        let lines = toml::parse(&text).map_err(|error| wrong(error.line, &error.problem))?;
        let fields = ::toml::from_str(&text).map_err(|error| wrong(1, error.message()))?;
        let origin = |at: &str| SettingOrigin::Repository(path.clone(), line_of(&lines, at));
        self.with_fields(fields, &origin)
    }

    /// `origin` is given the place of a value.
    fn with_fields(
        mut self,
        fields: Map<String, Value>,
        origin: &dyn Fn(&str) -> SettingOrigin,
    ) -> Result<Self, SettingsError> {
        for (name, mut value) in fields {
            let here = origin(&name);
            let refused = |what: &str| SettingsError::part(&here, &ValueError::new(&name, what));
            let Some(setting) = setting::find(&name) else {
                if is_key_name(&name) || holds_key(&name) {
                    return Err(refused(NO_KEYS_HERE));
                }
                let meant = did_you_mean(&name, setting::names());
                let place = here.place();
                let place = place.trim_end_matches(',');
                let what = format!("unknown setting `{name}`{place}{meant}");
                let remedy = match here {
                    SettingOrigin::File(_) => {
                        format!("remove it with `conclave config unset '{name}'`")
                    }
                    _ => remedy(&here),
                };
                return Err(SettingsError::new(what, remedy));
            };
            if let SettingOrigin::Repository(..) = here {
                let Some(laid_over) = setting.of_repository else {
                    let names = setting::of_repositories();
                    return Err(refused(&format!(
                        "is yours to set: a repository can set {names}"
                    )));
                };
                let own = setting.value(&self);
                value = laid_over
                    .value(&own, value)
                    .map_err(|error| SettingsError::part(&origin(&error.at), &error))?;
                if value == own {
                    continue;
                }
            }
            self.set(setting, &value, origin)?;
            if self.origins.insert(setting.name, here.clone()) == Some(here.clone()) {
                return Err(refused("is set twice"));
            }
        }
        Ok(self)
    }

    fn set(
        &mut self,
        setting: &Setting,
        value: &Value,
        origin: &dyn Fn(&str) -> SettingOrigin,
    ) -> Result<(), SettingsError> {
        setting.read(self, value).map_err(|error| match error {
            ReadError::Form => SettingsError::form(&origin(setting.name), setting, value),
            ReadError::Part(error) => SettingsError::part(&origin(&error.at), &error),
        })
    }
}

/// Returns the line of a part such as `personas.x.prompt`, or of what it is in.
fn line_of(root: &Node, at: &str) -> usize {
    let mut node = root;
    let mut names = at.split('.');
    while let Some(part) = names.next().and_then(|name| node.as_map()?.get(name)) {
        node = part;
    }
    node.line
}

/// A long one is cut, and a key is left out. The text of a variable or an argument has no quotation
/// marks.
fn shown(value: &Value, origin: &SettingOrigin) -> String {
    const MAX_CHARACTERS: usize = 80;
    let text = match (value, origin) {
        (Value::String(text), SettingOrigin::Variable(_) | SettingOrigin::CommandLine) => {
            text.clone()
        }
        (value, _) => value.to_string(),
    };
    match text.char_indices().nth(MAX_CHARACTERS) {
        _ if holds_key(&text) => "…".to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests;
