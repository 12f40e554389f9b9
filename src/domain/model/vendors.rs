//! Table of the providers known by name. It holds all differences between vendors that are not on
//! the wire; those on the wire are in each row's [`Dialect`].

use super::dialect::{Dialect, Quirks, Routing};
use super::program;
use crate::domain::ids::ProviderId;

/// A provider known by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vendor {
    /// The id before the colon of a model: `anthropic`.
    pub id: &'static str,
    /// The display name: `Anthropic`.
    pub name: &'static str,
    pub dialect: Dialect,
    pub hosting: Hosting,
    /// Without a trailing slash. Its path is added to other base URLs without one.
    pub default_base_url: &'static str,
    /// Environment variables for another base URL; the first that is set applies.
    pub base_url_variables: &'static [&'static str],
    /// Environment variables for the key; the first that is set applies.
    pub key_variables: &'static [&'static str],
    /// The one of `key_variables` that holds a token: it is sent as `Authorization: Bearer` even if
    /// keys use another header.
    pub token_variable: Option<&'static str>,
    pub key_prefix: Option<&'static str>,
    /// The persona that this vendor's best model gets on the default panel.
    pub default_persona: Option<&'static str>,
    /// The vendor's name at resellers, before the slash of a model's id.
    pub reseller_name: Option<&'static str>,
    pub model_prefix: Option<&'static str>,
}

/// The place where a provider's models run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hosting {
    /// At the vendor, for money and with a key.
    Cloud,
    /// On the user's own machine or network, free and without a key.
    OwnMachine {
        kind: LocalServerKind,
        concurrency: Concurrency,
        /// Another default address of the server, used by newer builds.
        other_base_url: Option<&'static str>,
    },
}

/// The kinds of servers on the user's own machine, in the order of discovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LocalServerKind {
    Ollama,
    LlamaCpp,
    LmStudio,
    Vllm,
}

/// The number of calls that a local server handles at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concurrency {
    OneCall,
    ManyCalls,
}

/// The provider whose calls a ChatGPT plan pays for.
pub const CHATGPT: &str = "chatgpt";

/// The vendor whose model judges by default.
pub const USUAL_JUDGE: &str = "openai";

const CLOUD: Vendor = Vendor {
    id: "",
    name: "",
    dialect: Dialect::OpenAi(Quirks::COMPATIBLE),
    hosting: Hosting::Cloud,
    default_base_url: "",
    base_url_variables: &[],
    key_variables: &[],
    token_variable: None,
    key_prefix: None,
    default_persona: None,
    reseller_name: None,
    model_prefix: None,
};

const fn own_machine(kind: LocalServerKind, concurrency: Concurrency) -> Vendor {
    Vendor {
        hosting: Hosting::OwnMachine {
            kind,
            concurrency,
            other_base_url: None,
        },
        ..CLOUD
    }
}

// Local addresses are numeric: the servers listen only on 127.0.0.1, and `localhost` may resolve to
// IPv6.

const OLLAMA: Vendor = Vendor {
    id: "ollama",
    name: "Ollama",
    dialect: Dialect::Ollama,
    default_base_url: "http://127.0.0.1:11434",
    base_url_variables: &["OLLAMA_HOST"],
    ..own_machine(LocalServerKind::Ollama, Concurrency::OneCall)
};

const LLAMACPP: Vendor = Vendor {
    id: "llamacpp",
    name: "llama.cpp server",
    dialect: Dialect::OpenAi(Quirks::LLAMACPP),
    hosting: Hosting::OwnMachine {
        kind: LocalServerKind::LlamaCpp,
        concurrency: Concurrency::OneCall,
        other_base_url: Some("http://127.0.0.1:9931/v1"),
    },
    default_base_url: "http://127.0.0.1:8080/v1",
    key_variables: &["LLAMA_API_KEY"],
    ..CLOUD
};

const LM_STUDIO: Vendor = Vendor {
    id: "lmstudio",
    name: "LM Studio",
    dialect: Dialect::OpenAi(Quirks::LMSTUDIO),
    default_base_url: "http://127.0.0.1:1234/v1",
    base_url_variables: &["LM_STUDIO_API_BASE"],
    key_variables: &["LM_STUDIO_API_KEY"],
    ..own_machine(LocalServerKind::LmStudio, Concurrency::OneCall)
};

const VLLM: Vendor = Vendor {
    id: "vllm",
    name: "vLLM",
    dialect: Dialect::OpenAi(Quirks::VLLM),
    default_base_url: "http://127.0.0.1:8000/v1",
    key_variables: &["VLLM_API_KEY"],
    ..own_machine(LocalServerKind::Vllm, Concurrency::ManyCalls)
};

/// All vendors: those in the cloud in the order in which they fill a mixed panel, then local
/// servers in the order of discovery.
pub const VENDORS: [Vendor; 11] = [
    Vendor {
        id: "anthropic",
        name: "Anthropic",
        dialect: Dialect::Anthropic,
        default_base_url: "https://api.anthropic.com",
        base_url_variables: &["ANTHROPIC_BASE_URL"],
        key_variables: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
        token_variable: Some("ANTHROPIC_AUTH_TOKEN"),
        key_prefix: Some("sk-ant-"),
        default_persona: Some("security"),
        reseller_name: Some("anthropic"),
        model_prefix: Some("claude-"),
        ..CLOUD
    },
    Vendor {
        id: "openai",
        name: "OpenAI",
        dialect: Dialect::OpenAi(Quirks::OPENAI),
        default_base_url: "https://api.openai.com/v1",
        base_url_variables: &["OPENAI_BASE_URL"],
        key_variables: &["OPENAI_API_KEY"],
        key_prefix: Some("sk-"),
        default_persona: Some("architecture"),
        reseller_name: Some("openai"),
        model_prefix: Some("gpt-"),
        ..CLOUD
    },
    Vendor {
        id: "google",
        name: "Google",
        dialect: Dialect::Gemini,
        default_base_url: "https://generativelanguage.googleapis.com",
        base_url_variables: &["GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"],
        key_variables: &["GOOGLE_API_KEY", "GEMINI_API_KEY"],
        key_prefix: Some("AIza"),
        default_persona: Some("pragmatic"),
        reseller_name: Some("google"),
        model_prefix: Some("gemini-"),
        ..CLOUD
    },
    Vendor {
        id: "xai",
        name: "xAI",
        dialect: Dialect::OpenAi(Quirks::XAI),
        default_base_url: "https://api.x.ai/v1",
        base_url_variables: &["XAI_BASE_URL"],
        key_variables: &["XAI_API_KEY"],
        key_prefix: Some("xai-"),
        reseller_name: Some("x-ai"),
        model_prefix: Some("grok-"),
        ..CLOUD
    },
    Vendor {
        id: "mistral",
        name: "Mistral",
        dialect: Dialect::OpenAi(Quirks::MISTRAL),
        default_base_url: "https://api.mistral.ai/v1",
        base_url_variables: &["MISTRAL_BASE_URL"],
        key_variables: &["MISTRAL_API_KEY"],
        reseller_name: Some("mistralai"),
        model_prefix: Some("mistral-"),
        ..CLOUD
    },
    Vendor {
        id: "openrouter",
        name: "OpenRouter",
        dialect: Dialect::OpenAi(Quirks::OPENROUTER),
        default_base_url: "https://openrouter.ai/api/v1",
        base_url_variables: &["OPENROUTER_BASE_URL"],
        key_variables: &["OPENROUTER_API_KEY"],
        key_prefix: Some("sk-or-"),
        ..CLOUD
    },
    Vendor {
        id: CHATGPT,
        name: "ChatGPT",
        dialect: Dialect::Responses,
        default_base_url: "https://api.openai.com/v1",
        ..CLOUD
    },
    OLLAMA,
    LLAMACPP,
    LM_STUDIO,
    VLLM,
];

/// `None` for a provider from the user's settings.
pub fn find(id: &str) -> Option<&'static Vendor> {
    VENDORS.iter().find(|vendor| vendor.id == id)
}

/// For a provider from the user's settings, its id.
pub fn name(provider: &ProviderId) -> &str {
    let program = || Some(&*program::of_vendor(provider)?.name);
    let vendor = find(provider.as_str()).map(|vendor| vendor.name);
    vendor.or_else(program).unwrap_or(provider.as_str())
}

/// Returns whether this variable holds a token instead of a key.
pub fn holds_token(variable: &str) -> bool {
    VENDORS
        .iter()
        .any(|vendor| vendor.token_variable == Some(variable))
}

/// By the longest matching prefix.
pub fn of_key(key: &str) -> Option<&'static Vendor> {
    VENDORS
        .iter()
        .filter_map(|vendor| Some((vendor.key_prefix?, vendor)))
        .filter(|(prefix, _)| key.starts_with(prefix))
        .max_by_key(|(prefix, _)| prefix.len())
        .map(|(_, vendor)| vendor)
}

impl Vendor {
    /// `None` for a cloud vendor.
    pub fn local_server(&self) -> Option<LocalServerKind> {
        match self.hosting {
            Hosting::Cloud => None,
            Hosting::OwnMachine { kind, .. } => Some(kind),
        }
    }

    pub fn is_cloud(&self) -> bool {
        self.hosting == Hosting::Cloud
    }

    /// Returns whether a person signs in there, and no key is needed.
    pub fn signs_in(&self) -> bool {
        self.id == CHATGPT
    }

    /// Returns whether it sells other vendors' models.
    pub fn is_reseller(&self) -> bool {
        matches!(self.dialect, Dialect::OpenAi(quirks) if quirks.routing == Routing::AmongProviders)
    }

    /// Returns the path of the default base URL: empty, `/v1`, or the vendor's own.
    pub fn version_path(&self) -> &'static str {
        let (_, after_scheme) = self
            .default_base_url
            .split_once("://")
            .unwrap_or(("", self.default_base_url));
        after_scheme
            .find('/')
            .and_then(|slash| after_scheme.get(slash..))
            .unwrap_or_default()
    }
}

impl LocalServerKind {
    pub const ALL: [Self; 4] = [Self::Ollama, Self::LlamaCpp, Self::LmStudio, Self::Vllm];

    pub fn of(provider: &ProviderId) -> Option<Self> {
        find(provider.as_str())?.local_server()
    }

    pub fn vendor(self) -> &'static Vendor {
        match self {
            Self::Ollama => &OLLAMA,
            Self::LlamaCpp => &LLAMACPP,
            Self::LmStudio => &LM_STUDIO,
            Self::Vllm => &VLLM,
        }
    }

    pub fn provider(self) -> ProviderId {
        ProviderId::new(self.vendor().id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vendor_has_a_unique_id_name_and_address() {
        for (at, vendor) in VENDORS.iter().enumerate() {
            assert!(!vendor.id.is_empty() && !vendor.name.is_empty());
            assert!(vendor.default_base_url.starts_with("http"), "{}", vendor.id);
            let others = VENDORS.iter().skip(at + 1);
            for other in others {
                assert_ne!(vendor.id, other.id);
                // OpenAI answers in two formats at one address.
                let place = |vendor: &Vendor| (vendor.default_base_url, vendor.dialect.format());
                assert_ne!(place(vendor), place(other));
            }
        }
    }

    #[test]
    fn every_kind_of_local_server_has_one_row_in_the_order_of_kinds() {
        let kinds: Vec<LocalServerKind> = VENDORS.iter().filter_map(Vendor::local_server).collect();
        assert_eq!(kinds, LocalServerKind::ALL);
        for kind in LocalServerKind::ALL {
            assert_eq!(kind.vendor().local_server(), Some(kind));
        }
    }

    #[test]
    fn a_key_is_recognised_by_its_longest_prefix() {
        let vendor = |key| of_key(key).map(|vendor| vendor.id);
        assert_eq!(vendor("sk-ant-1"), Some("anthropic"));
        assert_eq!(vendor("sk-or-1"), Some("openrouter"));
        assert_eq!(vendor("sk-1"), Some("openai"));
        assert_eq!(vendor("1"), None);
    }

    #[test]
    fn a_version_path_is_the_path_of_the_default_base_url() {
        let path = |id| find(id).unwrap().version_path();
        assert_eq!(path("anthropic"), "");
        assert_eq!(path("openai"), "/v1");
        assert_eq!(path("openrouter"), "/api/v1");
    }
}
