//! The result of a phase's step: it continues, or another phase follows. `state.rs` acts on it.

use std::ops::ControlFlow;
pub(crate) use std::ops::ControlFlow::{Break, Continue};

use crate::domain::answer::artifact::{CrossExam, Independent, Synthesis};

use crate::consultation::event::StateName;
use crate::consultation::policy::estimate::Estimate;
use crate::consultation::tasks::{AnswerSource, TaskSet};

/// The result of one step of a phase with the data `P`: it continues, or the next one begins. A
/// phase that ends the consultation continues: `StepContext::stop` keeps the reason.
pub(crate) type Next<P> = ControlFlow<Entry, P>;

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
    /// `None` for the wait for optional tasks, during which subscribers still see the state of the
    /// last round.
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
    pub(crate) sources: Vec<AnswerSource>,
    /// The number of seats that failed, or whose answer is no evidence; see
    /// `AgentAnswer::is_evidence`.
    pub(crate) impaired: usize,
}
