//! Judges the value that a secret-named variable is given: a secret, or a placeholder, a reference,
//! a type, a template, a word.

use super::entropy::shannon;
use super::name::NameStrength;
use super::rules::NamePolicy;
use super::words::{is_pronounceable, words};

/// A value, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct AssignedValue<'t> {
    pub(super) value: &'t str,
    pub(super) form: ValueForm,
    pub(super) strength: NameStrength,
    pub(super) policy: NamePolicy,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueForm {
    Quoted,
    /// Without quotes, from `name: ` or `name = ` to the end of the line.
    Line,
    /// `NAME=value` on a line of its own.
    EnvironmentLine,
    /// Without quotes, amid other text.
    Inline,
}

/// Parts of values that ask to be replaced.
const PLACEHOLDER_PARTS: &[&str] = &[
    "your",
    "placeholder",
    "changeme",
    "change_me",
    "change-me",
    "changethis",
    "replace",
    "insert",
    "enter_",
    "enter-",
    "todo",
    "fixme",
    "dummy",
    "xxxx",
    "****",
    "....",
    "redacted",
    "masked",
    "hidden",
    "not-set",
    "notset",
    "example",
    "sample",
    "<",
    "•",
];

/// Words of names, types and labels. A value made of them alone is no secret.
const COMMON_WORDS: &[&str] = &[
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "pass",
    "pwd",
    "pw",
    "secret",
    "secrets",
    "token",
    "tokens",
    "key",
    "keys",
    "api",
    "apikey",
    "auth",
    "access",
    "refresh",
    "bearer",
    "basic",
    "client",
    "user",
    "username",
    "name",
    "my",
    "the",
    "a",
    "an",
    "is",
    "test",
    "testing",
    "app",
    "db",
    "database",
    "new",
    "old",
    "current",
    "private",
    "public",
    "some",
    "this",
    "that",
    "self",
    "string",
    "str",
    "bytes",
    "byte",
    "int",
    "integer",
    "number",
    "bool",
    "boolean",
    "any",
    "object",
    "unknown",
    "none",
    "null",
    "nil",
    "undefined",
    "true",
    "false",
    "yes",
    "no",
    "on",
    "off",
    "required",
    "optional",
    "text",
    "plaintext",
    "varchar",
    "char",
    "uuid",
    "env",
    "environ",
    "config",
    "settings",
    "params",
    "param",
    "args",
    "arg",
    "value",
    "values",
    "val",
    "data",
    "input",
    "output",
    "field",
    "form",
    "request",
    "response",
    "body",
    "payload",
    "credentials",
    "creds",
    "login",
    "account",
    "session",
    "hash",
    "hashed",
    "encrypted",
    "raw",
    "default",
    "empty",
    "missing",
    "invalid",
    "disabled",
    "enabled",
    "prompt",
    "file",
    "vault",
    "missing",
    "hidden",
    "void",
    "never",
    "opaque",
    "generic",
    "header",
    "query",
    "cookie",
    "static",
    "dynamic",
];

/// Returns whether an assigned value is a secret.
pub(super) fn is_secret(assigned: &AssignedValue<'_>) -> bool {
    let value = assigned.value;
    if is_filler(value) || is_placeholder(value) || is_template(value) || is_address(value) {
        return false;
    }
    if assigned.form != ValueForm::Quoted && is_reference(value) {
        return false;
    }
    match (assigned.policy, assigned.strength) {
        (NamePolicy::Password, NameStrength::Sure) => is_password(value, assigned.form),
        (NamePolicy::Random, NameStrength::Sure) => is_random(value, 8),
        (_, NameStrength::Unsure) => is_random(value, 16),
    }
}

/// Returns whether a value is hardly more than one character again and again: `sk-xxxxxxxx`, `0000`.
pub(super) fn is_filler(value: &str) -> bool {
    let mut counts = [0_usize; 256];
    for byte in value.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let most = counts.iter().max().copied().unwrap_or_default();
    most == value.len() || (value.len() >= 8 && most * 10 >= value.len() * 7)
}

fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    PLACEHOLDER_PARTS.iter().any(|part| lower.contains(part)) || is_common(value)
}

/// Returns whether a value consists of common words: `client_secret`, `myPassword`.
fn is_common(value: &str) -> bool {
    let mut words = words(value.as_bytes());
    words.all(|word| {
        COMMON_WORDS
            .iter()
            .any(|common| word.eq_ignore_ascii_case(common.as_bytes()))
    })
}

fn is_template(value: &str) -> bool {
    ["${", "$(", "{{", "<%", "#{", "%(", "%{", "[[", "ENC["]
        .iter()
        .any(|open| value.contains(open))
        || (value.starts_with('{') && value.ends_with('}'))
        || (value.starts_with('%') && value.ends_with(|c: char| c == '%' || c == 's'))
        || (value.starts_with("__") && value.ends_with("__"))
        || value.strip_prefix('$').is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '2')
        })
}

fn is_address(value: &str) -> bool {
    value.contains("://")
        || value.starts_with(['/', '~'])
        || value.starts_with("./")
        || value.starts_with("arn:")
        || value.starts_with("-----")
}

/// Returns whether a bare value is a name in code: `userInput`, `config.token`, `*default`.
fn is_reference(value: &str) -> bool {
    if value.starts_with([
        '&', '*', '@', ':', '!', '\'', '"', '`', '(', '[', '{', '|', '>',
    ]) {
        return true;
    }
    if value.contains(['(', ')', '[', ']', '{', '}', '"', '\'', '`']) {
        return true;
    }
    let is_name = |part: &str| {
        let stem = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_short = part.len() - stem.len() <= 2 && stem.len() < 5;
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !part.starts_with(|c: char| c.is_ascii_digit())
            && (stem.len() == part.len() || is_short || is_common(stem))
            && !stem.bytes().any(|byte| byte.is_ascii_digit())
    };
    let path = value
        .replace("->", ".")
        .replace("::", ".")
        .replace("?.", ".");
    let is_dotted = path.contains('.') && path.split('.').all(is_name);
    let has_humps = value.bytes().any(|b| b.is_ascii_uppercase() || b == b'_') && is_name(value);
    is_dotted || has_humps
}

fn is_password(value: &str, form: ValueForm) -> bool {
    if value.len() < 4 || value.len() > 256 || value.contains(char::is_whitespace) {
        return false;
    }
    let has = |is: fn(u8) -> bool| value.bytes().any(is);
    let (digit, letter) = (
        has(|byte| byte.is_ascii_digit()),
        has(|byte| byte.is_ascii_alphabetic()),
    );
    let special = has(|byte| b"!@#$%^&*?~+=".contains(&byte));
    if digit || (special && letter) {
        return !is_words(value) || (digit && !letter);
    }
    let is_word = value.bytes().all(|byte| byte.is_ascii_lowercase());
    match form {
        ValueForm::Quoted | ValueForm::Line | ValueForm::EnvironmentLine => {
            is_word && value.len() >= 6
        }
        ValueForm::Inline => false,
    }
}

fn is_random(value: &str, shortest: usize) -> bool {
    if value.len() < shortest || value.contains(char::is_whitespace) {
        return false;
    }
    let has = |is: fn(u8) -> bool| value.bytes().any(is);
    if !has(|byte| byte.is_ascii_alphabetic()) || is_words(value) {
        return false;
    }
    let lowest = if value.len() < 16 { 2.5 } else { 3.0 };
    let has_digit = has(|byte| byte.is_ascii_digit());
    (has_digit || is_mixed(value)) && shannon(value.as_bytes()) >= lowest
}

/// Returns whether the case changes as in random letters.
fn is_mixed(value: &str) -> bool {
    let bytes = value.as_bytes();
    let changes = bytes
        .windows(2)
        .filter(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()));
    value.len() >= 16 && changes.count() * 6 >= value.len()
}

/// Returns whether a value consists of words and small numbers: `step-2`, `required|min:8`.
fn is_words(value: &str) -> bool {
    let mut pieces = value
        .split(|c: char| !c.is_alphanumeric())
        .filter(|piece| !piece.is_empty());
    pieces.all(|piece| {
        let piece = piece.as_bytes();
        let is_number = piece.len() <= 4 && piece.iter().all(u8::is_ascii_digit);
        let is_word = piece.iter().all(u8::is_ascii_alphabetic)
            && words(piece).all(is_pronounceable)
            && words(piece).count() * 3 <= piece.len();
        is_number || is_word
    })
}
