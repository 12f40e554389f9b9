//! The characters to draw with. Where the locale is not UTF-8, lines, marks and signs have
//! equivalents in ASCII; letters stay as they are, so that no text is lost.

use std::sync::LazyLock;

/// Signs with their equivalent, a row each. One without an equivalent is left out with its blank.
static EQUIVALENTS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let rows = include_str!("ascii.txt").lines();
    rows.map(|row| row.split_once(' ').unwrap_or((row, "")))
        .collect()
});

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    Unicode,
    Ascii,
}

impl Charset {
    /// Returns what the name of the locale allows.
    pub fn of_locale(locale: Option<&str>) -> Self {
        let locale = locale.unwrap_or_default().to_ascii_lowercase();
        if locale.contains("utf-8") || locale.contains("utf8") {
            Self::Unicode
        } else {
            Self::Ascii
        }
    }

    pub fn text(self, text: &str) -> String {
        if self == Self::Unicode || text.is_ascii() {
            return text.to_owned();
        }
        let mut ascii = String::new();
        let mut rest = text.chars().peekable();
        while let Some(sign) = rest.next() {
            match EQUIVALENTS.iter().find(|(signs, _)| signs.contains(sign)) {
                None => ascii.push(sign),
                Some((_, "")) => drop(rest.next_if_eq(&' ')),
                Some((_, equivalent)) => ascii.push_str(equivalent),
            }
        }
        ascii
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_have_equivalents_and_letters_stay() {
        let ascii = |text| Charset::Ascii.text(text);
        let line = "⚠️ `x` → “Größe” · ≥ $0.12…";
        assert_eq!(ascii(line), "! `x` -> \"Größe\" - >= $0.12...");
        assert_eq!(ascii("🔍 Judging… ⏱️ Still ✅"), "Judging... Still OK");
        assert_eq!(Charset::Unicode.text(line), line);
    }

    #[test]
    fn locale_is_utf_8_or_ascii() {
        let of = |locale: &str| Charset::of_locale(Some(locale));
        assert_eq!(of("de_DE.UTF-8"), Charset::Unicode);
        assert_eq!(of("C.utf8"), Charset::Unicode);
        assert_eq!(of("C"), Charset::Ascii);
        assert_eq!(of("de_DE.ISO-8859-1"), Charset::Ascii);
        assert_eq!(Charset::of_locale(None), Charset::Ascii);
    }
}
