//! The events of the log. The log is the truth: [`super::state::LoopState`] is the fold of it.

use serde::{Deserialize, Serialize};

use super::breaker::TurnProgress;
use super::evidence::{ErrorSignature, TurnEvidence};
use super::run::RunRef;
use super::settings::ExitSettings;
use crate::domain::log::LogEvent;
use crate::stopping::evaluation::Evaluation;

/// One line of the log.
pub type LoopEvent = LogEvent<LoopEventKind>;

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum LoopEventKind {
    /// A turn was checked.
    Turn(Box<TurnRecord>),
    /// The caller recorded the outcome of a turn for the circuit alone.
    CircuitRecord(CircuitRecord),
    /// The caller closed the circuit of the run.
    CircuitReset {
        #[serde(flatten)]
        run: RunRef,
    },
    /// The caller reset everything: runs, circuits and totals.
    Reset,
    /// The clock was found behind the times of earlier events. A rest that goes on moves back with
    /// it, so that it does not last longer.
    ClockSetBack,
}

/// A checked turn: everything that the decision depends on, and the decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnRecord {
    #[serde(flatten)]
    pub run: RunRef,
    /// The number of the turn in its run, from 1.
    pub turn: u64,
    pub evidence: TurnEvidence,
    pub settings: ExitSettings,
    pub evaluation: Evaluation,
}

/// The outcome of a turn for the circuit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CircuitRecord {
    #[serde(flatten)]
    pub run: RunRef,
    pub progress: TurnProgress,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorSignature>,
    pub settings: ExitSettings,
}

impl LoopEvent {
    /// Returns the run that it belongs to; `None` for what concerns all runs.
    pub fn run(&self) -> Option<&RunRef> {
        match &self.kind {
            LoopEventKind::Turn(record) => Some(&record.run),
            LoopEventKind::CircuitRecord(record) => Some(&record.run),
            LoopEventKind::CircuitReset { run } => Some(run),
            LoopEventKind::Reset | LoopEventKind::ClockSetBack => None,
        }
    }

    /// Returns the checked turn; `None` for the other events.
    pub fn turn(&self) -> Option<&TurnRecord> {
        match &self.kind {
            LoopEventKind::Turn(record) => Some(record),
            LoopEventKind::CircuitRecord(_)
            | LoopEventKind::CircuitReset { .. }
            | LoopEventKind::Reset
            | LoopEventKind::ClockSetBack => None,
        }
    }
}
