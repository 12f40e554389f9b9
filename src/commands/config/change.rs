//! Changes to the settings' file: checked by the code that will read it before it is written, and written whole or not at all.

use serde_json::{Map, Value};

use crate::config::edit::{self, NotEdited, Step};
use crate::config::env::Environment;
use crate::config::keys::Key;
use crate::config::paths::{Home, read_optional};
use crate::config::settings::{BadSettings, Settings};
use crate::error::Error;
use crate::records::files::{Access, create_private_dir, write_atomically};
use crate::terminal::printer::Printer;

use super::place::Place;

/// Writes a value, as JSON where it is that and fits, else as a text.
pub(super) fn set(name: &str, value: &str, home: &Home, environment: &Environment, printer: &Printer) -> Result<(), Error> {
    let file = SettingsFile::read(home)?;
    let place = Place::find(name, &|key| file.now(key))?;
    let json = serde_json::from_str::<Value>(value).ok();
    if json == Some(Value::Null) && place.key != Key::Parameters {
        return Err(Error::usage("`null` is no value").hint(format!("to take it out: conclave config unset {name}")));
    }
    let text = Value::from(value);
    let changed = match json {
        None => file.with(&place, &text),
        Some(json) => file.with(&place, &json).or_else(|refused| file.with(&place, &text).map_err(|_| refused)),
    };
    file.write(&changed?)?;
    printer.note(&format!("`{}` is set in {}", name.trim(), file.home.config_file().display()));
    warn_of_variable(place.key, environment, printer);
    Ok(())
}

/// Takes a value out, also one that no setting has a name for.
pub(super) fn unset(name: &str, home: &Home, environment: &Environment, printer: &Printer) -> Result<(), Error> {
    let file = SettingsFile::read(home)?;
    let (steps, key) = match Place::find(name, &|key| file.now(key)) {
        Ok(place) => (place.steps(), Some(place.key)),
        Err(_) if file.has(name) => (vec![Step::Exact(name.to_owned())], None),
        Err(unknown) => return Err(unknown),
    };
    match edit::remove(&file.text, &steps).map_err(|error| file.unedited(error, name))? {
        None => printer.note(&format!("`{name}` is not set in {}", home.config_file().display())),
        Some(text) => {
            file.check(&text)?;
            file.write(&text)?;
            printer.note(&format!("`{name}` is no longer set in {}", home.config_file().display()));
        }
    }
    if let Some(key) = key {
        warn_of_variable(key, environment, printer);
    }
    Ok(())
}

fn warn_of_variable(key: Key, environment: &Environment, printer: &Printer) {
    if environment.text(key.variable()).is_some() {
        printer.warning(&format!("{} is set in the environment and outweighs the file", key.variable()));
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
        let text = read_optional(&path).map_err(|source| Error::usage(BadSettings::Unreadable { path: path.clone(), source }))?;
        let text = text.unwrap_or_else(|| "{}\n".to_owned());
        let untouched = |bad| Error::usage(bad).hint("mend or remove it; nothing was written");
        match serde_json::from_str(&text) {
            Ok(object @ Value::Object(_)) => Ok(Self { home, text, object }),
            Ok(_) => Err(untouched(BadSettings::NotAnObject { path })),
            Err(source) => Err(untouched(BadSettings::NotJson { path, source })),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.object.get(name).is_some()
    }

    /// What the file says of a setting, right or wrong.
    fn now(&self, key: Key) -> Value {
        let said = self.object.as_object().into_iter().flatten().find(|(name, _)| Key::of(name) == Some(key));
        said.map_or(Value::Null, |(_, value)| value.clone())
    }

    /// The text with a value in its place, checked.
    fn with(&self, place: &Place, value: &Value) -> Result<String, Error> {
        let (place, value) = self.with_room(place, value);
        let text = edit::set(&self.text, &place.steps(), &value).map_err(|error| self.unedited(error, place.key.name()))?;
        self.check(&text)?;
        Ok(text)
    }

    /// A panel that is written as its seats alone becomes an object when it gets a judge.
    fn with_room(&self, place: &Place, value: &Value) -> (Place, Value) {
        if let (Key::Panels, Some((name, field))) = (place.key, place.entry_and_field())
            && let Some(seats) = self.now(Key::Panels).get(name).filter(|panel| !panel.is_object())
        {
            let mut panel = Map::from_iter([("seats".to_owned(), seats.clone())]);
            panel.insert(field.to_owned(), value.clone());
            return (place.entry(name), Value::Object(panel));
        }
        (place.clone(), value.clone())
    }

    fn check(&self, text: &str) -> Result<(), Error> {
        let checked = Settings::default().with_file(&self.home.config_file(), text);
        checked.map(drop).map_err(|bad| Error::usage(bad).hint("nothing was written"))
    }

    fn unedited(&self, error: NotEdited, name: &str) -> Error {
        let path = self.home.config_file();
        match error {
            NotEdited::NotJson(source) => Error::usage(BadSettings::NotJson { path, source }),
            NotEdited::NoParts(_) => {
                Error::usage(format!("`{name}` is not written as an object in `{}`", path.display())).hint("set it as a whole")
            }
        }
    }

    fn write(&self, text: &str) -> Result<(), Error> {
        create_private_dir(self.home.path()).map_err(Error::failed)?;
        write_atomically(&self.home.config_file(), text.as_bytes(), Access::Private).map_err(Error::failed)
    }
}
