//! Token counts of one call, in one convention for all vendors.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// The source of a usage figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageSource {
    /// Reported by the provider.
    #[default]
    Reported,
    /// Estimated from the text (see [`estimate_tokens`]), because the provider reported nothing.
    Estimated,
}

/// Tokens of one call. The four billed classes do not overlap: uncached input, cache reads, cache
/// writes, output.
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
    /// The part of `output` that was reasoning, as far as the provider reports it.
    #[serde(default)]
    pub reasoning: u64,
    #[serde(default)]
    pub source: UsageSource,
}

impl Usage {
    /// Of a prompt whose count includes what was read from a cache and what was written to it.
    pub fn of_prompt(prompt: u64, cache_read: u64, cache_write: u64) -> Self {
        let cache_read = cache_read.min(prompt);
        let cache_write = cache_write.min(prompt - cache_read);
        Self {
            input: prompt - cache_read - cache_write,
            cache_read,
            cache_write,
            ..Self::default()
        }
    }

    /// Cached or not.
    pub fn prompt(&self) -> u64 {
        self.input
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
    }

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

/// An estimated number of tokens: lowest, expected, highest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Band {
    pub low: u64,
    pub expected: u64,
    pub high: u64,
}

impl Add for Band {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            low: self.low.saturating_add(other.low),
            expected: self.expected.saturating_add(other.expected),
            high: self.high.saturating_add(other.high),
        }
    }
}

impl Sum for Band {
    fn sum<I: Iterator<Item = Self>>(bands: I) -> Self {
        bands.fold(Self::default(), Add::add)
    }
}

/// Estimates the tokens of a text: one token for four ASCII characters, one for every other
/// character, rounded up.
///
/// Four characters is the vendors' rule of thumb for English. Their tokenizers differ by a third
/// either way: the leanest take five characters of prose together, the others three, and all of
/// them three with code and JSON. Other scripts take from four characters a token (Cyrillic) to two
/// tokens a character (rare scripts). The real tokenizers are not used: only some vendors publish
/// theirs, and their tables alone exceed the program's memory limit of 20 MB.
pub fn token_band(text: &str) -> Band {
    let mut count = CharCount::default();
    count.add(text);
    count.band()
}

/// The characters of a text that is not stored, for the estimate of its tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CharCount {
    ascii: u64,
    other: u64,
}

impl CharCount {
    pub fn add(&mut self, piece: &str) {
        let chars = piece.chars().count() as u64;
        let ascii = piece.bytes().filter(u8::is_ascii).count() as u64;
        self.ascii += ascii;
        self.other += chars - ascii;
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub fn band(self) -> Band {
        let Self { ascii, other } = self;
        Band {
            low: ascii / 5 + other / 4,
            expected: ascii.div_ceil(4) + other,
            high: ascii.div_ceil(3) + 2 * other,
        }
    }
}

/// Returns the expected value of the [`token_band`] of a text.
pub fn estimate_tokens(text: &str) -> u64 {
    token_band(text).expected
}

/// The longest piece of a word that is taken to be a word of some language.
const LONGEST_WORD: u64 = 16;

/// The fewest letters that the pieces of a name have on average: random text has fewer.
const SHORTEST_PIECE: u64 = 3;

/// Returns the most tokens that any vendor's tokenizer is taken to count; never more than bytes.
///
/// A word takes at most one token for two letters: with the most tokens that a vendor counts, 1.76
/// times those of `o200k_base`, English takes two in five bytes. The space before a word of three
/// letters or more belongs to it. Every other byte is a token, and so is each of what is no word: of
/// more than 16 letters, of random letters and digits, and of other scripts. A capital begins a
/// piece of a word.
pub fn worst_tokens(text: &str) -> u64 {
    let mut count = WorstCount::default();
    for byte in text.as_bytes() {
        count.add(*byte);
    }
    count.end_run();
    count.tokens
}

/// The count of [`worst_tokens`], byte by byte: it is made of every prompt, so that chains of
/// iterators took more than half of the time of the tests.
#[derive(Debug, Default)]
struct WorstCount {
    /// Those of the runs before.
    tokens: u64,
    /// A run is made of letters and digits.
    run: WorstRun,
    /// Of the piece of a word in this run.
    piece: u64,
    ends_small: bool,
    follows_space: bool,
}

#[derive(Debug, Default)]
struct WorstRun {
    bytes: u64,
    /// Letters that it begins with.
    first_letters: u64,
    tokens: u64,
    pieces: u64,
    letters: u64,
}

impl WorstCount {
    fn add(&mut self, byte: u8) {
        match byte {
            b'a'..=b'z' => self.add_letter(false),
            b'A'..=b'Z' => self.add_letter(true),
            b'0'..=b'9' => {
                self.end_piece();
                self.run.bytes += 1;
                self.run.tokens += 1;
            }
            _ => {
                self.end_run();
                self.tokens += 1;
                self.follows_space = byte == b' ';
            }
        }
    }

    fn add_letter(&mut self, is_capital: bool) {
        if is_capital && self.ends_small {
            self.end_piece();
        }
        self.ends_small = !is_capital;
        self.run.first_letters += u64::from(self.run.first_letters == self.run.bytes);
        self.run.bytes += 1;
        self.piece += 1;
    }

    fn end_piece(&mut self) {
        let (piece, run) = (self.piece, &mut self.run);
        if piece > LONGEST_WORD {
            run.tokens += piece;
        } else if piece > 0 {
            run.pieces += 1;
            run.letters += piece;
            run.tokens += piece.div_ceil(2);
        }
        (self.piece, self.ends_small) = (0, false);
    }

    fn end_run(&mut self) {
        self.end_piece();
        let run = std::mem::take(&mut self.run);
        let is_random = run.pieces > 1 && run.letters < run.pieces * SHORTEST_PIECE;
        self.tokens += if is_random { run.bytes } else { run.tokens };
        self.tokens -= u64::from(run.first_letters > 2 && self.follows_space);
        self.follows_space = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_case_counts_words_by_half_and_all_else_by_the_byte() {
        for (text, tokens) in [
            ("", 0),
            ("word", 2),
            ("two words", 5),
            ("getElementById", 8),
            ("12345", 5),
            ("a  b", 4),
            ("日本", 6),
            ("abcdefghijklmnopqrst", 20),
            ("-----", 5),
            ("aGVsbG8gd29y", 12),
            ("9c1e7b4d", 8),
        ] {
            assert_eq!(worst_tokens(text), tokens, "{text}");
        }
    }

    #[test]
    fn estimates_grow_with_the_text_and_count_other_scripts_fully() {
        assert_eq!(
            (
                estimate_tokens(""),
                estimate_tokens("abcde"),
                estimate_tokens("日本語")
            ),
            (0, 2, 3)
        );
    }

    #[test]
    fn a_sum_with_an_estimated_part_is_estimated() {
        let reported = Usage::default();
        let estimated = Usage {
            source: UsageSource::Estimated,
            ..reported
        };
        for (first, second, source) in [
            (reported, estimated, UsageSource::Estimated),
            (estimated, reported, UsageSource::Estimated),
            (reported, reported, UsageSource::Reported),
        ] {
            let mut sum = first;
            sum += second;
            assert_eq!(sum.source, source);
        }
    }

    #[test]
    fn the_estimate_lies_within_the_band() {
        let band = |low, expected, high| Band {
            low,
            expected,
            high,
        };
        assert_eq!(token_band(&"x".repeat(60)), band(12, 15, 20));
        assert_eq!(token_band("日本語日"), band(1, 4, 8));
        assert_eq!(token_band(""), Band::default());
        let sum: Band = [token_band("abcde"), token_band("日本語日")]
            .into_iter()
            .sum();
        assert_eq!(sum, band(2, 6, 10));
    }
}
