//! The settings, one row each in `table`: name, values, how it is read and written, help.
//! Everything else that lists settings is derived from the rows: the file, the environment
//! variables, `conclave config`, and what the README is checked against.

mod table;

use std::fmt;

use serde_json::Value;

use super::settings::Settings;
use super::value::{ConfigValue, ValueError};
use crate::domain::names::snake_case;

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
    pub(super) read: Read,
    write: fn(&Settings) -> Value,
}

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

/// The way in which a value is read.
#[derive(Clone, Copy)]
pub(super) enum Read {
    /// Returns `None` for a value of another form.
    Plain(fn(&mut Settings, &Value) -> Option<()>),
    /// The error names the part of the value that is wrong.
    WithPlaces(fn(&mut Settings, &ConfigValue<'_>) -> Result<(), ValueError>),
}

impl Setting {
    /// Returns the environment variable that sets it. A value with parts is JSON there too.
    pub fn variable(&self) -> String {
        format!("CONCLAVE_{}", self.name.to_uppercase())
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
        for setting in &SETTINGS {
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
        for setting in &SETTINGS {
            if let Read::Plain(read) = setting.read {
                for number in [json!(u64::MAX), json!(1.8e19), json!(f64::MAX)] {
                    let mut settings = Settings::default();
                    assert!(read(&mut settings, &number).is_none(), "{setting} {number}");
                }
            }
        }
    }

    #[test]
    fn the_default_of_every_plain_setting_can_be_read_again() {
        for setting in &SETTINGS {
            let mut settings = Settings::default();
            let default = setting.value(&settings);
            if let Read::Plain(read) = setting.read
                && !default.is_null()
            {
                assert!(read(&mut settings, &default).is_some(), "{setting}");
                assert_eq!(settings, Settings::default(), "{setting}");
            }
        }
    }
}
