//! The events of the log, with the settings of a check. The log is the truth:
//! [`super::state::LoopState`] is the fold of it.

use serde::{Deserialize, Serialize};

use super::breaker::{BreakerRule, TurnProgress};
use super::evidence::{ErrorSignature, TurnEvidence};
use super::run::RunRef;
use super::thresholds::ExitThresholds;
use crate::domain::record::log::LogEvent;
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
    /// `None` for what concerns all runs.
    pub fn run(&self) -> Option<&RunRef> {
        match &self.kind {
            LoopEventKind::Turn(record) => Some(&record.run),
            LoopEventKind::CircuitRecord(record) => Some(&record.run),
            LoopEventKind::CircuitReset { run } => Some(run),
            LoopEventKind::Reset | LoopEventKind::ClockSetBack => None,
        }
    }

    /// `None` for the other events.
    pub fn turn(&self) -> Option<&TurnRecord> {
        match &self.kind {
            LoopEventKind::Turn(record) => Some(record),
            _ => None,
        }
    }
}

/// Everything besides state and evidence that a decision depends on. It is recorded with every
/// decision, so that the decision can be repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExitSettings {
    pub policy: ExitPolicy,
    pub thresholds: ExitThresholds,
    pub circuit: BreakerRule,
}

/// The set of rules that decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExitPolicy {
    /// The usual rules.
    #[default]
    Corrected,
    /// The seven rules of the original script, to the letter: `--strict-seed`.
    StrictSeed,
}
