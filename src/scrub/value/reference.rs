//! Bare values that name another value or are a number, as in code.

use super::ValueForm;
use super::name::{has_common_word, is_algorithm, is_common, reads_as_name};
use super::password::{has_capital_and_number, is_joined_password, is_passphrase};
use super::random::is_random;
use super::words::{is_identifier, list, words};
use crate::text::byte_pattern::BytePattern;

/// A number as in code: `0x20`, `709u32`, `16426`.
static NUMBER: BytePattern =
    BytePattern::new(r"^(?:0x|(?:\d{1,5}|\d+(?:[ui](?:8|16|32|64|size)|f32|f64|U?L|n))$)");

/// Returns whether a bare value is a name, path, number or expression in code: `userInput`,
/// `config.token`, `*default`, `709u32`.
pub(in crate::scrub) fn is_reference(value: &str, form: ValueForm) -> bool {
    let brackets = ['(', ')', '[', ']', '{', '}', '"', '\'', '`'];
    let opens = ['&', '*', '@', ':', '!', '|', '>', '='];
    if value.starts_with(opens) || value.contains(brackets) || NUMBER.is_in(value) {
        return true;
    }
    if form == ValueForm::EnvironmentLine {
        // Settings have no names of other values but in templates.
        return false;
    }
    let value = value.trim_end_matches(['!', '?']);
    let is_chosen = value.starts_with(|c: char| c.is_ascii_uppercase())
        && (has_capital_and_number(value) || (!form.is_code() && is_joined_password(value)));
    if is_chosen {
        // `password: Winter2024!`, `{password: Winter2024, user: bob}`
        return false;
    }
    let path = value
        .replace("->", ".")
        .replace("::", ".")
        .replace("?.", ".");
    let is_path = path.split('.').all(is_identifier);
    let has_humps = path
        .bytes()
        .any(|byte| byte.is_ascii_uppercase() || b"_.".contains(&byte));
    let is_joined = path.contains(['.', '_']);
    let is_name = (form.is_code() || has_humps) && reads_as_name(&path);
    let is_random = form == ValueForm::Inline && is_random(value, 20);
    is_path && (is_name || form.is_code() && is_joined && !is_random)
}

/// Returns whether a value is the sort of secret that people choose.
pub(in crate::scrub) fn is_chosen_secret(value: &str, form: ValueForm, is_setting: bool) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"!@#$%^&*?~+=-_".contains(&byte);
    let shortest = if is_setting { 6 } else { 8 };
    if !form.is_assigned()
        || value.len() < shortest
        || !value.bytes().all(is_word)
        || is_algorithm(value)
    {
        return false;
    }
    if is_setting && (is_passphrase(value) || is_joined_password(value)) {
        return true;
    }
    let stem = value.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = value.len() - stem.len();
    if digits >= 2 && has_capital_and_number(value) {
        // `TopSecret2024`
        return true;
    }
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    if form == ValueForm::EnvironmentLine && has_digit && value.len() >= 8 {
        // `sk-abc123`, `my_jwt_secret_7`; not `secret_key_1`
        let is_usual = |word: &[u8]| {
            let is_number = word.iter().all(u8::is_ascii_digit);
            is_number || std::str::from_utf8(word).is_ok_and(is_common)
        };
        return !words(value.as_bytes()).all(is_usual);
    }
    let has_sign = !value.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if has_digit && has_sign {
        return !value.contains(['-', '_']);
    }
    let is_lower = !value.bytes().any(|byte| byte.is_ascii_uppercase());
    if !is_lower || has_sign || value.len() < 10 {
        return false;
    }
    let numbers = words(value.as_bytes()).filter(|word| word.iter().all(u8::is_ascii_digit));
    let is_made_up = list("made_up").iter().any(|start| value.starts_with(start));
    let is_name = list("name_endings").iter().any(|end| value.ends_with(end));
    if has_digit {
        return numbers.count() > 1 || digits >= 3 && !has_common_word(stem);
    }
    let is_chosen =
        is_setting && !is_name || is_made_up && (is_setting || value.contains("secret"));
    is_chosen && reads_as_name(value)
}
