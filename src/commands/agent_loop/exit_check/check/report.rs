//! The result of a check: its exit code, and its JSON.

use serde_json::{Value, json};

use crate::domain::time::Timestamp;
use crate::error::Exit;
use crate::stopping::evaluation::{Class, Decision};
use crate::stopping::exit_check::breaker::BreakerState;
use crate::stopping::exit_check::event::TurnRecord;

/// Returns a check as JSON.
pub(super) fn as_json(time: Timestamp, record: &TurnRecord, circuit: &BreakerState) -> Value {
    let decision = &record.evaluation.decision;
    json!({
        "schema_version": "1.0",
        "time": time,
        "run": record.run.id,
        "turn": record.turn,
        "decision": match decision {
            Decision::Continue => "continue",
            Decision::Stop { class, .. } => class.name(),
        },
        "exit_code": exit(decision).code(),
        "policy": record.settings.policy,
        "evaluation": record.evaluation,
        "evidence": record.evidence,
        "circuit": circuit,
        "thresholds": record.settings.thresholds,
    })
}

/// Returns the exit code of a decision.
pub(super) fn exit(decision: &Decision) -> Exit {
    match decision {
        Decision::Continue => Exit::Answer,
        Decision::Stop { class, .. } => match class {
            Class::Done | Class::Converged => Exit::Done,
            Class::NeedsHuman => Exit::NeedsHuman,
            Class::Halted => Exit::Halted,
            Class::Stalled => Exit::Stalled,
            Class::Exhausted => Exit::Exhausted,
            Class::Cancelled => Exit::Interrupted,
        },
    }
}
