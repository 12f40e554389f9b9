//! Keys, read from the bytes that a terminal sends for them.

/// A key as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::terminal) enum Key {
    Character(char),
    Enter,
    Escape,
    /// Ctrl-D.
    EndOfInput,
    /// An arrow, a function key, or what is no text.
    Other,
}

/// The outcome of waiting for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::terminal) enum TypedKey {
    Typed(Key),
    /// The input has ended.
    InputEnded,
    /// There is no terminal, or it went away.
    NoTerminal,
}

const ESCAPE: char = '\u{1b}';
const CTRL_D: char = '\u{4}';

/// Returns the keys of some bytes. A sequence that begins with Esc is one key.
pub(super) fn keys(bytes: &[u8]) -> Vec<Key> {
    let text = String::from_utf8_lossy(bytes);
    let mut rest = text.chars().peekable();
    let mut keys = Vec::new();
    while let Some(first) = rest.next() {
        keys.push(match first {
            '\r' | '\n' => Key::Enter,
            CTRL_D => Key::EndOfInput,
            ESCAPE if rest.peek().is_none() => Key::Escape,
            ESCAPE => {
                skip_sequence(&mut rest);
                Key::Other
            }
            letter if letter.is_control() => Key::Other,
            letter => Key::Character(letter),
        });
    }
    keys
}

/// Skips what follows Esc: `[` or `O`, parameters, and a final letter or `~`; or a single
/// character, as with Alt.
fn skip_sequence(rest: &mut impl Iterator<Item = char>) {
    if !matches!(rest.next(), Some('[' | 'O')) {
        return;
    }
    for letter in rest {
        if matches!(letter, '@'..='~') {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_and_function_keys_are_one_key_each() {
        assert_eq!(keys(b"\x1b[A"), [Key::Other]);
        assert_eq!(keys(b"\x1bOP"), [Key::Other]);
        assert_eq!(keys(b"\x1b[15~y"), [Key::Other, Key::Character('y')]);
        assert_eq!(keys(b"\x1b[1;5Cn"), [Key::Other, Key::Character('n')]);
        assert_eq!(keys(b"\x1bx"), [Key::Other]);
        assert_eq!(keys(b"\x1b"), [Key::Escape]);
    }

    #[test]
    fn letters_enter_and_ctrl_d_are_keys() {
        assert_eq!(keys("ü\r".as_bytes()), [Key::Character('ü'), Key::Enter]);
        assert_eq!(keys(b"\n\x04"), [Key::Enter, Key::EndOfInput]);
        assert_eq!(keys(b"\x7f\t"), [Key::Other, Key::Other]);
        assert_eq!(keys(b""), []);
    }
}
