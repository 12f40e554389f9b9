//! Rules for a task: its permissions and its weight, decided as one value when the task is created.

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

/// Conditions for fallbacks. `--on-failure` and `--strict` can forbid them as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum FallbackRule {
    Never,
    /// After a failure but not a refusal; not under `--on-failure skip`.
    OnFailure,
    /// After a failure or a refusal, but not under `--on-failure skip`.
    OnFailureOrRefusal,
    /// After a failure or a refusal, even under `--on-failure skip`.
    Always,
}

/// The effect of a missing answer on the consultation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum OnNoAnswer {
    /// `--strict`, `--on-failure fail` and the ceiling end the consultation.
    Counts,
    /// The consultation continues without it, regardless of the settings.
    Ignored,
}

/// The effort for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Effort {
    /// All that the settings allow. Failures count against the provider.
    Full,
    /// At most one more call, within a time limit, and only at a provider that can be called now.
    /// An unreadable answer is dropped, and failures do not count against the provider, which
    /// experts need too.
    Limited,
}

impl TaskRules {
    pub(super) fn of(agent: &AgentId) -> Self {
        match agent {
            // A refusal is an expert's answer: no other model is asked instead.
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
            // It only shows how reliable the first verdict is. A hedge would bring another model's
            // verdict, which says nothing about this one.
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

    /// Returns whether another model may take over although `--on-failure skip` is set.
    pub(super) fn ignores_skip(self) -> bool {
        self.fallback == FallbackRule::Always
    }

    pub(super) fn is_limited(self) -> bool {
        self.effort == Effort::Limited
    }

    /// Returns whether the consultation can end because this answer is missing.
    pub(super) fn counts(self) -> bool {
        self.on_no_answer == OnNoAnswer::Counts
    }
}
