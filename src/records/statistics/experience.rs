//! Figures from the user's own consultations: how long the models' answers are, how soon they
//! begin, and how often agreement was right.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, Result, Row, params};

use crate::consultation::plan::OutputTokens;
use crate::consultation::protocol::answer::AnswerKind;
use crate::domain::cost::money::MicroUsd;
use crate::domain::ids::{ConsultationId, ModelRef};
use crate::domain::names::by_stored_name;
use crate::stopping::calibration::Level;

use super::calibration;
use crate::records::files::{ConsultationFiles, consultations_newest_first};
use crate::records::stored;

/// The newest calls that are read: models and their use change, and the start must not take long.
/// With three experts they cover some two hundred consultations.
const MAX_CALLS: u32 = 3_000;

/// The newest records that are read where there is no index.
const MAX_RECORDS: usize = 20;

/// Calls with a complete answer, newest first.
const CALLS: &str = "
    SELECT provider, model, answer, purpose, output_tokens, tokens_estimated, first_token_ms
    FROM (SELECT * FROM calls ORDER BY number DESC, call DESC LIMIT ?1) WHERE stop = 'end'";

/// Answers needed to predict the length of the next one.
const ENOUGH_ANSWERS: usize = 5;

/// First tokens needed to predict when one is late: of fewer, the 95th percentile is the slowest.
const ENOUGH_FIRST_TOKENS: usize = 20;

/// Measurements of some models, from past calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Experience {
    /// Output tokens, sorted.
    answers: BTreeMap<(ModelRef, AnswerKind), Vec<u64>>,
    /// Milliseconds to the first token, sorted.
    first_tokens: BTreeMap<ModelRef, Vec<u64>>,
    /// How often graded answers were right, by how many experts agreed.
    pub by_agreement: Vec<Level>,
    /// Whether a consultation of this home has cost money.
    pub has_cost: bool,
}

impl Experience {
    pub fn read(connection: &Connection, models: &BTreeSet<&ModelRef>) -> Result<Self> {
        let by_agreement = calibration::by_agreement(connection)?;
        let has_cost = connection.query_row(
            "SELECT EXISTS (SELECT 1 FROM consultations WHERE total_cost > 0)",
            [],
            |row| row.get(0),
        )?;
        let mut experience = Self {
            by_agreement,
            has_cost,
            ..Self::default()
        };
        let mut statement = connection.prepare(CALLS)?;
        let mut rows = statement.query(params![MAX_CALLS])?;
        while let Some(row) = rows.next()? {
            experience.add(row, models)?;
        }
        let samples = experience
            .answers
            .values_mut()
            .chain(experience.first_tokens.values_mut());
        samples.for_each(|samples| samples.sort_unstable());
        Ok(experience)
    }

    /// Reads what the newest records say without an index: whether a consultation has cost money.
    pub fn of_records(logs: &Path) -> Self {
        let consultations = consultations_newest_first(logs).unwrap_or_default();
        let has_cost = |consultation: &ConsultationId| {
            let record = ConsultationFiles::in_folder(logs, consultation).record;
            let cost = stored::read_file(&record)
                .ok()
                .and_then(|record| record.total_cost());
            cost.is_some_and(|cost| cost.known > MicroUsd::ZERO)
        };
        Self {
            has_cost: consultations.iter().take(MAX_RECORDS).any(has_cost),
            ..Self::default()
        }
    }

    /// Returns the expected length of answers, by model and kind, where there are enough samples:
    /// the median, the 10th and the 90th percentile. The high end is at least 1.5 times the median,
    /// since a few answers say little about the longest.
    pub fn learnt_output(&self) -> BTreeMap<ModelRef, BTreeMap<AnswerKind, OutputTokens>> {
        let mut learnt: BTreeMap<ModelRef, BTreeMap<AnswerKind, OutputTokens>> = BTreeMap::new();
        for ((model, answer), samples) in self
            .answers
            .iter()
            .filter(|(_, samples)| samples.len() >= ENOUGH_ANSWERS)
        {
            let [low, expected, high] = [10, 50, 90].map(|percent| nearest_rank(samples, percent));
            let high = high.max(expected.saturating_mul(3).div_ceil(2));
            learnt.entry(model.clone()).or_default().insert(
                *answer,
                OutputTokens {
                    low,
                    expected,
                    high,
                },
            );
        }
        learnt
    }

    /// The 95th percentile of the time to the first token, where there are enough samples.
    pub fn hedge_delays(&self) -> BTreeMap<ModelRef, Duration> {
        let enough = self
            .first_tokens
            .iter()
            .filter(|(_, samples)| samples.len() >= ENOUGH_FIRST_TOKENS);
        enough
            .map(|(model, samples)| {
                (
                    model.clone(),
                    Duration::from_millis(nearest_rank(samples, 95)),
                )
            })
            .collect()
    }

    /// A repair is not a sample of an answer's length: its prompt contains one.
    fn add(&mut self, row: &Row<'_>, models: &BTreeSet<&ModelRef>) -> Result<()> {
        let model = ModelRef::new(row.get::<_, String>(0)?, row.get::<_, String>(1)?);
        if !models.contains(&model) {
            return Ok(());
        }
        if let Some(first_token) = row.get(6)? {
            self.first_tokens
                .entry(model.clone())
                .or_default()
                .push(first_token);
        }
        let (answer, purpose): (Option<String>, Option<String>) = (row.get(2)?, row.get(3)?);
        let answer: Option<AnswerKind> = answer.as_deref().and_then(by_stored_name);
        let (output, is_estimated): (u64, bool) = (row.get(4)?, row.get(5)?);
        if let Some(answer) =
            answer.filter(|_| output > 0 && !is_estimated && purpose.as_deref() != Some("repair"))
        {
            self.answers
                .entry((model, answer))
                .or_default()
                .push(output);
        }
        Ok(())
    }
}

/// The smallest sample with that share at or below it.
fn nearest_rank(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}
