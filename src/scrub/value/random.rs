//! Values that look random, and those that are anything but.

use std::sync::LazyLock;

use super::dummy::{has_template, is_kept_elsewhere, without_templates};
use super::name::{has_vowel, is_call, is_common, reads_as_name, reads_as_word};
use super::words::{list, words};
use crate::text::byte_pattern::BytePattern;

/// Parts of values that are no secret.
pub(in crate::scrub) static PATTERNS: LazyLock<BytePattern> =
    LazyLock::new(|| BytePattern::from(list("patterns").join("|")));

/// Returns whether a value is random whatever it has in it: twelve bytes or more of three kinds,
/// one of them signs that names do not have, which follow one another as in no name, text or
/// pattern.
pub(in crate::scrub) fn is_strong(value: &str) -> bool {
    let mut kinds = [0; 4];
    let (mut changes, mut signs, mut last) = (0, 0_u128, None);
    for byte in value.bytes() {
        let kind = match byte {
            b'a'..=b'z' => 0,
            b'A'..=b'Z' => 1,
            b'0'..=b'9' => 2,
            b'!'..=b'~' => 3,
            b' ' if value.len() >= 48 => 3,
            _ => return false,
        };
        if kind == 3 && !b"_-./: ".contains(&byte) {
            signs |= 1 << byte;
        }
        changes += usize::from(last.is_some_and(|last| last != kind));
        last = Some(kind);
        if let Some(count) = kinds.get_mut(kind) {
            *count += 1;
        }
    }
    let [small, capital, digits, _] = kinds;
    let letters = small + capital;
    let is_word = |word: &&[u8]| {
        let text = std::str::from_utf8(word).unwrap_or_default();
        let is_acronym = small > 0 && word.len() < 6 && word.iter().all(u8::is_ascii_uppercase);
        !is_acronym
            && has_vowel(word)
            && (reads_as_word(word) || (word.len() > 2 && is_common(text)))
    };
    let in_words: usize = words(value.as_bytes())
        .filter(is_word)
        .map(<[u8]>::len)
        .sum();
    let present = kinds.iter().filter(|count| **count > 0).count();
    let variety = signs.count_ones();
    let is_mixed = (changes * 5 >= value.len().saturating_sub(1) * 2
        || variety > 4 && changes * 3 >= value.len())
        && (in_words * 3 <= letters * 2
            || present == 4 && changes * 5 >= value.len() * 3
            || variety > 4 && changes * 2 >= value.len());
    // A long text of code has more signs of few kinds, and more words.
    let is_long_and_mixed = variety > 3
        && value.len() >= 40
        && !value.contains(' ')
        && changes * 4 >= value.len()
        && in_words * 5 <= letters * 4;
    (12..=512).contains(&value.len())
        && (signs > 0 && present >= 3
            || value.len() >= 16 && present == 4 && in_words * 3 <= letters)
        && letters * 8 >= value.len()
        && digits * 2 <= value.len() + 2
        && (is_mixed || is_long_and_mixed)
        && shannon(value.as_bytes()) >= 3.0
        && !PATTERNS.is_in(value)
        && !is_kept_elsewhere(value)
        && (value.len() >= 48 || !has_template(value) || is_strong(&without_templates(value)))
        && !(value.contains("].") && is_call(value))
}

/// Returns whether a value is a scheme or a name and a random text: `FlyV1 …`, `{vendor AQAA …}`.
pub(in crate::scrub) fn is_random_behind_word(value: &str) -> bool {
    let parts: Vec<&str> = value.trim_matches(['{', '}']).split(' ').collect();
    let is_token =
        |part: &&str| is_random(part, 20) && !part.bytes().all(|byte| byte.is_ascii_hexdigit());
    (2..4).contains(&parts.len()) && parts.last().is_some_and(is_token)
}

pub(in crate::scrub) fn is_random(value: &str, shortest: usize) -> bool {
    if value.len() < shortest || value.contains(char::is_whitespace) {
        return false;
    }
    let has = |is: fn(u8) -> bool| value.bytes().any(is);
    if !has(|byte| byte.is_ascii_alphabetic()) || reads_as_name(value) {
        return false;
    }
    let lowest = if value.len() < 16 { 2.5 } else { 3.0 };
    let has_digit = has(|byte| byte.is_ascii_digit());
    (has_digit || is_mixed(value)) && shannon(value.as_bytes()) >= lowest
}

fn is_mixed(value: &str) -> bool {
    let bytes = value.as_bytes();
    let changes = bytes
        .windows(2)
        .filter(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()));
    let changes = changes.count();
    value.len() >= 16 && changes * 8 >= value.len()
        || value.len() >= 22 && changes > 0 && shannon(bytes) >= 4.0
}

/// Returns whether a value is hardly more than one character again and again: `sk-xxxxxxxx`,
/// `0000`.
pub(in crate::scrub) fn is_filler(value: &str) -> bool {
    let most = counts(value.as_bytes()).into_iter().max();
    let most = usize::try_from(most.unwrap_or_default()).unwrap_or(usize::MAX);
    most == value.len() || (value.len() >= 8 && most * 10 >= value.len() * 7)
}

fn counts(value: &[u8]) -> [u32; 256] {
    let mut counts = [0; 256];
    for byte in value {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    counts
}

/// In bits per byte.
#[expect(clippy::cast_precision_loss, reason = "values are short")]
pub(in crate::scrub) fn shannon(value: &[u8]) -> f64 {
    let counts = counts(value);
    let length = value.len() as f64;
    let present = counts.iter().filter(|count| **count > 0);
    present
        .map(|count| f64::from(*count) / length)
        .map(|share| -share * share.log2())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scrub::value::name::is_pronounceable;

    #[test]
    fn entropy_grows_with_the_variety_of_bytes() {
        assert!(shannon(b"").abs() < 1e-9);
        assert!(shannon(b"aaaa").abs() < 1e-9);
        assert!((shannon(b"abab") - 1.0).abs() < 1e-9);
        assert!((shannon(b"0123456789abcdef") - 4.0).abs() < 1e-9);
    }

    #[test]
    fn random_letters_do_not_read_as_a_word() {
        assert!(is_pronounceable(b"passphrase"));
        assert!(!is_pronounceable(b"xkqwzrtbnm"));
    }
}
