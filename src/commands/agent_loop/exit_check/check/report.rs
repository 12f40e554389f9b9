//! The result of a check: its exit code, and its JSON.

use serde::Serialize;

use crate::domain::time::Timestamp;
use crate::error::Exit;
use crate::stopping::evaluation::{Class, Decision, Evaluation};
use crate::stopping::exit_check::breaker::BreakerState;
use crate::stopping::exit_check::event::TurnRecord;
use crate::stopping::exit_check::evidence::TurnEvidence;
use crate::stopping::exit_check::run::RunId;
use crate::stopping::exit_check::settings::ExitPolicy;
use crate::stopping::exit_check::thresholds::ExitThresholds;

/// The version of the JSON.
const SCHEMA_VERSION: &str = "1.0";

/// A decision as JSON.
#[derive(Debug, Serialize)]
pub(super) struct CheckReport<'a> {
    schema_version: &'static str,
    time: Timestamp,
    run: &'a RunId,
    turn: u64,
    /// `continue`, or the class of the stop.
    decision: &'static str,
    exit_code: u8,
    policy: ExitPolicy,
    evaluation: &'a Evaluation,
    evidence: &'a TurnEvidence,
    circuit: BreakerState,
    thresholds: &'a ExitThresholds,
}

impl<'a> CheckReport<'a> {
    pub(super) fn new(time: Timestamp, record: &'a TurnRecord, circuit: BreakerState) -> Self {
        let decision = &record.evaluation.decision;
        Self {
            schema_version: SCHEMA_VERSION,
            time,
            run: &record.run.id,
            turn: record.turn,
            decision: word(decision),
            exit_code: exit(decision).code(),
            policy: record.settings.policy,
            evaluation: &record.evaluation,
            evidence: &record.evidence,
            circuit,
            thresholds: &record.settings.thresholds,
        }
    }
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

fn word(decision: &Decision) -> &'static str {
    match decision {
        Decision::Continue => "continue",
        Decision::Stop { class, .. } => class.name(),
    }
}
