//! The kinds of agents.

/// A way in which an agent works, and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AgentKind {
    /// About a task a turn; a status block in every turn.
    Steady,
    /// About a task a turn; only words.
    SteadyInWords,
    /// Nothing for one or two turns, then several tasks at once.
    Bursty,
    /// Tasks of two to six turns each.
    LongTasks,
    /// No checklist, but a status block.
    WithoutPlan,
    /// Neither checklist nor status block, only words.
    WithoutPlanInWords,
    /// Forgets to tick the last tasks; a status block.
    Forgetful,
    /// Forgets to tick the last tasks; only words.
    ForgetfulInWords,
    /// Finishes without a checklist and never says so.
    Silent,
    /// Stops to change anything.
    Stalls,
    /// Undoes and redoes the same change.
    Oscillates,
    /// States in a block that it is done, with open tasks.
    Lies,
    /// Says in words that it is done, with open tasks.
    LiesInWords,
    /// Asks the person.
    Asks,
    /// Runs into the same error, whatever it edits.
    Fails,
    /// Its program ends without a message.
    Dies,
    /// Its program reports that the quota is used up.
    RunsOutOfQuota,
}

pub(crate) const KINDS: [AgentKind; 17] = [
    AgentKind::Steady,
    AgentKind::SteadyInWords,
    AgentKind::Bursty,
    AgentKind::LongTasks,
    AgentKind::WithoutPlan,
    AgentKind::WithoutPlanInWords,
    AgentKind::Forgetful,
    AgentKind::ForgetfulInWords,
    AgentKind::Silent,
    AgentKind::Stalls,
    AgentKind::Oscillates,
    AgentKind::Lies,
    AgentKind::LiesInWords,
    AgentKind::Asks,
    AgentKind::Fails,
    AgentKind::Dies,
    AgentKind::RunsOutOfQuota,
];

impl AgentKind {
    /// Returns whether the agent finishes all of its work.
    pub(crate) fn finishes(self) -> bool {
        matches!(
            self,
            Self::Steady
                | Self::SteadyInWords
                | Self::Bursty
                | Self::LongTasks
                | Self::WithoutPlan
                | Self::WithoutPlanInWords
                | Self::Forgetful
                | Self::ForgetfulInWords
                | Self::Silent
        )
    }

    /// Returns whether the agent ends its messages with a status block; `None` if some do.
    pub(super) fn has_status_block(self) -> Option<bool> {
        match self {
            Self::Steady | Self::WithoutPlan | Self::Forgetful | Self::Lies => Some(true),
            Self::SteadyInWords
            | Self::WithoutPlanInWords
            | Self::ForgetfulInWords
            | Self::Silent
            | Self::LiesInWords
            | Self::Asks => Some(false),
            _ => None,
        }
    }

    /// Returns whether the loop has a checklist; `None` if some do.
    pub(super) fn has_checklist(self) -> Option<bool> {
        match self {
            Self::WithoutPlan | Self::WithoutPlanInWords | Self::Silent => Some(false),
            Self::Steady
            | Self::SteadyInWords
            | Self::Bursty
            | Self::LongTasks
            | Self::Forgetful
            | Self::ForgetfulInWords
            | Self::Lies
            | Self::LiesInWords => Some(true),
            _ => None,
        }
    }
}
