//! Makes text from outside safe to show: control characters act on the terminal that shows them,
//! and marks of writing direction change the order in which a person reads.

use std::fmt::{Display, Write};
use std::ops::Range;

use serde::Serialize;

use super::pattern::Pattern;

/// Removes control characters except line breaks and tabs, removes marks that change the writing
/// direction, and unifies line breaks.
pub fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            // Two characters make one line break.
            '\r' if letters.peek() == Some(&'\n') => {}
            '\n' | '\t' => cleaned.push(c),
            '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => cleaned.push('\n'),
            c if is_invisible(c) => {}
            c => cleaned.push(c),
        }
    }
    cleaned
}

/// A cut shows as `…`.
pub fn shortened(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}

/// Shortens a text whose secrets are not masked yet as [`shortened`] does, but in no token: what is
/// left of one is not recognised.
pub fn shortened_unmasked(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => format!(
            "{}…",
            text.get(..token_at(text, end).start).unwrap_or_default()
        ),
        None => text.to_owned(),
    }
}

/// Returns the token that a position is inside of, or else an empty range there. What is left of a
/// token that begins before the text is one at its beginning.
pub fn token_at(text: &str, at: usize) -> Range<usize> {
    let is_part = |c: char| c.is_ascii_graphic() && !"\"'`,;()[]{}<>|\\".contains(c);
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let start = before.trim_end_matches(is_part).len();
    let end = at + after.len() - after.trim_start_matches(is_part).len();
    let is_inside = (start < at || at == 0) && at < end;
    if is_inside { start..end } else { at..at }
}

/// `3 experts`, `1 expert`.
pub fn count(number: impl Display, thing: &str) -> String {
    let number = number.to_string();
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Returns a text in one line that is safe to show, with one space between words.
pub fn one_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A word is a run of letters and digits.
pub fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    let runs = text.split(|c: char| !c.is_alphanumeric());
    runs.filter(|word| !word.is_empty())
}

/// In lower case, with one space between them.
pub fn lower_words(text: &str) -> String {
    let words = words(text).collect::<Vec<_>>().join(" ");
    words.chars().flat_map(char::to_lowercase).collect()
}

/// Returns a value as indented JSON that is safe to show; see [`escape_json`].
pub fn pretty_json(value: &(impl Serialize + ?Sized)) -> serde_json::Result<String> {
    serde_json::to_string_pretty(value).map(|json| escape_json(&json))
}

/// Escapes the characters that [`clean`] would remove or change. JSON itself requires escapes below
/// U+0020 only. The value stays the same.
pub fn escape_json(json: &str) -> String {
    // Line breaks are blanks between values; within strings they are escaped already.
    let is_changed = |c: char| matches!(c, '\u{2028}' | '\u{2029}') || is_invisible(c) && c != '\r';
    let mut escaped = String::with_capacity(json.len());
    for piece in json.split_inclusive(is_changed) {
        let last = piece.char_indices().next_back();
        match last.filter(|(_, c)| is_changed(*c)) {
            Some((at, c)) => {
                escaped.push_str(piece.get(..at).unwrap_or_default());
                // All of them lie in the basic plane, where one escape is enough.
                let _ = write!(escaped, "\\u{:04x}", u32::from(c));
            }
            None => escaped.push_str(piece),
        }
    }
    escaped
}

/// Returns whether a character belongs to a script that is written without blanks between words:
/// Thai, Lao, Burmese, Khmer, Japanese and Chinese.
pub fn is_unspaced(c: char) -> bool {
    matches!(
        u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x3400..=0x9FFF
            | 0xF900..=0xFAFF | 0x20000..=0x3FFFF
    )
}

fn is_direction_mark(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// Returns whether a character is not shown, and may be missing where the text is shown: a control
/// character, or a mark that changes the writing direction.
pub fn is_invisible(c: char) -> bool {
    is_direction_mark(c) || c.is_control() && c != '\n' && c != '\t'
}

/// `key: value` lines between two lines of `---` or `+++`.
pub fn front_matter(text: &str) -> Option<Range<usize>> {
    static FRONT_MATTER: Pattern = Pattern::prepared("", |_| {
        let line = r"(?:[ \t#\]}-][^\n]*|[\w. -]+[:=][^\n]*|)\n";
        let between = |mark| format!(r"{mark}[ \t]*\n(?:{line})*?{mark}[ \t]*(?:\n|$)");
        format!("^(?:{}|{})", between("---"), between(r"\+\+\+"))
    });
    static KEY: Pattern = Pattern::new(r"(?m)^[\w. -]+[:=]");
    let found = FRONT_MATTER.all(text).next()?.get(0)?;
    KEY.is_in(found.as_str()).then(|| found.range())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_is_keys_between_two_fences() {
        assert_eq!(front_matter("---\ntitle: x\n---\nbody"), Some(0..17));
        assert_eq!(front_matter("+++\na = 1\n+++"), Some(0..13));
        assert_eq!(front_matter("---\n\n---\n"), None);
        assert_eq!(front_matter("---\nAll tasks are complete.\n---\n"), None);
        assert_eq!(front_matter("---RALPH_STATUS---\nSTATUS: COMPLETE\n"), None);
        assert_eq!(front_matter("---\ntitle: x\n"), None);
        assert_eq!(front_matter("body"), None);
    }

    #[test]
    fn text_that_is_not_masked_is_cut_in_no_token() {
        for (text, length, expected) in [
            ("short", 5, "short"),
            ("key ghp_0123456789", 8, "key …"),
            ("ghp_0123456789", 8, "…"),
            ("key=\"ghp_0123456789\"", 8, "key=\"…"),
            ("one two three", 7, "one two…"),
            ("über alle Maße", 12, "über alle Ma…"),
            ("没有空格的文字", 3, "没有空…"),
        ] {
            assert_eq!(shortened_unmasked(text, length), expected, "{text}");
        }
    }

    #[test]
    fn token_at_the_beginning_of_a_cut_text_is_what_is_left_of_one() {
        assert_eq!(token_at("0123abc and more", 0), 0..7);
        assert_eq!(token_at(" and more", 0), 0..0);
        assert_eq!(token_at("one two", 4), 4..4);
        assert_eq!(token_at("one two", 5), 4..7);
    }

    #[test]
    fn terminal_control_characters_are_removed() {
        assert_eq!(
            clean("a\u{1b}[31mb\u{7}\u{9b}c\td\r\ne\u{202e}\u{200f}\u{61c}f\rg\u{7f}"),
            "a[31mbc\td\nef\ng"
        );
    }

    #[test]
    fn json_keeps_its_value_and_shows_no_control_character() {
        let value =
            serde_json::json!({"k\u{9b}ey": "\u{1b}[2J\u{7f}\u{85}\u{2028}\u{202e}\u{200e}é\n"});
        let json = pretty_json(&value).unwrap();
        assert_eq!(clean(&json), json);
        assert!(
            json.contains(r"\u001b[2J\u007f\u0085\u2028\u202e\u200eé\n"),
            "{json}"
        );
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&json).unwrap(),
            value
        );
    }
}
