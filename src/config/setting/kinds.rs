//! The kinds of values: how each is described, read and written.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::config::endpoints::{self, EndpointEntry};
use crate::config::local_servers::LocalServers;
use crate::config::panels;
use crate::config::personas;
use crate::config::value::{ConfigValue, ValueError, decimal, duration};
use crate::consultation::plan::options::{DebateAnalysis, JudgePasses};
use crate::consultation::policy::hedging::HedgeAfter;
use crate::domain::confidence::Confidence;
use crate::domain::money::MicroUsd;

/// Timers of less would fire without end.
const SHORTEST_TIME: Duration = Duration::from_millis(100);

/// A kind of values.
pub(super) struct Kind<T> {
    /// The form of its values, as the rest of a sentence after "must be".
    pub(super) expects: &'static str,
    pub(super) read: Box<Reader<T>>,
    pub(super) write: Box<Writer<T>>,
}

pub(super) type Reader<T> = dyn Fn(&ConfigValue<'_>) -> Result<T, ReadError> + Send + Sync;
pub(super) type Writer<T> = dyn Fn(&T) -> Value + Send + Sync;

/// Why a value cannot be read.
#[derive(Debug)]
pub enum ReadError {
    /// It is not what its kind expects.
    Form,
    /// A part of it is wrong.
    Part(ValueError),
}

/// Returns a kind whose values are read as a whole.
fn plain<T>(expects: &'static str, read: fn(&Value) -> Option<T>, write: fn(&T) -> Value) -> Kind<T>
where
    T: 'static,
{
    Kind {
        expects,
        read: Box::new(move |place| read(place.value).ok_or(ReadError::Form)),
        write: Box::new(write),
    }
}

/// Returns a kind whose errors name the part of the value that is wrong.
pub(super) fn placed<T: Serialize + 'static>(
    expects: &'static str,
    read: fn(&ConfigValue<'_>) -> Result<T, ValueError>,
) -> Kind<T> {
    Kind {
        expects,
        read: Box::new(move |place| read(place).map_err(ReadError::Part)),
        write: Box::new(|value| json!(value)),
    }
}

/// Returns the kind of a setting that may be unset.
pub(super) fn optional<T: 'static>(kind: Kind<T>) -> Kind<Option<T>> {
    let Kind {
        expects,
        read,
        write,
    } = kind;
    Kind {
        expects,
        read: Box::new(move |place| read(place).map(Some)),
        write: Box::new(move |value| value.as_ref().map_or(Value::Null, &write)),
    }
}

pub(super) fn text() -> Kind<String> {
    let read = |value: &Value| {
        let text = value.as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    plain("a string", read, |text| json!(text))
}

pub(super) fn count() -> Kind<u64> {
    let read = |value: &Value| {
        let count = value.as_u64()?;
        (1..=1_000_000_000).contains(&count).then_some(count)
    };
    plain("a whole number from 1 to 1000000000", read, |count| {
        json!(count)
    })
}

pub(super) fn small_count() -> Kind<u32> {
    let read = |value: &Value| {
        let count = u32::try_from(value.as_u64()?).ok()?;
        (1..=1_000).contains(&count).then_some(count)
    };
    plain("a whole number from 1 to 1000", read, |count| json!(count))
}

pub(super) fn time() -> Kind<Duration> {
    let read = |value: &Value| seconds(value).filter(|time| *time >= SHORTEST_TIME);
    plain(
        "a number of seconds from 0.1 to 1000000",
        read,
        write_seconds,
    )
}

pub(super) fn time_or_zero(expects: &'static str) -> Kind<Duration> {
    let read =
        |value: &Value| seconds(value).filter(|time| time.is_zero() || *time >= SHORTEST_TIME);
    plain(expects, read, write_seconds)
}

pub(super) fn dollars() -> Kind<MicroUsd> {
    plain("an amount in dollars, such as 0.50", amount, |amount| {
        decimal(amount.usd())
    })
}

pub(super) fn dollars_above_zero() -> Kind<MicroUsd> {
    let read = |value: &Value| amount(value).filter(|target| *target > MicroUsd::ZERO);
    plain("an amount in dollars above 0, such as 20", read, |amount| {
        decimal(amount.usd())
    })
}

const SHARE: &str = "a number from 0.0 to 1.0";

pub(super) fn share() -> Kind<Confidence> {
    let read = |value: &Value| Confidence::new(value.as_f64()?);
    plain(SHARE, read, |share| decimal(share.value()))
}

pub(super) fn correlation() -> Kind<f64> {
    let read = |value: &Value| Confidence::new(value.as_f64()?).map(Confidence::value);
    plain(SHARE, read, |share| decimal(*share))
}

/// Returns a kind whose type parses from a word or a number.
pub(super) fn choice<T: Serialize + DeserializeOwned + 'static>(expects: &'static str) -> Kind<T> {
    plain(expects, word, |value| json!(value))
}

pub(super) fn on_or_off() -> Kind<DebateAnalysis> {
    let read = |value: &Value| word(value).filter(|it| *it != DebateAnalysis::NoModel);
    plain("`on` or `off`", read, |value| json!(value))
}

pub(super) fn judge_passes() -> Kind<JudgePasses> {
    let read = |value: &Value| value.as_u64().and_then(JudgePasses::of_number);
    plain("1 or 2", read, |passes| json!(passes.number()))
}

pub(super) fn switch() -> Kind<bool> {
    let read = |value: &Value| match value.as_str()?.trim() {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    };
    plain("`on` or `off`", read, |is_on| {
        json!(if *is_on { "on" } else { "off" })
    })
}

/// Reads `true` or `false`; the environment gives them as text.
pub(super) fn truth() -> Kind<bool> {
    let read = |value: &Value| match value.as_str() {
        Some(text) => text.trim().parse().ok(),
        None => value.as_bool(),
    };
    plain("`true` or `false`", read, |truth| json!(truth))
}

pub(super) fn hedge_after() -> Kind<HedgeAfter> {
    plain(HedgeAfter::EXPECTED, HedgeAfter::of_json, |delay| {
        json!(delay)
    })
}

pub(super) fn seats() -> Kind<Vec<String>> {
    let expects = "the name of a panel, or a string or list of seats";
    plain(expects, panels::entries, text_or_list)
}

pub(super) fn default_personas() -> Kind<Vec<String>> {
    let expects = "`auto`, or a string or list of personas and sets";
    Kind {
        write: Box::new(text_or_list),
        ..placed(expects, personas::read_default)
    }
}

pub(super) fn local_servers() -> Kind<LocalServers> {
    placed("`auto`, `none` or a list of addresses", LocalServers::read)
}

pub(super) fn endpoint_entries() -> Kind<Vec<EndpointEntry>> {
    Kind {
        write: Box::new(|entries: &Vec<EndpointEntry>| {
            let entries = entries.iter();
            entries
                .map(|entry| (entry.name.clone(), json!(entry)))
                .collect()
        }),
        ..placed(endpoints::EXPECTED, endpoints::read)
    }
}

fn seconds(value: &Value) -> Option<Duration> {
    duration(value.as_f64()?)
}

fn write_seconds(time: &Duration) -> Value {
    decimal(time.as_secs_f64())
}

fn amount(value: &Value) -> Option<MicroUsd> {
    MicroUsd::from_usd(value.as_f64()?)
}

fn word<T: DeserializeOwned>(value: &Value) -> Option<T> {
    let value = match value {
        Value::String(text) => json!(text.trim()),
        other => other.clone(),
    };
    serde_json::from_value(value).ok()
}

/// Writes a list; a single entry is written as a text.
fn text_or_list(entries: &Vec<String>) -> Value {
    match entries.as_slice() {
        [only] => json!(only),
        entries => json!(entries),
    }
}
