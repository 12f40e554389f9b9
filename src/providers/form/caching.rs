//! The form of requests whose context a vendor caches: no schema, the context in a block of its
//! own, and a mark at its end where the vendor needs one.
//!
//! A schema would spoil the cache: `OpenAI` puts it before all messages, and Anthropic's caches are
//! kept by `output_config` too, so that each kind of answer would write the context again.

use serde_json::{Value, json};

use crate::consultation::protocol::call::Ask;
use crate::domain::cost::prompt_caching;
use crate::domain::model::dialect::{Dialect, JsonMode, PromptCaching, Routing, Structure};

use super::Form;

/// The mark at the end of a cached beginning, on a block of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheMark {
    /// Anthropic's.
    CacheControl,
    /// OpenAI's, since the 5.6 generation.
    Breakpoint,
}

impl CacheMark {
    pub fn field(self) -> &'static str {
        match self {
            Self::CacheControl => "cache_control",
            Self::Breakpoint => "prompt_cache_breakpoint",
        }
    }

    fn value(self) -> Value {
        match self {
            Self::CacheControl => json!({"type": "ephemeral"}),
            Self::Breakpoint => json!({"mode": "explicit"}),
        }
    }
}

impl Form {
    /// Without a schema if the context is cached.
    #[must_use]
    pub fn for_call(&self, ask: &Ask, dialect: Dialect) -> Self {
        let form = self.clone();
        if ask.cache_key.is_none() {
            return form;
        }
        // A router may translate a JSON mode into a schema for a model that has none.
        let is_router =
            matches!(dialect, Dialect::OpenAi(quirks) if quirks.routing == Routing::AmongProviders);
        let is_translated = is_router && needs_mark(ask);
        let most = match self.json_mode {
            JsonMode::Supported if !is_translated => Structure::JsonObject,
            JsonMode::Supported | JsonMode::Unsupported => Structure::Prompt,
        };
        Self {
            structure: form.structure.max(most),
            ..form
        }
    }

    /// Returns the mark that a call's context needs to be cached, unless the server refuses it.
    pub fn cache_mark(&self, ask: &Ask, dialect: Dialect) -> Option<CacheMark> {
        let mark = match dialect {
            Dialect::Anthropic => CacheMark::CacheControl,
            Dialect::OpenAi(_) if prompt_caching::is_anthropics(&ask.model) => {
                CacheMark::CacheControl
            }
            Dialect::OpenAi(_) => CacheMark::Breakpoint,
            Dialect::Responses | Dialect::Gemini | Dialect::Ollama => return None,
        };
        let is_sent = ask.cache_key.is_some() && needs_mark(ask);
        (is_sent && !self.left_out.contains(mark.field())).then_some(mark)
    }
}

/// One text or, with a mark, blocks of which the first is marked.
pub(in crate::providers) fn content(blocks: Vec<String>, mark: Option<CacheMark>) -> Value {
    let Some(mark) = mark.filter(|_| blocks.len() > 1) else {
        return blocks.concat().into();
    };
    let mut blocks: Vec<Value> = blocks
        .into_iter()
        .map(|text| json!({"type": "text", "text": text}))
        .collect();
    if let Some(Value::Object(first)) = blocks.first_mut() {
        first.insert(mark.field().to_owned(), mark.value());
    }
    blocks.into()
}

fn needs_mark(ask: &Ask) -> bool {
    matches!(
        prompt_caching::of(&ask.model),
        PromptCaching::Breakpoints { .. }
    )
}
