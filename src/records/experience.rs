//! What the user's own records say of models: how long their answers are, and how soon they begin.
//!
//! Only the newest records are read, one after the other, and of each only the calls. What cannot be read is passed over: a record of
//! another version or a damaged one makes nothing worse than an estimate.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::consultation::answer::AnswerKind;
use crate::consultation::plan::OutputTokens;
use crate::domain::ids::ModelRef;

/// Records that are read at most: with three experts they hold some five hundred calls.
const MOST_RECORDS: usize = 60;

/// A record that is longer than this is passed over; one of three experts has a twentieth of it.
const LONGEST_RECORD: u64 = 2 << 20;

/// Bytes that are read at most, all records together.
const MOST_BYTES: u64 = 16 << 20;

/// So many answers tell how long the next one will be.
const ENOUGH_ANSWERS: usize = 5;

/// So many beginnings tell when one is late: of fewer, the 95th percentile is the slowest.
const ENOUGH_BEGINNINGS: usize = 20;

/// What is known of some models.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Experience {
    /// Output tokens, sorted.
    answers: BTreeMap<(ModelRef, AnswerKind), Vec<u64>>,
    /// Milliseconds to the first sign of an answer, sorted.
    beginnings: BTreeMap<ModelRef, Vec<u64>>,
}

impl Experience {
    /// Reads what the newest records in a folder say of these models. A folder that is not there says nothing.
    pub fn read(logs: &Path, models: &BTreeSet<&ModelRef>) -> Self {
        let mut experience = Self::default();
        let mut bytes = 0;
        for path in newest(logs) {
            let Ok(length) = fs::metadata(&path).map(|metadata| metadata.len()) else { continue };
            if length > LONGEST_RECORD {
                continue;
            }
            bytes += length;
            if bytes > MOST_BYTES {
                break;
            }
            let Ok(text) = fs::read(&path) else { continue };
            let Ok(record) = serde_json::from_slice::<Record>(&text) else { continue };
            for agent in record.responses.into_values().flat_map(|round| round.agents) {
                let answer = AnswerKind::ALL.into_iter().find(|answer| agent.answer.as_deref() == Some(answer.name()));
                for attempt in agent.attempts {
                    experience.take(&attempt, answer, models);
                }
            }
        }
        let samples = experience.answers.values_mut().chain(experience.beginnings.values_mut());
        samples.for_each(|samples| samples.sort_unstable());
        experience
    }

    /// How long answers are expected to be, by model and kind, where there have been enough: the median, the 10th and the 90th percentile,
    /// and at the high end never less than half as much again as the median, since a few answers say little of the longest.
    pub fn learnt_output(&self) -> BTreeMap<ModelRef, BTreeMap<AnswerKind, OutputTokens>> {
        let mut learnt: BTreeMap<ModelRef, BTreeMap<AnswerKind, OutputTokens>> = BTreeMap::new();
        for ((model, answer), samples) in self.answers.iter().filter(|(_, samples)| samples.len() >= ENOUGH_ANSWERS) {
            let [low, expected, high] = [10, 50, 90].map(|percent| nearest_rank(samples, percent));
            let high = high.max(expected.saturating_mul(3).div_ceil(2));
            learnt.entry(model.clone()).or_default().insert(*answer, OutputTokens { low, expected, high });
        }
        learnt
    }

    /// When a call to a model is late, where there have been enough: the 95th percentile of the time to its first sign of an answer.
    pub fn hedge_delays(&self) -> BTreeMap<ModelRef, Duration> {
        let enough = self.beginnings.iter().filter(|(_, samples)| samples.len() >= ENOUGH_BEGINNINGS);
        enough.map(|(model, samples)| (model.clone(), Duration::from_millis(nearest_rank(samples, 95)))).collect()
    }

    /// Takes a call that brought a whole answer. A repair is no sample of how long answers are: the model was shown one.
    fn take(&mut self, attempt: &Attempt, answer: Option<AnswerKind>, models: &BTreeSet<&ModelRef>) {
        let Some(model) = attempt.model.as_deref().and_then(|model| model.parse::<ModelRef>().ok()) else { return };
        if attempt.stop.as_ref().and_then(Value::as_str) != Some("end") || !models.contains(&model) {
            return;
        }
        if let Some(first_token) = attempt.latency_ms {
            self.beginnings.entry(model.clone()).or_default().push(first_token);
        }
        let counted = attempt.tokens.as_ref().filter(|tokens| !tokens.estimated && tokens.output > 0);
        if let (Some(tokens), Some(answer)) = (counted.filter(|_| attempt.purpose.as_deref() != Some("repair")), answer) {
            self.answers.entry((model, answer)).or_default().push(tokens.output);
        }
    }
}

/// The smallest sample that at least so many percent of all are not above.
fn nearest_rank(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

/// The newest records: their names sort by time.
fn newest(logs: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(logs).into_iter().flatten().flatten();
    let is_record = |name: &str| name.starts_with("consult-") && name.strip_suffix(".json").is_some();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).filter(|name| is_record(name)).collect();
    names.sort_unstable_by(|one, other| other.cmp(one));
    names.truncate(MOST_RECORDS);
    names.into_iter().map(|name| logs.join(name)).collect()
}

/// What is read of a record.
#[derive(Deserialize)]
struct Record {
    #[serde(default)]
    responses: BTreeMap<String, Round>,
}

#[derive(Deserialize)]
struct Round {
    #[serde(default)]
    agents: Vec<Agent>,
}

#[derive(Deserialize)]
struct Agent {
    #[serde(default)]
    answer: Option<String>,
    #[serde(default)]
    attempts: Vec<Attempt>,
}

#[derive(Deserialize)]
struct Attempt {
    #[serde(default)]
    purpose: Option<String>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    stop: Option<Value>,
    #[serde(default)]
    tokens: Option<Tokens>,
    #[serde(default)]
    latency_ms: Option<u64>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    output: u64,
    #[serde(default)]
    estimated: bool,
}
