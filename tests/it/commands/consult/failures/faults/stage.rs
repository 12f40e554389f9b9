//! The stages of a consultation at which the failing model is asked.

use serde_json::Value;

/// The round and role in which the failing model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Expert(u8),
    Judge(u8),
}

pub(super) const STAGES: [Stage; 5] = [
    Stage::Expert(1),
    Stage::Judge(2),
    Stage::Expert(3),
    Stage::Judge(3),
    Stage::Judge(4),
];

impl Stage {
    pub(super) fn round(self) -> u8 {
        match self {
            Self::Expert(round) | Self::Judge(round) => round,
        }
    }

    pub(super) fn agent(self) -> (&'static str, &'static str) {
        match self {
            Self::Expert(_) => ("security", "Security Expert"),
            Self::Judge(_) => ("judge", "Judge"),
        }
    }

    /// Returns the number of experts on its panel.
    pub(super) fn experts(self) -> usize {
        match self {
            Self::Expert(_) => 3,
            Self::Judge(_) => 2,
        }
    }

    /// Returns the number of the failing model's first request at this stage.
    pub(super) fn first(self) -> usize {
        match self {
            Self::Expert(1) | Self::Judge(2) => 1,
            Self::Expert(_) | Self::Judge(3) => 2,
            Self::Judge(_) => 3,
        }
    }

    /// Returns the flags of a panel on which the failing model has only this role.
    pub(super) fn panel(self) -> [&'static str; 4] {
        const OTHERS: &str = "architect=openai:gpt-6.1-sol,pragmatic=google:gemini-4-argon";
        match self {
            Self::Expert(_) => {
                let panel = "security=anthropic:claude-sonnet-5-5,architect=openai:gpt-6.1-sol,pragmatic=google:gemini-4-argon";
                [
                    "--panel",
                    panel,
                    "--judge",
                    "openai:gpt-6.1-sol,mistral:mistral-large-4",
                ]
            }
            Self::Judge(_) => [
                "--panel",
                OTHERS,
                "--judge",
                "anthropic:claude-sonnet-5-5,mistral:mistral-large-4",
            ],
        }
    }

    /// Returns the recorded calls of the agent at this stage.
    pub(super) fn attempts(self, record: &Value) -> Vec<Value> {
        let agents = record["responses"][format!("round_{}", self.round())]["agents"]
            .as_array()
            .unwrap();
        let agent = agents
            .iter()
            .find(|agent| agent["agent_id"] == self.agent().0);
        agent.unwrap_or_else(|| panic!("{self:?} is not in {agents:#?}"))["attempts"]
            .as_array()
            .unwrap()
            .clone()
    }
}
