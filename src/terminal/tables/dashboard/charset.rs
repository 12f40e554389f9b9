//! The characters that a terminal can show: all, or only ASCII where its locale is not UTF-8 or the
//! user asked for it.

/// The characters to draw with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    Unicode,
    Ascii,
}

/// A blank at which no line breaks; printed as an ordinary one.
pub(super) const TOGETHER: char = '\u{a0}';

/// The lines of a frame: edges, corners, and the joints of rules and columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strokes {
    pub(super) across: char,
    pub(super) down: char,
    /// Left end, right end, and the joints of a rule: with no column, one above, one below, both.
    pub(super) top: [char; 2],
    pub(super) middle: [char; 2],
    pub(super) bottom: [char; 2],
    pub(super) joints: [char; 4],
}

impl Charset {
    /// Returns what the locale variables allow: `LC_ALL` before `LC_CTYPE` before `LANG`, as the C
    /// library reads them.
    pub fn of_locale(lc_all: Option<&str>, lc_ctype: Option<&str>, lang: Option<&str>) -> Self {
        let Some(locale) = lc_all.or(lc_ctype).or(lang) else {
            return Self::Ascii;
        };
        let locale = locale.to_ascii_lowercase();
        if ["utf-8", "utf8"].iter().any(|name| locale.contains(name)) {
            Self::Unicode
        } else {
            Self::Ascii
        }
    }

    pub(super) fn bullet(self) -> &'static str {
        match self {
            Self::Unicode => "•",
            Self::Ascii => "*",
        }
    }

    /// A symbol before a text; `word` is its meaning, unless the text states it.
    pub fn before(self, sign: &str, word: &str) -> String {
        match self {
            Self::Unicode => format!("{sign} "),
            Self::Ascii if word.is_empty() => String::new(),
            Self::Ascii => format!("{word} "),
        }
    }

    /// A symbol after a text.
    pub(super) fn behind(self, sign: &str, word: &str) -> String {
        match self {
            Self::Unicode => format!(" {sign}"),
            Self::Ascii => format!(" {word}"),
        }
    }

    /// Returns the text in these characters; one without an ASCII equivalent becomes a question
    /// mark.
    pub(super) fn text(self, text: &str) -> String {
        match self {
            Self::Unicode => text.to_owned(),
            Self::Ascii => text
                .replace('≥', ">=")
                .replace('…', "...")
                .replace(['–', '—'], "-")
                .chars()
                .map(|c| {
                    if c.is_ascii() || c == TOGETHER {
                        c
                    } else {
                        '?'
                    }
                })
                .collect(),
        }
    }

    pub(super) fn strokes(self) -> Strokes {
        match self {
            Self::Unicode => Strokes {
                across: '─',
                down: '│',
                top: ['┌', '┐'],
                middle: ['├', '┤'],
                bottom: ['└', '┘'],
                joints: ['─', '┴', '┬', '┼'],
            },
            Self::Ascii => Strokes {
                across: '-',
                down: '|',
                top: ['+', '+'],
                middle: ['+', '+'],
                bottom: ['+', '+'],
                joints: ['-', '+', '+', '+'],
            },
        }
    }

    /// Zero, then seven heights from the lowest to the highest.
    pub(super) fn heights(self) -> [char; 8] {
        match self {
            Self::Unicode => ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
            Self::Ascii => ['_', '.', ':', '-', '=', '+', '*', '#'],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locale_without_utf_8_gets_ascii() {
        let of = Charset::of_locale;
        assert_eq!(of(None, None, Some("en_GB.UTF-8")), Charset::Unicode);
        assert_eq!(of(None, Some("de_DE.utf8"), Some("C")), Charset::Unicode);
        for locale in ["C", "POSIX", "en_US", "de_DE.ISO-8859-1"] {
            assert_eq!(
                of(Some(locale), Some("C.UTF-8"), Some("C.UTF-8")),
                Charset::Ascii,
                "{locale}"
            );
        }
        assert_eq!(of(None, None, None), Charset::Ascii);
    }

    #[test]
    fn ascii_charset_leaves_only_ascii() {
        assert_eq!(Charset::Ascii.text("≥ $1.20 … 模型–x"), ">= $1.20 ... ??-x");
        assert_eq!(Charset::Ascii.before("✅", ""), "");
        assert_eq!(
            Charset::Ascii.behind("✅", "(reached)"),
            " (reached)".to_owned()
        );
    }
}
