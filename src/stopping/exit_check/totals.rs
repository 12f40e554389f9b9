//! Totals over all runs, under the names of the original script's state file.

use serde::{Deserialize, Serialize};

use crate::stopping::evaluation::{Decision, Evaluation};

use super::event::ExitPolicy;
use super::evidence::TurnEvidence;
use super::strict_seed;

/// The most entries of a history.
const MAX_HISTORY: usize = 100;

/// Decisions so far. Scripts read `decision_reason`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DecisionTotals {
    /// The last decision over all runs; `None` before the first.
    pub decision: Option<SeedDecision>,
    pub decision_reason: String,
    /// The stated confidence of the latest turns in percent, the last turn at the end; null where
    /// unknown.
    pub confidence_history: Vec<Option<u64>>,
    /// The completed tasks of the latest turns in percent, rounded down, the last turn at the end;
    /// null without a checklist.
    pub completion_history: Vec<Option<u64>>,
    /// The distinct errors of the latest turns, the last turn at the end; null where unknown.
    pub error_history: Vec<Option<u64>>,
    /// Decisions over all runs.
    pub total_decisions: u64,
    /// Decisions to continue.
    pub continue_count: u64,
    /// Decisions to stop.
    pub exit_count: u64,
}

/// A decision in the words of the original script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum SeedDecision {
    Continue,
    Exit,
}

impl DecisionTotals {
    pub(super) fn record(
        &mut self,
        policy: ExitPolicy,
        evidence: &TurnEvidence,
        evaluation: &Evaluation,
    ) {
        let (decision, counter) = match evaluation.decision {
            Decision::Continue => (SeedDecision::Continue, &mut self.continue_count),
            Decision::Stop { .. } => (SeedDecision::Exit, &mut self.exit_count),
        };
        *counter = counter.saturating_add(1);
        self.total_decisions = self.total_decisions.saturating_add(1);
        self.decision = Some(decision);
        self.decision_reason = reason(evaluation);
        let (confidence, completion, errors) = match policy {
            ExitPolicy::Corrected => (
                evidence.stated_confidence.map(u64::from),
                evidence.completion_percent(),
                u64::try_from(evidence.errors.len()).ok(),
            ),
            ExitPolicy::StrictSeed => (
                Some(strict_seed::confidence(evidence)),
                Some(strict_seed::completion(evidence)),
                Some(strict_seed::errors(evidence)),
            ),
        };
        push(&mut self.confidence_history, confidence);
        push(&mut self.completion_history, completion);
        push(&mut self.error_history, errors);
    }
}

fn reason(evaluation: &Evaluation) -> String {
    match &evaluation.decision {
        Decision::Stop { message, .. } => message.clone(),
        Decision::Continue => "no rule asks for a stop".to_owned(),
    }
}

fn push(history: &mut Vec<Option<u64>>, value: Option<u64>) {
    history.push(value);
    let excess = history.len().saturating_sub(MAX_HISTORY);
    history.drain(..excess);
}
