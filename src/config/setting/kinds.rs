//! The kinds of values: how each is described, read and written.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::config::endpoints::{self, EndpointEntry, LocalServers};
use crate::config::personas;
use crate::config::value::{ConfigValue, ValueError, decimal, duration};
use crate::consultation::plan::options::{DebateAnalysis, JudgePasses};
use crate::consultation::policy::hedging::HedgeAfter;
use crate::domain::answer::confidence::Confidence;
use crate::domain::cost::money::MicroUsd;

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

impl<T: 'static> Kind<T> {
    fn written(self, write: fn(&T) -> Value) -> Self {
        Self {
            write: Box::new(write),
            ..self
        }
    }
}

fn plain<T: Serialize + 'static>(expects: &'static str, read: fn(&Value) -> Option<T>) -> Kind<T> {
    Kind {
        expects,
        read: Box::new(move |place| read(place.value).ok_or(ReadError::Form)),
        write: Box::new(|value| json!(value)),
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
    plain("a string", |value| {
        let text = value.as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    })
}

pub(super) fn count() -> Kind<u64> {
    plain("a whole number from 1 to 1000000000", |value| {
        value
            .as_u64()
            .filter(|count| (1..=1_000_000_000).contains(count))
    })
}

pub(super) fn small_count() -> Kind<u32> {
    plain("a whole number from 1 to 1000", |value| {
        let count = u32::try_from(value.as_u64()?).ok()?;
        (1..=1_000).contains(&count).then_some(count)
    })
}

pub(super) fn time() -> Kind<Duration> {
    plain("a number of seconds from 0.1 to 1000000", |value| {
        seconds(value).filter(|time| *time >= SHORTEST_TIME)
    })
    .written(write_seconds)
}

pub(super) fn time_or_zero(expects: &'static str) -> Kind<Duration> {
    plain(expects, |value| {
        seconds(value).filter(|time| time.is_zero() || *time >= SHORTEST_TIME)
    })
    .written(write_seconds)
}

pub(super) fn dollars() -> Kind<MicroUsd> {
    plain("an amount in dollars, such as 0.50", amount).written(|amount| decimal(amount.usd()))
}

pub(super) fn dollars_above_zero() -> Kind<MicroUsd> {
    plain("an amount in dollars above 0, such as 20", |value| {
        amount(value).filter(|target| *target > MicroUsd::ZERO)
    })
    .written(|amount| decimal(amount.usd()))
}

pub(super) fn share() -> Kind<Confidence> {
    plain("a number from 0.0 to 1.0", |value| {
        Confidence::new(value.as_f64()?)
    })
    .written(|share| decimal(share.value()))
}

pub(super) fn choice<T: Serialize + DeserializeOwned + 'static>(expects: &'static str) -> Kind<T> {
    plain(expects, word)
}

pub(super) fn on_or_off() -> Kind<DebateAnalysis> {
    plain("`on` or `off`", |value| {
        word(value).filter(|it| *it != DebateAnalysis::NoModel)
    })
}

pub(super) fn judge_passes() -> Kind<JudgePasses> {
    plain("1 or 2", |value| {
        value.as_u64().and_then(JudgePasses::of_number)
    })
    .written(|passes| json!(passes.number()))
}

pub(super) fn switch() -> Kind<bool> {
    plain("`on` or `off`", |value| match value.as_str()?.trim() {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    })
    .written(|is_on| json!(if *is_on { "on" } else { "off" }))
}

/// The environment gives them as text.
pub(super) fn truth() -> Kind<bool> {
    plain("`true` or `false`", |value| match value.as_str() {
        Some(text) => text.trim().parse().ok(),
        None => value.as_bool(),
    })
}

pub(super) fn hedge_after() -> Kind<HedgeAfter> {
    plain(HedgeAfter::EXPECTED, HedgeAfter::of_json)
}

/// Optional.
pub(super) fn texts(expects: &'static str) -> Kind<Option<Vec<String>>> {
    optional(plain(expects, personas::entries).written(text_or_list))
}

pub(super) fn default_personas() -> Kind<Vec<String>> {
    let expects = "`auto`, or a string or list of personas and sets";
    placed(expects, personas::read_default).written(text_or_list)
}

pub(super) fn local_servers() -> Kind<LocalServers> {
    placed("`auto`, `none` or a list of addresses", LocalServers::read)
}

pub(super) fn endpoint_entries() -> Kind<Vec<EndpointEntry>> {
    placed(endpoints::EXPECTED, endpoints::read).written(|entries| {
        let entries = entries.iter();
        entries
            .map(|entry| (entry.name.clone(), json!(entry)))
            .collect()
    })
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

/// A single entry is written as a text.
fn text_or_list(entries: &Vec<String>) -> Value {
    match entries.as_slice() {
        [only] => json!(only),
        entries => json!(entries),
    }
}
