//! Values that look random, and texts that read as names.

use super::words::{list, words};

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
    value.len() >= 16 && changes.count() * 7 >= value.len()
}

/// Returns whether text reads as names, piece by piece: `Uint8Array`, `line_token1`,
/// `TLS13_CHACHA`. The words of random text are short and its numbers many, and its letters follow
/// one another as they come.
pub(super) fn reads_as_name(text: &str) -> bool {
    let mut pieces = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|piece| !piece.is_empty());
    pieces.all(|piece| {
        let (mut letters, mut count, mut numbers) = (0, 0, 0);
        for word in words(piece.as_bytes()) {
            if word.iter().all(u8::is_ascii_digit) {
                numbers += 1;
            } else {
                letters += word.len();
                count += 1;
            }
        }
        let is_short =
            (piece.len() <= 5 && numbers <= 2) || (piece.len() <= 10 && numbers == 0 && count == 1);
        let has_words = count == 1 || letters >= 3 * count;
        let is_number = count == 0 && piece.len() <= 4;
        let is_name = has_words && numbers <= count.min(2) && is_pronounceable(piece.as_bytes());
        is_short || is_number || is_name
    })
}

pub(super) fn counts(value: &[u8]) -> [u32; 256] {
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

/// Returns whether the letters of a text follow one another as in words.
pub(super) fn is_pronounceable(text: &[u8]) -> bool {
    let rows = list("usual_pairs");
    let (mut pairs, mut unusual) = (0, 0);
    for pair in text.windows(2) {
        let [first, second] =
            [pair.first(), pair.last()].map(|letter| letter.map_or(0, u8::to_ascii_lowercase));
        if first.is_ascii_lowercase() && second.is_ascii_lowercase() {
            let row = rows.get(usize::from(first - b'a'));
            let is_usual = row.is_some_and(|row| row.as_bytes().contains(&second));
            pairs += 1;
            unusual += usize::from(!is_usual);
        }
    }
    pairs <= 2 || unusual * 4 <= pairs + 1
}

#[cfg(test)]
mod tests {
    use super::*;

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
