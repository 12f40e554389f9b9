//! Where a keyword is in a text, and where a token or a character begins there.

use super::value::random::is_random;

/// Where a text has a keyword.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeywordPlace<'t> {
    pub(super) text: &'t str,
    pub(super) start: usize,
    pub(super) end: usize,
    /// How far the rule looks around the keyword at most: where many of its keywords stand close
    /// together, each looks at a few of its neighbours, so that no byte is read again and again.
    pub(super) reach: (usize, usize),
}

impl<'t> KeywordPlace<'t> {
    pub(super) fn keyword(&self) -> &'t [u8] {
        let bytes = self.text.as_bytes();
        bytes.get(self.start..self.end).unwrap_or_default()
    }
}

/// Not in the middle of a word. The letter of an escape such as `\n`, `%3D` or `\u003d` belongs to
/// no word.
pub(super) fn begins_token(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    match before.last() {
        None => true,
        Some(byte) if !byte.is_ascii_alphanumeric() => true,
        Some(_) => ends_with_escape(before),
    }
}

/// As much Base64 before a token is one text with it; no more is looked at.
const SHORTEST_BLOB: usize = 24;
const LONGEST_BLOB: usize = 2 * SHORTEST_BLOB;

/// Returns whether a token stands by itself, and is no part of a longer word or of Base64. One with
/// other signs, such as `glpat-…`, is a token wherever it stands.
pub(super) fn is_token(text: &[u8], (start, end): (usize, usize)) -> bool {
    let (before, rest) = text.split_at_checked(start).unwrap_or_default();
    let (token, after) = rest.split_at_checked(end - start).unwrap_or_default();
    let is_base64 = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    if token.iter().any(|byte| !is_base64(&byte)) {
        return true;
    }
    let near = before.get(start.saturating_sub(LONGEST_BLOB)..);
    let blob = near.and_then(|near| near.rsplit(|byte| !is_base64(&byte)).next());
    let blob = blob.and_then(|blob| std::str::from_utf8(blob).ok());
    !after.first().is_some_and(u8::is_ascii_alphanumeric)
        && !blob.is_some_and(|blob| is_random(blob, SHORTEST_BLOB))
}

fn ends_with_escape(before: &[u8]) -> bool {
    let hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    match before {
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f' | b'v' | b'0'] => true,
        [.., b'%', a, b] | [.., b'\\', b'x', a, b] => hex(&[*a, *b]),
        [.., b'\\', b'u', a, b, c, d] => hex(&[*a, *b, *c, *d]),
        _ => false,
    }
}

/// Returns the start of the character at `at`, or `at` itself if a character starts there.
pub(super) fn character_start(text: &str, mut at: usize) -> usize {
    while at > 0 && !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns the end of the character that `at` is inside of, or `at` itself.
pub(super) fn character_end(text: &str, mut at: usize) -> usize {
    while at < text.len() && !text.is_char_boundary(at) {
        at += 1;
    }
    at.min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_begin_after_escapes_and_not_inside_words() {
        for (before, begins) in [
            ("", true),
            ("=", true),
            ("_", true),
            ("é", true),
            ("a", false),
            ("7", false),
            (r"\n", true),
            ("%3D", true),
            (r"\u003d", true),
            (r"\x3d", true),
            ("3D", false),
            ("n", false),
        ] {
            let text = format!("{before}ghp_");
            assert_eq!(
                begins_token(text.as_bytes(), before.len()),
                begins,
                "{before}"
            );
        }
    }

    #[test]
    fn positions_inside_a_character_move_to_its_ends() {
        assert_eq!(character_start("aé", 2), 1);
        assert_eq!(character_end("aé", 2), 3);
        assert_eq!(character_end("aé", 9), 3);
    }
}
