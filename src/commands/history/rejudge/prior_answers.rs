//! What is taken over from the consultation that is judged anew: who sat on its panel, what they
//! answered, and what was decided.

use crate::consultation::anonymity::labels::Labels;
use crate::consultation::anonymity::relabel::Relabelling;
use crate::consultation::plan::Plan;
use crate::consultation::plan::mode::Mode;
use crate::consultation::plan::options::{DebateOptions, PriorAnswers};
use crate::domain::ids::{ConsultationId, ModelRef, SeatId};
use crate::domain::panel::{Persona, Seat};
use crate::domain::stored_record::{StoredAgent, StoredRecord};

/// Tries to draw another order than that of then. With two experts every other try succeeds.
const DRAWS: u64 = 64;

/// The panel of then. Nobody of it is asked, so that nobody needs to be told who they are.
pub(super) fn seats(record: &StoredRecord) -> Vec<Seat> {
    let seat = |id: &SeatId, name: &str, model: Option<&ModelRef>| Seat {
        id: id.clone(),
        persona: Persona {
            id: id.as_str().to_owned(),
            name: name.to_owned(),
            prompt: String::new(),
            brief: String::new(),
            aliases: Vec::new(),
        },
        model: model
            .cloned()
            .unwrap_or_else(|| ModelRef::new("unknown", "unknown")),
    };
    let told = |StoredAgent { id, name, model }: &StoredAgent| seat(id, name, model.as_ref());
    let mut seats: Vec<Seat> = record.experts.iter().map(told).collect();
    for held in &record.independents {
        if seats.iter().all(|seat| seat.id != held.agent_id) {
            seats.push(seat(&held.agent_id, held.agent_id.as_str(), None));
        }
    }
    seats
}

pub(super) fn debate(record: &StoredRecord) -> DebateOptions {
    let mode = record.mode.as_deref().and_then(|name| {
        Mode::ALL
            .into_iter()
            .find(|mode| mode.strategy().name == name)
    });
    let prior_answers = PriorAnswers {
        from: record
            .consultation_id()
            .unwrap_or_else(|| ConsultationId::from_unique(&record.id)),
        independents: record.independents.clone(),
        cross_exam: record.cross_exam.clone(),
        verdict: record.verdict.clone(),
    };
    DebateOptions {
        mode: mode.unwrap_or_default(),
        prior_answers: Some(Box::new(prior_answers)),
        ..DebateOptions::default()
    }
}

/// Lets the judge meet the experts in another order than then, and puts what was said under their
/// old labels under the new ones.
pub(super) fn reorder(plan: &mut Plan, record: &StoredRecord) {
    let then = Labels::in_order(&record.expert_order, &plan.panel.seats);
    for _ in 0..DRAWS {
        if then
            .as_ref()
            .is_none_or(|then| then.order() != plan.labels().order())
        {
            break;
        }
        plan.seed = plan.seed.wrapping_add(1);
    }
    let now = plan.labels();
    let (Some(then), Some(prior_answers)) = (then, &mut plan.debate.prior_answers) else {
        return;
    };
    let relabelling = Relabelling {
        from: &then,
        into: &now,
    };
    prior_answers.cross_exam = prior_answers
        .cross_exam
        .take()
        .map(|record| relabelling.cross_exam(record));
    prior_answers.verdict = prior_answers
        .verdict
        .take()
        .map(|said| relabelling.verdict(said));
}
