//! The context of a record: the sources of a question's context, without their text.

use serde::{Deserialize, Serialize};

use crate::domain::context::{
    Context, ContextSource, ContextStorage, ContextTokens, ProjectStance, TokenCounter,
};

/// The context of a question, in `context`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StoredContext {
    /// In the order of the prompt.
    pub sources: Vec<ContextSource>,
    /// The size of the whole text, headings included.
    pub bytes: Option<u64>,
    /// The expected tokens of the whole text.
    pub tokens: Option<u64>,
    /// The method of `tokens` and of those of the sources.
    pub counted_by: Option<TokenCounter>,
    /// SHA-256 of the whole text, in hexadecimal.
    pub sha256: Option<String>,
    /// Whether the answers follow the patterns of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stance: Option<ProjectStance>,
    /// The project's stack in words, as the prompts state it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<String>,
    /// Whether the text is stored beside the record.
    pub storage: ContextStorage,
}

impl StoredContext {
    /// Returns the context without its text; `None` if the record does not identify the text.
    pub fn context(&self) -> Option<Context> {
        Some(Context {
            sources: self.sources.clone(),
            bytes: self.bytes?,
            sha256: self.sha256.clone()?,
            tokens: ContextTokens {
                expected: self.tokens.unwrap_or_default(),
                ..ContextTokens::default()
            },
            stance: self.stance,
            stack: self.stack.clone(),
            storage: self.storage,
            ..Context::default()
        })
    }
}

impl From<&Context> for StoredContext {
    fn from(context: &Context) -> Self {
        Self {
            sources: context.sources.clone(),
            bytes: Some(context.bytes),
            tokens: Some(context.tokens.expected),
            counted_by: Some(context.tokens.counted_by),
            sha256: Some(context.sha256.clone()),
            stance: context.stance,
            stack: context.stack.clone(),
            storage: context.storage,
        }
    }
}
