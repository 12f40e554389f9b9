//! The thresholds of the rules, with the source of each default.

use serde::{Deserialize, Serialize};

use super::evidence::TurnEvidence;
use crate::stopping::evaluation::threshold::{Threshold, ThresholdError};

/// Thresholds of the exit rules. The first four are those of the original script ("Default
/// Thresholds" of Blackbox3's exit engine); the others follow from loops that ran away or ended too
/// early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("additionalProperties" = true)))]
#[serde(default, deny_unknown_fields)]
pub struct ExitThresholds {
    /// A stated confidence below this many percent is low. Original: 70.
    pub min_confidence: u64,
    /// The share of completed tasks in percent that a completion needs. Original: 80.
    pub min_completion: u64,
    /// More distinct errors than this in one turn stop the loop. Original: 5.
    pub max_errors: u64,
    /// Turns in a row without progress that stop the loop. Original: 3. On recorded retry loops
    /// that still made progress (Reflexion on household tasks), 1 ends too early and 3 does not.
    #[serde(alias = "stagnation_loops")]
    pub stagnation_turns: u64,
    /// The most turns of a run. Documented runaways without a cap: 6,239 turns in 11.7 hours
    /// (claude-plugins-official #1699).
    pub max_turns: u64,
    /// Turns in a row with the same error that stop the loop. `OpenHands` calls an agent stuck
    /// after three identical actions with an identical error.
    pub same_error_turns: u64,
    /// Claims in words that confirm a completion, in turns in a row: words are wrong too often to
    /// trust one (ralph-claude-code #91, #146, #224).
    pub completion_claims: u64,
    /// Turns in a row with a low stated confidence that ask for a person. One number is noise:
    /// stated confidence comes in multiples of 5 and differs between repetitions.
    pub low_confidence_turns: u64,
    /// Turns in a row that only ask the person. A loop cannot answer, and agents ask forever
    /// (ralph-claude-code #190).
    pub question_turns: u64,
    /// Turns in a row in which the agent program failed or said nothing. Three, as for stagnation.
    pub failed_turns: u64,
}

/// Reads a threshold of turns in a row.
type TurnsOf = fn(&ExitThresholds) -> u64;

impl Default for ExitThresholds {
    fn default() -> Self {
        Self {
            min_confidence: 70,
            min_completion: 80,
            max_errors: 5,
            stagnation_turns: 3,
            max_turns: 100,
            same_error_turns: 3,
            completion_claims: 2,
            low_confidence_turns: 2,
            question_turns: 2,
            failed_turns: 3,
        }
    }
}

impl ExitThresholds {
    /// The highest cap of turns; a loop of more is a runaway.
    pub const MAX_TURNS: u64 = 10_000;

    /// The highest `max_errors`: one more is all that is recorded of a turn.
    const MAX_ERRORS: u64 = TurnEvidence::MAX_ERRORS as u64 - 1;

    /// Refuses thresholds that can never be reached or never matter.
    ///
    /// A default may lie beyond a low `max_turns`: a loop of two turns needs no other setting.
    pub fn validate(&self) -> Result<(), ThresholdError> {
        Threshold::new("min_confidence", self.min_confidence)
            .at_least(1, "no confidence is lower, so it would never fire")?
            .at_most(100, "every confidence is lower; the most is 100")?;
        Threshold::new("min_completion", self.min_completion)
            .at_least(1, "every checklist reaches it; the least is 1")?
            .at_most(100, "no checklist reaches it; the most is 100")?;
        Threshold::new("max_errors", self.max_errors).at_most(
            Self::MAX_ERRORS,
            "a turn never has more; at most 50 errors are recorded, so the most is 49",
        )?;
        let max_turns = Threshold::new("max_turns", self.max_turns)
            .at_least(1, "a run has at least one turn")?
            .at_most(Self::MAX_TURNS, "a loop needs a cap; the most is 10000")?;
        Threshold::new("completion_claims", self.completion_claims)
            .at_least(2, "a claim in words needs a second one; the least is 2")?;
        let usual = Self::default();
        let in_a_row: [(&'static str, TurnsOf); 6] = [
            ("same_error_turns", |these| these.same_error_turns),
            ("completion_claims", |these| these.completion_claims),
            ("low_confidence_turns", |these| these.low_confidence_turns),
            ("question_turns", |these| these.question_turns),
            ("failed_turns", |these| these.failed_turns),
            // The first turn has nothing to be compared with.
            ("stagnation_turns", |these| these.stagnation_turns),
        ];
        for (setting, turns) in in_a_row {
            let threshold = Threshold::new(setting, turns(self))
                .at_least(1, "every turn would reach it; the least is 1")?;
            if turns(self) != turns(&usual) {
                threshold.below(&max_turns)?;
            }
        }
        Ok(())
    }
}
