//! Rules for a task: its permissions and its weight, decided as one value when the task is created.

use crate::domain::ids::AgentId;

/// The rules for one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TaskRules {
    /// Whether a second model is asked as well while the first is slow.
    pub(super) may_hedge: bool,
    pub(super) fallback: FallbackRule,
    /// Whether `--strict`, `--on-failure fail` and the ceiling end the consultation if the answer
    /// is missing. Else it continues without it, regardless of the settings.
    pub(super) counts: bool,
    /// Whether the effort is limited: at most one more call, within a time limit, and only at a
    /// provider that can be called now. An unreadable answer is dropped, and failures do not count
    /// against the provider, which experts need too.
    pub(super) is_limited: bool,
}

/// Conditions for fallbacks. `--on-failure` and `--strict` can forbid them as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FallbackRule {
    Never,
    /// After a failure but not a refusal; not under `--on-failure skip`.
    OnFailure,
    /// After a failure or a refusal, but not under `--on-failure skip`.
    OnFailureOrRefusal,
    /// After a failure or a refusal, even under `--on-failure skip`.
    Always,
}

impl TaskRules {
    /// A refusal is an expert's answer: no other model is asked instead.
    const OF_EXPERT: Self = Self {
        may_hedge: true,
        fallback: FallbackRule::OnFailure,
        counts: true,
        is_limited: false,
    };
    /// It only shows how reliable the first verdict is. A hedge would bring another model's
    /// verdict, which says nothing about this one.
    const OF_SECOND_JUDGE: Self = Self {
        may_hedge: false,
        fallback: FallbackRule::OnFailureOrRefusal,
        counts: false,
        is_limited: false,
    };

    pub(super) fn of(agent: &AgentId) -> Self {
        match agent {
            AgentId::Seat(_) => Self::OF_EXPERT,
            // Without a judge there is no verdict.
            AgentId::Judge => Self {
                fallback: FallbackRule::Always,
                ..Self::OF_EXPERT
            },
            AgentId::SecondJudge => Self::OF_SECOND_JUDGE,
            AgentId::Helper => Self {
                fallback: FallbackRule::Never,
                is_limited: true,
                ..Self::OF_SECOND_JUDGE
            },
        }
    }

    /// Returns whether another model may take over although `--on-failure skip` is set.
    pub(super) fn ignores_skip(self) -> bool {
        self.fallback == FallbackRule::Always
    }
}
