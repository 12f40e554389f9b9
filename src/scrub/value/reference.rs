//! Bare values that name another value or are a number, as in code.

use super::ValueForm;
use super::password::{has_capital_and_number, is_joined_password};
use super::random::reads_as_name;
use super::words::{WordSet, is_identifier, words};

/// Words that name what a secret is.
static KINDS: WordSet = WordSet::new("token tokens secret password key");

/// Returns whether a bare value is a name, path, number or expression in code: `userInput`,
/// `config.token`, `*default`, `709u32`.
pub(in crate::scrub) fn is_reference(value: &str, form: ValueForm) -> bool {
    let opens = [
        '&', '*', '@', ':', '!', '\'', '"', '`', '(', '[', '{', '|', '>', '=',
    ];
    if value.starts_with(opens) || value.contains(['(', ')', '[', ']', '{', '}', '"', '\'', '`']) {
        return true;
    }
    if value.ends_with("::") || is_number(value) {
        return true;
    }
    if form == ValueForm::EnvironmentLine {
        // Settings have no names of other values but in templates.
        return false;
    }
    let value = value.trim_end_matches(['!', '?']);
    let is_code = matches!(form, ValueForm::Inline | ValueForm::Annotation);
    let is_chosen = value.starts_with(|c: char| c.is_ascii_uppercase())
        && (has_capital_and_number(value) || (!is_code && is_joined_password(value)))
        && (!is_code || has_two_digits(value));
    if is_chosen {
        // `password: Winter2024!`, `{password: Winter2024, user: bob}`
        return false;
    }
    let path = value
        .replace("->", ".")
        .replace("::", ".")
        .replace("?.", ".");
    let is_path = path.split('.').all(is_identifier);
    let is_joined = path.contains('.') || value.contains('_');
    let has_humps = value
        .bytes()
        .any(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let is_name = is_path && (is_code || has_humps || is_joined) && reads_as_name(&path);
    is_name || (is_code && ((is_path && is_joined) || is_constant(value)))
}

/// Returns whether two digits follow one another, as in few names of code.
fn has_two_digits(value: &str) -> bool {
    let mut pairs = value.as_bytes().windows(2);
    pairs.any(|pair| pair.iter().all(u8::is_ascii_digit))
}

/// Returns whether a bare value is the name of a constant, or of the like of what it is assigned
/// to: `D3DKMT_PRESENTHISTORYTOKEN`, `O200kToken`.
fn is_constant(value: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let is_shouted = value.contains('_') && value.bytes().all(is_name);
    is_shouted || (is_identifier(value) && words(value.as_bytes()).any(|word| KINDS.contains(word)))
}

/// Returns whether a bare value is a number as in code: `0x20`, `709u32`, `16426`.
fn is_number(value: &str) -> bool {
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    let suffix = value.get(digits..).unwrap_or_default();
    let is_suffix = [
        "u8", "u16", "u32", "u64", "i32", "i64", "usize", "f32", "f64", "L", "UL", "n",
    ];
    value.starts_with("0x")
        || (digits > 0 && is_suffix.contains(&suffix))
        || (digits < 6 && digits == value.len())
}
