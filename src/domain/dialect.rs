//! The wire formats, and how servers of the same format differ. Data only: the codecs of
//! `providers` put the differences on the wire.

/// A wire format with what distinguishes one server that speaks it from another. Each format has a
/// codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Chat Completions, which most others speak in a way of their own.
    OpenAi(Quirks),
    /// Google's generateContent.
    Gemini,
    /// Ollama's own, which alone can set the size of the context.
    Ollama,
}

impl Dialect {
    /// Returns the wire format without what distinguishes this server.
    pub fn format(self) -> WireFormat {
        match self {
            Self::Anthropic => WireFormat::Anthropic,
            Self::OpenAi(_) => WireFormat::OpenAi,
            Self::Gemini => WireFormat::Gemini,
            Self::Ollama => WireFormat::Ollama,
        }
    }

    /// Returns whether a model can be held to JSON without a schema.
    pub fn json_mode(self) -> JsonMode {
        match self {
            Self::Anthropic => JsonMode::Unsupported,
            Self::OpenAi(quirks) => quirks.json_mode,
            Self::Gemini | Self::Ollama => JsonMode::Supported,
        }
    }

    /// Returns the best form of an answer to ask for before anything is known of the model.
    pub fn best_structure(self) -> Structure {
        match self {
            Self::OpenAi(quirks) => quirks.best_structure,
            Self::Anthropic | Self::Gemini | Self::Ollama => Structure::Schema,
        }
    }
}

/// A wire format by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireFormat {
    OpenAi,
    Anthropic,
    Gemini,
    Ollama,
}

impl WireFormat {
    /// Returns what users leave at the end of a base URL although it belongs to a request's path,
    /// the longest first.
    pub fn request_suffixes(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi => &["/chat/completions"],
            Self::Anthropic => &["/v1/messages", "/v1"],
            Self::Gemini => &["/v1beta/models", "/v1beta", "/v1"],
            Self::Ollama => &["/v1/chat/completions", "/api/chat", "/api", "/v1"],
        }
    }

    /// Returns the path of a base URL that has none of its own.
    pub fn version_path(self) -> &'static str {
        match self {
            Self::OpenAi => "/v1",
            Self::Anthropic | Self::Gemini | Self::Ollama => "",
        }
    }

    /// Returns the port of an address without a scheme: only Ollama's users write one, because
    /// `OLLAMA_HOST` also says where the server listens.
    pub fn default_port(self) -> Option<u16> {
        match self {
            Self::Ollama => Some(11_434),
            Self::OpenAi | Self::Anthropic | Self::Gemini => None,
        }
    }
}

/// How the shape of an answer is asked for, from the best to what every model takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Structure {
    /// The vendor is given the schema and holds the model to it.
    Schema,
    /// The vendor holds the model to JSON, the prompt says which.
    JsonObject,
    /// The prompt alone describes the answer.
    Prompt,
}

/// How a server differs from other servers that speak Chat Completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quirks {
    pub tokens_field: TokensField,
    /// The vendor's own host. At any other address, `tokens_field` applies only to models that the
    /// model catalog knows. `None`: it applies everywhere.
    pub own_host: Option<&'static str>,
    pub best_structure: Structure,
    pub json_mode: JsonMode,
    pub stream_usage: StreamUsage,
    pub reasoning: Reasoning,
    pub reported_cost: ReportedCost,
    pub routing: Routing,
    pub health_check: HealthCheck,
}

/// The free request whose answer says most about whether a server works.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokensField {
    /// `max_tokens`: what every server but OpenAI's own takes.
    MaxTokens,
    /// `max_completion_tokens`: OpenAI's models since the o-series refuse the other name.
    MaxCompletionTokens,
}

impl TokensField {
    /// As it is written in a request.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }

    /// The other name.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::MaxTokens => Self::MaxCompletionTokens,
            Self::MaxCompletionTokens => Self::MaxTokens,
        }
    }
}

/// Whether a server knows a JSON mode without a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonMode {
    Supported,
    /// It has none, or refuses it.
    Unsupported,
}

/// How a server is made to report usage at the end of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamUsage {
    /// By `stream_options.include_usage`.
    OnRequest,
    /// It always does, and may refuse the field `stream_options`.
    Always,
}

/// How a server counts reasoning where its total does not show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reasoning {
    /// As part of the completion's tokens.
    Within,
    /// On top of them.
    OnTop,
}

/// Where a server says what a call cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportedCost {
    /// Nowhere.
    None,
    /// `usage.cost`, in dollars.
    Usd,
    /// `usage.cost_in_usd_ticks`, in ten-billionths of a dollar.
    Ticks,
}

/// Who answers behind a server's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routing {
    /// The server itself.
    Direct,
    /// One of several providers. One that does not know a parameter ignores it silently, unless
    /// such providers are ruled out.
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
        health_check: HealthCheck::Models,
    };
    pub const OPENAI: Self = Self {
        tokens_field: TokensField::MaxCompletionTokens,
        own_host: Some("api.openai.com"),
        ..Self::COMPATIBLE
    };
    /// Counts reasoning on top, and bills in ticks.
    pub const XAI: Self = Self {
        reasoning: Reasoning::OnTop,
        reported_cost: ReportedCost::Ticks,
        ..Self::COMPATIBLE
    };
    /// Sends usage unasked; validates its requests strictly.
    pub const MISTRAL: Self = Self {
        stream_usage: StreamUsage::Always,
        ..Self::COMPATIBLE
    };
    /// Sends usage unasked, with the price of the call.
    pub const OPENROUTER: Self = Self {
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
