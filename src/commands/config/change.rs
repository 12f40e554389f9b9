//! Changes to the settings' file: checked by the code that will read it before it is written, and
//! written whole or not at all.

use std::fs::{File, TryLockError};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::commands::personas;
use crate::config::edit::{self, EditError, Step};
use crate::config::env::Environment;
use crate::config::key_detection::holds_key;
use crate::config::load::SettingsError;
use crate::config::paths::{Home, read_optional};
use crate::config::setting::{self, Parts, Setting};
use crate::config::settings::Settings;
use crate::error::Error;
use crate::records::files::{Access, create_private_dir, write_atomically};
use crate::setup::panel::Personas;
use crate::setup::personas::PersonaRegistry;
use crate::terminal::markdown::escape::one_line;
use crate::terminal::output::printer::Printer;

use super::setting_path::{SettingPath, no_keys_here};
use super::unusable;

/// How long another process may take to change the settings, and how often it is looked whether it
/// is done.
const PATIENCE: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_millis(5);

/// Writes a value, as JSON where it is that and fits, else as a text.
pub(super) fn set(
    name: &str,
    value: &str,
    home: &Home,
    environment: &Environment,
    printer: &Printer,
) -> Result<(), Error> {
    let key = write(name, value, home)?;
    printer.note(&format!(
        "`{}` is set in {}",
        name.trim(),
        home.config_file().display()
    ));
    warn_of_variable(key, environment, printer);
    Ok(())
}

/// Writes a value, and says nothing of it.
pub(super) fn write(name: &str, value: &str, home: &Home) -> Result<&'static Setting, Error> {
    let (_, key) = change(home, |file| {
        let place = SettingPath::find(name, &|key| file.now(key))?;
        if holds_key(value) {
            return Err(no_keys_here(name.trim()));
        }
        let json = serde_json::from_str::<Value>(value).ok();
        if json == Some(Value::Null) && place.setting.parts != Parts::BodyFields {
            return Err(Error::usage("`null` is no value")
                .hint(format!("remove it with `conclave config unset {name}`")));
        }
        let text = Value::from(value);
        let changed = match json {
            None => file.with(&place, &text),
            // What looks like a list or an object is meant to be one.
            Some(json @ (Value::Array(_) | Value::Object(_))) => file.with(&place, &json),
            Some(json) => file
                .with(&place, &json)
                .or_else(|refused| file.with(&place, &text).map_err(|_| refused)),
        };
        Ok((Some(changed?), place.setting))
    })?;
    Ok(key)
}

/// Takes a value out, also one that no setting has a name for.
pub(super) fn unset(
    name: &str,
    home: &Home,
    environment: &Environment,
    printer: &Printer,
) -> Result<(), Error> {
    let (written, (key, remaining)) = change(home, |file| {
        let (steps, key) = match SettingPath::find(name, &|key| file.now(key)) {
            Ok(place) => (place.steps(), Some(place.setting)),
            Err(_) if file.has(name) => (vec![Step::Exact(name.to_owned())], None),
            Err(unknown) => return Err(unknown),
        };
        let Some(text) = file
            .without(&steps)
            .map_err(|error| file.unedited(error, name))?
        else {
            return Ok((None, (key, None)));
        };
        match file.check(&text) {
            Ok(()) => Ok((Some(text), (key, None))),
            // One wrong thing after another can be taken out of a file that could not be read
            // before.
            Err(remaining) if file.check(&file.text).is_err() => {
                Ok((Some(text), (key, Some(remaining.to_string()))))
            }
            Err(broken) => Err(broken),
        }
    })?;
    let word = if written { "no longer" } else { "not" };
    printer.note(&format!(
        "`{name}` is {word} set in {}",
        home.config_file().display()
    ));
    if let Some(remaining) = remaining {
        printer.warning(&format!(
            "the settings cannot be used yet: {}",
            one_line(&remaining)
        ));
    }
    if let Some(key) = key {
        warn_of_variable(key, environment, printer);
    }
    Ok(())
}

/// Changes the file, alone: of several that change it at once, each begins with what the one before
/// it has written. An edit without a new text writes nothing. Returns whether something was
/// written, and what the edit says besides.
fn change<T>(
    home: &Home,
    edit: impl Fn(&SettingsFile<'_>) -> Result<(Option<String>, T), Error>,
) -> Result<(bool, T), Error> {
    // Before a folder is made, the change is known to be one that can be.
    if let (None, said) = edit(&SettingsFile::read(home)?)? {
        return Ok((false, said));
    }
    let elsewhere = |error| {
        Error::failed(error).hint("make the home writable, or set CONCLAVE_HOME to another folder")
    };
    create_private_dir(home.path()).map_err(elsewhere)?;
    let _alone = alone(home)?;
    let (text, said) = edit(&SettingsFile::read(home)?)?;
    if let Some(text) = &text {
        write_atomically(&home.config_file(), text.as_bytes(), Access::Private)
            .map_err(elsewhere)?;
    }
    Ok((text.is_some(), said))
}

/// Waits until no other process changes the settings, and keeps others waiting until what is
/// returned is dropped. The home's folder itself is locked, so that nothing is left in it. Where a
/// folder cannot be locked, nobody waits.
fn alone(home: &Home) -> Result<Option<File>, Error> {
    let Ok(folder) = File::open(home.path()) else {
        return Ok(None);
    };
    let mut waited = Duration::ZERO;
    loop {
        match folder.try_lock() {
            Ok(()) => return Ok(Some(folder)),
            Err(TryLockError::Error(_)) => return Ok(None),
            Err(TryLockError::WouldBlock) if waited >= PATIENCE => {
                return Err(Error::failed(
                    "another process has been changing the settings for a while",
                )
                .hint("nothing was written; try again"));
            }
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(STEP);
                waited += STEP;
            }
        }
    }
}

pub(super) fn warn_of_variable(setting: &Setting, environment: &Environment, printer: &Printer) {
    let variable = setting.variable();
    if environment.text(&variable).is_some() {
        printer.warning(&format!(
            "{variable} is set in the environment and outweighs the file"
        ));
    }
}

/// The settings' file as it is now.
struct SettingsFile<'a> {
    home: &'a Home,
    text: String,
    object: Value,
}

impl<'a> SettingsFile<'a> {
    /// Reads it; one that is not there is one without settings.
    fn read(home: &'a Home) -> Result<Self, Error> {
        let path = home.config_file();
        let text = read_optional(&path).map_err(|source| {
            unusable(SettingsError::Unreadable {
                path: path.clone(),
                source,
            })
        })?;
        let text = text.unwrap_or_else(|| "{}\n".to_owned());
        let untouched = |bad| Error::usage(bad).hint("fix or remove it; nothing was written");
        match serde_json::from_str(&text) {
            Ok(object @ Value::Object(_)) => Ok(Self { home, text, object }),
            Ok(_) => Err(untouched(SettingsError::NotAnObject { path })),
            Err(source) => Err(untouched(SettingsError::NotJson { path, source })),
        }
    }

    /// The text without what is at the end of these steps, however often it is there; `None` when
    /// it is not.
    fn without(&self, steps: &[Step]) -> Result<Option<String>, EditError> {
        let mut removed = None;
        while let Some(text) = edit::remove(removed.as_deref().unwrap_or(&self.text), steps)? {
            removed = Some(text);
        }
        Ok(removed)
    }

    fn has(&self, name: &str) -> bool {
        self.object.get(name).is_some()
    }

    /// What the file says of a setting, right or wrong.
    fn now(&self, setting: &Setting) -> Value {
        let said = self
            .object
            .as_object()
            .into_iter()
            .flatten()
            .find(|(name, _)| setting::find(name) == Some(setting));
        said.map_or(Value::Null, |(_, value)| value.clone())
    }

    /// The text with a value in its place, checked.
    fn with(&self, place: &SettingPath, value: &Value) -> Result<String, Error> {
        let (place, value) = self.with_room(place, value);
        let text = edit::set(&self.text, &place.steps(), &value)
            .map_err(|error| self.unedited(error, place.setting.name))?;
        self.check(&text)?;
        if matches!(
            place.setting.name,
            "personas" | "persona_sets" | "default_personas"
        ) {
            self.check_personas(&text)?;
        }
        Ok(text)
    }

    /// A panel that is written as its seats alone becomes an object when it gets a judge, and so
    /// does a persona that is its prompt alone.
    fn with_room(&self, place: &SettingPath, value: &Value) -> (SettingPath, Value) {
        if let Parts::Entries {
            short: Some(short), ..
        } = place.setting.parts
            && let Some((name, field)) = place.entry_and_field()
            && let Some(alone) = self
                .now(place.setting)
                .get(name)
                .filter(|entry| !entry.is_object())
        {
            let mut entry = Map::from_iter([(short.to_owned(), alone.clone())]);
            entry.insert(field.to_owned(), value.clone());
            return (place.entry(name), Value::Object(entry));
        }
        (place.clone(), value.clone())
    }

    fn check(&self, text: &str) -> Result<(), Error> {
        let checked = Settings::default().with_file(&self.home.config_file(), text);
        checked
            .map(drop)
            .map_err(|bad| Error::usage(bad).hint("nothing was written"))
    }

    /// Who is named must be somebody: that takes the files of the home too.
    fn check_personas(&self, text: &str) -> Result<(), Error> {
        let settings = Settings::default()
            .with_file(&self.home.config_file(), text)
            .map_err(Error::usage)?;
        let checked = PersonaRegistry::of(&personas::templates(self.home)?, &settings)
            .and_then(|catalogue| Personas::of(None, &settings, &catalogue).map(drop));
        checked.map_err(|error| error.hint("nothing was written"))
    }

    fn unedited(&self, error: EditError, name: &str) -> Error {
        let path = self.home.config_file();
        match error {
            EditError::NotJson(source) => Error::usage(SettingsError::NotJson { path, source }),
            EditError::NotParsed(source) => Error::usage(source),
            EditError::NoParts(_) => Error::usage(format!(
                "`{name}` is not written as an object in `{}`",
                path.display()
            ))
            .hint("set it as a whole"),
        }
    }
}
