//! Composes an answer by rule from the rounds that were held, for debates without a judge's
//! verdict: those that ended early, or with fewer rounds requested. Every sentence is taken over
//! unchanged. There is no dissent: no expert has seen the answer. The record lists open points.

use crate::domain::answer::artifact::{
    ConsensusPoint, CrossExam, Evidence, Independent, MenuOption, Source, Synthesis, Verdict,
};
use crate::stopping::early_termination::{self, Point};

/// The recommendation if the experts agree on nothing.
const NO_POINT: &str = "No clear recommendation: the experts agree on no point";

/// The rounds that an answer is composed from.
#[derive(Clone, Copy, Debug)]
pub struct HeldRounds<'a> {
    pub independents: &'a [Independent],
    pub synthesis: &'a Synthesis,
    /// `None` if Round 3 was not held.
    pub cross_exam: Option<&'a CrossExam>,
}

impl HeldRounds<'_> {
    fn source(&self) -> Source {
        if self.cross_exam.is_some() {
            Source::CrossExam
        } else {
            Source::Synthesis
        }
    }

    /// A point held by several experts has no agent.
    fn evidence(&self) -> Vec<Evidence> {
        let points = self.synthesis.consensus_points.iter();
        points
            .map(|point| Evidence {
                claim: point.point.clone(),
                agent: match point.supporting_agents.as_slice() {
                    [only] => only.clone(),
                    [] | [_, _, ..] => String::new(),
                },
                quote: String::new(),
            })
            .collect()
    }
}

/// Recommends the strongest point of agreement, with the mean stated confidence of all points.
pub(crate) fn recommendation(material: HeldRounds<'_>) -> Verdict {
    let points: Vec<Point> = points(material.synthesis, material.independents);
    let leading = material.synthesis.leading();
    Verdict {
        recommendation: leading.map_or_else(|| NO_POINT.to_owned(), |point| point.point.clone()),
        confidence: if points.is_empty() {
            None
        } else {
            early_termination::stated_confidence(&points)
        },
        evidence: material.evidence(),
        summary: material.synthesis.prose_excerpt.clone(),
        composed_from: Some(material.source()),
        ..Verdict::default()
    }
}

pub(crate) fn menu(material: HeldRounds<'_>) -> Verdict {
    let option = |held: &Independent| {
        let revised = material.cross_exam.and_then(|examined| {
            examined
                .positions
                .iter()
                .find(|said| said.agent_id == held.agent_id)
        });
        let against = material
            .cross_exam
            .into_iter()
            .flat_map(|examined| &examined.challenges);
        let against = against.filter(|raised| raised.target_agent == held.agent_id.as_str());
        MenuOption {
            option: revised
                .map_or(&held.position, |said| &said.revised_position)
                .clone(),
            description: held.rationale.clone(),
            cons: against.map(|raised| raised.challenge.clone()).collect(),
            confidence: revised.map_or(held.confidence, |said| said.revised_confidence),
            // An expert's key points are further possibilities, not advantages.
            ..MenuOption::default()
        }
    };
    Verdict {
        evidence: material.evidence(),
        // The judge's own words if its synthesis could only be read as prose.
        summary: material.synthesis.prose_excerpt.clone(),
        recommendations: material.independents.iter().map(option).collect(),
        composed_from: Some(material.source()),
        ..Verdict::default()
    }
}

pub(crate) fn points(synthesis: &Synthesis, independents: &[Independent]) -> Vec<Point> {
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
