//! Cleans text from models before it is shown.

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
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            c if c.is_control() => {}
            c => cleaned.push(c),
        }
    }
    cleaned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_control_characters_are_removed() {
        assert_eq!(
            clean("a\u{1b}[31mb\u{7}\u{9b}c\td\r\ne\u{202e}f\rg"),
            "a[31mbc\td\nef\ng"
        );
    }
}
