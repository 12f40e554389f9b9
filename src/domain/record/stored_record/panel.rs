//! The panel of a record: the experts, the judges, and the models that took over.

use serde::{Deserialize, Serialize};

use crate::domain::ids::{AgentId, ModelRef, SeatId};

/// An expert, in `agents`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoredAgent {
    pub id: SeatId,
    /// The display name.
    #[serde(default)]
    pub name: String,
    /// The persona's id.
    pub persona: Option<String>,
    /// The provider of the model that was chosen; see [`super::StoredRecord::model_of`].
    pub provider: Option<String>,
    /// The model that was chosen, without its provider.
    pub model: Option<String>,
    /// True if the embedded model plays the seat, whose answers are of demonstration quality.
    #[serde(default, alias = "local")]
    pub demonstration: bool,
}

impl StoredAgent {
    pub fn chosen_model(&self) -> Option<ModelRef> {
        model_ref(self.provider.as_deref()?, self.model.as_deref()?)
    }
}

/// A model with its provider apart, as in `judge`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StoredModel {
    pub provider: String,
    /// The model without its provider.
    pub model: String,
}

impl StoredModel {
    /// `None` if one of its parts is blank.
    pub fn model_ref(&self) -> Option<ModelRef> {
        model_ref(&self.provider, &self.model)
    }
}

impl From<&ModelRef> for StoredModel {
    fn from(model: &ModelRef) -> Self {
        Self {
            provider: model.provider.as_str().to_owned(),
            model: model.model.clone(),
        }
    }
}

fn model_ref(provider: &str, model: &str) -> Option<ModelRef> {
    let is_whole = !provider.trim().is_empty() && !model.trim().is_empty();
    is_whole.then(|| ModelRef::new(provider, model))
}

/// The panel as it was put together, in `panel`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StoredPanel {
    /// The judge and its fallbacks, in order.
    pub judges: Vec<StoredModel>,
    /// True if all seats use models of one maker: agreement is then weak evidence.
    pub one_family: bool,
    /// Remarks on the panel.
    pub notices: Vec<String>,
}

/// The selection of the personas.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StoredPersonaSelection {
    pub task_type: String,
    pub reason: String,
    /// The helper model that chose; `None` when the default personas were used.
    pub chosen_by: Option<ModelRef>,
    pub notes: Vec<String>,
}

/// A model that takes over an agent's work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Substitution {
    pub agent_id: AgentId,
    /// 1 to 4.
    pub round_number: u8,
    /// The model that is replaced.
    pub original: ModelRef,
    /// The model that takes over.
    pub substitute: ModelRef,
    pub reason: WhySubstituted,
    /// The failure, in the provider's own words.
    pub message: String,
}

/// Reason why one model takes over from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WhySubstituted {
    /// The model did not answer in time.
    Timeout,
    /// The model failed for good.
    Failure,
    /// The provider's circuit is open.
    HealthCheck,
    /// The model was slow, and the hedge was faster.
    Hedge,
}

impl WhySubstituted {
    /// Describes the reason for people: the provider's message, else a word.
    pub fn in_words(self, message: &str) -> String {
        let word = match self {
            Self::Timeout => "timeout",
            Self::Failure => "failure",
            Self::HealthCheck => "health check",
            Self::Hedge => "slower",
        };
        if message.is_empty() { word } else { message }.to_owned()
    }
}

/// A model that took over for an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoredSubstitution {
    /// The agent's name.
    #[serde(default)]
    pub agent: String,
    #[serde(flatten)]
    pub of: Substitution,
}

/// A slow call that was also made to another model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoredHedge {
    /// The agent's name.
    #[serde(default)]
    pub agent: String,
    pub agent_id: AgentId,
    pub round_number: Option<u8>,
    /// The slow model.
    pub model: Option<ModelRef>,
    pub backup: Option<ModelRef>,
    /// Milliseconds after which the backup was asked.
    pub after_ms: Option<u64>,
    /// The slower model, whose call was cancelled.
    pub dropped: Option<ModelRef>,
}

/// A model for which another one answered, as reported by its provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ServedOtherwise {
    /// The requested model.
    pub model: ModelRef,
    /// The name of the model that answered.
    pub served: String,
}
