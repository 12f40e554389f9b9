//! Token limits in the messages of servers that refuse a larger one.

use crate::consultation::protocol::call::Ask;

use super::prompt_tokens;
use crate::providers::errors::wording::TABLES;
use crate::text::word_list::WordList;

/// The limit of prompt and answer together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// In tokens.
    pub context: u64,
    /// The server's tokens per thousand of our estimate, rounded up.
    pub per_mille: u64,
}

impl Window {
    pub(super) fn output_tokens(&self, ask: &Ask) -> u64 {
        let prompt = u128::from(prompt_tokens(ask)) * u128::from(self.per_mille);
        self.context
            .saturating_sub(u64::try_from(prompt.div_ceil(1_000)).unwrap_or(u64::MAX))
    }

    /// Returns the window from a server's counts for one prompt, never wider than the known one.
    pub(super) fn reported(context: u64, prompt: u64, ask: &Ask, known: Option<Self>) -> Self {
        let ratio = (u128::from(prompt) * 1_000).div_ceil(u128::from(prompt_tokens(ask).max(1)));
        let reported = Self {
            context,
            per_mille: u64::try_from(ratio).unwrap_or(u64::MAX),
        };
        known.map_or(reported, |known| Self {
            context: known.context.min(reported.context),
            per_mille: known.per_mille.max(reported.per_mille),
        })
    }
}

/// A limit in a server's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// The largest output limit.
    Answer(u64),
    /// The context size, and the prompt's share of it.
    Context { context: u64, prompt: u64 },
}

/// Reads the limit in a server's message in lower case.
pub(super) fn limit(words: &str) -> Option<Limit> {
    // Anthropic: `input length and max_tokens exceed context limit: 190000 + 16384 > 200000`.
    if let Some((_, sums)) = words.split_once("exceed context limit:") {
        return Some(Limit::Context {
            prompt: first_number(sums)?,
            context: first_number(sums.split_once('>')?.1)?,
        });
    }
    let after = |markers: &WordList| {
        markers
            .iter()
            .find_map(|marker| first_number(words.split_once(marker.as_str())?.1))
    };
    let before = |markers: &WordList| {
        markers
            .iter()
            .find_map(|marker| last_number(words.split_once(marker.as_str())?.0))
    };
    if let Some(context) = after(&TABLES.before_context_size) {
        return Some(Limit::Context {
            context,
            prompt: before(&TABLES.after_prompt_size)?,
        });
    }
    // Anthropic: `max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens`.
    if let Some((_, sizes)) = words.split_once("max_tokens:") {
        return Some(Limit::Answer(first_number(sizes.split_once('>')?.1)?));
    }
    if !TABLES.answer_limit_names.are_in(words) {
        return None;
    }
    // Google: `the supported range is from 1 (inclusive) to 8193 (exclusive)`.
    let exclusive = words
        .split_once("(inclusive) to")
        .and_then(|(_, rest)| Some(first_number(rest)?.saturating_sub(1)));
    exclusive
        .or_else(|| after(&TABLES.before_answer_limit))
        .map(Limit::Answer)
}

/// Returns the number at the start of a text, after blanks and punctuation.
fn first_number(text: &str) -> Option<u64> {
    let start = text.find(is_digit).filter(|at| *at <= 3)?;
    number(text.get(start..)?.split(ends_number).next()?)
}

/// Returns the number at the end of a text, before blanks and punctuation.
fn last_number(text: &str) -> Option<u64> {
    let end = text.rfind(is_digit).filter(|at| text.len() - at <= 4)?;
    number(text.get(..=end)?.rsplit(ends_number).next()?)
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

fn ends_number(c: char) -> bool {
    !is_digit(c) && c != ','
}

fn number(text: &str) -> Option<u64> {
    text.replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(context: u64, prompt: u64) -> Limit {
        Limit::Context { context, prompt }
    }

    #[test]
    fn limits_are_read_in_the_words_of_every_server() {
        let cases = [
            (
                "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet",
                Some(Limit::Answer(8_192)),
            ),
            (
                "max_tokens is too large: 100000. This model supports at most 4096 completion tokens, whereas you provided 100000.",
                Some(Limit::Answer(4_096)),
            ),
            (
                "`max_tokens` must be less than or equal to `8,192`, the maximum value",
                Some(Limit::Answer(8_192)),
            ),
            (
                "it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 8193 (exclusive)",
                Some(Limit::Answer(8_192)),
            ),
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 16384. This model's maximum context length is 8192 tokens and your \
                 request has 50 input tokens (16384 > 8192 - 50). (parameter=max_tokens, value=16384)",
                Some(context(8_192, 50)),
            ),
            (
                "This model's maximum context length is 8192 tokens. However, you requested 16434 tokens (50 in the messages, 16384 in the \
                 completion). Please reduce the length of the messages or completion.",
                Some(context(8_192, 50)),
            ),
            (
                "This endpoint's maximum context length is 8192 tokens. However, you requested about 16434 tokens (50 of text input, 16384 \
                 in the output).",
                Some(context(8_192, 50)),
            ),
            (
                "input length and `max_tokens` exceed context limit: 190000 + 16384 > 200000, decrease input length or `max_tokens`",
                Some(context(200_000, 190_000)),
            ),
            (
                "This model's maximum context length is 8192 tokens, and yours is longer",
                None,
            ),
            ("prompt is too long: 210000 tokens > 200000 maximum", None),
            ("temperature must be less than or equal to 2", None),
            ("max_tokens: Field required", None),
            ("max_tokens must be positive", None),
            ("", None),
        ];
        for (words, expected) in cases {
            assert_eq!(limit(&words.to_lowercase()), expected, "{words}");
        }
    }
}
