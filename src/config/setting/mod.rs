//! The settings, one row each in [`SETTINGS`]: name, values, how it is read and written, help.
//! Everything else that lists settings is derived from the rows: the file, the environment
//! variables, `conclave config`, and what the README is checked against.

mod kinds;
mod laid_over;

use std::fmt;
use std::sync::LazyLock;

use serde_json::Value;

use self::kinds::{
    Kind, choice, count, default_personas, dollars, dollars_above_zero, endpoint_entries,
    hedge_after, judge_passes, local_servers, on_or_off, optional, placed, share, small_count,
    switch, text, texts, time, time_or_zero, truth,
};
use self::laid_over::LaidOver;
use super::settings::Settings;
use super::value::ConfigValue;
use crate::config::parameters::Parameters;
use crate::config::programs::Programs;
use crate::config::{endpoints, personas, programs};
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
    /// How a repository's value is laid over the user's; `None` if a repository cannot set it.
    pub(super) of_repository: Option<LaidOver>,
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
        of_repository: None,
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

    fn of_repository(self, laid_over: LaidOver) -> Self {
        let of_repository = Some(laid_over);
        Self {
            of_repository,
            ..self
        }
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

/// In words.
pub(super) fn of_repositories() -> String {
    let all = SETTINGS.iter();
    let allowed = all.filter(|setting| setting.of_repository.is_some());
    let names: Vec<_> = allowed.map(|setting| format!("`{setting}`")).collect();
    names.join(", ")
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
pub const MAX_CALLS: &str = "max_calls";
pub const PERSONAS: &str = "personas";
pub const PERSONA_SETS: &str = "persona_sets";
pub const PROGRAMS: &str = "programs";

/// Makes a row of each line: the name, the field, the kind of its values, and what else there is.
macro_rules! table {
    ($($name:expr => $field:ident: $kind:expr $(; [$($more:ident($value:expr)),+])?,)+) => {
        vec![$(setting($name, $kind, |s| &mut s.$field)$($(.$more($value))+)?),+]
    };
}

/// All settings, in the order in which they are shown.
pub static SETTINGS: LazyLock<Vec<Setting>> = LazyLock::new(|| {
    table! {
        ALWAYS_ALLOW_UNDER => always_allow_under: dollars(),
        "max_output_tokens" => max_output_tokens: count(),
        "connect_timeout_seconds" => connect_timeout: time(),
        "first_byte_timeout_seconds" => first_byte_timeout: time(),
        "idle_timeout_seconds" => idle_timeout: time(),
        "local_threads" => local_threads: optional(small_count()),
        "local_context" => local_context: count(),
        "local_model" => local_model: optional(text()),
        "context" => context: texts("a string or list of paths");
            [of_repository(LaidOver::Replaced)],
        "panel" => panel: texts("the name of a panel, or a string or list of seats");
            [of_repository(LaidOver::Replaced)],
        "judge" => judge: optional(text()); [of_repository(LaidOver::Replaced)],
        "panels" => panels: placed("an object of panels by name", personas::read_panels);
            [parts(Parts::Entries { fields: &personas::PANEL_FIELDS, short: Some("seats") })],
        PERSONAS => personas: placed("an object of personas by id", personas::read);
            [parts(Parts::Entries { fields: &personas::FIELDS, short: Some("prompt") }),
            of_repository(LaidOver::Extended)],
        PERSONA_SETS => persona_sets:
            placed("an object of lists of personas by name", personas::read_sets);
            [parts(Parts::Lists), of_repository(LaidOver::Extended)],
        "default_personas" => default_personas: optional(default_personas());
            [of_repository(LaidOver::Replaced)],
        ENDPOINTS => endpoints: endpoint_entries();
            [parts(Parts::Entries { fields: &endpoints::FIELDS, short: None })],
        "parameters" => parameters:
            placed("an object of body fields by `provider` or `provider:model`", Parameters::read);
            [parts(Parts::BodyFields)],
        PROGRAMS => programs: placed("an object of programs by name", Programs::read);
            [parts(Parts::Entries { fields: &programs::FIELDS[..], short: None })],
        "local_servers" => local_servers: local_servers(),
        "max_in_flight" => max_in_flight: small_count(),
        "max_cost" => max_cost: optional(dollars()); [of_repository(LaidOver::Lowered)],
        MAX_CALLS => max_calls: small_count(),
        "monthly_budget" => monthly_budget: optional(dollars()),
        "on_failure" => on_failure: choice("`ask`, `substitute`, `skip` or `fail`"),
        HEDGE_AFTER => hedge_after: hedge_after(),
        "pulse_seconds" => pulse:
            time_or_zero("a number of seconds from 0.1 to 1000000, or 0 for never"),
        "max_wait_seconds" => max_wait: optional(time()),
        "mode" => mode: choice("`converge` or `explore`"),
        "rounds" => rounds: choice("1, 2, 3 or 4"),
        "early_stop" => early_termination: choice("`ask`, `auto` or `never`"),
        "confidence_threshold" => confidence_threshold: share(),
        "debate_analysis" => debate_analysis: on_or_off(),
        "judge_passes" => judge_passes: judge_passes(),
        "log_context" => log_context: truth(),
        "notify" => notify: switch(),
        "otlp" => otlp: switch(),
        "otlp_content" => otlp_content: switch(),
        "stdin_wait_seconds" => stdin_wait:
            time_or_zero("a number of seconds from 0.1 to 1000000, or 0 for no time"),
        "target_runs" => target_runs: count(),
        "target_median_seconds" => target_median: time(),
        "target_monthly_cost" => target_monthly_cost: dollars_above_zero(),
    }
});

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::keys::detection::is_key_name;
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
            PROGRAMS,
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
