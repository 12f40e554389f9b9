//! What the user's own consultations say: how long the answers of models are, how soon they begin,
//! and how often agreement was right.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rusqlite::{Connection, Result, Row, params};

use crate::consultation::plan::OutputTokens;
use crate::consultation::protocol::answer::AnswerKind;
use crate::domain::ids::ModelRef;
use crate::stopping::calibration::Level;

use super::calibration;

/// Calls that are looked at, the newest: models and their use change, and a start is not to wait
/// for long. With three experts they are some two hundred consultations.
const MOST_CALLS: u32 = 3_000;

/// A call that came back with a whole answer, newest first.
const CALLS: &str = "
    SELECT provider, model, answer, purpose, output_tokens, tokens_estimated, first_token_ms
    FROM (SELECT * FROM calls ORDER BY number DESC, call DESC LIMIT ?1) WHERE stop = 'end'";

/// So many answers tell how long the next one will be.
const ENOUGH_ANSWERS: usize = 5;

/// So many beginnings tell when one is late: of fewer, the 95th percentile is the slowest.
const ENOUGH_BEGINNINGS: usize = 20;

/// What is known of some models.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Experience {
    /// Output tokens, sorted.
    answers: BTreeMap<(ModelRef, AnswerKind), Vec<u64>>,
    /// Milliseconds to the first sign of an answer, sorted.
    beginnings: BTreeMap<ModelRef, Vec<u64>>,
    by_agreement: Vec<Level>,
}

impl Experience {
    /// Reads what the newest calls in the index say of these models.
    pub fn read(connection: &Connection, models: &BTreeSet<&ModelRef>) -> Result<Self> {
        let by_agreement = calibration::by_agreement(connection)?;
        let mut experience = Self {
            by_agreement,
            ..Self::default()
        };
        let mut statement = connection.prepare(CALLS)?;
        let mut rows = statement.query(params![MOST_CALLS])?;
        while let Some(row) = rows.next()? {
            experience.take(row, models)?;
        }
        let samples = experience
            .answers
            .values_mut()
            .chain(experience.beginnings.values_mut());
        samples.for_each(|samples| samples.sort_unstable());
        Ok(experience)
    }

    /// How often graded answers were right, by how many experts agreed.
    pub fn by_agreement(&self) -> &[Level] {
        &self.by_agreement
    }

    /// How long answers are expected to be, by model and kind, where there have been enough: the
    /// median, the 10th and the 90th percentile, and at the high end never less than half as much
    /// again as the median, since a few answers say little of the longest.
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

    /// When a call to a model is late, where there have been enough: the 95th percentile of the
    /// time to its first sign of an answer.
    pub fn hedge_delays(&self) -> BTreeMap<ModelRef, Duration> {
        let enough = self
            .beginnings
            .iter()
            .filter(|(_, samples)| samples.len() >= ENOUGH_BEGINNINGS);
        enough
            .map(|(model, samples)| {
                (
                    model.clone(),
                    Duration::from_millis(nearest_rank(samples, 95)),
                )
            })
            .collect()
    }

    /// Takes a call. A repair is no sample of how long answers are: the model was shown one.
    fn take(&mut self, row: &Row<'_>, models: &BTreeSet<&ModelRef>) -> Result<()> {
        let model = ModelRef::new(row.get::<_, String>(0)?, row.get::<_, String>(1)?);
        if !models.contains(&model) {
            return Ok(());
        }
        if let Some(first_token) = row.get(6)? {
            self.beginnings
                .entry(model.clone())
                .or_default()
                .push(first_token);
        }
        let (answer, purpose): (Option<String>, Option<String>) = (row.get(2)?, row.get(3)?);
        let answer = AnswerKind::ALL
            .into_iter()
            .find(|kind| answer.as_deref() == Some(kind.name()));
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

/// The smallest sample that at least so many percent of all are not above.
fn nearest_rank(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}
