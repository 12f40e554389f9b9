//! Counts the tokens of a context.

use crate::domain::context::{ContextTokens, TokenCounter};
use crate::domain::tokens::token_band;

/// Counts the tokens of a text by the documented ratio. At worst, each byte is a token.
pub fn count(text: &str) -> ContextTokens {
    let band = token_band(text);
    ContextTokens {
        low: band.low,
        expected: band.expected,
        high: band.high,
        worst: u64::try_from(text.len()).unwrap_or(u64::MAX),
        counted_by: TokenCounter::Ratio,
    }
}
