//! The parts of the consultation that a rejudgement takes over: panel, answers and decisions.

use crate::consultation::anonymity::labels::Labels;
use crate::consultation::anonymity::relabel::Relabelling;
use crate::consultation::plan::Plan;
use crate::consultation::plan::options::{DebateOptions, PriorAnswers};
use crate::consultation::policy::mode::Mode;
use crate::domain::ids::{ConsultationId, ModelRef, SeatId};
use crate::domain::panel::Seat;
use crate::domain::stored_record::{StoredAgent, StoredRecord};

/// Draws of a new order of experts. With two experts every other draw differs.
const DRAWS: u64 = 64;

/// Returns the seats of the consultation. No expert is asked, so the personas need no prompts.
pub(in crate::setup::plan) fn seats(record: &StoredRecord) -> Vec<Seat> {
    let seat = |id: &SeatId, name: &str, model: Option<ModelRef>| {
        let model = model.unwrap_or_else(|| ModelRef::new("unknown", "unknown"));
        Seat::named(id.as_str(), name, model)
    };
    let seat_of = |agent: &StoredAgent| seat(&agent.id, &agent.name, record.model_of(agent));
    let mut seats: Vec<Seat> = record.agents.iter().map(seat_of).collect();
    for held in record.independents() {
        if seats.iter().all(|seat| seat.id != held.agent_id) {
            seats.push(seat(&held.agent_id, held.agent_id.as_str(), None));
        }
    }
    seats
}

pub(super) fn debate(record: &StoredRecord) -> DebateOptions {
    let mut modes = Mode::ALL.into_iter();
    let mode = modes.find(|mode| record.mode.as_deref() == Some(mode.strategy().name));
    let prior_answers = PriorAnswers {
        from: record
            .consultation_id()
            .unwrap_or_else(|| ConsultationId::from_unique(&record.id)),
        independents: record.independents().cloned().collect(),
        cross_exam: record.cross_exam().cloned(),
        verdict: record.verdict().cloned(),
    };
    DebateOptions {
        mode: mode.unwrap_or_default(),
        prior_answers: Some(Box::new(prior_answers)),
        ..DebateOptions::default()
    }
}

/// Changes the order in which the judge reads the experts, and moves what was said of their old
/// labels to the new ones.
pub(super) fn reorder(plan: &mut Plan, record: &StoredRecord) {
    let then = Labels::in_order(&record.expert_order, &plan.panel.seats);
    for _ in 0..DRAWS {
        let is_same = |then: &Labels| then.order == plan.labels().order;
        if !then.as_ref().is_some_and(is_same) {
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
    let cross_exam = prior_answers.cross_exam.take();
    prior_answers.cross_exam = cross_exam.map(|record| relabelling.cross_exam(record));
    let verdict = prior_answers.verdict.take();
    prior_answers.verdict = verdict.map(|verdict| relabelling.verdict(verdict));
}
