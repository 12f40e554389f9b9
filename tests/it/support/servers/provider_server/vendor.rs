//! The vendors that the server plays: names, keys, base URLs and routes.
//!
//! One listener plays them all. Three vendors are at the root; the others have a path prefix. A
//! request to a vendor's own host has the vendor's own path.

use std::collections::BTreeMap;

use super::wire::Wire;

/// A vendor or kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Vendor {
    Anthropic,
    OpenAi,
    Google,
    Xai,
    Mistral,
    OpenRouter,
    ChatGpt,
    Ollama,
    LlamaCpp,
    LmStudio,
    Vllm,
    /// A server from the user's settings, by its name there.
    Custom(&'static str),
}

/// The vendors with a path prefix.
const PREFIXED: [Vendor; 8] = [
    Vendor::Xai,
    Vendor::Mistral,
    Vendor::OpenRouter,
    Vendor::ChatGpt,
    Vendor::Ollama,
    Vendor::LlamaCpp,
    Vendor::LmStudio,
    Vendor::Vllm,
];

impl Vendor {
    /// The vendors that charge and need a key.
    pub(crate) const CLOUD: [Self; 6] = [
        Self::Anthropic,
        Self::OpenAi,
        Self::Google,
        Self::Xai,
        Self::Mistral,
        Self::OpenRouter,
    ];

    /// Returns the provider id in model names.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Google => "google",
            Self::Xai => "xai",
            Self::Mistral => "mistral",
            Self::OpenRouter => "openrouter",
            Self::ChatGpt => "chatgpt",
            Self::Ollama => "ollama",
            Self::LlamaCpp => "llamacpp",
            Self::LmStudio => "lmstudio",
            Self::Vllm => "vllm",
            Self::Custom(name) => name,
        }
    }

    /// Returns the key that tests use for this vendor alone.
    pub(crate) fn key(self) -> String {
        format!("test-key-{}", self.id())
    }

    /// Returns the environment variables of the base URL and the key, if the vendor has them.
    pub(crate) fn variable_names(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Anthropic => Some(("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY")),
            Self::OpenAi => Some(("OPENAI_BASE_URL", "OPENAI_API_KEY")),
            Self::Google => Some(("GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY")),
            Self::Xai => Some(("XAI_BASE_URL", "XAI_API_KEY")),
            Self::Mistral => Some(("MISTRAL_BASE_URL", "MISTRAL_API_KEY")),
            Self::OpenRouter => Some(("OPENROUTER_BASE_URL", "OPENROUTER_API_KEY")),
            Self::ChatGpt
            | Self::Ollama
            | Self::LlamaCpp
            | Self::LmStudio
            | Self::Vllm
            | Self::Custom(_) => None,
        }
    }

    /// Returns the host of the vendor's own address; `None` for servers without a fixed one.
    pub(crate) fn host(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("api.anthropic.com"),
            Self::OpenAi => Some("api.openai.com"),
            Self::Google => Some("generativelanguage.googleapis.com"),
            Self::Xai => Some("api.x.ai"),
            Self::Mistral => Some("api.mistral.ai"),
            Self::OpenRouter => Some("openrouter.ai"),
            Self::ChatGpt
            | Self::Ollama
            | Self::LlamaCpp
            | Self::LmStudio
            | Self::Vllm
            | Self::Custom(_) => None,
        }
    }

    /// Returns the prefix of the vendor's paths.
    fn prefix(self) -> String {
        match self {
            Self::Anthropic | Self::OpenAi | Self::Google => String::new(),
            Self::OpenRouter => "/openrouter/api".to_owned(),
            Self::Custom(name) => format!("/custom/{name}"),
            Self::Xai
            | Self::Mistral
            | Self::ChatGpt
            | Self::Ollama
            | Self::LlamaCpp
            | Self::LmStudio
            | Self::Vllm => format!("/{}", self.id()),
        }
    }

    /// Returns the path of the base URL, as users write it.
    pub(crate) fn base_path(self) -> String {
        match self {
            Self::Anthropic | Self::Google | Self::Ollama => self.prefix(),
            Self::OpenAi
            | Self::Xai
            | Self::Mistral
            | Self::OpenRouter
            | Self::ChatGpt
            | Self::LlamaCpp
            | Self::LmStudio
            | Self::Vllm
            | Self::Custom(_) => self.prefix() + "/v1",
        }
    }
}

/// The vendor and kind of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// A paid request to a model, with the model if the path names it.
    Model(Vendor, Wire, Option<String>),
    /// A free request, with the path after the vendor's prefix.
    Free(Vendor, String),
    Unknown,
}

/// Finds the route by the host or the path, and by the headers if the path fits several vendors.
pub(super) fn route(method: &str, path: &str, headers: &BTreeMap<String, String>) -> Route {
    let (vendor, path) = match at_own_host(headers, path).or_else(|| split_prefix(path)) {
        Some((vendor, rest)) => (Some(vendor), rest),
        None => (None, path),
    };
    let model = path
        .strip_prefix("/v1beta/models/")
        .and_then(|rest| rest.strip_suffix(":streamGenerateContent"));
    match (method, path) {
        ("POST", "/v1/messages") => {
            Route::Model(vendor.unwrap_or(Vendor::Anthropic), Wire::Messages, None)
        }
        ("POST", "/v1/chat/completions") => {
            Route::Model(vendor.unwrap_or(Vendor::OpenAi), Wire::Chat, None)
        }
        ("POST", "/v1/responses") => {
            Route::Model(vendor.unwrap_or(Vendor::OpenAi), Wire::Responses, None)
        }
        ("POST", "/api/chat") => Route::Model(vendor.unwrap_or(Vendor::Ollama), Wire::Ollama, None),
        ("POST", _) if model.is_some() => Route::Model(
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
            Route::Free(vendor.unwrap_or(at_the_root), path.to_owned())
        }
        _ => Route::Unknown,
    }
}

/// Returns the vendor whose own host is asked, and the path as it would be after a prefix.
fn at_own_host<'a>(headers: &BTreeMap<String, String>, path: &'a str) -> Option<(Vendor, &'a str)> {
    let host = headers.get("host")?;
    let vendor = Vendor::CLOUD
        .into_iter()
        .find(|vendor| vendor.host() == Some(host))?;
    let path = match vendor {
        Vendor::OpenRouter => path.strip_prefix("/api")?,
        _ => path,
    };
    Some((vendor, path))
}

fn split_prefix(path: &str) -> Option<(Vendor, &str)> {
    if let Some((name, _)) = path
        .strip_prefix("/custom/")
        .and_then(|rest| rest.split_once('/'))
    {
        // Leaking is harmless: tests use few names.
        let vendor = Vendor::Custom(name.to_owned().leak());
        return Some((vendor, path.strip_prefix(&vendor.prefix())?));
    }
    let matching = |vendor: Vendor| {
        Some((
            vendor,
            path.strip_prefix(&vendor.prefix())
                .filter(|rest| rest.starts_with('/'))?,
        ))
    };
    PREFIXED.into_iter().find_map(matching)
}
