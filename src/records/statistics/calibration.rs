//! Reads [`Calibration`] from the graded answers in the index.
//!
//! The embedded model is left out: its stated confidence carries no information, and an agreement
//! that it had a part in is no evidence.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use rusqlite::{Connection, Result, Row, params};
use serde::Serialize;

use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::names::by_stored_name;
use crate::domain::record::outcome::AnswerOutcome;
use crate::domain::record::statistics::Range;
use crate::domain::time::Timestamp;
use crate::stopping::calibration::{Calibration, GradedConfidence, Level, Reliability};

use crate::records::index::rows::numbers;

/// The graded answers of the range, each with its judge. The agreement counts only without a seat
/// of the embedded model.
const ANSWERS: &str = "
    SELECT outcome, consultations.confidence,
        CASE WHEN NOT EXISTS (
            SELECT 1 FROM consultation_agents AS seat
            WHERE seat.number = consultations.number AND seat.provider = ?3
        ) THEN agreement END,
        provider
    FROM consultations
    LEFT JOIN consultation_agents AS judge
        ON judge.number = consultations.number AND role = 'judge'
    WHERE outcome IS NOT NULL AND consultations.number >= ?1 AND consultations.number < ?2";

/// The stated confidences of the agents that agreed with a graded answer.
const STATEMENTS: &str = "
    SELECT outcome, agents.confidence, provider, model, role = 'judge'
    FROM consultations JOIN consultation_agents AS agents USING (number)
    WHERE outcome IS NOT NULL AND number >= ?1 AND number < ?2
        AND agents.confidence IS NOT NULL AND (role = 'judge' OR agrees = 1)";

pub fn calibration(connection: &Connection, range: &Range) -> Result<Calibration> {
    let keys = numbers(range.from, range.until);
    let mut calibration = Calibration::default();
    answers(connection, &keys, &mut calibration)?;
    statements(connection, &keys, &mut calibration)?;
    Ok(calibration)
}

/// Returns how often graded answers of all time were right, by how many experts agreed.
pub fn by_agreement(connection: &Connection) -> Result<Vec<Level>> {
    let mut calibration = Calibration::default();
    answers(connection, &numbers(None, None), &mut calibration)?;
    Ok(calibration.by_agreement)
}

fn answers(
    connection: &Connection,
    keys: &std::ops::Range<i64>,
    calibration: &mut Calibration,
) -> Result<()> {
    let mut stated = Vec::new();
    let mut levels: BTreeMap<u64, (f64, Vec<f64>)> = BTreeMap::new();
    let mut statement = connection.prepare(ANSWERS)?;
    let mut rows = statement.query(params![keys.start, keys.end, ProviderId::LOCAL])?;
    while let Some(row) = rows.next()? {
        let Some(outcome) = outcome(row)? else {
            continue;
        };
        let graded = &mut calibration.graded;
        graded.total += 1;
        match outcome {
            AnswerOutcome::Right => graded.right += 1,
            AnswerOutcome::Mixed => graded.mixed += 1,
            AnswerOutcome::Wrong => graded.wrong += 1,
        }
        let provider: Option<String> = row.get(3)?;
        if provider.as_deref() == Some(ProviderId::LOCAL) {
            continue;
        }
        let right = outcome.share_right();
        stated.extend(
            row.get::<_, Option<f64>>(1)?
                .map(|stated| GradedConfidence { stated, right }),
        );
        if let Some(agreement) = row
            .get::<_, Option<f64>>(2)?
            .filter(|agreement| (0.0..=1.0).contains(agreement))
        {
            levels
                .entry(percent(agreement))
                .or_insert_with(|| (agreement, Vec::new()))
                .1
                .push(right);
        }
    }
    calibration.answers = Reliability::of(stated);
    calibration.by_agreement = levels
        .into_values()
        .rev()
        .map(|(agreement, rights)| level(agreement, &rights))
        .collect();
    Ok(())
}

fn statements(
    connection: &Connection,
    keys: &std::ops::Range<i64>,
    calibration: &mut Calibration,
) -> Result<()> {
    let (mut experts, mut judges): (ByModel, ByModel) = (BTreeMap::new(), BTreeMap::new());
    let mut statement = connection.prepare(STATEMENTS)?;
    let mut rows = statement.query(params![keys.start, keys.end])?;
    while let Some(row) = rows.next()? {
        let Some(outcome) = outcome(row)? else {
            continue;
        };
        let model = ModelRef::new(row.get::<_, String>(2)?, row.get::<_, String>(3)?);
        if model.is_demonstration() {
            continue;
        }
        let by_model = if row.get::<_, bool>(4)? {
            &mut judges
        } else {
            &mut experts
        };
        by_model.entry(model).or_default().push(GradedConfidence {
            stated: row.get(1)?,
            right: outcome.share_right(),
        });
    }
    calibration.by_expert = reliabilities(experts);
    calibration.by_judge = reliabilities(judges);
    Ok(())
}

type ByModel = BTreeMap<ModelRef, Vec<GradedConfidence>>;

/// Models with the most statements come first.
fn reliabilities(by_model: ByModel) -> IndexMap<ModelRef, Reliability> {
    let mut reliabilities: IndexMap<_, _> = by_model
        .into_iter()
        .filter_map(|(model, graded)| Some((model, Reliability::of(graded)?)))
        .collect();
    reliabilities.sort_by(|_, one, _, other| other.count.cmp(&one.count));
    reliabilities
}

/// `None` for a word of a later version.
fn outcome(row: &Row<'_>) -> Result<Option<AnswerOutcome>> {
    let written: String = row.get(0)?;
    Ok(by_stored_name(&written))
}

/// Stated confidence against the graded answers of a range, as JSON.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CalibrationReport<'a> {
    #[cfg_attr(test, schemars(extend("const" = "1.0")))]
    schema_version: &'static str,
    #[serde(with = "RangeMoments")]
    range: &'a Range,
    #[serde(flatten)]
    calibration: &'a Calibration,
}

/// The moments of a range.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(remote = "Range")]
struct RangeMoments {
    /// The first moment in the range.
    from: Option<Timestamp>,
    /// The first moment after the range.
    until: Option<Timestamp>,
    time_zone: String,
}

impl<'a> CalibrationReport<'a> {
    pub fn new(calibration: &'a Calibration, range: &'a Range) -> Self {
        Self {
            schema_version: "1.0",
            range,
            calibration,
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "there are fewer than 2^53 graded answers"
)]
fn level(agreement: f64, rights: &[f64]) -> Level {
    Level {
        agreement,
        count: rights.len(),
        mean_right: rights.iter().sum::<f64>() / rights.len() as f64,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "from 0 to 1, as checked by the caller"
)]
fn percent(share: f64) -> u64 {
    (share * 100.0).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_published() {
        let title = "conclave consult-stats --calibration --json";
        crate::schema::check::<CalibrationReport<'_>>("calibration", title);
    }
}
