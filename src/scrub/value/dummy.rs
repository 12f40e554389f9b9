//! Values that no program uses as they are: fillers, placeholders, templates, addresses.

use super::name::{has_common_word, is_common, reads_as_name};
use super::words::list;

pub(in crate::scrub) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    list("placeholder_parts")
        .iter()
        .any(|part| lower.contains(part))
        || is_common(value)
        || is_name_in_brackets(value)
}

/// Returns whether a value is a name in angle brackets: `<token>`.
fn is_name_in_brackets(value: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b" _-.:/".contains(&byte);
    let opened = value.strip_prefix('<');
    let inside = opened.and_then(|opened| opened.strip_suffix('>'));
    inside.is_some_and(|inside| inside.bytes().all(is_of_name) && reads_as_name(inside))
}

/// The brackets of templates.
const BRACKETS: [(&str, &str); 9] = [
    ("${", "}"),
    ("$(", ")"),
    ("{{", "}}"),
    ("<%", "%>"),
    ("#{", "}"),
    ("%(", ")"),
    ("%{", "}"),
    ("[[", "]]"),
    ("ENC[", "]"),
];

/// Returns whether a value has a name in the brackets of a template: `${TOKEN}`, `{{ .Values.key }}`.
pub(super) fn has_template(value: &str) -> bool {
    BRACKETS.iter().any(|(open, close)| {
        let mut opened = value.split(open).skip(1);
        opened.any(|opened| opened.contains(close) && begins_with_name(opened))
    })
}

/// Returns whether a name and perhaps more stands in a bracket: ` .Values.key | quote `, `TOKEN:-x`.
fn begins_with_name(inside: &str) -> bool {
    let inside = inside.trim_start_matches([' ', '{', '=', '-', '$', '.']);
    let is_end = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.' | '-');
    let end = inside.find(is_end).unwrap_or(inside.len());
    let (name, after) = inside.split_at_checked(end).unwrap_or_default();
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    (is_number || name.starts_with(is_first))
        && (name.len() > 1 || after.starts_with(['}', ')']))
        && reads_as_name(name)
        && after.starts_with([
            '}', ')', ']', '%', ' ', ':', '|', '[', '(', ',', '\'', '"', '/', '?',
        ])
}

pub(in crate::scrub) fn is_template(value: &str) -> bool {
    let braced = value.strip_prefix('{').filter(|rest| rest.ends_with('}'));
    has_template(value)
        || braced.is_some_and(|inside| inside == "}" || begins_with_name(inside))
        || (value.starts_with("__") && value.ends_with("__"))
        || value
            .trim_start_matches('.')
            .strip_prefix('$')
            .is_some_and(|rest| {
                rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '2')
            })
}

/// Returns whether a value names an element of a page: `#add-password`.
fn is_selector(value: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphabetic() || b"_-".contains(&byte);
    let name = value.strip_prefix('#').unwrap_or_default();
    name.bytes().all(is_of_name) && has_common_word(name)
}

/// Returns whether a value is an address of mail: `jane@example.com`.
fn is_mailbox(value: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_lowercase() || matches!(c, '.' | '-');
    value.split_once('@').is_some_and(|(name, host)| {
        host.contains('.')
            && [name, host]
                .iter()
                .all(|part| !part.is_empty() && part.chars().all(is_of_name))
    })
}

/// Returns whether a value is a public key or a digest.
pub(in crate::scrub) fn is_public(value: &str) -> bool {
    let mut beginnings = list("public_beginnings").iter();
    beginnings.any(|beginning| value.starts_with(beginning))
}

pub(in crate::scrub) fn is_address(value: &str) -> bool {
    let is_path = |rest: &str| !rest.is_empty() && reads_as_name(rest);
    value.contains("://")
        || is_selector(value)
        || is_mailbox(value)
        || value.starts_with("./")
        || value.starts_with("../")
        || value.strip_prefix(['/', '~']).is_some_and(is_path)
        || list("schemes")
            .iter()
            .any(|scheme| value.starts_with(scheme))
        || value.starts_with("-----")
}
