//! Counts the tokens of a context.

use crate::domain::context::ContextTokens;

/// Counts the tokens of a text by the documented ratio. At worst, each byte is a token.
pub fn count(text: &str) -> ContextTokens {
    ContextTokens::by_ratio(text)
}
