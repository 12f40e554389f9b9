//! The part of a call's prompt that its vendor is expected to write to its cache, or to read from
//! it.
//!
//! A vendor caches the beginning of a prompt for each of its models. All prompts with context begin
//! with the same bytes, so the first calls of a model write them, and later calls read them. Calls
//! that go out together all write: an entry can be read only once its first answer has begun.

use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::Prompt;
use crate::domain::cost::tokens::{Usage, estimate_tokens};
use crate::domain::ids::ModelRef;

use super::Plan;

/// The state of a vendor's cache before a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheState {
    /// No answer of the model has begun that could have written the context.
    Cold,
    /// An earlier call wrote it.
    Warm,
}

impl Plan {
    /// Returns the name of the context for the cache of a model's vendor, if it caches a context
    /// of this length. The helper's prompts have no context.
    pub fn cache_key(&self, model: &ModelRef, answer: AnswerKind) -> Option<String> {
        let context = self.context.as_deref()?;
        let caches = self
            .terms(model)
            .caching
            .applies_to(context.tokens.expected);
        let digits = context.sha256.get(..16)?;
        (caches && !answer.is_for_helper()).then(|| format!("conclave-{digits}"))
    }

    /// Returns the expected usage of a call for a kind of answer whose prompt takes this many
    /// tokens in all.
    pub fn expected_usage(
        &self,
        (model, answer): (&ModelRef, AnswerKind),
        prompt: &Prompt,
        input: u64,
        output: u64,
        cache: CacheState,
    ) -> Usage {
        let cached = if self.cache_key(model, answer).is_some() {
            let beginning = prompt.context.tokens().expected + estimate_tokens(&prompt.preamble);
            beginning.min(input)
        } else {
            0
        };
        let (cache_write, cache_read) = match cache {
            CacheState::Cold => (cached, 0),
            CacheState::Warm => (0, cached),
        };
        Usage {
            input: input - cached,
            cache_read,
            cache_write,
            output,
            ..Usage::default()
        }
    }
}
