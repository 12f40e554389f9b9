//! Detects agreement that was never tested: every expert is confident, nothing is in dispute, and
//! all use the same words.

use std::cmp::Ordering;

use crate::domain::answer::confidence::Confidence;
use crate::stopping::evaluation::{Bound, Checks, MILLION, Value};
use crate::stopping::similarity::least_resemblance;

use super::{AgreementEvidence, STATED, Statement};

/// A confidence above this many millionths, on every side, is a sign of a rubber stamp.
const SURE: u64 = 850_000;

/// The share of common word trigrams from which texts are near-identical.
const NEAR_IDENTICAL: Value = Value::Share {
    part: 600_000,
    of: MILLION,
};

/// Adds a guard that objects if all signs are present. It does not apply to fewer than two
/// texts.
pub(super) fn rubber_stamp(checks: Checks, evidence: &AgreementEvidence) -> Checks {
    let statements = &evidence.statements;
    let texts: Vec<&str> = statements
        .iter()
        .map(|statement| statement.text.as_str())
        .filter(|text| !text.trim().is_empty())
        .collect();
    let least = least_resemblance(texts.iter().copied());
    let signs = [
        all_sure(statements),
        Some(evidence.tensions == 0),
        least.as_ref().map(is_near_identical),
    ];
    let seen = signs.iter().filter(|sign| **sign == Some(true)).count();
    // If one sign is absent, an unknown one does not matter.
    let is_open = signs.contains(&None) && !signs.contains(&Some(false));
    let value = (!is_open).then(|| Value::share(seen, signs.len()));
    let lowest = lowest(statements).map(|lowest| Value::decimal(lowest).in_decimals(2));
    let detail = least.map(|least| {
        format!(
            "lowest stated confidence: {}, tensions: {}, least likeness of two answers: {}",
            lowest.unwrap_or_else(|| "none".to_owned()),
            evidence.tensions,
            least.in_decimals(2),
        )
    });
    let applies = detail.is_some();
    checks
        .guard(&[STATED], "rubber_stamp")
        .of("signs of a rubber stamp")
        .compare(
            value,
            Bound::LessThan,
            Value::share(signs.len(), signs.len()),
        )
        .detail(detail)
        .applies_if(applies)
}

/// `None` if that depends on one without a stated confidence.
fn all_sure(statements: &[Statement]) -> Option<bool> {
    let is_sure = |confidence: Confidence| confidence.millionths() > SURE;
    let said: Vec<Option<bool>> = statements
        .iter()
        .map(|statement| statement.confidence.map(is_sure))
        .collect();
    if said.contains(&Some(false)) {
        Some(false)
    } else {
        (!said.contains(&None)).then_some(true)
    }
}

fn is_near_identical(resemblance: &Value) -> bool {
    resemblance
        .compared(&NEAR_IDENTICAL)
        .is_some_and(Ordering::is_ge)
}

fn lowest(statements: &[Statement]) -> Option<Confidence> {
    statements
        .iter()
        .filter_map(|statement| statement.confidence)
        .min_by(|one, other| one.value().total_cmp(&other.value()))
}
