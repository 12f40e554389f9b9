//! The providers that this program knows by name, and how each is spoken to. Data: no code
//! elsewhere asks for a vendor by its name.

use crate::domain::ids::ProviderId;

use super::dialect::{Dialect, Quirks};

/// A provider with a name of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vendor {
    /// Before the colon of a model: `anthropic`.
    pub id: &'static str,
    /// For people: `Anthropic`.
    pub name: &'static str,
    pub dialect: Dialect,
    pub place: Place,
}

/// Where a provider's models run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the vendor's, who sends a bill.
    Cloud,
    /// On the user's own machine or network, where they cost nothing.
    OwnMachine,
}

const fn cloud(id: &'static str, name: &'static str, dialect: Dialect) -> Vendor {
    Vendor {
        id,
        name,
        dialect,
        place: Place::Cloud,
    }
}

const fn own_machine(id: &'static str, name: &'static str, dialect: Dialect) -> Vendor {
    Vendor {
        id,
        name,
        dialect,
        place: Place::OwnMachine,
    }
}

/// All of them; those in the cloud in the order in which they fill a mixed panel, those on the own
/// machine in the order in which they are looked for.
pub const VENDORS: [Vendor; 10] = [
    cloud("anthropic", "Anthropic", Dialect::Anthropic),
    cloud("openai", "OpenAI", Dialect::OpenAi(Quirks::OPENAI)),
    cloud("google", "Google", Dialect::Gemini),
    cloud("xai", "xAI", Dialect::OpenAi(Quirks::XAI)),
    cloud("mistral", "Mistral", Dialect::OpenAi(Quirks::MISTRAL)),
    cloud(
        "openrouter",
        "OpenRouter",
        Dialect::OpenAi(Quirks::OPENROUTER),
    ),
    own_machine("ollama", "Ollama", Dialect::Ollama),
    own_machine(
        "llamacpp",
        "llama.cpp server",
        Dialect::OpenAi(Quirks::LLAMACPP),
    ),
    own_machine("lmstudio", "LM Studio", Dialect::OpenAi(Quirks::LMSTUDIO)),
    own_machine("vllm", "vLLM", Dialect::OpenAi(Quirks::VLLM)),
];

/// The provider of this name, unless it is one that only the user knows.
pub fn find(provider: &ProviderId) -> Option<&'static Vendor> {
    VENDORS.iter().find(|vendor| vendor.id == provider.as_str())
}

/// The name of a provider for people; of one that only the user knows, the user's own.
pub fn name(provider: &ProviderId) -> &str {
    find(provider).map_or(provider.as_str(), |vendor| vendor.name)
}
