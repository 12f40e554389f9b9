//! Reads the artifacts of the rounds, in either spelling of the keys. Missing fields are empty.

use crate::domain::artifact::{
    Because, Challenge, ConsensusPoint, CrossExam, Dissent, Evidence, Independent, MenuOption,
    Rebuttal, Revision, Source, Synthesis, Tension, Verdict, Viewpoint,
};
use crate::domain::ids::SeatId;
use crate::domain::stored_record::StoredAgent;

use super::fields::Fields;

/// The panel, for finding a seat's id where a record has its name or another spelling.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seats<'a>(pub(super) &'a [StoredAgent]);

impl Seats<'_> {
    /// Returns the id of the seat that a text names; other text is returned unchanged.
    pub(super) fn id(self, text: &str) -> String {
        let same = |name: &str| letters(name).eq(letters(text));
        let exact = self.0.iter().find(|agent| agent.id.as_str() == text);
        let seat = exact.or_else(|| {
            self.0
                .iter()
                .find(|agent| !text.is_empty() && (same(agent.id.as_str()) || same(&agent.name)))
        });
        seat.map_or(text, |agent| agent.id.as_str()).to_owned()
    }

    pub(super) fn agent(self, fields: Fields<'_>, name: &str) -> String {
        self.id(&fields.text_or_empty(name))
    }
}

/// Returns letters and digits in lower case: `security_expert` and `Security Expert` are equal.
pub(super) fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
}

pub(super) fn independent(fields: Fields<'_>, seats: Seats<'_>) -> Independent {
    Independent {
        agent_id: SeatId::new(seats.agent(fields, "agent_id")),
        position: fields.text_or_empty("position"),
        key_points: fields.texts("key_points"),
        rationale: fields.text_or_empty("rationale"),
        confidence: fields.confidence("confidence"),
        prose_excerpt: fields.text_or_empty("prose_excerpt"),
    }
}

pub(super) fn synthesis(fields: Fields<'_>, seats: Seats<'_>) -> Synthesis {
    let point = |point: Fields<'_>| ConsensusPoint {
        point: point.text_or_empty("point"),
        supporting_agents: point
            .texts("supporting_agents")
            .iter()
            .map(|agent| seats.id(agent))
            .collect(),
        confidence: point.confidence("confidence"),
    };
    let viewpoint = |view: Fields<'_>| Viewpoint {
        agent: seats.agent(view, "agent"),
        viewpoint: view.text_or_empty("viewpoint"),
    };
    let tension = |tension: Fields<'_>| Tension {
        topic: tension.text_or_empty("topic"),
        viewpoints: tension.each("viewpoints").map(viewpoint).collect(),
        severity: tension.severity("severity"),
    };
    Synthesis {
        consensus_points: fields.each("consensus_points").map(point).collect(),
        tensions: fields.each("tensions").map(tension).collect(),
        priority_order: fields.texts("priority_order"),
        prose_excerpt: fields.text_or_empty("prose_excerpt"),
    }
}

pub(super) fn revision(fields: Fields<'_>, seats: Seats<'_>) -> Revision {
    let because = |because: Fields<'_>| Because {
        agent: seats.agent(because, "agent"),
        argument: because.text_or_empty("argument"),
    };
    Revision {
        agent_id: SeatId::new(seats.agent(fields, "agent_id")),
        challenges: challenges(fields, seats),
        rebuttals: rebuttals(fields, seats),
        revised_position: fields.text_or_empty("revised_position"),
        revised_confidence: fields.confidence("revised_confidence"),
        changed: fields.flag("changed"),
        because_of: fields.each("because_of").map(because).collect(),
    }
}

pub(super) fn cross_exam(fields: Fields<'_>, seats: Seats<'_>) -> CrossExam {
    CrossExam {
        challenges: challenges(fields, seats),
        rebuttals: rebuttals(fields, seats),
        unresolved: fields.texts("unresolved"),
        positions: fields
            .each("positions")
            .map(|position| revision(position, seats))
            .collect(),
        prose_excerpt: fields.text_or_empty("prose_excerpt"),
    }
}

pub(super) fn verdict(fields: Fields<'_>, seats: Seats<'_>) -> Verdict {
    Verdict {
        recommendations: choices(fields),
        composed_from: match fields.text("composed_from").as_deref() {
            Some("synthesis") => Some(Source::Synthesis),
            Some("cross_exam") => Some(Source::CrossExam),
            Some(_) | None => None,
        },
        recommendation: fields.text_or_empty("recommendation"),
        confidence: fields.confidence("confidence"),
        evidence: evidence(fields, "evidence", seats),
        dissent: dissent(fields, seats),
        summary: fields.text_or_empty("summary"),
    }
}

/// The options of a menu, or bare names of them.
fn choices(fields: Fields<'_>) -> Vec<MenuOption> {
    let one = |choice: Fields<'_>| MenuOption {
        option: choice
            .as_text()
            .map_or_else(|| choice.text_or_empty("option"), str::to_owned),
        description: choice.text_or_empty("description"),
        pros: choice.texts("pros"),
        cons: choice.texts("cons"),
        best_when: choice.text_or_empty("best_when"),
        confidence: choice.confidence("confidence"),
    };
    fields.each("recommendations").map(one).collect()
}

/// Evidence as claims with who made them, or as bare sentences.
pub(super) fn evidence(fields: Fields<'_>, name: &str, seats: Seats<'_>) -> Vec<Evidence> {
    let one = |evidence: Fields<'_>| match evidence.as_text() {
        Some(claim) => Evidence {
            claim: claim.to_owned(),
            agent: String::new(),
            quote: String::new(),
        },
        None => Evidence {
            claim: evidence.text_or_empty("claim"),
            agent: seats.agent(evidence, "agent"),
            quote: evidence.text_or_empty("quote"),
        },
    };
    fields.each(name).map(one).collect()
}

/// Objections with who raised them, or as bare sentences.
pub(super) fn dissent(fields: Fields<'_>, seats: Seats<'_>) -> Vec<Dissent> {
    let one = |dissent: Fields<'_>| Dissent {
        agent: seats.agent(dissent, "agent"),
        concern: dissent
            .as_text()
            .map_or_else(|| dissent.text_or_empty("concern"), str::to_owned),
        severity: dissent.severity("severity"),
    };
    fields.each("dissent").map(one).collect()
}

fn challenges(fields: Fields<'_>, seats: Seats<'_>) -> Vec<Challenge> {
    let one = |challenge: Fields<'_>| Challenge {
        challenger: seats.agent(challenge, "challenger"),
        target_agent: seats.agent(challenge, "target_agent"),
        challenge: challenge.text_or_empty("challenge"),
        evidence: challenge.texts("evidence"),
        severity: challenge.severity("severity"),
    };
    fields.each("challenges").map(one).collect()
}

fn rebuttals(fields: Fields<'_>, seats: Seats<'_>) -> Vec<Rebuttal> {
    let one = |rebuttal: Fields<'_>| Rebuttal {
        agent: seats.agent(rebuttal, "agent"),
        rebuttal: rebuttal.text_or_empty("rebuttal"),
    };
    fields.each("rebuttals").map(one).collect()
}
