//! The nine states. Each variant owns what its phase has and nothing else.

use serde::{Deserialize, Serialize};

use super::event::StateName;
use super::machine::step::StepContext;
use super::phases::awaiting_consent::AwaitingConsent;
use super::phases::cross_exam;
use super::phases::cross_exam::CrossExamination;
use super::phases::finishing::Closing;
use super::phases::independent;
use super::phases::independent::IndependentRound;
use super::phases::synthesis;
use super::phases::synthesis::SynthesisRound;
use super::phases::verdict;
use super::phases::verdict::VerdictRound;
use super::tasks::TaskSet;

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
    Verdict(Box<VerdictRound>),
    /// All is done but what nobody depends on.
    Closing(Closing),
    Complete,
    /// With where it can go on from, if it can.
    Aborted(Option<Box<State>>),
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
            Self::Closing(phase) => phase.from,
            Self::Complete => StateName::Complete,
            Self::Aborted(_) => StateName::Aborted,
        }
    }
}

impl State {
    /// The errands of a round that is under way.
    pub(super) fn work(&mut self) -> Option<&mut TaskSet> {
        match self {
            Self::Independent(phase) => Some(&mut phase.work),
            Self::Synthesis(phase) => phase.work(),
            Self::CrossExam(phase) => Some(&mut phase.work),
            Self::Verdict(phase) => Some(&mut phase.work),
            Self::Closing(phase) => Some(&mut phase.work),
            Self::Idle
            | Self::Estimating
            | Self::AwaitingConsent(_)
            | Self::Complete
            | Self::Aborted(_) => None,
        }
    }

    /// Looks at errands that have come to their end.
    pub(super) fn proceed(self, step: &mut StepContext<'_>) -> Self {
        match self {
            Self::Independent(phase) => phase.proceed(step),
            Self::Synthesis(phase) => phase.proceed(step),
            Self::CrossExam(phase) => phase.proceed(step),
            Self::Verdict(phase) => phase.proceed(step),
            Self::Closing(phase) => phase.proceed(step),
            state @ (Self::Idle
            | Self::Estimating
            | Self::AwaitingConsent(_)
            | Self::Complete
            | Self::Aborted(_)) => state,
        }
    }

    /// Goes on after an end that was none, or a process that is gone.
    pub(super) fn again(self, step: &mut StepContext<'_>) -> Self {
        match self {
            Self::AwaitingConsent(phase) => phase.again(step),
            Self::Independent(phase) => phase.again(step),
            Self::Synthesis(phase) => phase.again(step),
            Self::CrossExam(phase) => phase.again(step),
            Self::Verdict(phase) => phase.again(step),
            Self::Closing(phase) => phase.again(step),
            state @ (Self::Idle | Self::Estimating | Self::Complete | Self::Aborted(_)) => state,
        }
    }

    /// The round that is under way.
    pub(super) fn round(&self) -> Option<u8> {
        match self {
            Self::Independent(_) => Some(independent::ROUND),
            Self::Synthesis(_) => Some(synthesis::ROUND),
            Self::CrossExam(_) => Some(cross_exam::ROUND),
            Self::Verdict(_) => Some(verdict::ROUND),
            Self::Idle
            | Self::Estimating
            | Self::AwaitingConsent(_)
            | Self::Closing(_)
            | Self::Complete
            | Self::Aborted(_) => None,
        }
    }
}

/// A transition that the protocol does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a consultation in state {from} cannot become {to}")]
pub struct TransitionError {
    pub from: StateName,
    pub to: StateName,
}

impl StateName {
    /// Checks a transition against the protocol: the line of rounds, Complete after each of them,
    /// and Aborted from every state that is not terminal.
    pub fn may_become(self, to: Self) -> Result<(), TransitionError> {
        let allowed = match (self, to) {
            (Self::Idle, Self::Estimating)
            | (Self::Estimating, Self::AwaitingConsent)
            | (Self::AwaitingConsent, Self::Independent)
            | (Self::Independent, Self::Synthesis)
            | (Self::Synthesis, Self::CrossExam)
            | (Self::CrossExam, Self::Verdict)
            // Rounds that were not wanted, or not needed any more, are left out.
            | (Self::Independent | Self::Synthesis | Self::CrossExam | Self::Verdict, Self::Complete) => true,
            (from, Self::Aborted) => !from.is_terminal(),
            (_, Self::Idle | Self::Estimating | Self::AwaitingConsent | Self::Independent | Self::Synthesis) => false,
            (_, Self::CrossExam | Self::Verdict | Self::Complete) => false,
        };
        if allowed {
            Ok(())
        } else {
            Err(TransitionError { from: self, to })
        }
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
        assert_eq!(
            error.to_string(),
            "a consultation in state Idle cannot become Verdict"
        );
        assert!(StateName::Complete.may_become(StateName::Aborted).is_err());
        assert!(StateName::CrossExam.may_become(StateName::Aborted).is_ok());
    }
}
