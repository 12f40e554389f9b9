//! Token counts of one call, in one convention for all vendors.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Where a usage figure comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageSource {
    /// The provider said so.
    #[default]
    Reported,
    /// The provider said nothing: counted from the text (see [`estimate_tokens`]).
    Estimated,
}

/// Tokens of one call. The four billed classes do not overlap: uncached input, cache reads, cache writes, output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Prompt tokens billed at the full input price.
    pub input: u64,
    /// Prompt tokens read from a cache.
    #[serde(default)]
    pub cache_read: u64,
    /// Prompt tokens written to a cache.
    #[serde(default)]
    pub cache_write: u64,
    /// Completion tokens, reasoning included.
    pub output: u64,
    /// The part of `output` that was reasoning, as far as the provider tells.
    #[serde(default)]
    pub reasoning: u64,
    #[serde(default)]
    pub source: UsageSource,
}

impl Usage {
    /// All prompt tokens, cached or not.
    pub fn prompt(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// Prompt and completion together.
    pub fn total(&self) -> u64 {
        self.prompt().saturating_add(self.output)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.output = self.output.saturating_add(other.output);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
        if other.source == UsageSource::Estimated {
            self.source = UsageSource::Estimated;
        }
    }
}

/// Estimates the tokens of a text, rounded up: four ASCII characters to a token, one token to every other character.
///
/// Four characters is the vendors' own rule of thumb for English; scripts outside ASCII cost about a token a character
/// (more for rare ones), so the estimate errs high where it errs.
pub fn estimate_tokens(text: &str) -> u64 {
    let (ascii, other) =
        text.chars().fold((0u64, 0u64), |(ascii, other), c| if c.is_ascii() { (ascii + 1, other) } else { (ascii, other + 1) });
    ascii.div_ceil(4) + other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_grow_with_the_text_and_count_other_scripts_fully() {
        assert_eq!((estimate_tokens(""), estimate_tokens("abcde"), estimate_tokens("日本語")), (0, 2, 3));
    }
}
