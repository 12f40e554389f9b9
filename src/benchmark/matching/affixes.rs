//! What stands around a number: its sign, currency, percent sign and factor in words, or a name that
//! its digits belong to.

use super::statement::is_one_of;
use super::words::tables;

const CURRENCIES: [char; 8] = ['$', '€', '£', '¥', '₹', '₽', '₩', '¢'];

const CURRENCY_CODES: [&str; 9] = ["USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "US", "Rs"];

/// What stands before a number.
pub(super) struct Head {
    pub(super) is_negative: bool,
    pub(super) has_currency: bool,
    /// Where the number begins, with a sign that counts.
    pub(super) start: usize,
}

impl Head {
    pub(super) fn read(before: &str) -> Self {
        let trimmed = before
            .trim_end_matches(|c| CURRENCIES.contains(&c) || matches!(c, ' ' | '\u{a0}' | '\\'));
        let has_currency = before
            .get(trimmed.len()..)
            .is_some_and(|between| between.contains(CURRENCIES));
        let is_spaced = !has_currency && trimmed.len() < before.len();
        let unsigned = trimmed.strip_suffix(['-', '−', '–']);
        let signed = unsigned.filter(|left| {
            let open = left.trim_end().chars().next_back();
            let is_minus = trimmed.ends_with('−');
            // "3-5" is a range, and "- 5" an item of a list.
            let is_after_value =
                left.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | '%'));
            let is_item = is_spaced && !is_minus && !matches!(open, Some('=' | ':' | '('));
            !is_after_value && !is_item
        });
        let words = trimmed.trim_end().to_lowercase();
        let named = ["minus", "negative"]
            .into_iter()
            .find(|word| words.ends_with(word) && trimmed.len() < before.len());
        match (signed, named) {
            (Some(left), _) => Self {
                is_negative: true,
                has_currency,
                start: left.len(),
            },
            (None, named) => Self {
                is_negative: named.is_some(),
                has_currency,
                start: before.len(),
            },
        }
    }
}

/// What follows a number.
pub(super) struct Tail {
    pub(super) is_percent: bool,
    pub(super) scale: i64,
}

impl Tail {
    pub(super) fn read(rest: &str, has_currency: bool) -> Self {
        let after = rest.trim_start_matches([' ', '\u{a0}', '\u{202f}', '\\']);
        let lower: String = after.chars().take(12).collect::<String>().to_lowercase();
        let is_percent =
            after.starts_with('%') || tables().percent.iter().any(|word| lower.starts_with(word));
        let word: String = after.chars().take_while(|c| c.is_alphabetic()).collect();
        let suffix: String = rest.chars().take_while(|c| c.is_alphabetic()).collect();
        let scale = scale_of(&word).or_else(|| suffix_scale(&suffix).filter(|_| has_currency));
        Self {
            is_percent,
            scale: scale.unwrap_or_default(),
        }
    }
}

/// Returns the power of ten of a word. "Billion" is English.
fn scale_of(word: &str) -> Option<i64> {
    const SCALES: [(i64, &[&str]); 4] = [
        (3, &["thousand", "tausend", "tsd", "mille", "mil"]),
        (
            6,
            &[
                "million",
                "millions",
                "millionen",
                "mio",
                "millones",
                "milhões",
                "milioni",
            ],
        ),
        (
            9,
            &[
                "billion",
                "billions",
                "milliarde",
                "milliarden",
                "mrd",
                "milliard",
                "milliards",
            ],
        ),
        (12, &["trillion", "trillions"]),
    ];
    let scale = SCALES.iter().find(|(_, words)| is_one_of(words, word));
    scale.map(|(places, _)| *places)
}

/// Returns the power of ten of a letter after an amount of money. Elsewhere it is a unit.
fn suffix_scale(suffix: &str) -> Option<i64> {
    match suffix {
        "k" | "K" => Some(3),
        "m" | "M" | "mn" => Some(6),
        "b" | "B" | "bn" => Some(9),
        _ => None,
    }
}

/// Whether the digits after a text belong to a name: `CO2`, `GPT-4`, `x_1`.
pub(super) fn is_name(before: &str) -> bool {
    let hyphened = before.strip_suffix(['-', '‑']);
    let stem = hyphened.unwrap_or(before);
    let letters: Vec<char> = stem
        .chars()
        .rev()
        .take_while(|c| c.is_alphabetic())
        .collect();
    let word: String = letters.iter().rev().collect();
    if before.ends_with('_') {
        return true;
    }
    // LaTeX and scripts without spaces put numbers next to letters.
    let is_western = word
        .chars()
        .all(|c| c.is_ascii() || c.is_lowercase() || c.is_uppercase());
    if word.is_empty() || !is_western || CURRENCY_CODES.contains(&word.as_str()) {
        return false;
    }
    let is_command = stem
        .strip_suffix(&word)
        .is_some_and(|left| left.ends_with('\\'));
    if is_command {
        return false;
    }
    hyphened.is_none() || word.contains(char::is_uppercase)
}

/// Whether digits number an item: "1. First", "2) Second" at the beginning of a line.
pub(super) fn is_list_number(before: &str, rest: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let is_first = line
        .chars()
        .all(|c| c.is_whitespace() || matches!(c, '#' | '*' | '>' | '-'));
    let item = rest
        .strip_prefix(['.', ')'])
        .and_then(|rest| rest.strip_prefix(' '));
    is_first && item.is_some_and(|item| item.trim_start().starts_with(char::is_alphabetic))
}
