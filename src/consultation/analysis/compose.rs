//! An answer put together by rule from what the rounds brought, where no judge was asked for a
//! verdict: because the debate ended early, or fewer rounds were wanted. Nothing is written anew.

use crate::domain::artifact::{
    Challenge, Choice, ConsensusPoint, Content, CrossExam, Dissent, Evidence, Independent,
    Severity, Source, Synthesis, Tension, Verdict,
};
use crate::stopping::early_termination;
use crate::stopping::early_termination::Point;

use crate::consultation::machine::step::StepContext;

/// What is said where the experts agree on nothing.
const NO_POINT: &str = "No clear recommendation: the experts agree on no point";

/// What an answer is put together from.
#[derive(Clone, Copy, Debug)]
pub struct Material<'a> {
    pub independents: &'a [Independent],
    pub synthesis: &'a Synthesis,
    /// Where Round 3 was held.
    pub cross_exam: Option<&'a CrossExam>,
}

/// Keeps the answer that the mode puts together from these rounds.
pub(in crate::consultation) fn keep(step: &mut StepContext<'_>, material: Material<'_>) {
    let verdict = step.plan.debate.mode.strategy().compose(material);
    step.keep(Content::Verdict(verdict), false);
}

impl Material<'_> {
    fn source(&self) -> Source {
        if self.cross_exam.is_some() {
            Source::CrossExam
        } else {
            Source::Synthesis
        }
    }

    /// What still stands against the answer: what the cross-examination left open, else every
    /// tension.
    fn dissent(&self) -> Vec<Dissent> {
        let Some(examined) = self.cross_exam else {
            let tension = |tension: &Tension| Dissent {
                agent: tension
                    .viewpoints
                    .first()
                    .map(|view| view.agent.clone())
                    .unwrap_or_default(),
                concern: tension.topic.clone(),
                severity: tension.severity,
            };
            return self.synthesis.tensions.iter().map(tension).collect();
        };
        let open = |concern: &String| Dissent {
            agent: String::new(),
            concern: concern.clone(),
            severity: Severity::default(),
        };
        let challenge = |raised: &Challenge| Dissent {
            agent: raised.challenger.clone(),
            concern: raised.challenge.clone(),
            severity: raised.severity,
        };
        let weighty = examined
            .challenges
            .iter()
            .filter(|raised| raised.severity == Severity::High);
        examined
            .unresolved
            .iter()
            .map(open)
            .chain(weighty.map(challenge))
            .collect()
    }

    /// Every point that they agree on. One that several hold is nobody's in particular.
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

    /// The judge's own words, where only they could be kept.
    fn summary(&self) -> String {
        self.synthesis.prose_excerpt.clone()
    }
}

/// The strongest point of agreement, with the mean of what is stated about all of them.
pub(in crate::consultation) fn recommendation(material: Material<'_>) -> Verdict {
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
        dissent: material.dissent(),
        summary: material.summary(),
        recommendations: Vec::new(),
        composed_from: Some(material.source()),
    }
}

/// What each expert holds, as an option of its own.
pub(in crate::consultation) fn menu(material: Material<'_>) -> Verdict {
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
        Choice {
            option: revised
                .map_or(&held.position, |said| &said.revised_position)
                .clone(),
            description: held.rationale.clone(),
            // Its key points are other possibilities.
            pros: Vec::new(),
            cons: against.map(|raised| raised.challenge.clone()).collect(),
            best_when: String::new(),
            confidence: revised.map_or(held.confidence, |said| said.revised_confidence),
        }
    };
    Verdict {
        recommendation: String::new(),
        confidence: None,
        evidence: material.evidence(),
        dissent: material.dissent(),
        summary: material.summary(),
        recommendations: material.independents.iter().map(option).collect(),
        composed_from: Some(material.source()),
    }
}

/// Whether an expert is among those who make a claim.
pub(in crate::consultation) fn supports(point: &ConsensusPoint, held: &Independent) -> bool {
    point
        .supporting_agents
        .iter()
        .any(|agent| agent == held.agent_id.as_str())
}

/// What the judge found agreed, with how many of those who answered support it.
pub(in crate::consultation) fn points(
    synthesis: &Synthesis,
    independents: &[Independent],
) -> Vec<Point> {
    let supporters = |point: &ConsensusPoint| {
        independents
            .iter()
            .filter(|held| supports(point, held))
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
