//! Texts that read as names: by their words, and by how their letters follow one another.

use super::words::{WordSet, list, words};
use crate::text::byte_pattern::BytePattern;

/// Words of names, types and labels. A value made of them alone is no secret.
static COMMON_WORDS: WordSet = WordSet::new("common_words");

/// Words of the names of algorithms, which have digits as passwords have.
static ALGORITHMS: WordSet = WordSet::new("algorithms");

/// What stands before the bracket of a call: `!self.check`.
static CALLED: BytePattern = BytePattern::new(r"^[!&*@$(-]*(?:[\w.:?>-]*[.:?>-])?[A-Za-z_]\w*$");

/// Returns whether a value consists of common words: `client_secret`, `myPassword`.
pub(super) fn is_common(value: &str) -> bool {
    words(value.as_bytes()).all(|word| COMMON_WORDS.contains(word))
}

/// Returns whether one of the words of a value is common: `PasswordHasher`.
pub(super) fn has_common_word(value: &str) -> bool {
    words(value.as_bytes()).any(|word| COMMON_WORDS.contains(word))
}

pub(super) fn is_algorithm(value: &str) -> bool {
    words(value.as_bytes()).any(|word| ALGORITHMS.contains(word))
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
        let is_numbered = numbers > 0 && piece.len() >= 16;
        let has_words = count == 1 || letters * 2 >= count * (6 + usize::from(is_numbered));
        let is_number = count == 0 && piece.len() <= 4;
        let is_name = has_words && numbers <= count.min(2) && is_pronounceable(piece.as_bytes());
        is_short || is_number || is_name
    })
}

/// Returns whether the letters of a text follow one another as in words.
pub(super) fn is_pronounceable(text: &[u8]) -> bool {
    let (pairs, unusual) = pairs(text);
    pairs <= 2 || unusual * 4 <= pairs + 1
}

pub(super) fn has_vowel(word: &[u8]) -> bool {
    word.iter().any(|byte| b"aeiouyAEIOUY".contains(byte))
}

/// Returns whether three letters or more follow one another as in words.
pub(in crate::scrub) fn reads_as_word(word: &[u8]) -> bool {
    let (pairs, unusual) = pairs(word);
    pairs > 1 && unusual * 4 <= pairs + usize::from(pairs > 2)
}

/// Counts the pairs of letters in a text, and those that few words have.
fn pairs(text: &[u8]) -> (usize, usize) {
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
    (pairs, unusual)
}

/// Returns whether this can stand before the bracket of a call.
pub(in crate::scrub) fn is_called(before: &[u8]) -> bool {
    let regex = CALLED.regex();
    regex.is_some_and(|regex| regex.is_match(before))
}

/// Returns whether a bare value begins as a call does: `OP_ID.set(x)`, `join('aB3…`.
pub(in crate::scrub) fn is_call(value: &str) -> bool {
    let Some(at) = value.find(['(', '[']) else {
        return false;
    };
    let (before, after) = value.split_at(at);
    let close = if after.starts_with('(') { ')' } else { ']' };
    let behind = after.split_once(close).map(|(_, behind)| behind);
    let is_closed =
        behind.is_some_and(|behind| !behind.starts_with(|c: char| c.is_ascii_alphanumeric()));
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = before.rsplit(|c| !is_of_name(c)).next().unwrap_or_default();
    let is_of_letters = |word: &&[u8]| word.iter().all(u8::is_ascii_alphabetic);
    let lengths = words(name.as_bytes())
        .filter(is_of_letters)
        .map(<[u8]>::len);
    let (count, letters) = lengths.fold((0, 0), |(count, sum), length| (count + 1, sum + length));
    letters > 2
        && letters >= 3 * count
        && is_called(before.as_bytes())
        && reads_as_name(name)
        && words(name.as_bytes()).any(reads_as_word)
        && (is_closed || matches!(after.as_bytes(), [_, b'"' | b'\'' | b'`', ..]))
}
