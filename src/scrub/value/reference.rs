//! Bare values that name another value or are a number, as in code.

use super::ValueForm;
use super::name::{has_common_word, is_algorithm, is_common, reads_as_name};
use super::password::{has_capital_and_number, is_joined_password, is_passphrase};
use super::words::{is_identifier, words};

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
        && (has_capital_and_number(value) || (!is_code && is_joined_password(value)));
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
    is_name || (is_code && is_path && is_joined)
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

/// Beginnings of words that are made up: `mysecretvalue`, `supersecretkey`.
const MADE_UP: &[&str] = &["my", "our", "the", "super", "very", "some"];

/// Ends of words that name a secret: `refreshtoken`.
const NAMES: &[&str] = &[
    "token", "secret", "key", "password", "id", "name", "tion", "ment", "ed", "ing", "er", "or",
];

/// Returns whether a value is the sort of secret that people choose.
pub(in crate::scrub) fn is_chosen_secret(value: &str, form: ValueForm, is_setting: bool) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"!@#$%^&*?~+=-_".contains(&byte);
    if !form.is_assigned()
        || !(6..=128).contains(&value.len())
        || (value.len() < 8 && !is_setting)
        || !value.bytes().all(is_word)
        || !value.bytes().any(|byte| byte.is_ascii_alphabetic())
        || is_algorithm(value)
    {
        return false;
    }
    if is_setting && is_passphrase(value) {
        return true;
    }
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let has_sign = !value.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_lower = !value.bytes().any(|byte| byte.is_ascii_uppercase());
    let is_dated = value.len() - value.trim_end_matches(|c: char| c.is_ascii_digit()).len() >= 2;
    if is_dated && (has_capital_and_number(value) || (is_setting && is_joined_password(value))) {
        // `TopSecret2024`, `blue_sky_2024`
        return true;
    }
    if form == ValueForm::EnvironmentLine && value.len() >= 8 && has_digit {
        // `sk-abc123`, `my_jwt_secret_7`; not `secret_key_1`
        let is_common = |word: &[u8]| {
            let is_number = word.iter().all(u8::is_ascii_digit);
            is_number || std::str::from_utf8(word).is_ok_and(is_common)
        };
        return !words(value.as_bytes()).all(is_common);
    }
    if value.contains(['-', '_']) {
        return false;
    }
    if has_digit && has_sign {
        return true;
    }
    if has_digit {
        let numbers = words(value.as_bytes()).filter(|word| word.iter().all(u8::is_ascii_digit));
        let is_several = is_lower && numbers.count() > 1 && value.len() >= 10;
        let stem = value.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_numbered = value.len() - stem.len() >= 3 && !has_common_word(stem);
        return is_several || (is_lower && is_numbered && value.len() >= 10);
    }
    let is_made_up = MADE_UP.iter().any(|start| value.starts_with(start));
    let is_name = NAMES.iter().any(|end| value.ends_with(end));
    is_lower
        && !has_sign
        && value.len() >= 10
        && !has_common_word(value)
        && reads_as_name(value)
        && (is_made_up && (is_setting || value.contains("secret")) || is_setting && !is_name)
}
