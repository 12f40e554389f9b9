//! The rule for the judge's second pass: the judge's fallbacks stand in for it as they do in the
//! first, and where it fails for good the consultation goes on without it. It counts neither
//! against `--strict` and `--on-failure fail` nor against the ceiling, and is not hedged: another
//! model's verdict would say nothing of this one's.

use crate::consultation::machine::step::StepContext;
use crate::consultation::protocol::call::FailureClass;
use crate::domain::ids::AgentId;

use super::task::{AgentTask, TaskOutcome, failed};

impl AgentTask {
    /// It only finds out how far another answer can be trusted.
    pub(crate) fn is_second_pass(&self) -> bool {
        self.agent == AgentId::SecondJudge
    }

    /// The ceiling leaves no room for it.
    pub(crate) fn do_without(&self, step: &mut StepContext<'_>) -> TaskOutcome {
        self.settle(
            step,
            Err(failed(
                FailureClass::Billing,
                "the ceiling leaves no room for it",
            )),
        )
    }
}
