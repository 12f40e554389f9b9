//! Values that people choose as passwords, and passphrases of plain words, which are no sentences.

use super::ValueForm;
use super::name::{has_common_word, is_algorithm, is_common, reads_as_name};
use super::words::{WordSet, words};
use crate::text::byte_pattern::BytePattern;

/// Words of the names of types that have a number, and of numbered things.
static NUMBERED_TYPES: WordSet = WordSet::new("numbered_types");

/// Words and a number with `_`: `Blue_Sky_42`.
static JOINED: BytePattern = BytePattern::new(r"^(?:[A-Za-z0-9]+_)+\d\d+$");

/// Words and a number with dashes: `Wiese-41-blau`, but not `step-2`.
static DASHED: BytePattern = BytePattern::new(r"^(?:[A-Za-z0-9]*-)*\d\d+(?:-[A-Za-z0-9-]*)?$");

/// A list of words and a number: `correct-horse-battery-staple-9`.
static WORD_LIST: BytePattern = BytePattern::new(r"^(?:[A-Za-z0-9]+-){3,}[A-Za-z0-9]*\d$");

/// Letters and digits as of a name.
static NAME: BytePattern = BytePattern::new("^[A-Za-z][A-Za-z0-9]{5,}$");

/// A word with a digit in it: `Gr8sudo`.
static INNER_DIGIT: BytePattern = BytePattern::new(r"[A-Za-z]\d[a-z]");

/// Returns whether a value is the sort of password that people choose.
pub(in crate::scrub) fn is_password(value: &str, form: ValueForm) -> bool {
    if value.len() < 4 || value.len() > 256 {
        return false;
    }
    if value.contains(char::is_whitespace) {
        return form == ValueForm::Quoted && is_passphrase(value);
    }
    let has = |is: fn(u8) -> bool| value.bytes().any(is);
    let digit = has(|byte| byte.is_ascii_digit());
    let letter = has(|byte| byte.is_ascii_alphabetic());
    let special = has(is_special);
    if digit && !letter {
        return form != ValueForm::Sentence && value.bytes().all(|byte| byte.is_ascii_digit());
    }
    if form == ValueForm::Sentence && (value.len() < 8 || !digit) {
        return false;
    }
    if digit || (special && letter) {
        let is_chosen = form.is_assigned()
            && digit
            && (has_capital_and_number(value) || is_joined_password(value));
        return is_chosen || !is_label(value);
    }
    let is_word = value.bytes().all(|byte| byte.is_ascii_lowercase());
    let shortest = if form == ValueForm::EnvironmentLine {
        4
    } else {
        5
    };
    form.is_assigned() && (is_passphrase(value) || is_word && value.len() >= shortest)
        || value.len() >= 10
            && form != ValueForm::Sentence
            && value.bytes().all(|byte| byte.is_ascii_alphabetic())
            && has(|byte| byte.is_ascii_uppercase())
            && has(|byte| byte.is_ascii_lowercase())
            && !reads_as_name(value)
}

fn is_special(byte: u8) -> bool {
    b"!@#$%^&*?~+=".contains(&byte)
}

fn is_numbered_type(value: &str) -> bool {
    is_algorithm(value) || words(value.as_bytes()).any(|word| NUMBERED_TYPES.contains(word))
}

/// Returns whether a value is words and a number with `_`: `Blue_Sky_42`, but not `field_12`.
pub(super) fn is_joined_password(value: &str) -> bool {
    JOINED.is_in(value)
        && value.bytes().any(|byte| byte.is_ascii_lowercase())
        && !has_common_word(value)
        && !is_numbered_type(value)
}

/// Returns whether a value is one word or several with a capital in front and a number, and no name
/// of a type: `Winter2024`, `RedFox2Blue9`, `myKeystorePw1`, but not `OAuth2PasswordBearer`.
pub(in crate::scrub) fn has_capital_and_number(value: &str) -> bool {
    let value = value.trim_end_matches(['!', '?']);
    let has = |is: fn(u8) -> bool| value.bytes().any(is);
    NAME.is_in(value)
        && has(|byte| byte.is_ascii_uppercase())
        && has(|byte| byte.is_ascii_lowercase())
        && has(|byte| byte.is_ascii_digit())
        && !is_numbered_type(value)
        && (value.ends_with(|c: char| c.is_ascii_digit()) || !has_common_word(value))
}

/// Returns whether a value beside a password-named word, which may be a password, is one: it has
/// digits, and letters of both cases or signs.
pub(in crate::scrub) fn is_certain_password(value: &str) -> bool {
    let has = |is: fn(u8) -> bool| value.bytes().any(is);
    let is_mixed = has(|byte| byte.is_ascii_uppercase()) && has(|byte| byte.is_ascii_lowercase());
    (8..=128).contains(&value.len())
        && has(|byte| byte.is_ascii_digit())
        && (is_mixed || has(is_special))
        && !value.contains(['/', '(', ')', '{', '}', '<', '>', '\\', ' '])
        && is_password(value, ValueForm::Quoted)
}

pub(in crate::scrub) fn is_word_list(value: &str) -> bool {
    value.len() >= 16 && WORD_LIST.is_in(value)
}

/// Returns whether a value with a digit or a sign is a label rather than a password:
/// `min-12-chars`, `argon2id`, `XOAuth2Token`, `tests/main-01.rs`. Passwords made of words have a
/// sign, a capital with a digit, or more than two digits together.
fn is_label(value: &str) -> bool {
    let has_sign = value.bytes().any(|byte| byte != b'=' && is_special(byte));
    if has_sign || !reads_as_name(value) {
        return false;
    }
    if is_algorithm(value) {
        return true;
    }
    let stem = value.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_numbered_word = stem.len() < value.len()
        && stem.bytes().all(|byte| byte.is_ascii_lowercase())
        && !is_common(stem);
    if is_numbered_word || INNER_DIGIT.is_in(value) {
        return false;
    }
    let is_capital = |word: &&[u8]| word.first().is_some_and(u8::is_ascii_uppercase);
    let has_number =
        words(value.as_bytes()).any(|word| word.len() > 2 && word.iter().all(u8::is_ascii_digit));
    match words(value.as_bytes()).filter(is_capital).count() {
        0 if !has_number && !DASHED.is_in(value) => true,
        capitals => (capitals > 1 || value.contains(['_', '/', ':', '|'])) && !value.contains('-'),
    }
}

/// Words of sentences and labels, which passphrases of random words do not have.
static SENTENCE_WORDS: WordSet = WordSet::new("sentence_words");

/// Returns whether a value is a few plain words: `correct horse battery staple`, also with dashes.
pub(in crate::scrub) fn is_passphrase(value: &str) -> bool {
    let separator = if value.contains(' ') { ' ' } else { '-' };
    let is_plain = |word: &str| {
        (3..=10).contains(&word.len())
            && word.bytes().all(|byte| byte.is_ascii_lowercase())
            && !SENTENCE_WORDS.contains(word.as_bytes())
    };
    (4..=8).contains(&value.split(separator).count())
        && value.split(separator).all(is_plain)
        && !has_common_word(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passphrase_is_no_sentence() {
        assert!(is_passphrase("correct horse battery staple"));
        assert!(is_passphrase("correct-horse-battery-staple"));
        assert!(is_passphrase("velvet anchor quiet lantern dusk"));
        assert!(!is_passphrase("Enter your password here"));
        assert!(!is_passphrase("at least eight characters long"));
        assert!(!is_passphrase("correct horse battery"));
    }
}
