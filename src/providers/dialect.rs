//! The wire formats, and where servers of the same format differ. Data: what the differences mean
//! on the wire is the codecs' affair.

/// A wire format. Each has a codec.
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
    /// Whether a model can be held to JSON without a schema.
    pub fn json_object(self) -> JsonObject {
        match self {
            Self::Anthropic => JsonObject::Unknown,
            Self::OpenAi(quirks) => quirks.json_object,
            Self::Gemini | Self::Ollama => JsonObject::Taken,
        }
    }

    /// The best form of an answer that may be asked for, before a model has shown what it takes.
    pub fn best_structure(self) -> Structure {
        match self {
            Self::OpenAi(quirks) => quirks.best_structure,
            Self::Anthropic | Self::Gemini | Self::Ollama => Structure::Schema,
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
    /// The prompt alone says what is wanted.
    Prompt,
}

/// How a server differs from others that speak Chat Completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quirks {
    pub tokens_field: TokensField,
    /// The vendor's own host. Under any other address the vendor's name stands for a server of
    /// whatever models, and the field for tokens is the vendor's only for models that the catalogue
    /// knows. `None`: the field is the same everywhere.
    pub home: Option<&'static str>,
    pub best_structure: Structure,
    pub json_object: JsonObject,
    pub stream_usage: StreamUsage,
    pub reasoning: Reasoning,
    pub reported_cost: ReportedCost,
    pub routing: Routing,
    pub free_word: FreeWord,
}

/// What a server says for nothing that tells most about how it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FreeWord {
    /// Its list of models.
    Models,
    /// What it says of the key, at this path: its list is public.
    Key(&'static str),
    /// Whether it is ready, at the root of its address: it lists its model before it has loaded it.
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
    pub fn name(self) -> &'static str {
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
pub enum JsonObject {
    Taken,
    /// It has none, or refuses it.
    Unknown,
}

/// How a server is made to report usage at the end of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamUsage {
    /// By `stream_options.include_usage`.
    OnRequest,
    /// It always does, and `stream_options` may be a field that it refuses.
    Always,
}

/// How a server counts reasoning, where its total does not tell.
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
    /// One of several providers. One that does not know a parameter would silently ignore it unless
    /// those are ruled out.
    AmongProviders,
}

impl Quirks {
    /// A server of which nothing is known but that it speaks the format.
    pub const COMPATIBLE: Self = Self {
        tokens_field: TokensField::MaxTokens,
        home: None,
        best_structure: Structure::Schema,
        json_object: JsonObject::Taken,
        stream_usage: StreamUsage::OnRequest,
        reasoning: Reasoning::Within,
        reported_cost: ReportedCost::None,
        routing: Routing::Direct,
        free_word: FreeWord::Models,
    };
    pub const OPENAI: Self = Self {
        tokens_field: TokensField::MaxCompletionTokens,
        home: Some("api.openai.com"),
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
        free_word: FreeWord::Key("/key"),
        ..Self::COMPATIBLE
    };
    pub const LLAMACPP: Self = Self {
        free_word: FreeWord::Health,
        ..Self::COMPATIBLE
    };
    /// `response_format` must be a schema or text.
    pub const LMSTUDIO: Self = Self {
        json_object: JsonObject::Unknown,
        ..Self::COMPATIBLE
    };
    pub const VLLM: Self = Self {
        free_word: FreeWord::Health,
        ..Self::COMPATIBLE
    };
}
