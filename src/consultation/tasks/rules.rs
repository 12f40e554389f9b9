//! What a task may do, and what depends on it: one value, decided when the task is made.

use serde::{Deserialize, Serialize};

use crate::domain::ids::AgentId;

/// The rules for one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TaskRules {
    /// Whether a second model is asked as well while the first is slow.
    pub(super) may_hedge: bool,
    pub(super) fallback: FallbackRule,
    pub(super) on_no_answer: OnNoAnswer,
    pub(super) effort: Effort,
}

/// When another model may take over. `--on-failure` and `--strict` can forbid it on top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum FallbackRule {
    Never,
    /// After a failure, not after a refusal, and not under `--on-failure skip`.
    OnFailure,
    /// After a failure or a refusal, but not under `--on-failure skip`.
    OnFailureOrRefusal,
    /// After a failure or a refusal, also under `--on-failure skip`.
    Always,
}

/// What a missing answer means for the consultation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum OnNoAnswer {
    /// `--strict`, `--on-failure fail` and the ceiling end the consultation.
    Counts,
    /// The consultation continues without it, whatever was set.
    Ignored,
}

/// How much is done for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Effort {
    /// Everything that the settings allow. Failures count against the provider.
    Full,
    /// One more call at most, within a time limit, and only at a provider that can be called now.
    /// An answer that cannot be read is dropped, and failures do not count against the provider,
    /// which experts need too.
    Limited,
}

impl TaskRules {
    pub(super) fn of(agent: &AgentId) -> Self {
        match agent {
            // A refusal is an expert's answer: another model is not asked to say what this one
            // would not.
            AgentId::Seat(_) => Self {
                may_hedge: true,
                fallback: FallbackRule::OnFailure,
                on_no_answer: OnNoAnswer::Counts,
                effort: Effort::Full,
            },
            // Without a judge there is no verdict.
            AgentId::Judge => Self {
                may_hedge: true,
                fallback: FallbackRule::Always,
                on_no_answer: OnNoAnswer::Counts,
                effort: Effort::Full,
            },
            // It only shows how far the first verdict can be trusted. A hedge would bring another
            // model's verdict, which says nothing of this one's.
            AgentId::SecondJudge => Self {
                may_hedge: false,
                fallback: FallbackRule::OnFailureOrRefusal,
                on_no_answer: OnNoAnswer::Ignored,
                effort: Effort::Full,
            },
            AgentId::Helper => Self {
                may_hedge: false,
                fallback: FallbackRule::Never,
                on_no_answer: OnNoAnswer::Ignored,
                effort: Effort::Limited,
            },
        }
    }

    /// Whether another model may take over although `--on-failure skip` is set.
    pub(super) fn ignores_skip(self) -> bool {
        self.fallback == FallbackRule::Always
    }

    pub(super) fn is_limited(self) -> bool {
        self.effort == Effort::Limited
    }

    /// Whether the consultation can end because this answer is missing.
    pub(super) fn counts(self) -> bool {
        self.on_no_answer == OnNoAnswer::Counts
    }
}
