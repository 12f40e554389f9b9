//! The answer: the verdict's parts with the experts' names, each expert's position, and the judge's
//! passes.

use crate::consultation::analysis::wording::is_same;
use crate::consultation::transcript::Transcript;
use crate::domain::answer::artifact::{Challenge, Evidence, Tension};
use crate::domain::answer::confidence::Calibrated;
use crate::domain::answer::debate_value::PositionChange;
use crate::domain::answer::second_pass::SecondPass;
use crate::domain::panel::Seat;
use crate::domain::record::stored_record::{
    DebateValue, Rejudged, SecondVerdict, StoredConcern, StoredJudgePasses, StoredPerspective,
    StoredRecord,
};

impl Transcript {
    pub(super) fn record_of_answer(&self, debate_value: DebateValue) -> StoredRecord {
        let verdict = self.verdict();
        let provisional = self.provisional_answer();
        let (source, recommendation, confidence) = match (verdict, provisional) {
            (Some(verdict), _) => ("judge", Some(&verdict.recommendation), verdict.confidence),
            (None, Some((2, given))) => ("synthesis", Some(&given.answer), given.confidence),
            (None, Some((_, given))) => {
                ("cross_examination", Some(&given.answer), given.confidence)
            }
            (None, None) => ("", None, None),
        };
        let recommendation = recommendation.cloned();
        let mut evidence = match verdict {
            Some(verdict) => verdict.evidence.clone(),
            None => self.agreements(),
        };
        evidence.retain(|part| {
            recommendation
                .as_ref()
                .is_none_or(|answer| !is_same(&part.claim, answer))
        });
        for evidence in &mut evidence {
            evidence.agent = self.agent_name(&evidence.agent).to_owned();
        }
        let mut dissent = verdict.map_or_else(Vec::new, |verdict| verdict.dissent.clone());
        for dissent in &mut dissent {
            dissent.agent = self.agent_name(&dissent.agent).to_owned();
        }
        let concerns = self.stored_concerns();
        let held = self.second_pass.as_ref().map(|second| &second.held);
        let calibrated = self.calibrated();
        // A rejudgement has its link in `rejudged_from`.
        let debate = self.terms.plan.as_deref().map(|plan| &plan.debate);
        let prior = debate.and_then(|debate| debate.prior_answers.as_ref());
        let rejudged_from = prior.map(|prior| prior.from.to_string());
        let follows_up = debate.and_then(|debate| debate.follows_up.as_ref());
        let follows_up = follows_up.filter(|_| prior.is_none());
        StoredRecord {
            consensus: recommendation.clone(),
            confidence,
            verdict_source: recommendation.is_some().then(|| source.to_owned()),
            recommendation,
            recommendations: verdict
                .map_or_else(Vec::new, |verdict| verdict.recommendations.clone()),
            summary: verdict.map(|verdict| verdict.summary.clone()),
            partial_consensus: self.partial_consensus().filter(|_| verdict.is_none()),
            reasoning: self
                .independents()
                .map(|held| (held.agent_id.clone(), held.rationale.clone()))
                .collect(),
            evidence: evidence.iter().map(|part| part.claim.clone()).collect(),
            evidence_detail: evidence,
            concerns: concerns.iter().map(|part| part.text.clone()).collect(),
            concerns_detail: concerns,
            dissent,
            perspectives: self.stored_perspectives(&debate_value),
            agreement: self.agreement(),
            debate_value_analysis: Some(debate_value),
            judge_consistent: held.and_then(|held| held.consistent),
            judge_passes: self.stored_judge_passes(),
            rejudged: rejudged_from.clone().map(|from| Rejudged {
                from,
                held: self.rejudged.clone().unwrap_or_default(),
            }),
            follow_up_of: follows_up.map(|prior| prior.id.to_string()),
            follow_up_question: follows_up.map(|prior| prior.question.clone()),
            rejudged_from,
            calibrated_confidence: calibrated.map(|calibrated| calibrated.probability),
            calibration: calibrated.map(|Calibrated { basis, .. }| basis),
            ..StoredRecord::default()
        }
    }

    /// The points of agreement. A point held by several experts has no agent.
    fn agreements(&self) -> Vec<Evidence> {
        let synthesis = self.synthesis().into_iter();
        let points = synthesis.flat_map(|synthesis| &synthesis.consensus_points);
        let evidence = points.map(|point| Evidence {
            claim: point.point.clone(),
            agent: match point.supporting_agents.as_slice() {
                [only] => only.clone(),
                [] | [_, _, ..] => String::new(),
            },
            quote: String::new(),
        });
        evidence.collect()
    }

    /// Unresolved points, then objections, the most severe first. Without a cross-examination, the
    /// tensions of Round 2.
    pub(super) fn stored_concerns(&self) -> Vec<StoredConcern> {
        if let Some(merged) = self.cross_exam() {
            let prose = Some(&merged.prose_excerpt).filter(|prose| !prose.trim().is_empty());
            let unresolved = merged.unresolved.iter().chain(prose);
            let unresolved = unresolved.map(|text| StoredConcern {
                text: text.clone(),
                raised_by: None,
                severity: None,
            });
            let challenges = self.challenges(merged.challenges.iter());
            return unresolved.chain(challenges).collect();
        }
        let raised = self.challenges(self.revisions().flat_map(|revision| &revision.challenges));
        if !raised.is_empty() {
            return raised;
        }
        let tensions = self.synthesis().into_iter();
        let tensions = tensions.flat_map(|synthesis| &synthesis.tensions);
        by_severity(tensions.map(|tension| self.concern_of(tension)))
    }

    fn challenges<'a>(
        &self,
        challenges: impl Iterator<Item = &'a Challenge>,
    ) -> Vec<StoredConcern> {
        by_severity(challenges.map(|challenge| StoredConcern {
            text: challenge.challenge.clone(),
            raised_by: Some(self.agent_name(&challenge.challenger).to_owned()),
            severity: Some(challenge.severity),
        }))
    }

    fn concern_of(&self, tension: &Tension) -> StoredConcern {
        let views: Vec<String> = tension
            .viewpoints
            .iter()
            .map(|view| format!("{}: {}", self.agent_name(&view.agent), view.viewpoint))
            .collect();
        StoredConcern {
            text: if views.is_empty() {
                tension.topic.clone()
            } else {
                format!("{} ({})", tension.topic, views.join("; "))
            },
            raised_by: None,
            severity: Some(tension.severity),
        }
    }

    /// In the panel's order; those without an answer are in `responses` with their error.
    pub(super) fn stored_perspectives(&self, value: &DebateValue) -> Vec<StoredPerspective> {
        let seats = self.terms.panel.seats.iter();
        seats
            .filter_map(|seat| self.stored_perspective(seat, value))
            .collect()
    }

    fn stored_perspective(&self, seat: &Seat, value: &DebateValue) -> Option<StoredPerspective> {
        let held = self.independent(&seat.id)?;
        let revision = self.revision(&seat.id);
        let change = value.position_change(&seat.id);
        Some(StoredPerspective {
            agent: seat.name().to_owned(),
            agent_id: seat.id.clone(),
            model: Some(self.player(seat).model.clone()),
            opinion: held.position.clone(),
            confidence: held.confidence,
            revised_opinion: revision.map(|revision| revision.revised_position.clone()),
            revised_confidence: revision.and_then(|revision| revision.revised_confidence),
            changed: change.map(|change| change == PositionChange::Changed),
            refined: change.map(|change| change == PositionChange::Refined),
        })
    }

    pub(super) fn stored_judge_passes(&self) -> Option<StoredJudgePasses> {
        let SecondPass {
            verdict,
            model,
            expert_order,
            held,
        } = self.second_pass.as_ref()?;
        Some(StoredJudgePasses {
            passes: 2,
            held: held.clone(),
            second: verdict.as_ref().map(|verdict| SecondVerdict {
                model: model.clone(),
                verdict: Some(verdict.clone()),
            }),
            expert_orders: vec![self.terms.expert_order.clone(), expert_order.clone()],
        })
    }
}

fn by_severity(concerns: impl Iterator<Item = StoredConcern>) -> Vec<StoredConcern> {
    let mut concerns: Vec<StoredConcern> = concerns.collect();
    concerns.sort_by_key(|concern| std::cmp::Reverse(concern.severity));
    concerns
}
