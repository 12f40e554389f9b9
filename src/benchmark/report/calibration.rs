//! Whether confidence says how likely an answer is right.
//!
//! Models of demonstration quality are left out: the confidence that they state carries no
//! information.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::benchmark::result::CaseResult;
use crate::domain::ids::ModelRef;
use crate::stopping::calibration::{GradedConfidence, Reliability};

/// The calibration of one arm.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ArmCalibration {
    /// The confidence that answers state, against whether they are right.
    pub stated: Option<Reliability>,
    /// The calibrated probability that the leading point of Round 2 is right, against whether it
    /// is.
    pub calibrated: Option<Reliability>,
    /// Calibrated probabilities that are left out, because their leading point states no answer
    /// that can be compared.
    pub uncompared: u64,
    /// The confidence that experts state in Round 1, against whether their answers of Round 1 are
    /// right; by model, in alphabetical order.
    pub experts: Vec<ModelReliability>,
    /// Answers that are left out, because a model of demonstration quality stated their confidence.
    pub demonstration: u64,
}

/// The calibration of one model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ModelReliability {
    pub model: ModelRef,
    pub reliability: Reliability,
}

impl ArmCalibration {
    pub(super) fn of(results: &[&CaseResult]) -> Self {
        let count = |is_counted: fn(&CaseResult) -> bool| {
            let counted = results.iter().filter(|result| is_counted(result));
            counted.count() as u64
        };
        Self {
            uncompared: count(|one| one.calibrated.is_some() && leading_is_right(one).is_none()),
            stated: Reliability::of(results.iter().copied().filter_map(stated)),
            calibrated: Reliability::of(results.iter().copied().filter_map(calibrated)),
            experts: experts(results),
            demonstration: count(|one| one.demonstration && one.confidence.is_some()),
        }
    }

    pub fn kinds(&self) -> Vec<(&'static str, &Reliability)> {
        let kinds = [("stated", &self.stated), ("calibrated", &self.calibrated)].into_iter();
        let known = kinds.filter_map(|(kind, of)| Some((kind, of.as_ref()?)));
        known.collect()
    }
}

fn stated(result: &CaseResult) -> Option<GradedConfidence> {
    let is_right = result.answer.as_ref()?.is_right;
    let stated = result.confidence.filter(|_| !result.demonstration)?;
    Some(graded(stated, is_right))
}

/// The probability is one of the leading point, which Rounds 3 and 4 may replace.
fn calibrated(result: &CaseResult) -> Option<GradedConfidence> {
    let is_right = leading_is_right(result)?;
    Some(graded(result.calibrated?, is_right))
}

/// Returns whether the leading point of Round 2 is right; `None` if it states no answer. A model
/// that grades only sees the answer of the consultation, which is the leading point of an early
/// stop.
fn leading_is_right(result: &CaseResult) -> Option<bool> {
    let is_graded_point = result.early_stop && result.grading.is_some();
    let graded = result.stages.verdict.filter(|_| is_graded_point);
    result.stages.synthesis.or(graded)
}

fn experts(results: &[&CaseResult]) -> Vec<ModelReliability> {
    let mut models: BTreeMap<&ModelRef, Vec<GradedConfidence>> = BTreeMap::new();
    for expert in results.iter().flat_map(|result| &result.experts) {
        if expert.model.is_demonstration() {
            continue;
        }
        if let (Some(stated), Some(is_right)) = (expert.confidence, expert.before) {
            let statements = models.entry(&expert.model).or_default();
            statements.push(graded(stated, is_right));
        }
    }
    let reliabilities = models.into_iter().filter_map(|(model, statements)| {
        Some(ModelReliability {
            model: model.clone(),
            reliability: Reliability::of(statements)?,
        })
    });
    reliabilities.collect()
}

fn graded(stated: f64, is_right: bool) -> GradedConfidence {
    GradedConfidence {
        stated,
        right: f64::from(u8::from(is_right)),
    }
}
