//! Edits of the settings file: checked by the code that reads settings, and written whole or not at
//! all.

use std::process::Command;

use serde_json::{Map, Value, json};

use crate::commands::App;
use crate::config::edit as json_edit;
use crate::config::env::Environment;
use crate::config::keys::detection::{hide_keys, holds_key};
use crate::config::load::parse_object;
use crate::config::paths::Home;
use crate::config::setting::{ALWAYS_ALLOW_UNDER, Parts, Setting};
use crate::config::settings::Settings;
use crate::domain::cost::money::MicroUsd;
use crate::domain::names::snake_case;
use crate::error::{Error, whole};
use crate::setup::panel::spec::PersonaChoice;
use crate::setup::personas::{self, PersonaRegistry};
use crate::setup::settings::{self, load_own, unusable};
use crate::terminal::output::printer::Printer;
use crate::text::clean::one_line;

use super::setting_path::{SettingPath, no_keys_here};

/// As JSON if it is valid JSON of the right type, else as text.
pub(super) fn set(name: &str, value: &str, home: &Home, app: App<'_>) -> Result<(), Error> {
    let key = write(name, value, home)?;
    app.printer.note(&format!(
        "`{}` is set in {}",
        name.trim(),
        home.config_file().display()
    ));
    warn_of_variable(key, app.environment, app.printer);
    Ok(())
}

/// Without a message.
pub(in crate::commands) fn write(
    name: &str,
    value: &str,
    home: &Home,
) -> Result<&'static Setting, Error> {
    let (_, setting) = change(home, |file| {
        let path = SettingPath::parse(name, &|key| file.current(key))?;
        if holds_key(value) {
            return Err(no_keys_here(name.trim()));
        }
        let json = serde_json::from_str::<Value>(value).ok();
        if json == Some(Value::Null) && path.setting.parts != Parts::BodyFields {
            return Err(Error::usage("`null` is not a value")
                .hint(format!("remove it with `conclave config unset {name}`")));
        }
        let text = Value::from(value);
        let changed = match json {
            None => file.with(&path, &text),
            // Lists and objects are never meant as text.
            Some(json @ (Value::Array(_) | Value::Object(_))) => file.with(&path, &json),
            Some(json) => file
                .with(&path, &json)
                .or_else(|refused| file.with(&path, &text).map_err(|_| refused)),
        };
        Ok((Some(changed?), path.setting))
    })?;
    Ok(setting)
}

/// In the user's editor. A missing file is created.
pub(super) fn open(home: &Home, app: App<'_>) -> Result<(), Error> {
    let mut editors = ["VISUAL", "EDITOR"].into_iter();
    let editor = editors.find_map(|name| app.environment.text(name));
    let editor = editor.ok_or_else(|| {
        Error::usage("neither `VISUAL` nor `EDITOR` names an editor")
            .hint("name one, as in `EDITOR=nano conclave config edit`")
    })?;
    let file = home.config_file();
    if !file.exists() {
        change(home, |file| Ok((Some(file.text.clone()), ())))?;
    }
    let line = format!("{editor} \"$1\"");
    let mut shell = Command::new("/bin/sh");
    let status = shell.args(["-c", &line, "sh"]).arg(&file).status();
    if !status.map_err(Error::failed)?.success() {
        return Err(Error::failed(format!("`{editor}` failed")));
    }
    let settings = load_own(home, app.environment)?;
    PersonaRegistry::new(&personas::templates(home)?, &settings)?;
    app.printer.note(&format!("{} can be used", file.display()));
    Ok(())
}

/// Even one under an unknown name.
pub(super) fn unset(name: &str, home: &Home, app: App<'_>) -> Result<(), Error> {
    let (written, (key, remaining)) = remove(name, home)?;
    let word = if written { "no longer" } else { "not" };
    app.printer.note(&format!(
        "`{}` is {word} set in {}",
        hide_keys(name),
        home.config_file().display()
    ));
    if let Some(remaining) = remaining {
        app.printer.warning(&format!(
            "the settings cannot be used yet: {}",
            one_line(&remaining)
        ));
    }
    if let Some(key) = key {
        warn_of_variable(key, app.environment, app.printer);
    }
    Ok(())
}

/// The setting of a removed value, and what keeps the file from being used.
type Removal = (Option<&'static Setting>, Option<String>);

/// Returns whether there was one.
pub(in crate::commands) fn remove(name: &str, home: &Home) -> Result<(bool, Removal), Error> {
    change(home, |file| {
        let (steps, key) = match SettingPath::parse(name, &|key| file.current(key)) {
            Ok(path) => (path.steps(), Some(path.setting)),
            Err(_) if file.object.contains_key(name) => (vec![name.to_owned()], None),
            Err(unknown) => return Err(unknown),
        };
        let Some(text) = file.without(&steps) else {
            return Ok((None, (key, None)));
        };
        match file.check(&text) {
            Ok(_) => Ok((Some(text), (key, None))),
            // An unusable file can be repaired one removal at a time.
            Err(remaining) if file.check(&file.text).is_err() => {
                Ok((Some(text), (key, Some(remaining.to_string()))))
            }
            Err(broken) => Err(broken),
        }
    })
}

/// An edit without a new text writes nothing. Returns whether the file was written, and the result
/// of the edit.
fn change<T>(
    home: &Home,
    change: impl Fn(&SettingsFile<'_>) -> Result<(Option<String>, T), Error>,
) -> Result<(bool, T), Error> {
    settings::edit(home, |text| change(&SettingsFile::of(home, text)?))
}

pub(in crate::commands) fn warn_of_variable(
    setting: &Setting,
    environment: &Environment,
    printer: &Printer,
) {
    let variable = setting.variable();
    if environment.text(&variable).is_some() {
        printer.warning(&format!(
            "{variable} is set in the environment and overrides the file"
        ));
    }
}

/// The current settings file.
struct SettingsFile<'a> {
    home: &'a Home,
    text: String,
    object: Map<String, Value>,
}

impl<'a> SettingsFile<'a> {
    fn of(home: &'a Home, text: String) -> Result<Self, Error> {
        let object = parse_object(&home.config_file(), &text).map_err(|error| {
            Error::usage(error).hint("fix or remove the file; nothing was written")
        })?;
        Ok(Self { home, text, object })
    }

    /// `None` if there is none.
    fn without(&self, steps: &[String]) -> Option<String> {
        let first = json_edit::remove(&self.text, steps);
        std::iter::successors(first, |text| json_edit::remove(text, steps)).last()
    }

    /// Valid or not.
    fn current(&self, setting: &Setting) -> Value {
        value_in(&self.object, setting)
    }

    fn with(&self, path: &SettingPath, value: &Value) -> Result<String, Error> {
        let (path, value) = self.expand_entry(path, value);
        let text = json_edit::set(&self.text, &path.steps(), &value).ok_or_else(|| {
            let (name, file) = (path.setting.name, self.home.config_file());
            let file = file.display();
            Error::usage(format!("`{name}` is not written as an object in `{file}`"))
                .hint("set it as a whole")
        })?;
        // The new value is checked alone, so that an error does not blame the file. A part of a
        // setting can only be checked within it, where the file itself may be wrong.
        if path.setting.parts == Parts::None || self.check(&self.text).is_ok() {
            let object = serde_json::from_str(&text).unwrap_or_default();
            Settings::check_new(path.setting, &value_in(&object, path.setting))
                .map_err(unusable)?;
        }
        let settings = self.check(&text)?;
        if matches!(
            path.setting.name,
            "personas" | "persona_sets" | "default_personas"
        ) {
            // Every named persona exists, in the settings or in the files of the home.
            let checked = PersonaRegistry::new(&personas::templates(self.home)?, &settings)
                .and_then(|registry| PersonaChoice::new(None, &settings, &registry));
            checked?;
        }
        Ok(text)
    }

    /// A panel that is only its seats, or a persona that is only its prompt.
    fn expand_entry(&self, path: &SettingPath, value: &Value) -> (SettingPath, Value) {
        if let Parts::Entries {
            short: Some(short), ..
        } = path.setting.parts
            && let [name, field] = path.parts.as_slice()
            && let Some(alone) = self.current(path.setting).get(name)
            && !alone.is_object()
        {
            let entry = SettingPath {
                setting: path.setting,
                parts: vec![name.clone()],
            };
            return (entry, json!({short: alone, field: value}));
        }
        (path.clone(), value.clone())
    }

    fn check(&self, text: &str) -> Result<Settings, Error> {
        Settings::default()
            .with_file(&self.home.config_file(), text)
            .map_err(unusable)
    }
}

fn value_in(object: &Map<String, Value>, setting: &Setting) -> Value {
    let mut fields = object.iter();
    fields
        .find(|(name, _)| snake_case(name) == setting.name)
        .map_or(Value::Null, |(_, value)| value.clone())
}

/// Returns the path of the file, or why it could not be written.
pub(crate) fn save_threshold(
    amount: MicroUsd,
    home: &Home,
    app: App<'_>,
) -> Result<String, String> {
    let setting = write(ALWAYS_ALLOW_UNDER, &amount.usd().to_string(), home)
        .map_err(|error| whole(error.source()))?;
    warn_of_variable(setting, app.environment, app.printer);
    Ok(home.config_file().display().to_string())
}
