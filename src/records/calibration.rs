//! Reads [`Calibration`] from the graded answers in the index.
//!
//! The embedded model is left out: its stated confidence carries no information, and an agreement
//! that it had a part in is no evidence.

use std::collections::BTreeMap;

use rusqlite::{Connection, Result, Row, params};
use serde_json::{Map, Value, json};

use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::outcome::AnswerOutcome;
use crate::domain::statistics::Range;
use crate::stopping::calibration::{Calibration, GradedConfidence, Level, Reliability};

use super::index::rows::numbers;

/// The version of the JSON, whose schema is `schemas/calibration.schema.json`.
const SCHEMA_VERSION: &str = "1.0";

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

/// Reads the calibration of a range.
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
        match outcome {
            AnswerOutcome::Right => calibration.right += 1,
            AnswerOutcome::Mixed => calibration.mixed += 1,
            AnswerOutcome::Wrong => calibration.wrong += 1,
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
    calibration.experts = reliabilities(experts);
    calibration.judges = reliabilities(judges);
    Ok(())
}

type ByModel = BTreeMap<ModelRef, Vec<GradedConfidence>>;

/// Those with most statements first.
fn reliabilities(by_model: ByModel) -> Vec<(ModelRef, Reliability)> {
    let mut reliabilities: Vec<_> = by_model
        .into_iter()
        .filter_map(|(model, graded)| Some((model, Reliability::of(graded)?)))
        .collect();
    reliabilities.sort_by_key(|(_, reliability)| std::cmp::Reverse(reliability.count));
    reliabilities
}

/// The outcome in the first column; `None` for a word of a later version.
fn outcome(row: &Row<'_>) -> Result<Option<AnswerOutcome>> {
    let written: String = row.get(0)?;
    Ok(AnswerOutcome::ALL
        .into_iter()
        .find(|outcome| outcome.name() == written))
}

/// The calibration of a range as JSON.
pub fn json(calibration: &Calibration, range: &Range) -> Value {
    let Calibration {
        right,
        mixed,
        wrong,
        answers,
        experts,
        judges,
        by_agreement,
    } = calibration;
    let by_model = |models: &[(ModelRef, Reliability)]| {
        let models = models.iter();
        models
            .map(|(model, reliability)| (model.to_string(), json!(reliability)))
            .collect::<Map<_, _>>()
    };
    json!({
        "schema_version": SCHEMA_VERSION,
        "range": { "from": range.from, "until": range.until, "time_zone": range.time_zone },
        "graded": { "total": calibration.graded(), "right": right, "mixed": mixed, "wrong": wrong },
        "answers": answers,
        "by_judge": by_model(judges),
        "by_expert": by_model(experts),
        "by_agreement": by_agreement,
    })
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
