//! The nine states. Each variant owns what its phase has and nothing else.

use serde::{Deserialize, Serialize};

use super::awaiting_consent::AwaitingConsent;
use super::cross_exam::CrossExamination;
use super::event::StateName;
use super::independent::IndependentRound;
use super::synthesis::SynthesisRound;
use super::verdict::VerdictRound;

/// Where a consultation is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) enum State {
    #[default]
    Idle,
    /// The estimate is being made; left in the same step in which it is entered.
    Estimating,
    AwaitingConsent(AwaitingConsent),
    Independent(IndependentRound),
    Synthesis(SynthesisRound),
    CrossExam(CrossExamination),
    Verdict(VerdictRound),
    Complete,
    Aborted,
}

impl State {
    pub(super) fn name(&self) -> StateName {
        match self {
            Self::Idle => StateName::Idle,
            Self::Estimating => StateName::Estimating,
            Self::AwaitingConsent(_) => StateName::AwaitingConsent,
            Self::Independent(_) => StateName::Independent,
            Self::Synthesis(_) => StateName::Synthesis,
            Self::CrossExam(_) => StateName::CrossExam,
            Self::Verdict(_) => StateName::Verdict,
            Self::Complete => StateName::Complete,
            Self::Aborted => StateName::Aborted,
        }
    }
}

/// A transition that the protocol does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a consultation in state {from} cannot become {to}")]
pub struct InvalidTransition {
    pub from: StateName,
    pub to: StateName,
}

impl StateName {
    /// Checks a transition against the protocol: the line of rounds, and Aborted from every state that is not terminal.
    pub fn may_become(self, to: Self) -> Result<(), InvalidTransition> {
        let allowed = match (self, to) {
            (Self::Idle, Self::Estimating)
            | (Self::Estimating, Self::AwaitingConsent)
            | (Self::AwaitingConsent, Self::Independent)
            | (Self::Independent, Self::Synthesis)
            | (Self::Synthesis, Self::CrossExam)
            | (Self::CrossExam, Self::Verdict)
            | (Self::Verdict, Self::Complete) => true,
            (from, Self::Aborted) => !from.is_terminal(),
            (_, Self::Idle | Self::Estimating | Self::AwaitingConsent | Self::Independent | Self::Synthesis) => false,
            (_, Self::CrossExam | Self::Verdict | Self::Complete) => false,
        };
        if allowed { Ok(()) } else { Err(InvalidTransition { from: self, to }) }
    }

    /// True for the states that nothing leads out of.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Complete | Self::Aborted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_transition_names_both_states() {
        let error = StateName::Idle.may_become(StateName::Verdict).unwrap_err();
        assert_eq!(error.to_string(), "a consultation in state Idle cannot become Verdict");
        assert!(StateName::Complete.may_become(StateName::Aborted).is_err());
        assert!(StateName::CrossExam.may_become(StateName::Aborted).is_ok());
    }
}
