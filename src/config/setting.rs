//! The settings, one row each in `table`: name, values, how it is read and written, help.
//! Everything else that lists settings is derived from the rows: the file, the environment
//! variables, `conclave config`, and what the README is checked against.

mod kinds;
mod table;

use std::fmt;

use serde_json::Value;

use self::kinds::Kind;
use super::settings::Settings;
use super::value::ConfigValue;
use crate::domain::names::snake_case;

pub use kinds::ReadError;
pub use table::{ALWAYS_ALLOW_UNDER, ENDPOINTS, HEDGE_AFTER, PERSONA_SETS, PERSONAS, SETTINGS};

/// A setting.
pub struct Setting {
    /// In `config.json`, which also takes it in `camelCase`.
    pub name: &'static str,
    /// The form of its values, as the rest of a sentence after "must be".
    pub expects: &'static str,
    /// Its help, in one line.
    pub help: &'static str,
    pub parts: Parts,
    read: Box<Read>,
    write: Box<Write>,
}

type Read = dyn Fn(&mut Settings, &ConfigValue<'_>) -> Result<(), ReadError> + Send + Sync;
type Write = dyn Fn(&Settings) -> Value + Send + Sync;

/// The parts of a setting's value that have names of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    None,
    /// Entries by name, each with these fields. An entry that is no object is the value of its
    /// `short` field.
    Entries {
        fields: &'static [&'static str],
        short: Option<&'static str>,
    },
    /// Lists by name.
    Lists,
    /// Body fields by provider or model.
    BodyFields,
}

/// Returns a row for a field of the settings.
fn setting<T: 'static>(
    name: &'static str,
    kind: Kind<T>,
    field: fn(&mut Settings) -> &mut T,
) -> Setting {
    let mut lines = include_str!("setting/help.txt").lines();
    let help = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    Setting {
        name,
        expects: kind.expects,
        help: help.unwrap_or_default(),
        parts: Parts::None,
        read: Box::new(move |settings, value| {
            *field(settings) = (kind.read)(value)?;
            Ok(())
        }),
        write: Box::new(move |settings| (kind.write)(field(&mut settings.clone()))),
    }
}

impl Setting {
    fn parts(self, parts: Parts) -> Self {
        Self { parts, ..self }
    }

    /// Returns the environment variable that sets it. A value with parts is JSON there too.
    pub fn variable(&self) -> String {
        format!("CONCLAVE_{}", self.name.to_uppercase())
    }

    /// Puts a value into settings.
    pub(super) fn read(&self, settings: &mut Settings, value: &Value) -> Result<(), ReadError> {
        (self.read)(settings, &ConfigValue::new(self.name, value))
    }

    /// Returns the value in force as it would be written in the file; `Null` where there is none.
    pub fn value(&self, settings: &Settings) -> Value {
        (self.write)(settings)
    }
}

/// Returns the setting of a name in `snake_case` or `camelCase`.
pub fn find(name: &str) -> Option<&'static Setting> {
    let snake = snake_case(name);
    SETTINGS.iter().find(|setting| setting.name == snake)
}

/// Returns the names of all settings.
pub fn names() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().map(|setting| setting.name)
}

impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::key_detection::is_key_name;
    use crate::domain::names::likely;

    #[test]
    fn every_setting_is_found_under_its_own_name() {
        for setting in SETTINGS.iter() {
            assert_eq!(find(setting.name).unwrap().name, setting.name);
            assert_eq!(likely(setting.name, names()), Some(setting.name));
        }
        assert_eq!(find("alwaysAllowUnder").unwrap().name, ALWAYS_ALLOW_UNDER);
    }

    #[test]
    fn every_name_is_there_once_and_is_not_that_of_a_key() {
        for (at, setting) in SETTINGS.iter().enumerate() {
            assert!(!is_key_name(setting.name), "{setting}");
            let mut others = SETTINGS.iter().skip(at + 1);
            assert!(others.all(|other| other.name != setting.name), "{setting}");
        }
    }

    #[test]
    fn names_that_other_modules_use_are_in_the_table() {
        for name in [
            ALWAYS_ALLOW_UNDER,
            ENDPOINTS,
            HEDGE_AFTER,
            PERSONAS,
            PERSONA_SETS,
        ] {
            assert!(find(name).is_some(), "{name}");
        }
    }

    #[test]
    fn every_number_has_an_upper_bound() {
        for setting in SETTINGS.iter() {
            for number in [json!(u64::MAX), json!(1.8e19), json!(f64::MAX)] {
                let read = setting.read(&mut Settings::default(), &number);
                assert!(read.is_err(), "{setting} {number}");
            }
        }
    }

    #[test]
    fn the_default_of_every_setting_can_be_read_again() {
        for setting in SETTINGS.iter() {
            let mut settings = Settings::default();
            let default = setting.value(&settings);
            if !default.is_null() {
                setting.read(&mut settings, &default).unwrap();
                assert_eq!(settings, Settings::default(), "{setting}");
            }
        }
    }
}
