//! Values that no program uses as they are: fillers, placeholders, templates, addresses.

use std::sync::LazyLock;

use regex::bytes::Match;

use super::name::{has_common_word, is_common, reads_as_name};
use super::words::list;
use crate::text::byte_pattern::BytePattern;

/// A name in angle brackets: `<token>`.
static IN_BRACKETS: BytePattern = BytePattern::new(r"^<[\w .:/-]*>$");

/// The bracket of a template and a name, perhaps with more: `${TOKEN:-x}`, `{{ .Values.key }}`.
static TEMPLATE: LazyLock<BytePattern> = LazyLock::new(|| {
    let signs = r#"% :|\[(,'"/?"#;
    let brackets = [
        (r"(?:[$#%]\{|\{\{)(?:[A-Za-z_]\}|", r"\}", signs),
        (r"\$\((?:", r"\)", " |/"),
        (r"\[\[(?:", r"\]\]", signs),
        (r"ENC\[(?:", r"\]", signs),
        ("<%(?:", "%>", signs),
    ];
    let forms = brackets.map(|(open, close, signs)| {
        // Without blanks, the rest is no password.
        let rest = "(?:[^#@^~;&!*]*|[^ ]* .*)";
        let more = format!("(?:{close}|:[-?=+].*{close}|[{signs}]{rest}{close})");
        format!(r"{open}[ {{=$.-]*([A-Za-z_][\w.-]+|\d+){more})")
    });
    BytePattern::from(forms.join("|") + r"|%\([A-Za-z_][\w.-]*\)[sdrfx]")
});

/// A name in braces, between underscores or behind `$`, as a whole value.
static REFERENCE: BytePattern = BytePattern::new(
    r#"^(?:\{[ {=$.-]*(?:[A-Za-z_][\w.-]*(?:[]})% :|\[(,'"/?].*)?)?\}$|__.*__$|\.*\$[A-Za-z_2])"#,
);

/// A path, or an address of mail.
static ADDRESS: BytePattern = BytePattern::new(r"^(?:\.\.?/|[a-z.-]+@[a-z-]+\.[a-z.-]+$)");

pub(in crate::scrub) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    // `yourToken`, `YOUR-TOKEN`, `YourToken`; random letters mix their cases: `_youRBg`.
    let is_of_one_case = |(at, part): (usize, &str)| {
        let small = |letter: char| letter.is_ascii_lowercase();
        let found = value.get(at..at + part.len()).unwrap_or_default();
        let rest = found.get(1..).unwrap_or_default();
        !rest.contains(small) || rest == part.get(1..).unwrap_or_default()
    };
    list("placeholder_parts")
        .iter()
        .any(|part| lower.match_indices(part.as_str()).any(is_of_one_case))
        || is_common(value)
        || IN_BRACKETS.is_in(value) && reads_as_name(value)
}

/// Returns a value without its templates.
pub(super) fn without_templates(value: &str) -> String {
    let rest = TEMPLATE
        .regex()
        .map(|regex| regex.replace_all(value.as_bytes(), &b""[..]));
    String::from_utf8_lossy(&rest.unwrap_or_default()).into_owned()
}

pub(super) fn has_template(value: &str) -> bool {
    let reads = |name: Match<'_>| std::str::from_utf8(name.as_bytes()).is_ok_and(reads_as_name);
    let found = TEMPLATE
        .regex()
        .and_then(|regex| regex.captures(value.as_bytes()));
    found.is_some_and(|found| found.iter().skip(1).flatten().all(reads))
}

pub(in crate::scrub) fn is_template(value: &str) -> bool {
    has_template(value) || REFERENCE.is_in(value)
}

/// Returns whether a value is a public key or a digest.
pub(in crate::scrub) fn is_public(value: &str) -> bool {
    let mut beginnings = list("public_beginnings").iter();
    beginnings.any(|beginning| value.starts_with(beginning))
}

/// Returns whether a value says where another one is kept: `env:TOKEN`.
pub(super) fn is_kept_elsewhere(value: &str) -> bool {
    list("schemes")
        .iter()
        .any(|scheme| value.starts_with(scheme))
}

pub(in crate::scrub) fn is_address(value: &str) -> bool {
    let is_path = |rest: &str| !rest.is_empty() && reads_as_name(rest);
    // `#add-password`, an element of a page.
    let is_of_name = |byte: u8| byte.is_ascii_alphabetic() || b"_-".contains(&byte);
    let is_element = |name: &str| name.bytes().all(is_of_name) && has_common_word(name);
    ADDRESS.is_in(value)
        || is_kept_elsewhere(value)
        || value.strip_prefix(['/', '~']).is_some_and(is_path)
        || value.strip_prefix('#').is_some_and(is_element)
}
