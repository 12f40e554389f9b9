//! The answer: the verdict's parts with the experts' names, each expert's position, and the judge's
//! passes.

use indexmap::IndexMap;

use crate::consultation::transcript::Transcript;
use crate::domain::artifact::{Challenge, Dissent, Evidence, Source, Tension, Verdict};
use crate::domain::debate_value::{DebateValue, PositionChange};
use crate::domain::ids::{ConsultationId, SeatId};
use crate::domain::panel::Seat;
use crate::domain::second_pass::SecondPass;
use crate::domain::stored_record::{
    JudgePasses, Rejudged, SecondVerdict, StoredConcern, StoredPerspective,
};

impl Transcript {
    pub(super) fn verdict_source(&self) -> Option<&'static str> {
        self.verdict().map(|verdict| match verdict.composed_from {
            None => "judge",
            Some(Source::Synthesis) => "synthesis",
            Some(Source::CrossExam) => "cross_examination",
        })
    }

    /// Returns each expert's rationale of Round 1.
    pub(super) fn reasoning(&self) -> IndexMap<SeatId, String> {
        self.independents()
            .map(|held| (held.agent_id.clone(), held.rationale.clone()))
            .collect()
    }

    fn evidence(&self) -> &[Evidence] {
        self.verdict()
            .map(|verdict| verdict.evidence.as_slice())
            .unwrap_or_default()
    }

    pub(super) fn claims(&self) -> Vec<String> {
        let evidence = self.evidence().iter();
        evidence.map(|evidence| evidence.claim.clone()).collect()
    }

    pub(super) fn stored_evidence(&self) -> Vec<Evidence> {
        let mut stored = self.evidence().to_vec();
        for evidence in &mut stored {
            evidence.agent = self.agent_name(&evidence.agent).to_owned();
        }
        stored
    }

    pub(super) fn stored_dissent(&self) -> Vec<Dissent> {
        let mut stored = self.verdict().map_or(&[][..], Verdict::objections).to_vec();
        for dissent in &mut stored {
            dissent.agent = self.agent_name(&dissent.agent).to_owned();
        }
        stored
    }

    /// Returns unresolved points, then objections, the most severe first. Without a
    /// cross-examination, the tensions of Round 2.
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

    /// Returns each expert's position, in the panel's order; those without an answer are in
    /// `responses` with their error.
    pub(super) fn stored_perspectives(&self, value: &DebateValue) -> Vec<StoredPerspective> {
        let seats = self.terms.panel.seats.iter();
        seats
            .filter_map(|seat| self.stored_perspective(seat, value))
            .collect()
    }

    fn stored_perspective(&self, seat: &Seat, value: &DebateValue) -> Option<StoredPerspective> {
        let held = self.independent(&seat.id)?;
        let revision = self.revision(&seat.id);
        let stated = revision.and_then(|revision| revision.changed);
        let change = value.position_change(&seat.id, stated);
        Some(StoredPerspective {
            agent: seat.name().to_owned(),
            agent_id: seat.id.clone(),
            model: Some(self.player(seat).model.clone()),
            opinion: held.position.clone(),
            confidence: held.confidence,
            revised_opinion: revision.map(|revision| revision.revised_position.clone()),
            revised_confidence: revision.and_then(|revision| revision.revised_confidence),
            changed: change.map(PositionChange::is_change),
            change_basis: change.map(PositionChange::basis),
        })
    }

    pub(super) fn stored_judge_passes(&self) -> Option<JudgePasses> {
        let SecondPass {
            verdict,
            model,
            expert_order,
            held,
        } = self.second_pass.as_ref()?;
        Some(JudgePasses {
            passes: 2,
            consistent: held.consistent,
            magnitude: held.magnitude,
            reason: held.reason.clone(),
            second: verdict.as_ref().map(|verdict| SecondVerdict {
                model: model.clone(),
                verdict: Some(verdict.clone()),
            }),
            expert_orders: vec![self.terms.expert_order.clone(), expert_order.clone()],
        })
    }

    /// Returns the consultation whose answers are rejudged.
    pub(super) fn rejudged_from(&self) -> Option<&ConsultationId> {
        let plan = self.terms.plan.as_ref()?;
        let prior = plan.debate.prior_answers.as_ref()?;
        Some(&prior.from)
    }

    /// Returns the consultation that the question follows up. A rejudgement has its link in
    /// [`Self::rejudged_from`].
    pub(super) fn follow_up_of(&self) -> Option<&ConsultationId> {
        let debate = &self.terms.plan.as_ref()?.debate;
        let prior = debate.follows_up.as_ref()?;
        debate.prior_answers.is_none().then_some(&prior.id)
    }

    pub(super) fn stored_rejudgement(&self) -> Option<Rejudged> {
        let held = self.rejudged.clone().unwrap_or_default();
        self.rejudged_from().map(|from| Rejudged {
            from: from.as_str().to_owned(),
            consistent: held.consistent,
            magnitude: held.magnitude,
            reason: held.reason,
        })
    }
}

fn by_severity(concerns: impl Iterator<Item = StoredConcern>) -> Vec<StoredConcern> {
    let mut concerns: Vec<StoredConcern> = concerns.collect();
    concerns.sort_by_key(|concern| std::cmp::Reverse(concern.severity));
    concerns
}
