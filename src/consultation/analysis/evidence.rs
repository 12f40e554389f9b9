//! Evidence of agreement after the judge's synthesis: numbers and texts, without names.

use crate::domain::artifact::{Independent, Severity, Synthesis};
use crate::domain::ids::ModelRef;
use crate::domain::panel::family;
use crate::stopping::early_termination::{Evidence, Statement};

use super::compose::points;

/// Collects the evidence from the answers of Round 1 with their models, the judge's synthesis, and
/// the number of seats that failed or were degraded, the judge's included.
pub fn evidence<'a>(
    answers: impl IntoIterator<Item = (&'a Independent, &'a ModelRef)>,
    synthesis: &Synthesis,
    troubled: usize,
) -> Evidence {
    let (held, models): (Vec<Independent>, Vec<&ModelRef>) = answers
        .into_iter()
        .map(|(independent, model)| (independent.clone(), model))
        .unzip();
    let points = points(synthesis, &held);
    let strongest = synthesis.leading();
    let mut families: Vec<_> = models.into_iter().map(family).collect();
    families.sort();
    families.dedup();
    Evidence {
        points,
        answered: held.len(),
        families: families.len(),
        troubled,
        tensions: synthesis.tensions.len(),
        high_tensions: synthesis
            .tensions
            .iter()
            .filter(|tension| tension.severity == Severity::High)
            .count(),
        statements: held
            .iter()
            .map(|independent| Statement {
                confidence: independent.confidence,
                supports_leading: strongest
                    .is_some_and(|point| point.is_supported_by(&independent.agent_id)),
                text: text(independent),
            })
            .collect(),
    }
}

/// Returns the whole text of an expert's position.
fn text(held: &Independent) -> String {
    let parts = std::iter::once(&held.position)
        .chain(&held.key_points)
        .chain(std::iter::once(&held.rationale));
    parts.map(String::as_str).collect::<Vec<_>>().join("\n")
}
