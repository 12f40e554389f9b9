//! Keys, read from the bytes that a terminal sends for them.

/// A key as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::terminal) enum Key {
    Character(char),
    Enter,
    Escape,
    Backspace,
    /// An arrow, a function key, or what is no text.
    Other,
}

/// The outcome of waiting for a key.
pub(in crate::terminal) type TypedKey = Result<Key, InputError>;

/// The reason why a question has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    #[error("the input has ended")]
    InputEnded,
    /// There is no terminal, or it went away.
    #[error("cannot ask on this terminal")]
    NoTerminal,
}

const ESCAPE: char = '\u{1b}';
const CTRL_D: char = '\u{4}';
const BACKSPACE: char = '\u{8}';
const DELETE: char = '\u{7f}';

/// A sequence that begins with Esc is one key.
pub(super) fn keys(bytes: &[u8]) -> Vec<TypedKey> {
    let text = String::from_utf8_lossy(bytes);
    let mut rest = text.chars().peekable();
    let mut keys = Vec::new();
    while let Some(first) = rest.next() {
        keys.push(Ok(match first {
            '\r' | '\n' => Key::Enter,
            CTRL_D => {
                keys.push(Err(InputError::InputEnded));
                continue;
            }
            BACKSPACE | DELETE => Key::Backspace,
            ESCAPE if rest.peek().is_none() => Key::Escape,
            ESCAPE => {
                skip_sequence(&mut rest);
                Key::Other
            }
            letter if letter.is_control() => Key::Other,
            letter => Key::Character(letter),
        }));
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

    fn typed(bytes: &[u8]) -> Vec<Key> {
        keys(bytes).into_iter().map(Result::unwrap).collect()
    }

    #[test]
    fn arrows_and_function_keys_are_one_key_each() {
        assert_eq!(typed(b"\x1b[A"), [Key::Other]);
        assert_eq!(typed(b"\x1bOP"), [Key::Other]);
        assert_eq!(typed(b"\x1b[15~y"), [Key::Other, Key::Character('y')]);
        assert_eq!(typed(b"\x1b[1;5Cn"), [Key::Other, Key::Character('n')]);
        assert_eq!(typed(b"\x1bx"), [Key::Other]);
        assert_eq!(typed(b"\x1b"), [Key::Escape]);
    }

    #[test]
    fn letters_enter_and_ctrl_d_are_keys() {
        assert_eq!(typed("ü\r".as_bytes()), [Key::Character('ü'), Key::Enter]);
        assert_eq!(
            keys(b"\n\x04"),
            [Ok(Key::Enter), Err(InputError::InputEnded)]
        );
        assert_eq!(
            typed(b"\x7f\x08\t"),
            [Key::Backspace, Key::Backspace, Key::Other]
        );
        assert_eq!(typed(b""), []);
    }
}
