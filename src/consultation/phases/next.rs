//! The result of a phase's step: it continues, another phase follows, or the consultation is
//! aborted. `state.rs` acts on it.

use crate::domain::artifact::{CrossExam, Independent, Synthesis};

use crate::consultation::event::{AbortReason, StateName};
use crate::consultation::policy::estimate::Estimate;
use crate::consultation::tasks::{AnswerSource, TaskSet};

/// The result of one step of a phase with the data `P`.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "moved once a step and never stored"
)]
pub(crate) enum Next<P> {
    Stay(P),
    Enter(Entry),
    /// Ends the consultation without a verdict; it can be resumed at this phase.
    Abort(P, AbortReason, String),
}

impl<P> Next<P> {
    /// Wraps the phase's data.
    pub(crate) fn map<Q>(self, wrap: impl FnOnce(P) -> Q) -> Next<Q> {
        match self {
            Self::Stay(phase) => Next::Stay(wrap(phase)),
            Self::Enter(entry) => Next::Enter(entry),
            Self::Abort(phase, reason, message) => Next::Abort(wrap(phase), reason, message),
        }
    }
}

/// A phase to enter, with its input.
#[derive(Debug)]
pub(crate) enum Entry {
    AwaitingConsent(Estimate),
    Independent,
    Synthesis(ExpertAnswers),
    CrossExam {
        independents: Vec<Independent>,
        synthesis: Synthesis,
    },
    Verdict {
        /// Optional tasks that are still open.
        tasks: TaskSet,
        independents: Vec<Independent>,
        synthesis: Synthesis,
        cross_exam: CrossExam,
    },
    /// The last round is over; optional tasks may still be open.
    Finishing {
        rounds: u8,
        tasks: TaskSet,
    },
    Complete {
        rounds: u8,
    },
}

impl Entry {
    /// Returns the optional tasks that are still open.
    pub(crate) fn into_tasks(self) -> TaskSet {
        match self {
            Self::Verdict { tasks, .. } | Self::Finishing { tasks, .. } => tasks,
            Self::AwaitingConsent(_)
            | Self::Independent
            | Self::Synthesis(_)
            | Self::CrossExam { .. }
            | Self::Complete { .. } => TaskSet::default(),
        }
    }

    /// Returns the state of the phase. `None` for the wait for optional tasks, during which
    /// subscribers still see the state of the last round.
    pub(crate) fn state(&self) -> Option<StateName> {
        Some(match self {
            Self::AwaitingConsent(_) => StateName::AwaitingConsent,
            Self::Independent => StateName::Independent,
            Self::Synthesis(_) => StateName::Synthesis,
            Self::CrossExam { .. } => StateName::CrossExam,
            Self::Verdict { .. } => StateName::Verdict,
            Self::Finishing { .. } => return None,
            Self::Complete { .. } => StateName::Complete,
        })
    }
}

/// The result of Round 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ExpertAnswers {
    pub(crate) independents: Vec<Independent>,
    /// The sources of the answers.
    pub(crate) sources: Vec<AnswerSource>,
    /// The number of seats that failed, or whose answer is no evidence; see
    /// `AgentAnswer::is_evidence`.
    pub(crate) impaired: usize,
}
