//! Evidence of agreement after the judge's synthesis: numbers and texts, without names.

use crate::domain::answer::artifact::{ConsensusPoint, Independent, Severity, Synthesis};
use crate::domain::answer::confidence::Calibrated;
use crate::domain::ids::ModelRef;
use crate::domain::model::family;
use crate::stopping::early_termination::{
    self, AgreementEvidence, Point, Statement, TerminationRule,
};

/// The judge's synthesis with its model.
#[derive(Clone, Copy, Debug)]
pub struct JudgedSynthesis<'a> {
    pub synthesis: &'a Synthesis,
    pub judge: &'a ModelRef,
}

/// Returns the calibrated probability that the leading point is right. Models of demonstration
/// quality have no part in it: `None` if one of them judged.
pub fn calibrated<'a>(
    rule: &TerminationRule,
    answers: impl IntoIterator<Item = (&'a Independent, &'a ModelRef)>,
    judgement: JudgedSynthesis<'_>,
) -> Option<Calibrated> {
    let answers = answers.into_iter();
    let counted = answers.filter(|(_, model)| !model.is_demonstration());
    early_termination::calibrated(rule, &evidence(counted, judgement, 0))
}

/// Collects the evidence from the answers of Round 1 with their models, the judge's synthesis, and
/// the number of troubled seats, the judge's included.
pub fn evidence<'a>(
    answers: impl IntoIterator<Item = (&'a Independent, &'a ModelRef)>,
    JudgedSynthesis { synthesis, judge }: JudgedSynthesis<'_>,
    troubled: usize,
) -> AgreementEvidence {
    let (held, models): (Vec<Independent>, Vec<&ModelRef>) = answers
        .into_iter()
        .map(|(independent, model)| (independent.clone(), model))
        .unzip();
    AgreementEvidence {
        points: points(synthesis, &held),
        answered: held.len(),
        families: family::count(models),
        troubled,
        uninformative_judge: judge.is_demonstration(),
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
                text: text(independent),
            })
            .collect(),
    }
}

fn text(held: &Independent) -> String {
    let parts = std::iter::once(&held.position)
        .chain(&held.key_points)
        .chain(std::iter::once(&held.rationale));
    parts.map(String::as_str).collect::<Vec<_>>().join("\n")
}

fn points(synthesis: &Synthesis, independents: &[Independent]) -> Vec<Point> {
    let supporters = |point: &ConsensusPoint| {
        independents
            .iter()
            .filter(|held| point.is_supported_by(&held.agent_id))
            .count()
    };
    synthesis
        .consensus_points
        .iter()
        .map(|point| Point {
            confidence: point.confidence,
            supporters: supporters(point),
        })
        .collect()
}
