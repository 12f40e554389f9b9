//! Counts the tokens of a context by the documented ratio. From 10,000 tokens on, where the figure
//! decides about money, it uses OpenAI's tokenizer `o200k_base`, which is loaded only then.
//!
//! OpenAI's is the only vendor's tokenizer that is public and maintained as a crate. Others count
//! the same text differently: Claude 3.5 takes 16 % more for English and 30 % more for Python (a
//! comparison with GPT-4o, 2025), Claude from Opus 4.7 on up to 35 % more than its predecessors
//! (Anthropic's migration guide), Gemini 19 % more for a repository (issue 476 of repomix). The
//! range and the worst case below cover all of them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use tiktoken_rs::CoreBPE;

use crate::domain::context::{ContextTokens, TokenCounter};
use crate::domain::hash::sha256;

/// The expected tokens from which a context is counted by the tokenizer.
pub const COUNTED_FROM: u64 = 10_000;

/// The lowest and the highest count of another vendor, in percent of the tokenizer's: a fifth
/// fewer; 1.30 × 1.35, Claude's two additions together.
const LOW_PERCENT: u64 = 80;
const HIGH_PERCENT: u64 = 176;

/// The most that another vendor's tokenizer is taken to count, in percent.
const WORST_PERCENT: u64 = 200;

/// The length of a run of one character from which tokenizers differ by more than
/// [`WORST_PERCENT`]: `o200k_base` has tokens of 128 blanks, others of 16.
const LONG_RUN: usize = 16;

/// The most bytes that are tokenized at once. The time for a piece of text may grow with the square
/// of its length.
const CHUNK: usize = 64 * 1024;

/// The texts that were counted last, by their SHA-256: the consultations about a document have the
/// same context.
static COUNTED: Mutex<BTreeMap<String, ContextTokens>> = Mutex::new(BTreeMap::new());

/// If all of them together are long, each is counted by the tokenizer.
pub fn count_all(texts: &[&str]) -> Vec<ContextTokens> {
    let by_ratio: Vec<ContextTokens> = texts
        .iter()
        .map(|text| ContextTokens::by_ratio(text))
        .collect();
    let expected: u64 = by_ratio.iter().map(|tokens| tokens.expected).sum();
    if expected < COUNTED_FROM {
        return by_ratio;
    }
    let hashes: Vec<String> = texts.iter().map(|text| sha256(text)).collect();
    let mut counted = COUNTED.lock().unwrap_or_else(PoisonError::into_inner);
    if hashes.iter().any(|hash| !counted.contains_key(hash)) {
        let Ok(tokenizer) = tiktoken_rs::o200k_base() else {
            return by_ratio;
        };
        let tokens = texts.iter().map(|text| by_tokenizer(&tokenizer, text));
        *counted = hashes.iter().cloned().zip(tokens).collect();
    }
    let tokens = hashes.iter().filter_map(|hash| counted.get(hash).copied());
    tokens.collect()
}

fn by_tokenizer(tokenizer: &CoreBPE, text: &str) -> ContextTokens {
    let tokens: usize = chunks(text)
        .map(|chunk| tokenizer.encode_ordinary(chunk).len())
        .sum();
    let expected = u64::try_from(tokens).unwrap_or(u64::MAX);
    let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
    let percent = |percent: u64| expected.saturating_mul(percent).div_ceil(100);
    let (beyond_ascii, in_long_runs) = unusual(text);
    let worst = percent(WORST_PERCENT)
        .saturating_add(beyond_ascii)
        .saturating_add(in_long_runs.div_ceil(4))
        .min(bytes);
    ContextTokens {
        low: percent(LOW_PERCENT),
        expected,
        high: percent(HIGH_PERCENT),
        worst,
        counted_by: TokenCounter::O200k,
    }
}

/// Returns the bytes for which the counts of tokenizers differ most: those of other scripts, since a
/// tokenizer that was not trained on one takes a token for each, and those in long runs of one
/// character, such as rules and indentation.
fn unusual(text: &str) -> (u64, u64) {
    let (mut beyond_ascii, mut in_long_runs) = (0, 0);
    for run in text.as_bytes().chunk_by(|one, next| one == next) {
        let length = u64::try_from(run.len()).unwrap_or(u64::MAX);
        if run.first().is_some_and(|byte| !byte.is_ascii()) {
            beyond_ascii += length;
        } else if run.len() >= LONG_RUN {
            in_long_runs += length;
        }
    }
    (beyond_ascii, in_long_runs)
}

/// Cuts a text into chunks before words at the beginning of a line, where every tokenizer begins a
/// token; a text without such a place is cut anywhere.
fn chunks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (chunk, after) = rest
            .split_at_checked(end_of_chunk(rest))
            .unwrap_or((rest, ""));
        rest = after;
        Some(chunk)
    })
}

fn end_of_chunk(text: &str) -> usize {
    if text.len() <= CHUNK {
        return text.len();
    }
    let bytes = text.as_bytes().get(..=CHUNK).unwrap_or_default();
    let begins_line = |pair: &[u8]| matches!(pair, [b'\n', next] if next.is_ascii_alphanumeric());
    match bytes.windows(2).rposition(begins_line) {
        Some(line_break) => line_break + 1,
        None => (1..=CHUNK)
            .rev()
            .find(|end| text.is_char_boundary(*end))
            .unwrap_or(text.len()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;

    static TOKENIZER: LazyLock<CoreBPE> = LazyLock::new(|| tiktoken_rs::o200k_base().unwrap());

    fn counted(text: &str) -> ContextTokens {
        count_all(&[text])[0]
    }

    fn tokenized(text: &str) -> u64 {
        by_tokenizer(&TOKENIZER, text).expected
    }

    #[test]
    fn known_texts_have_the_counts_of_the_published_tokenizer() {
        for (text, tokens) in [
            ("hello world", 2),
            ("Why is the sky blue?", 6),
            ("    let x = 1;\n", 7),
            ("antidisestablishmentarianism", 6),
        ] {
            assert_eq!(tokenized(text), tokens, "{text}");
        }
    }

    #[test]
    fn short_texts_are_counted_by_the_ratio_and_long_ones_by_the_tokenizer() {
        let line = "The quick brown fox jumps over the lazy dog.\n";
        let short = counted(&line.repeat(100));
        assert_eq!(short, ContextTokens::by_ratio(&line.repeat(100)));
        let long = counted(&line.repeat(1_000));
        assert_eq!(long.counted_by, TokenCounter::O200k);
        assert_eq!(long.expected, 10 * 1_000);
        assert_eq!(long.low, 8 * 1_000);
        assert_eq!(long.high, 17_600);
        assert_eq!(long.worst, 20 * 1_000);
    }

    #[test]
    fn texts_that_are_long_together_are_all_counted_by_the_tokenizer() {
        let half = "one two three four ".repeat(1_300);
        let both = count_all(&[&half, &half]);
        assert_eq!(counted(&half).counted_by, TokenCounter::Ratio);
        assert!(
            both.iter()
                .all(|tokens| tokens.counted_by == TokenCounter::O200k)
        );
    }

    #[test]
    fn worst_case_counts_other_scripts_and_long_runs_higher_but_never_above_the_bytes() {
        let texts = [
            "Почему небо голубое? ".repeat(300),
            " ".repeat(60_000),
            "a ".repeat(1_000),
            "日本語".repeat(1_000),
        ];
        let counts = count_all(&texts.each_ref().map(String::as_str));
        assert!(counts[0].worst > counts[0].expected * 5, "{counts:?}");
        assert!(counts[1].worst > 15_000, "{counts:?}");
        for (text, count) in texts.iter().zip(&counts) {
            assert_eq!(count.counted_by, TokenCounter::O200k);
            assert!(count.worst <= text.len() as u64, "{counts:?}");
        }
    }

    #[test]
    fn worst_case_of_short_texts_covers_the_vendor_that_counts_most() {
        let texts = [
            include_str!("../../README.md"),
            include_str!("../../docs/cost.md"),
            include_str!("count.rs"),
            include_str!("../../Cargo.toml"),
            include_str!("../../schemas/dry_run.schema.json"),
            "Почему небо голубое? Почему трава зелёная?",
            "aGVsbG8gd29ybGQhIFRoaXMgaXMgYSB0ZXN0IG9mIEJhc2U2NA==",
            "3f2a9c1e7b4d8056a1c39e7f20b85d64",
            "if (a[i] != b[j] && x >= 10) { y += f(&z, 3.14159); }",
        ];
        for text in texts {
            let bytes = text.len() as u64;
            let most = (tokenized(text) * HIGH_PERCENT / 100).min(bytes);
            let worst = ContextTokens::by_ratio(text).worst;
            let start: String = text.chars().take(40).collect();
            assert!((most..=bytes).contains(&worst), "{start}: {most} {worst}");
        }
    }

    #[test]
    fn chunks_do_not_change_the_count_of_lines() {
        let text = "fn main() {\n    println!(\"{}\", 1);\n\n}\n// A comment.\n\tuse a::b;\n"
            .repeat(1_500);
        let whole = TOKENIZER.encode_ordinary(&text).len() as u64;
        assert_eq!(tokenized(&text), whole);
        assert_eq!(chunks(&text).collect::<String>(), text);
        assert!(chunks(&text).all(|chunk| chunk.len() <= CHUNK));
    }

    #[test]
    fn texts_without_words_are_counted_in_bounded_time() {
        for text in [
            "a".repeat(200_000),
            " ".repeat(200_000),
            "\n".repeat(200_000),
            "=".repeat(200_000),
            "aA".repeat(100_000),
            "\t \u{3000}".repeat(40_000),
            "日".repeat(70_000),
            "e\u{301}".repeat(70_000),
            "🦊".repeat(50_000),
        ] {
            let tokens = by_tokenizer(&TOKENIZER, &text);
            assert!(tokens.low <= tokens.expected && tokens.expected <= tokens.high);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn any_text_is_counted_within_its_range(
            pieces in prop::collection::vec("\\PC{0,40}|[ \t\r\n]{0,30}|[a-z]{1,200}", 1..40),
        ) {
            let text = pieces.concat();
            let tokens = by_tokenizer(&TOKENIZER, &text);
            prop_assert!(tokens.low <= tokens.expected);
            prop_assert!(tokens.expected <= tokens.high);
            prop_assert!(tokens.expected <= tokens.worst);
            prop_assert!(tokens.worst <= text.len() as u64);
        }
    }
}
