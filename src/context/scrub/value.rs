//! Judges the value that a secret-named variable is given: a secret, or a placeholder, a reference,
//! a type, a template, a word.

use super::entropy::shannon;
use super::name::NameStrength;
use super::rules::NamePolicy;
use super::words::{WordSet, is_pronounceable, words};

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
    /// Quoted, and passed to a call or beside the name, not assigned to it.
    Argument,
    /// Without quotes, from `name: ` or `name = ` to the end of the line.
    Line,
    /// `NAME=value` on a line of its own.
    EnvironmentLine,
    /// Without quotes, amid other text.
    Inline,
    /// Without quotes, after a colon, where code has types: `password: value,`.
    Annotation,
    /// Without quotes, in a sentence: `the password is value`.
    Sentence,
}

impl ValueForm {
    fn is_quoted(self) -> bool {
        matches!(self, Self::Quoted | Self::Argument)
    }
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
static COMMON_WORDS: WordSet = WordSet::new(
    "password passwords passwd passphrase pass pwd pw secret secrets token tokens key keys api \
    apikey auth access refresh bearer basic client user username name my the a an is test \
    testing app db database new old current private public some this that self string str bytes \
    byte int integer number bool boolean any object unknown none null nil undefined true false \
    yes no on off required optional text plaintext varchar char uuid env environ config settings \
    params param args arg value values val data input output field form request response body \
    payload credentials creds login account session hash hashed encrypted raw default empty \
    missing invalid disabled enabled prompt file vault hidden void never opaque generic header \
    query cookie static dynamic",
);

/// Returns whether an assigned value is a secret.
pub(super) fn is_secret(assigned: &AssignedValue<'_>) -> bool {
    let AssignedValue { value, form, .. } = *assigned;
    if is_filler(value) || is_placeholder(value) || is_template(value) || is_address(value) {
        return false;
    }
    if !form.is_quoted() && is_reference(value, form) {
        return false;
    }
    match (assigned.policy, assigned.strength) {
        (_, NameStrength::Unsure) => is_random(value, 16),
        (_, NameStrength::Sure) if form == ValueForm::Annotation => is_random(value, 16),
        (NamePolicy::Password, NameStrength::Sure) => is_password(value, form),
        (NamePolicy::Random, NameStrength::Sure) => match form {
            ValueForm::Argument | ValueForm::Sentence => is_random(value, 12),
            _ => is_random(value, 8) || is_word_list(value),
        },
    }
}

/// Returns whether a value is a secret wherever it stands, also without its name.
pub(super) fn is_certain(assigned: &AssignedValue<'_>) -> bool {
    assigned.form.is_quoted() && is_random(assigned.value, 16)
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
    words(value.as_bytes()).all(|word| COMMON_WORDS.contains(word))
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
        || ["arn:", "pass:", "env:", "file:"]
            .iter()
            .any(|scheme| value.starts_with(scheme))
        || value.starts_with("-----")
}

/// Returns whether a bare value is a name, path, number or expression in code: `userInput`,
/// `config.token`, `*default`, `709u32`.
fn is_reference(value: &str, form: ValueForm) -> bool {
    let opens = [
        '&', '*', '@', ':', '!', '\'', '"', '`', '(', '[', '{', '|', '>', '=',
    ];
    if value.starts_with(opens) || value.contains(['(', ')', '[', ']', '{', '}', '"', '\'', '`']) {
        return true;
    }
    if value.ends_with("::") || is_number(value) {
        return true;
    }
    let path = value
        .replace("->", ".")
        .replace("::", ".")
        .replace("?.", ".");
    let is_path = path.split('.').all(is_identifier);
    let is_joined = path.contains('.') || value.contains('_');
    match form {
        ValueForm::Inline | ValueForm::Annotation if is_path && is_joined => true,
        _ => (path.contains('.') && path.split('.').all(is_readable)) || is_camel_case(value),
    }
}

fn is_identifier(part: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    part.bytes().all(is_word) && !part.starts_with(|c: char| c.is_ascii_digit()) && !part.is_empty()
}

/// Returns whether an identifier is one that people write: words, and perhaps a small number.
fn is_readable(part: &str) -> bool {
    let stem = part.trim_end_matches(|c: char| c.is_ascii_digit());
    is_identifier(part) && part.len() - stem.len() <= 2 && !stem.bytes().any(|b| b.is_ascii_digit())
}

/// Returns whether a bare value is a variable or a type: `userInput`, `Uint8Array`, `token1`.
fn is_camel_case(value: &str) -> bool {
    if !is_identifier(value) {
        return false;
    }
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let stem = value.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_short = digits > 0 && stem.len() < 5;
    let has_humps =
        value.contains('_') || words(value.as_bytes()).count() > 1 + usize::from(digits > 0);
    let is_readable = words(value.as_bytes()).all(|word| {
        word.iter().all(u8::is_ascii_digit) || (word.len() > 1 && is_pronounceable(word))
    });
    let bytes = value.as_bytes();
    let is_inside = |pair: &[u8]| matches!(pair, [a, b] if a.is_ascii_digit() && !b.is_ascii_uppercase() && *b != b'_');
    let is_ended = !bytes.windows(2).any(is_inside);
    let is_name = digits <= 2 && is_ended && is_readable && (has_humps || is_common(stem));
    is_name || (is_short && value.len() < 7)
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

fn is_password(value: &str, form: ValueForm) -> bool {
    if value.len() < 4 || value.len() > 256 || value.contains(char::is_whitespace) {
        return false;
    }
    let has = |is: fn(u8) -> bool| value.bytes().any(is);
    let digit = has(|byte| byte.is_ascii_digit());
    let letter = has(|byte| byte.is_ascii_alphabetic());
    let special = has(|byte| b"!@#$%^&*?~+=".contains(&byte));
    if digit && !letter {
        return form != ValueForm::Sentence && value.bytes().all(|byte| byte.is_ascii_digit());
    }
    if form == ValueForm::Sentence && (value.len() < 8 || !digit && !special) {
        return false;
    }
    if digit || (special && letter) {
        return !is_words(value) || (special && digit) || is_dashed_password(value);
    }
    if is_word_list(value) {
        return true;
    }
    let is_word = value.bytes().all(|byte| byte.is_ascii_lowercase());
    match form {
        ValueForm::Quoted | ValueForm::Line | ValueForm::EnvironmentLine => {
            is_word && value.len() >= 6
        }
        ValueForm::Inline | ValueForm::Argument | ValueForm::Annotation | ValueForm::Sentence => {
            false
        }
    }
}

/// Returns whether a value is words and a number with dashes: `Wiese-41-blau`, but not `step-2`.
fn is_dashed_password(value: &str) -> bool {
    let is_number =
        |piece: &str| piece.len() >= 2 && piece.bytes().all(|byte| byte.is_ascii_digit());
    let is_other = |c: char| !c.is_ascii_alphanumeric() && c != '-';
    !value.contains(is_other) && value.split('-').any(is_number)
}

/// Returns whether a value is a list of words with a digit: `correct-horse-battery-staple-9`.
fn is_word_list(value: &str) -> bool {
    let pieces: Vec<&str> = value.split('-').collect();
    let is_common_piece = |piece: &&&str| is_common(piece);
    let is_lower = |piece: &&str| piece.bytes().all(|byte| byte.is_ascii_alphanumeric());
    pieces.len() >= 4
        && value.len() >= 16
        && pieces.iter().all(is_lower)
        && pieces.iter().filter(is_common_piece).count() <= 1
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

/// Returns whether a value consists of words and small numbers: `step-2`, `required|min:8`,
/// `line_comment_token1`, `TLS13_CHACHA20`.
fn is_words(value: &str) -> bool {
    let is_separator = |c: char| !c.is_alphanumeric();
    let is_joined = value.contains(is_separator);
    let mut pieces = value.split(is_separator).filter(|piece| !piece.is_empty());
    pieces.all(|piece| is_word_piece(piece.as_bytes(), is_joined))
}

fn is_word_piece(piece: &[u8], is_joined: bool) -> bool {
    if piece.iter().all(u8::is_ascii_digit) {
        return piece.len() <= 4;
    }
    let digits = piece
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let letters = piece.get(..piece.len() - digits).unwrap_or_default();
    let is_word = letters.iter().all(u8::is_ascii_alphabetic)
        && words(letters).all(is_pronounceable)
        && words(letters).count() * 3 <= letters.len().max(3);
    is_word && (digits == 0 || (is_joined && digits <= 3))
}
