//! Whose server is played: names, keys, addresses, and which request is for whom.
//!
//! One listener plays them all. Three vendors are reached at the root; the others have a folder of
//! their own in front of their paths.

use std::collections::BTreeMap;

use super::wire::Wire;

/// Whose wire format is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Vendor {
    Anthropic,
    OpenAi,
    Google,
    Xai,
    Mistral,
    OpenRouter,
    Ollama,
    LlamaCpp,
    LmStudio,
    Vllm,
    /// A server that only the user knows, by the user's name for it.
    Custom(&'static str),
}

/// Those with a folder of their own.
const IN_FOLDERS: [Vendor; 7] = [
    Vendor::Xai,
    Vendor::Mistral,
    Vendor::OpenRouter,
    Vendor::Ollama,
    Vendor::LlamaCpp,
    Vendor::LmStudio,
    Vendor::Vllm,
];

impl Vendor {
    /// Those that send a bill and want a key.
    pub(crate) const CLOUD: [Self; 6] = [
        Self::Anthropic,
        Self::OpenAi,
        Self::Google,
        Self::Xai,
        Self::Mistral,
        Self::OpenRouter,
    ];

    /// Its name before the colon of a model.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Google => "google",
            Self::Xai => "xai",
            Self::Mistral => "mistral",
            Self::OpenRouter => "openrouter",
            Self::Ollama => "ollama",
            Self::LlamaCpp => "llamacpp",
            Self::LmStudio => "lmstudio",
            Self::Vllm => "vllm",
            Self::Custom(name) => name,
        }
    }

    /// The key that tests give to this vendor, and to no other.
    pub(crate) fn key(self) -> String {
        format!("test-key-{}", self.id())
    }

    /// The variables of its base URL and its key, for those that have them.
    pub(crate) fn variable_names(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Anthropic => Some(("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY")),
            Self::OpenAi => Some(("OPENAI_BASE_URL", "OPENAI_API_KEY")),
            Self::Google => Some(("GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY")),
            Self::Xai => Some(("XAI_BASE_URL", "XAI_API_KEY")),
            Self::Mistral => Some(("MISTRAL_BASE_URL", "MISTRAL_API_KEY")),
            Self::OpenRouter => Some(("OPENROUTER_BASE_URL", "OPENROUTER_API_KEY")),
            Self::Ollama | Self::LlamaCpp | Self::LmStudio | Self::Vllm | Self::Custom(_) => None,
        }
    }

    /// What stands before its own paths.
    fn folder(self) -> String {
        match self {
            Self::Anthropic | Self::OpenAi | Self::Google => String::new(),
            Self::OpenRouter => "/openrouter/api".to_owned(),
            Self::Custom(name) => format!("/custom/{name}"),
            Self::Xai
            | Self::Mistral
            | Self::Ollama
            | Self::LlamaCpp
            | Self::LmStudio
            | Self::Vllm => format!("/{}", self.id()),
        }
    }

    /// The path of its base URL, as its users write it.
    pub(crate) fn base_path(self) -> String {
        match self {
            Self::Anthropic | Self::Google | Self::Ollama => self.folder(),
            Self::OpenAi
            | Self::Xai
            | Self::Mistral
            | Self::OpenRouter
            | Self::LlamaCpp
            | Self::LmStudio
            | Self::Vllm
            | Self::Custom(_) => self.folder() + "/v1",
        }
    }
}

/// Whom a request is for, and what it wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Addressee {
    /// An answer of a model, which costs money. The model is here when the path names it.
    Model(Vendor, Wire, Option<String>),
    /// Anything else that the vendor answers, at no cost: the path behind the vendor's folder.
    Free(Vendor, String),
    Nobody,
}

/// Reads the path, and the headers where the path leaves open who is meant.
pub(super) fn addressee(method: &str, path: &str, headers: &BTreeMap<String, String>) -> Addressee {
    let (vendor, path) = match in_folder(path) {
        Some((vendor, rest)) => (Some(vendor), rest),
        None => (None, path),
    };
    let model = path
        .strip_prefix("/v1beta/models/")
        .and_then(|rest| rest.strip_suffix(":streamGenerateContent"));
    match (method, path) {
        ("POST", "/v1/messages") => {
            Addressee::Model(vendor.unwrap_or(Vendor::Anthropic), Wire::Messages, None)
        }
        ("POST", "/v1/chat/completions") => {
            Addressee::Model(vendor.unwrap_or(Vendor::OpenAi), Wire::Chat, None)
        }
        ("POST", "/api/chat") => {
            Addressee::Model(vendor.unwrap_or(Vendor::Ollama), Wire::Ollama, None)
        }
        ("POST", _) if model.is_some() => Addressee::Model(
            vendor.unwrap_or(Vendor::Google),
            Wire::Gemini,
            model.map(ToOwned::to_owned),
        ),
        ("GET", _) | ("POST", "/api/show") => {
            let at_the_root = if headers.contains_key("anthropic-version") {
                Vendor::Anthropic
            } else if path.starts_with("/v1beta/") {
                Vendor::Google
            } else if path.starts_with("/api/") {
                Vendor::Ollama
            } else {
                Vendor::OpenAi
            };
            Addressee::Free(vendor.unwrap_or(at_the_root), path.to_owned())
        }
        _ => Addressee::Nobody,
    }
}

fn in_folder(path: &str) -> Option<(Vendor, &str)> {
    if let Some((name, _)) = path
        .strip_prefix("/custom/")
        .and_then(|rest| rest.split_once('/'))
    {
        // A test knows few names, and each once.
        let vendor = Vendor::Custom(name.to_owned().leak());
        return Some((vendor, path.strip_prefix(&vendor.folder())?));
    }
    let found = |vendor: Vendor| {
        Some((
            vendor,
            path.strip_prefix(&vendor.folder())
                .filter(|rest| rest.starts_with('/'))?,
        ))
    };
    IN_FOLDERS.into_iter().find_map(found)
}
