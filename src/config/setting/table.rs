//! The rows of the table, and the few ways in which values are read and written.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::config::endpoints;
use crate::config::hedge_after::HedgeAfter;
use crate::config::local_servers::LocalServers;
use crate::config::panels;
use crate::config::parameters::Parameters;
use crate::config::personas;
use crate::config::value::{ValueError, decimal, duration};
use crate::consultation::plan::options::{DebateAnalysis, JudgePasses};
use crate::domain::confidence::Confidence;
use crate::domain::money::MicroUsd;

use super::{Parts, Read, Setting};

pub const ALWAYS_ALLOW_UNDER: &str = "always_allow_under";
pub const ENDPOINTS: &str = "endpoints";
pub const HEDGE_AFTER: &str = "hedge_after";
pub const PERSONAS: &str = "personas";
pub const PERSONA_SETS: &str = "persona_sets";

const COUNT: &str = "a whole number from 1 to 1000000000";
const SMALL_COUNT: &str = "a whole number from 1 to 1000";
const DOLLARS: &str = "an amount in dollars, such as 0.50";
const SHARE: &str = "a number from 0.0 to 1.0";
const TIME: &str = "a number of seconds from 0.1 to 1000000";
const TEXT: &str = "a string";

/// Timers of less would fire without end.
const SHORTEST_TIME: Duration = Duration::from_millis(100);

/// All settings, in the order in which they are shown.
pub static SETTINGS: [Setting; 37] = [
    Setting {
        name: ALWAYS_ALLOW_UNDER,
        expects: DOLLARS,
        help: "Estimates below this amount are approved without asking; 0 means always ask",
        parts: Parts::None,
        read: Read::Plain(|to, value| store(&mut to.always_allow_under, dollars(value))),
        write: |from| usd(from.always_allow_under),
    },
    Setting {
        name: "max_output_tokens",
        expects: COUNT,
        help: "Maximum tokens of an answer, including thinking",
        parts: Parts::None,
        read: Read::Plain(|to, value| store(&mut to.max_output_tokens, count(value))),
        write: |from| json!(from.max_output_tokens),
    },
    Setting {
        name: "connect_timeout_seconds",
        expects: TIME,
        help: "How long opening a connection may take",
        parts: Parts::None,
        read: Read::Plain(|to, value| store(&mut to.connect_timeout, time(value))),
        write: |from| seconds(from.connect_timeout),
    },
    Setting {
        name: "first_byte_timeout_seconds",
        expects: TIME,
        help: "How long a model may reason before the first byte of its answer",
        parts: Parts::None,
        read: Read::Plain(|to, value| store(&mut to.first_byte_timeout, time(value))),
        write: |from| seconds(from.first_byte_timeout),
    },
    Setting {
        name: "idle_timeout_seconds",
        expects: TIME,
        help: "How long an answer may pause once it has begun",
        parts: Parts::None,
        read: Read::Plain(|to, value| store(&mut to.idle_timeout, time(value))),
        write: |from| seconds(from.idle_timeout),
    },
    Setting {
        name: "local_threads",
        expects: SMALL_COUNT,
        help: "Threads of the embedded model; chosen automatically if unset",
        parts: Parts::None,
        read: Read::Plain(|to, value| store_some(&mut to.local_threads, small_count(value))),
        write: |from| json!(from.local_threads),
    },
    Setting {
        name: "local_context",
        expects: COUNT,
        help: "Maximum tokens of prompt and answer together, for the embedded model",
        parts: Parts::None,
        read: Read::Plain(|to, value| store(&mut to.local_context, count(value))),
        write: |from| json!(from.local_context),
    },
    Setting {
        name: "local_model",
        expects: TEXT,
        help: "The embedded model, by its name in `conclave model list`",
        parts: Parts::None,
        read: Read::Plain(|to, value| store_some(&mut to.local_model, text(value))),
        write: |from| json!(from.local_model),
    },
    Setting {
        name: "panel",
        expects: "the name of a panel, or a string or list of seats",
        help: "The experts, as for `--panel`",
        parts: Parts::None,
        read: Read::Plain(|to, value| store_some(&mut to.panel, panels::entries(value))),
        write: |from| text_or_list(from.panel.as_deref()),
    },
    Setting {
        name: "judge",
        expects: TEXT,
        help: "The judge, as for `--judge`",
        parts: Parts::None,
        read: Read::Plain(|to, value| store_some(&mut to.judge, text(value))),
        write: |from| json!(from.judge),
    },
    Setting {
        name: "panels",
        expects: "an object of panels by name",
        help: "Your own panels",
        parts: Parts::Entries {
            fields: &panels::FIELDS,
            short: Some("seats"),
        },
        read: Read::WithPlaces(|to, value| assign(&mut to.panels, panels::read(value))),
        write: |from| json!(from.panels),
    },
    Setting {
        name: PERSONAS,
        expects: "an object of personas by id",
        help: "Your own personas",
        parts: Parts::Entries {
            fields: &personas::FIELDS,
            short: Some("prompt"),
        },
        read: Read::WithPlaces(|to, value| assign(&mut to.personas, personas::read(value))),
        write: |from| json!(from.personas),
    },
    Setting {
        name: PERSONA_SETS,
        expects: "an object of lists of personas by name",
        help: "Sets of personas, used as `@name`",
        parts: Parts::Lists,
        read: Read::WithPlaces(|to, value| {
            assign(&mut to.persona_sets, personas::read_sets(value))
        }),
        write: |from| json!(from.persona_sets),
    },
    Setting {
        name: "default_personas",
        expects: "`auto`, or a string or list of personas and sets",
        help: "The personas of a panel that names none, as for `--personas`",
        parts: Parts::None,
        read: Read::WithPlaces(|to, value| {
            assign(
                &mut to.default_personas,
                personas::read_default(value).map(Some),
            )
        }),
        write: |from| text_or_list(from.default_personas.as_deref()),
    },
    Setting {
        name: ENDPOINTS,
        expects: "an object of servers by name, or a list of objects with a `name`",
        help: "Your own servers, and changes to known providers",
        parts: Parts::Entries {
            fields: &endpoints::FIELDS,
            short: None,
        },
        read: Read::WithPlaces(|to, value| assign(&mut to.endpoints, endpoints::read(value))),
        write: |from| {
            let entries = from.endpoints.iter();
            entries
                .map(|entry| (entry.name.clone(), json!(entry)))
                .collect()
        },
    },
    Setting {
        name: "parameters",
        expects: "an object of body fields by `provider` or `provider:model`",
        help: "Fields added to request bodies",
        parts: Parts::BodyFields,
        read: Read::WithPlaces(|to, value| assign(&mut to.parameters, Parameters::read(value))),
        write: |from| json!(from.parameters),
    },
    Setting {
        name: "local_servers",
        expects: "`auto`, `none` or a list of addresses",
        help: "Where to look for servers on your own machine",
        parts: Parts::None,
        read: Read::WithPlaces(|to, value| {
            assign(&mut to.local_servers, LocalServers::read(value))
        }),
        write: |from| from.local_servers.to_json(),
    },
    Setting {
        name: "max_in_flight",
        expects: SMALL_COUNT,
        help: "Maximum concurrent calls to one provider, unless its endpoint sets its own",
        parts: Parts::None,
        read: Read::Plain(|to, value| store(&mut to.max_in_flight, small_count(value))),
        write: |from| json!(from.max_in_flight),
    },
    Setting {
        name: "max_cost",
        expects: DOLLARS,
        help: "Cost ceiling of a consultation; no call is made that could exceed it",
        parts: Parts::None,
        read: Read::Plain(|to, value| store_some(&mut to.max_cost, dollars(value))),
        write: |from| from.max_cost.map_or(Value::Null, usd),
    },
    Setting {
        name: "monthly_budget",
        expects: DOLLARS,
        help: "Budget for all consultations of a calendar month",
        parts: Parts::None,
        read: Read::Plain(|to, value| store_some(&mut to.monthly_budget, dollars(value))),
        write: |from| from.monthly_budget.map_or(Value::Null, usd),
    },
    Setting {
        name: "on_failure",
        expects: "`ask`, `substitute`, `skip` or `fail`",
        help: "What to do when a model fails for good",
        parts: Parts::None,
        read: Read::Plain(|to, value| store(&mut to.on_failure, choice(value))),
        write: |from| json!(from.on_failure),
    },
    Setting {
        name: HEDGE_AFTER,
        expects: HedgeAfter::EXPECTED,
        help: "How long a call may show no sign of an answer before a second model is asked",
        parts: Parts::None,
        read: Read::Plain(|to, value| store(&mut to.hedge_after, HedgeAfter::of_json(value))),
        write: |from| from.hedge_after.to_json(),
    },
    Setting {
        name: "pulse_seconds",
        expects: "a number of seconds from 0.1 to 1000000, or 0 for never",
        help: "How often you are asked whether to continue waiting for a round",
        parts: Parts::None,
        read: Read::Plain(|to, value| store(&mut to.pulse, time_or_zero(value))),
        write: |from| seconds(from.pulse),
    },
    Setting {
        name: "max_wait_seconds",
        expects: TIME,
        help: "How long a round may take; if unset, an hour, or unlimited if you can be asked",
        parts: Parts::None,
        read: Read::Plain(|to, value| store_some(&mut to.max_wait, time(value))),
        write: |from| from.max_wait.map_or(Value::Null, seconds),
    },
    Setting {
        name: "mode",
        expects: "`converge` or `explore`",
        help: "How the panel argues",
        parts: Parts::None,
        read: Read::Plain(|to, value| store(&mut to.mode, choice(value))),
        write: |from| json!(from.mode),
    },
    Setting {
        name: "rounds",
        expects: "1, 2, 3 or 4",
        help: "How many rounds to hold",
        parts: Parts::None,
        read: Read::Plain(|to, value| store(&mut to.rounds, choice(value))),
        write: |from| json!(from.rounds),
    },
    Setting {
        name: "early_stop",
        expects: "`ask`, `auto` or `never`",
        help: "Whether to end after Round 2 when the experts agree",
        parts: Parts::None,
        read: Read::Plain(|to, value| store(&mut to.early_stop, choice(value))),
        write: |from| json!(from.early_stop),
    },
    Setting {
        name: "confidence_threshold",
        expects: SHARE,
        help: "The judge's confidence in the agreement that an early stop needs",
        parts: Parts::None,
        read: Read::Plain(|to, value| store(&mut to.confidence_threshold, share(value))),
        write: |from| decimal(from.confidence_threshold.value()),
    },
    Setting {
        name: "error_correlation",
        expects: SHARE,
        help: "Assumed correlation of the experts' errors",
        parts: Parts::None,
        read: Read::Plain(|to, value| {
            store(
                &mut to.error_correlation,
                share(value).map(Confidence::value),
            )
        }),
        write: |from| decimal(from.error_correlation),
    },
    Setting {
        name: "debate_analysis",
        expects: "`on` or `off`",
        help: "Whether a cheap model compares positions before and after the debate",
        parts: Parts::None,
        read: Read::Plain(|to, value| store(&mut to.debate_analysis, on_or_off(value))),
        write: |from| json!(from.debate_analysis),
    },
    Setting {
        name: "judge_passes",
        expects: "1 or 2",
        help: "How often the judge decides in a consultation of four rounds",
        parts: Parts::None,
        read: Read::Plain(|to, value| {
            let passes = value.as_u64().and_then(JudgePasses::of_number);
            store(&mut to.judge_passes, passes)
        }),
        write: |from| json!(from.judge_passes.number()),
    },
    Setting {
        name: "log_context",
        expects: "`true` or `false`",
        help: "Whether the context of a question is stored, with secrets masked, to resume from",
        parts: Parts::None,
        read: Read::Plain(|to, value| store(&mut to.log_context, truth(value))),
        write: |from| json!(from.log_context),
    },
    Setting {
        name: "notify",
        expects: "`on` or `off`",
        help: "Whether the terminal rings its bell at the end",
        parts: Parts::None,
        read: Read::Plain(|to, value| store(&mut to.notify, switch(value))),
        write: |from| json!(if from.notify { "on" } else { "off" }),
    },
    Setting {
        name: "stdin_wait_seconds",
        expects: "a number of seconds from 0.1 to 1000000, or 0 for no time",
        help: "How long `consult` waits for the first byte of a pipe on standard input",
        parts: Parts::None,
        read: Read::Plain(|to, value| store(&mut to.stdin_wait, time_or_zero(value))),
        write: |from| seconds(from.stdin_wait),
    },
    Setting {
        name: "target_runs",
        expects: COUNT,
        help: "Target of `consult-stats`: consultations in thirty days",
        parts: Parts::None,
        read: Read::Plain(|to, value| store(&mut to.target_runs, count(value))),
        write: |from| json!(from.target_runs),
    },
    Setting {
        name: "target_median_seconds",
        expects: TIME,
        help: "Target of `consult-stats`: the median duration",
        parts: Parts::None,
        read: Read::Plain(|to, value| store(&mut to.target_median, time(value))),
        write: |from| seconds(from.target_median),
    },
    Setting {
        name: "target_monthly_cost",
        expects: "an amount in dollars above 0, such as 20",
        help: "Target of `consult-stats`: the cost of a calendar month",
        parts: Parts::None,
        read: Read::Plain(|to, value| {
            let target = dollars(value).filter(|target| *target > MicroUsd::ZERO);
            store(&mut to.target_monthly_cost, target)
        }),
        write: |from| usd(from.target_monthly_cost),
    },
];

/// Stores a value whose problems have places.
fn assign<T>(field: &mut T, value: Result<T, ValueError>) -> Result<(), ValueError> {
    *field = value?;
    Ok(())
}

/// Stores a value that was read; `None` when there is none.
fn store<T>(field: &mut T, value: Option<T>) -> Option<()> {
    *field = value?;
    Some(())
}

/// Stores a value that was read in a field that may be unset.
fn store_some<T>(field: &mut Option<T>, value: Option<T>) -> Option<()> {
    *field = Some(value?);
    Some(())
}

fn text(value: &Value) -> Option<String> {
    let text = value.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn count(value: &Value) -> Option<u64> {
    let range = 1..=1_000_000_000;
    value.as_u64().filter(|count| range.contains(count))
}

fn small_count(value: &Value) -> Option<u32> {
    let count = count(value).filter(|count| *count <= 1_000)?;
    u32::try_from(count).ok()
}

fn time_or_zero(value: &Value) -> Option<Duration> {
    let seconds = value.as_f64()?;
    if seconds == 0.0 {
        return Some(Duration::ZERO);
    }
    duration(seconds).filter(|time| *time >= SHORTEST_TIME)
}

fn time(value: &Value) -> Option<Duration> {
    time_or_zero(value).filter(|time| !time.is_zero())
}

fn dollars(value: &Value) -> Option<MicroUsd> {
    MicroUsd::from_usd(value.as_f64()?)
}

fn share(value: &Value) -> Option<Confidence> {
    Confidence::new(value.as_f64()?)
}

/// Reads a value whose type parses from a word or a number.
fn choice<T: DeserializeOwned>(value: &Value) -> Option<T> {
    let value = match value {
        Value::String(text) => json!(text.trim()),
        other => other.clone(),
    };
    serde_json::from_value(value).ok()
}

fn on_or_off(value: &Value) -> Option<DebateAnalysis> {
    choice(value).filter(|analysis| *analysis != DebateAnalysis::NoModel)
}

fn switch(value: &Value) -> Option<bool> {
    match value.as_str()?.trim() {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

/// Reads `true` or `false`; the environment gives them as text.
fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn seconds(time: Duration) -> Value {
    decimal(time.as_secs_f64())
}

fn usd(amount: MicroUsd) -> Value {
    decimal(amount.usd())
}

/// Writes a list; a single entry is written as a text.
fn text_or_list(entries: Option<&[String]>) -> Value {
    match entries {
        Some([only]) => json!(only),
        entries => json!(entries),
    }
}
