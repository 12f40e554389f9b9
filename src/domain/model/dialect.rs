//! The wire formats, and the differences between servers of one format. Data only: the codecs of
//! `providers` put the differences on the wire.

use serde::{Deserialize, Serialize};

/// A wire format with the peculiarities of one server that uses it. Each format has a codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Chat Completions, which most other vendors use with peculiarities.
    OpenAi(Quirks),
    /// OpenAI's Responses.
    Responses,
    /// Google's generateContent.
    Gemini,
    /// Ollama's native format, the only one that can set the context size.
    Ollama,
}

impl Dialect {
    /// Returns the wire format without the server's peculiarities.
    pub fn format(self) -> WireFormat {
        match self {
            Self::Anthropic => WireFormat::Anthropic,
            Self::OpenAi(_) => WireFormat::OpenAi,
            Self::Responses => WireFormat::Responses,
            Self::Gemini => WireFormat::Gemini,
            Self::Ollama => WireFormat::Ollama,
        }
    }

    pub fn json_mode(self) -> JsonMode {
        match self {
            // Responses want the word in the input, which instructions are not.
            Self::Anthropic | Self::Responses => JsonMode::Unsupported,
            Self::OpenAi(quirks) => quirks.json_mode,
            Self::Gemini | Self::Ollama => JsonMode::Supported,
        }
    }

    /// Returns the best structure to ask for while nothing is known about the model.
    pub fn best_structure(self) -> Structure {
        match self {
            Self::OpenAi(quirks) => quirks.best_structure,
            Self::Anthropic | Self::Responses | Self::Gemini | Self::Ollama => Structure::Schema,
        }
    }
}

/// A wire format by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WireFormat {
    OpenAi,
    Responses,
    Anthropic,
    Gemini,
    Ollama,
}

impl WireFormat {
    /// Returns suffixes that users leave on a base URL although they belong to a request's path,
    /// the longest first.
    pub fn request_suffixes(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi => &["/chat/completions"],
            Self::Responses => &["/responses"],
            Self::Anthropic => &["/v1/messages", "/v1"],
            Self::Gemini => &["/v1beta/models", "/v1beta", "/v1"],
            Self::Ollama => &["/v1/chat/completions", "/api/chat", "/api", "/v1"],
        }
    }

    /// Returns the path added to a base URL without one.
    pub fn version_path(self) -> &'static str {
        match self {
            Self::OpenAi | Self::Responses => "/v1",
            Self::Anthropic | Self::Gemini | Self::Ollama => "",
        }
    }

    /// Only Ollama has one, because `OLLAMA_HOST` also configures where the server listens.
    pub fn default_port(self) -> Option<u16> {
        match self {
            Self::Ollama => Some(11_434),
            Self::OpenAi | Self::Responses | Self::Anthropic | Self::Gemini => None,
        }
    }
}

/// The form in which an answer is requested, from the strictest to the one that every
/// model accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Structure {
    /// The vendor enforces the schema.
    #[serde(rename = "json_schema")]
    Schema,
    /// The vendor enforces JSON; the prompt describes its fields.
    JsonObject,
    /// The prompt alone describes the answer.
    #[serde(rename = "none")]
    Prompt,
}

/// The way in which a vendor caches the beginning of prompts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptCaching {
    /// It does not, or nothing is known.
    #[default]
    None,
    /// By itself, from a beginning of this many tokens.
    Automatic { min_tokens: u64 },
    /// Up to a mark in the request, from a beginning of this many tokens.
    Breakpoints { min_tokens: u64 },
}

impl PromptCaching {
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }

    pub fn applies_to(self, tokens: u64) -> bool {
        match self {
            Self::None => false,
            Self::Automatic { min_tokens } | Self::Breakpoints { min_tokens } => {
                tokens > 0 && tokens >= min_tokens
            }
        }
    }
}

/// Peculiarities of a server that speaks Chat Completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quirks {
    pub tokens_field: TokensField,
    /// The vendor's own host. At any other address, `tokens_field` applies only to models in the
    /// model catalog. `None` if it applies everywhere.
    pub own_host: Option<&'static str>,
    pub best_structure: Structure,
    pub json_mode: JsonMode,
    pub stream_usage: StreamUsage,
    pub reasoning: Reasoning,
    pub reported_cost: ReportedCost,
    pub routing: Routing,
    pub cache_key: CacheKeyPlace,
    pub health_check: HealthCheck,
}

/// The place in a request for the name of a cached beginning. Requests with the same name are led
/// to the same server, where the cache is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheKeyPlace {
    /// None: the vendor finds the server by itself, or has one for all.
    None,
    /// A field of the body.
    Field(&'static str),
    Header(&'static str),
}

/// The free request that best shows whether a server works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HealthCheck {
    /// The list of models.
    Models,
    /// The state of the key, at this path: the list of models is public.
    Key(&'static str),
    /// Readiness, at the root of the address: the model is listed before it is loaded.
    Health,
}

/// The name of the field that limits an answer's tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokensField {
    /// `max_tokens`, which every server but OpenAI's own accepts.
    MaxTokens,
    /// `max_completion_tokens`: since the o-series, OpenAI's models refuse `max_tokens`.
    MaxCompletionTokens,
}

impl TokensField {
    pub const fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }

    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::MaxTokens => Self::MaxCompletionTokens,
            Self::MaxCompletionTokens => Self::MaxTokens,
        }
    }
}

/// Support for a JSON mode without a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonMode {
    Supported,
    /// There is none, or it is refused.
    Unsupported,
}

/// The way to get a usage report at the end of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamUsage {
    /// With `stream_options.include_usage`.
    OnRequest,
    /// The server always reports it and may refuse the field `stream_options`.
    Always,
}

/// The way in which reasoning tokens are counted if the total does not show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reasoning {
    /// Included in the completion's tokens.
    Within,
    /// In addition to the completion's tokens.
    OnTop,
}

/// The field in which a server reports the cost of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportedCost {
    None,
    /// `usage.cost`, in dollars.
    Usd,
    /// `usage.cost_in_usd_ticks`, in ten-billionths of a dollar.
    Ticks,
}

/// The provider that answers at a server's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routing {
    /// The server itself.
    Direct,
    /// One of several providers. Those that do not know a parameter silently ignore it unless the
    /// request excludes them.
    AmongProviders,
}

impl Quirks {
    /// A server about which nothing more is known.
    pub const COMPATIBLE: Self = Self {
        tokens_field: TokensField::MaxTokens,
        own_host: None,
        best_structure: Structure::Schema,
        json_mode: JsonMode::Supported,
        stream_usage: StreamUsage::OnRequest,
        reasoning: Reasoning::Within,
        reported_cost: ReportedCost::None,
        routing: Routing::Direct,
        cache_key: CacheKeyPlace::None,
        health_check: HealthCheck::Models,
    };
    pub const OPENAI: Self = Self {
        cache_key: CacheKeyPlace::Field("prompt_cache_key"),
        tokens_field: TokensField::MaxCompletionTokens,
        own_host: Some("api.openai.com"),
        ..Self::COMPATIBLE
    };
    /// Counts reasoning on top, and bills in ticks. Its Responses know `prompt_cache_key`, its Chat
    /// Completions a header.
    pub const XAI: Self = Self {
        cache_key: CacheKeyPlace::Header("x-grok-conv-id"),
        reasoning: Reasoning::OnTop,
        reported_cost: ReportedCost::Ticks,
        ..Self::COMPATIBLE
    };
    /// Sends usage unasked; validates its requests strictly.
    pub const MISTRAL: Self = Self {
        cache_key: CacheKeyPlace::Field("prompt_cache_key"),
        stream_usage: StreamUsage::Always,
        ..Self::COMPATIBLE
    };
    /// Sends usage unasked, with the price of the call. By itself it leads only requests with the
    /// same first user message to one provider.
    pub const OPENROUTER: Self = Self {
        cache_key: CacheKeyPlace::Field("session_id"),
        stream_usage: StreamUsage::Always,
        reported_cost: ReportedCost::Usd,
        routing: Routing::AmongProviders,
        health_check: HealthCheck::Key("/key"),
        ..Self::COMPATIBLE
    };
    pub const LLAMACPP: Self = Self {
        health_check: HealthCheck::Health,
        ..Self::COMPATIBLE
    };
    /// `response_format` must be a schema or text.
    pub const LMSTUDIO: Self = Self {
        json_mode: JsonMode::Unsupported,
        ..Self::COMPATIBLE
    };
    pub const VLLM: Self = Self {
        health_check: HealthCheck::Health,
        ..Self::COMPATIBLE
    };
}
