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
    /// `NAME=value` on a line of its own, before a command, or among others as in `a=b;c=d`.
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
    "changeit",
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

/// Words that name what a secret is.
static KINDS: WordSet = WordSet::new("token tokens secret password key");

/// Words of the names of algorithms, which have digits as passwords have.
static ALGORITHMS: WordSet =
    WordSet::new("sha aes pbkdf argon bcrypt scrypt hmac utf rsa md latin");

/// Returns whether an assigned value is a secret.
pub(super) fn is_secret(assigned: &AssignedValue<'_>) -> bool {
    let AssignedValue { value, form, .. } = *assigned;
    if is_filler(value) || is_placeholder(value) || is_template(value) || is_address(value) {
        return false;
    }
    if !form.is_quoted() && is_reference(value, form) {
        return false;
    }
    let is_beside = matches!(form, ValueForm::Argument | ValueForm::Sentence);
    if is_beside && value.contains(['[', ']', '(', ')', '<', '>', '{', '}']) {
        return false;
    }
    match (assigned.policy, assigned.strength) {
        (_, NameStrength::Unsure) if form == ValueForm::Sentence => false,
        (NamePolicy::Password, NameStrength::Unsure) => is_certain_password(value),
        (NamePolicy::Random, NameStrength::Unsure) => is_random(value, 16),
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
        || (value.starts_with('%') && value.ends_with(['%', 's']))
        || (value.starts_with("__") && value.ends_with("__"))
        || value
            .strip_prefix('@')
            .is_some_and(|path| path.split(['.', '/']).all(is_identifier) && reads_as_name(path))
        || value.strip_prefix('$').is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '2')
        })
}

fn is_address(value: &str) -> bool {
    let is_path = |rest: &str| !rest.is_empty() && reads_as_name(rest);
    value.contains("://")
        || value.starts_with("./")
        || value.starts_with("../")
        || value.strip_prefix(['/', '~']).is_some_and(is_path)
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
    if form == ValueForm::EnvironmentLine {
        // Settings have no names of other values but in templates.
        return false;
    }
    let value = value.trim_end_matches(['!', '?']);
    let path = value
        .replace("->", ".")
        .replace("::", ".")
        .replace("?.", ".");
    let is_path = path.split('.').all(is_identifier);
    let is_joined = path.contains('.') || value.contains('_');
    let is_code = matches!(form, ValueForm::Inline | ValueForm::Annotation);
    let has_humps = value
        .bytes()
        .any(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let is_name = is_path && (is_code || has_humps || is_joined) && reads_as_name(&path);
    is_name || (is_code && ((is_path && is_joined) || is_constant(value)))
}

fn is_identifier(part: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    part.bytes().all(is_word) && !part.starts_with(|c: char| c.is_ascii_digit()) && !part.is_empty()
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

/// Returns whether a value is the sort of password that people choose.
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
    if form == ValueForm::Sentence && (value.len() < 8 || !digit) {
        return false;
    }
    if digit || (special && letter) {
        return !is_label(value);
    }
    if is_word_list(value) {
        return true;
    }
    if letter && form != ValueForm::Sentence && value.len() >= 10 && is_random_letters(value) {
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
    let is_algorithm = words(value.as_bytes()).any(|word| ALGORITHMS.contains(word));
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

/// Returns whether a value beside a password-named word, which may be a password, is one: it has
/// digits, and letters of both cases or signs.
fn is_certain_password(value: &str) -> bool {
    let has = |is: fn(u8) -> bool| value.bytes().any(is);
    let is_mixed = has(|byte| byte.is_ascii_uppercase()) && has(|byte| byte.is_ascii_lowercase());
    let special = has(|byte| b"!@#$%^&*?~+=".contains(&byte));
    (8..=128).contains(&value.len())
        && has(|byte| byte.is_ascii_digit())
        && (is_mixed || (special && has(|byte| byte.is_ascii_alphabetic())))
        && !value.contains(['/', '(', ')', '{', '}', '<', '>', '\\', ' '])
        && is_password(value, ValueForm::Quoted)
}

/// Returns whether a value is words and a number with dashes: `Wiese-41-blau`, but not `step-2`.
fn is_dashed_password(value: &str) -> bool {
    let is_number =
        |piece: &str| piece.len() >= 2 && piece.bytes().all(|byte| byte.is_ascii_digit());
    let is_other = |c: char| !c.is_ascii_alphanumeric() && c != '-';
    !value.contains(is_other) && value.split('-').any(is_number)
}

/// Returns whether a value is a list of words and a number: `correct-horse-battery-staple-9`.
fn is_word_list(value: &str) -> bool {
    let is_piece = |piece: &str| piece.bytes().all(|byte| byte.is_ascii_alphanumeric());
    value.len() >= 16
        && value.split('-').count() >= 4
        && value.split('-').all(is_piece)
        && value.ends_with(|c: char| c.is_ascii_digit())
}

pub(super) fn is_random(value: &str, shortest: usize) -> bool {
    if value.len() < shortest || value.contains(char::is_whitespace) {
        return false;
    }
    let has = |is: fn(u8) -> bool| value.bytes().any(is);
    if !has(|byte| byte.is_ascii_alphabetic()) || reads_as_name(value) {
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
    value.len() >= 16 && changes.count() * 7 >= value.len()
}

/// Returns whether text reads as names, piece by piece: `Uint8Array`, `line_token1`, `TLS13_CHACHA`.
/// The words of random text are short and its numbers many, and its letters follow one another as
/// they come.
fn reads_as_name(text: &str) -> bool {
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
        let has_words = count == 1 || letters >= 3 * count;
        let is_number = count == 0 && piece.len() <= 4;
        let is_name = has_words && numbers <= count.min(2) && is_pronounceable(piece.as_bytes());
        is_short || is_number || is_name
    })
}
