//! The result of a check: its exit code, and its JSON.

use serde::Serialize;

use crate::domain::time::Timestamp;
use crate::error::Exit;
#[cfg(test)]
use crate::stopping::evaluation::DecisionWord;
use crate::stopping::evaluation::{Class, Decision, Evaluation};
use crate::stopping::exit_check::breaker::BreakerState;
use crate::stopping::exit_check::event::TurnRecord;
use crate::stopping::exit_check::evidence::TurnEvidence;
use crate::stopping::exit_check::run::RunId;
use crate::stopping::exit_check::settings::ExitPolicy;
use crate::stopping::exit_check::thresholds::ExitThresholds;

/// A checked turn: the decision, and everything that it depends on.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct CheckReport<'a> {
    #[cfg_attr(test, schemars(extend("const" = "1.0")))]
    schema_version: &'static str,
    time: Timestamp,
    /// The run that the turn belongs to: `--run`, or the time of its first check.
    run: &'a RunId,
    /// The number of the turn in its run.
    #[cfg_attr(test, schemars(range(min = 1)))]
    turn: u64,
    #[cfg_attr(test, schemars(with = "DecisionWord"))]
    decision: &'static str,
    #[cfg_attr(test, schemars(extend("enum" = [0, 10, 11, 12, 13, 14, 130])))]
    exit_code: u8,
    policy: ExitPolicy,
    evaluation: &'a Evaluation,
    evidence: &'a TurnEvidence,
    /// The circuit after this check.
    circuit: &'a BreakerState,
    thresholds: &'a ExitThresholds,
}

impl<'a> CheckReport<'a> {
    pub(super) fn new(time: Timestamp, record: &'a TurnRecord, circuit: &'a BreakerState) -> Self {
        let evaluation = &record.evaluation;
        Self {
            schema_version: "1.0",
            time,
            run: &record.run.id,
            turn: record.turn,
            decision: evaluation.class().map_or("continue", Class::name),
            exit_code: exit(&evaluation.decision).code(),
            policy: record.settings.policy,
            evaluation,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_published() {
        let title = "What `conclave exit-check --json` prints";
        crate::schema::check::<CheckReport<'_>>("exit_check", title);
    }
}
