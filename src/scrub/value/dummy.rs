//! Values that no program uses as they are: fillers, placeholders, templates, addresses.

use super::random::{counts, reads_as_name};
use super::words::{WordSet, is_identifier, list, words};

/// Words of names, types and labels. A value made of them alone is no secret.
static COMMON_WORDS: WordSet = WordSet::new("common_words");

/// Returns whether a value is hardly more than one character again and again: `sk-xxxxxxxx`,
/// `0000`.
pub(in crate::scrub) fn is_filler(value: &str) -> bool {
    let most = counts(value.as_bytes()).into_iter().max();
    let most = usize::try_from(most.unwrap_or_default()).unwrap_or(usize::MAX);
    most == value.len() || (value.len() >= 8 && most * 10 >= value.len() * 7)
}

pub(in crate::scrub) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    list("placeholder_parts")
        .iter()
        .any(|part| lower.contains(part))
        || is_common(value)
}

/// Returns whether a value consists of common words: `client_secret`, `myPassword`.
pub(super) fn is_common(value: &str) -> bool {
    words(value.as_bytes()).all(|word| COMMON_WORDS.contains(word))
}

/// Returns whether one of the words of a value is common: `PasswordHasher`.
pub(super) fn has_common_word(value: &str) -> bool {
    words(value.as_bytes()).any(|word| COMMON_WORDS.contains(word))
}

pub(in crate::scrub) fn is_template(value: &str) -> bool {
    ["${", "$(", "{{", "<%", "#{", "%(", "%{", "[[", "ENC["]
        .iter()
        .any(|open| value.contains(open))
        || (value.starts_with('{') && value.ends_with('}'))
        || (value.starts_with('%') && value.ends_with(['%', 's']))
        || (value.starts_with("__") && value.ends_with("__"))
        || value
            .strip_prefix('@')
            .is_some_and(|path| path.split(['.', '/']).all(is_identifier) && reads_as_name(path))
        || value.strip_prefix('$').is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '2')
        })
}

pub(in crate::scrub) fn is_address(value: &str) -> bool {
    let is_path = |rest: &str| !rest.is_empty() && reads_as_name(rest);
    value.contains("://")
        || value.starts_with("./")
        || value.starts_with("../")
        || value.strip_prefix(['/', '~']).is_some_and(is_path)
        || list("schemes")
            .iter()
            .any(|scheme| value.starts_with(scheme))
        || value.starts_with("-----")
}
