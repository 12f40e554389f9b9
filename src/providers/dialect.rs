//! The wire formats, and where servers of the same format differ.

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

/// How a server differs from others that speak Chat Completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quirks {
    pub tokens_field: TokensField,
}

/// The name of the field that limits an answer's tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokensField {
    /// `max_tokens`: what every server but OpenAI's own takes.
    MaxTokens,
    /// `max_completion_tokens`: OpenAI's models since the o-series refuse the other name.
    MaxCompletionTokens,
}

impl Quirks {
    pub const OPENAI: Self = Self { tokens_field: TokensField::MaxCompletionTokens };
    pub const XAI: Self = Self::COMPATIBLE;
    pub const MISTRAL: Self = Self::COMPATIBLE;
    pub const OPENROUTER: Self = Self::COMPATIBLE;
    pub const LLAMACPP: Self = Self::COMPATIBLE;
    pub const LMSTUDIO: Self = Self::COMPATIBLE;
    pub const VLLM: Self = Self::COMPATIBLE;
    /// A server of which nothing is known but that it speaks the format.
    pub const COMPATIBLE: Self = Self { tokens_field: TokensField::MaxTokens };
}
