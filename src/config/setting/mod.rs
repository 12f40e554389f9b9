//! The settings, one row each in [`SETTINGS`]: name, values, how it is read and written, help.
//! Everything else that lists settings is derived from the rows: the file, the environment
//! variables, `conclave config`, and what the README is checked against.

mod kinds;

use std::fmt;
use std::sync::LazyLock;

use serde_json::Value;

use self::kinds::{
    Kind, choice, correlation, count, default_personas, dollars, dollars_above_zero,
    endpoint_entries, hedge_after, judge_passes, local_servers, on_or_off, optional, placed, seats,
    share, small_count, switch, text, time, time_or_zero, truth,
};
use super::settings::Settings;
use super::value::ConfigValue;
use crate::config::parameters::Parameters;
use crate::config::{endpoints, personas};
use crate::domain::names::snake_case;

pub use kinds::ReadError;

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
    Lists,
    /// Body fields by provider or model.
    BodyFields,
}

fn setting<T: 'static>(
    name: &'static str,
    kind: Kind<T>,
    field: fn(&mut Settings) -> &mut T,
) -> Setting {
    let mut lines = include_str!("help.txt").lines();
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

    /// A value with parts is JSON there too.
    pub fn variable(&self) -> String {
        format!("CONCLAVE_{}", self.name.to_uppercase())
    }

    pub(super) fn read(&self, settings: &mut Settings, value: &Value) -> Result<(), ReadError> {
        (self.read)(settings, &ConfigValue::new(self.name, value))
    }

    /// `Null` where there is none.
    pub fn value(&self, settings: &Settings) -> Value {
        (self.write)(settings)
    }
}

/// In `snake_case` or `camelCase`.
pub fn find(name: &str) -> Option<&'static Setting> {
    let snake = snake_case(name);
    SETTINGS.iter().find(|setting| setting.name == snake)
}

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

pub const ALWAYS_ALLOW_UNDER: &str = "always_allow_under";
pub const ENDPOINTS: &str = "endpoints";
pub const HEDGE_AFTER: &str = "hedge_after";
pub const PERSONAS: &str = "personas";
pub const PERSONA_SETS: &str = "persona_sets";

/// All settings, in the order in which they are shown.
pub static SETTINGS: LazyLock<Vec<Setting>> = LazyLock::new(|| {
    vec![
        setting(ALWAYS_ALLOW_UNDER, dollars(), |s| &mut s.always_allow_under),
        setting("max_output_tokens", count(), |s| &mut s.max_output_tokens),
        setting("connect_timeout_seconds", time(), |s| {
            &mut s.connect_timeout
        }),
        setting("first_byte_timeout_seconds", time(), |s| {
            &mut s.first_byte_timeout
        }),
        setting("idle_timeout_seconds", time(), |s| &mut s.idle_timeout),
        setting("local_threads", optional(small_count()), |s| {
            &mut s.local_threads
        }),
        setting("local_context", count(), |s| &mut s.local_context),
        setting("local_model", optional(text()), |s| &mut s.local_model),
        setting("panel", optional(seats()), |s| &mut s.panel),
        setting("judge", optional(text()), |s| &mut s.judge),
        setting(
            "panels",
            placed("an object of panels by name", personas::read_panels),
            |s| &mut s.panels,
        )
        .parts(Parts::Entries {
            fields: &personas::PANEL_FIELDS,
            short: Some("seats"),
        }),
        setting(
            PERSONAS,
            placed("an object of personas by id", personas::read),
            |s| &mut s.personas,
        )
        .parts(Parts::Entries {
            fields: &personas::FIELDS,
            short: Some("prompt"),
        }),
        setting(
            PERSONA_SETS,
            placed(
                "an object of lists of personas by name",
                personas::read_sets,
            ),
            |s| &mut s.persona_sets,
        )
        .parts(Parts::Lists),
        setting("default_personas", optional(default_personas()), |s| {
            &mut s.default_personas
        }),
        setting(ENDPOINTS, endpoint_entries(), |s| &mut s.endpoints).parts(Parts::Entries {
            fields: &endpoints::FIELDS,
            short: None,
        }),
        setting(
            "parameters",
            placed(
                "an object of body fields by `provider` or `provider:model`",
                Parameters::read,
            ),
            |s| &mut s.parameters,
        )
        .parts(Parts::BodyFields),
        setting("local_servers", local_servers(), |s| &mut s.local_servers),
        setting("max_in_flight", small_count(), |s| &mut s.max_in_flight),
        setting("max_cost", optional(dollars()), |s| &mut s.max_cost),
        setting("monthly_budget", optional(dollars()), |s| {
            &mut s.monthly_budget
        }),
        setting(
            "on_failure",
            choice("`ask`, `substitute`, `skip` or `fail`"),
            |s| &mut s.on_failure,
        ),
        setting(HEDGE_AFTER, hedge_after(), |s| &mut s.hedge_after),
        setting(
            "pulse_seconds",
            time_or_zero("a number of seconds from 0.1 to 1000000, or 0 for never"),
            |s| &mut s.pulse,
        ),
        setting("max_wait_seconds", optional(time()), |s| &mut s.max_wait),
        setting("mode", choice("`converge` or `explore`"), |s| &mut s.mode),
        setting("rounds", choice("1, 2, 3 or 4"), |s| &mut s.rounds),
        setting("early_stop", choice("`ask`, `auto` or `never`"), |s| {
            &mut s.early_termination
        }),
        setting("confidence_threshold", share(), |s| {
            &mut s.confidence_threshold
        }),
        setting("error_correlation", correlation(), |s| {
            &mut s.error_correlation
        }),
        setting("debate_analysis", on_or_off(), |s| &mut s.debate_analysis),
        setting("judge_passes", judge_passes(), |s| &mut s.judge_passes),
        setting("log_context", truth(), |s| &mut s.log_context),
        setting("notify", switch(), |s| &mut s.notify),
        setting(
            "stdin_wait_seconds",
            time_or_zero("a number of seconds from 0.1 to 1000000, or 0 for no time"),
            |s| &mut s.stdin_wait,
        ),
        setting("target_runs", count(), |s| &mut s.target_runs),
        setting("target_median_seconds", time(), |s| &mut s.target_median),
        setting("target_monthly_cost", dollars_above_zero(), |s| {
            &mut s.target_monthly_cost
        }),
    ]
});

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
