//! One form of a text, wherever it comes from: line feeds, no escape sequences of a terminal, no
//! invisible characters, no front matter.

use std::borrow::Cow;
use std::iter::Peekable;
use std::ops::Range;
use std::str::Chars;

use crate::domain::text::is_invisible;

/// Returns a text without escape sequences and invisible characters, with `\n` as the end of a line.
pub fn normal(text: &str) -> Cow<'_, str> {
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut normal = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => skip_escape(&mut letters),
            '\u{9b}' => skip_control_sequence(&mut letters),
            '\r' if letters.peek() == Some(&'\n') => {}
            '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => normal.push('\n'),
            // A byte order mark, and marks between letters that are not shown.
            '\u{feff}' | '\u{200b}' | '\u{2060}' => {}
            '\u{a0}' | '\u{202f}' => normal.push(' '),
            letter if is_invisible(letter) => {}
            letter => normal.push(letter),
        }
    }
    Cow::Owned(normal)
}

/// Whether a byte can be part of no character that is changed. The first bytes of those beyond
/// ASCII are 0xc2, 0xd8, 0xe2 and 0xef.
fn is_plain(byte: u8) -> bool {
    match byte {
        b'\n' | b'\t' => true,
        0..=0x1f | 0x7f | 0xc2 | 0xd8 | 0xe2 | 0xef => false,
        _ => true,
    }
}

/// Skips the rest of an escape sequence: a colour, a title, a move of the cursor.
fn skip_escape(letters: &mut Peekable<Chars<'_>>) {
    match letters.peek() {
        Some('[') => {
            letters.next();
            skip_control_sequence(letters);
        }
        Some(']' | 'P' | '_' | '^') => {
            // A string up to a bell or `ESC \`. It never spans a line, so that a cut one takes
            // nothing else away.
            while let Some(letter) = letters.next_if(|letter| *letter != '\n') {
                if letter == '\u{7}' || letter == '\u{9c}' {
                    return;
                }
                if letter == '\u{1b}' && letters.next_if_eq(&'\\').is_some() {
                    return;
                }
            }
        }
        _ => {
            letters.next_if(|letter| *letter != '\n');
        }
    }
}

/// Skips parameters up to the letter that ends them.
fn skip_control_sequence(letters: &mut Peekable<Chars<'_>>) {
    while letters
        .next_if(|letter| matches!(letter, ' '..='?'))
        .is_some()
    {}
    letters.next_if(|letter| matches!(letter, '@'..='~'));
}

/// Returns the range of the front matter at the beginning of a text: `key: value` lines between two
/// lines of `---` or `+++`.
pub fn front_matter(text: &str) -> Option<Range<usize>> {
    let mut lines = text.split_inclusive('\n');
    let fence = lines.next()?;
    let mark = fence.trim_end();
    if mark != "---" && mark != "+++" {
        return None;
    }
    let mut end = fence.len();
    let mut has_key = false;
    for line in lines {
        end += line.len();
        let line = line.trim_end();
        if line == mark {
            return has_key.then_some(0..end);
        }
        let is_part = line.is_empty()
            || line.starts_with([' ', '\t', '-', '#', ']', '}'])
            || is_key_line(line);
        if !is_part {
            return None;
        }
        has_key |= is_key_line(line);
    }
    None
}

fn is_key_line(line: &str) -> bool {
    line.split_once([':', '=']).is_some_and(|(key, _)| {
        !key.is_empty()
            && key
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' '))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_invisible_characters_go() {
        for (text, expected) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\u{1b}[1;32mdone\u{1b}[0m", "done"),
            ("\u{9b}31mred", "red"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]cut off\nnext", "\nnext"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
            ("\u{1b}(Btext", "Btext"),
            ("a\r\nb\rc", "a\nb\nc"),
            ("\u{feff}- [ ] a\u{200b}b", "- [ ] ab"),
            ("a\u{a0}b", "a b"),
            ("tout est terminé ✅", "tout est terminé ✅"),
        ] {
            assert_eq!(normal(text), expected, "{text:?}");
        }
    }

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
}
