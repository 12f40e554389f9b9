//! Values that people choose as passwords, and passphrases of plain words, which are no sentences.

use super::ValueForm;
use super::name::{has_common_word, is_algorithm, is_common, reads_as_name};
use super::words::{WordSet, words};

/// Words of the names of types that have a number, and of numbered things.
static NUMBERED_TYPES: WordSet = WordSet::new("numbered_types");

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
    let special = has(|byte| b"!@#$%^&*?~+=".contains(&byte));
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
    if form.is_assigned() && is_passphrase(value) {
        return true;
    }
    if letter && form != ValueForm::Sentence && value.len() >= 10 && is_random_letters(value) {
        return true;
    }
    let is_word = value.bytes().all(|byte| byte.is_ascii_lowercase());
    is_word && (form == ValueForm::EnvironmentLine || form.is_assigned() && value.len() >= 5)
}

/// Returns whether a value is words and a number with `_`: `Blue_Sky_42`, but not `field_12`.
pub(super) fn is_joined_password(value: &str) -> bool {
    let is_number = |word: &[u8]| word.len() >= 2 && word.iter().all(u8::is_ascii_digit);
    let is_piece =
        |piece: &str| !piece.is_empty() && piece.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let last = value.rsplit('_').next().unwrap_or_default();
    value.contains('_')
        && value.split('_').all(is_piece)
        && is_number(last.as_bytes())
        && value.bytes().any(|byte| byte.is_ascii_lowercase())
        && !has_common_word(value)
        && !is_algorithm(value)
        && !words(value.as_bytes()).any(|word| NUMBERED_TYPES.contains(word))
}

/// Returns whether a value is one word or several with a capital in front and a number, and no name
/// of a type: `Winter2024`, `RedFox2Blue9`, `myKeystorePw1`, but not `OAuth2PasswordBearer`.
pub(in crate::scrub) fn has_capital_and_number(value: &str) -> bool {
    let value = value.trim_end_matches(['!', '?']);
    if value.len() < 6
        || !value.bytes().all(|byte| byte.is_ascii_alphanumeric())
        || !value.starts_with(|c: char| c.is_ascii_alphabetic())
    {
        return false;
    }
    let has = |is: fn(u8) -> bool| value.bytes().any(is);
    let ends_in_number = value.ends_with(|c: char| c.is_ascii_digit());
    let is_type = words(value.as_bytes()).any(|word| NUMBERED_TYPES.contains(word));
    has(|byte| byte.is_ascii_uppercase())
        && has(|byte| byte.is_ascii_lowercase())
        && has(|byte| byte.is_ascii_digit())
        && !is_type
        && !is_algorithm(value)
        && (ends_in_number || !has_common_word(value))
}

/// Returns whether a value beside a password-named word, which may be a password, is one: it has
/// digits, and letters of both cases or signs.
pub(in crate::scrub) fn is_certain_password(value: &str) -> bool {
    let has = |is: fn(u8) -> bool| value.bytes().any(is);
    let is_mixed = has(|byte| byte.is_ascii_uppercase()) && has(|byte| byte.is_ascii_lowercase());
    let special = has(|byte| b"!@#$%^&*?~+=".contains(&byte));
    (8..=128).contains(&value.len())
        && has(|byte| byte.is_ascii_digit())
        && (is_mixed || (special && has(|byte| byte.is_ascii_alphabetic())))
        && !value.contains(['/', '(', ')', '{', '}', '<', '>', '\\', ' '])
        && is_password(value, ValueForm::Quoted)
}

/// Returns whether a value is a list of words and a number: `correct-horse-battery-staple-9`.
pub(in crate::scrub) fn is_word_list(value: &str) -> bool {
    let is_piece = |piece: &str| piece.bytes().all(|byte| byte.is_ascii_alphanumeric());
    value.len() >= 16
        && value.split('-').count() >= 4
        && value.split('-').all(is_piece)
        && value.ends_with(|c: char| c.is_ascii_digit())
}

/// Returns whether letters of both cases follow one another as in no name.
fn is_random_letters(value: &str) -> bool {
    let has = |is: fn(u8) -> bool| value.bytes().any(is);
    value.bytes().all(|byte| byte.is_ascii_alphabetic())
        && has(|byte| byte.is_ascii_uppercase())
        && has(|byte| byte.is_ascii_lowercase())
        && !reads_as_name(value)
}

/// Returns whether a value with a digit or a sign is a label rather than a password:
/// `min-12-chars`, `argon2id`, `XOAuth2Token`, `tests/main-01.rs`. Passwords made of words have a
/// sign, a capital with a digit, or more than two digits together.
fn is_label(value: &str) -> bool {
    let signs = value
        .bytes()
        .filter(|byte| b"!@#$%^&*?~+".contains(byte))
        .count();
    if signs > 0 || !reads_as_name(value) {
        return false;
    }
    let mut has_long_number = false;
    let mut capitals = 0;
    for word in words(value.as_bytes()) {
        has_long_number |= word.len() > 2 && word.iter().all(u8::is_ascii_digit);
        capitals += usize::from(word.first().is_some_and(u8::is_ascii_uppercase));
    }
    let has_inner_digit = value.as_bytes().windows(3).any(|three| {
        matches!(three, [a, b, c]
            if a.is_ascii_alphabetic() && b.is_ascii_digit() && c.is_ascii_lowercase())
    });
    let is_algorithm = is_algorithm(value);
    let is_symbol = value.contains(['_', '/', ':', '|']) || capitals > 1;
    let stem = value.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_numbered_word = stem.len() < value.len()
        && stem.bytes().all(|byte| byte.is_ascii_lowercase())
        && !is_common(stem);
    if (has_inner_digit || is_numbered_word) && !is_algorithm {
        // `Gr8sudo`, `hunter2`
        return false;
    }
    is_algorithm
        || (is_symbol && !value.contains('-'))
        || (!has_long_number && capitals == 0 && !is_dashed_password(value))
}

/// Returns whether a value is words and a number with dashes: `Wiese-41-blau`, but not `step-2`.
fn is_dashed_password(value: &str) -> bool {
    let is_number =
        |piece: &str| piece.len() >= 2 && piece.bytes().all(|byte| byte.is_ascii_digit());
    let is_other = |c: char| !c.is_ascii_alphanumeric() && c != '-';
    !value.contains(is_other) && value.split('-').any(is_number)
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
