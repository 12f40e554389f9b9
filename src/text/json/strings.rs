//! Reads strings: finds the end of a string with unescaped quotation marks, and resolves escapes.

use super::{JsonReader, ParseStop};

/// The position of a string, which determines what may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Key,
    /// A value in an object.
    Member,
    /// A value in an array.
    Item,
}

/// Returns the marks that may close a string opened by this one.
pub(super) fn closers(open: char) -> Option<&'static [char]> {
    match open {
        '"' => Some(&['"']),
        '\'' => Some(&['\'']),
        '“' | '”' | '„' => Some(&['”', '“']),
        '‘' | '’' => Some(&['’']),
        _ => None,
    }
}

impl JsonReader<'_> {
    /// If the text ends within, it has the beginning.
    pub(super) fn string(
        &mut self,
        open: char,
        closers: &[char],
        place: Place,
        text: &mut String,
    ) -> Result<(), ParseStop> {
        self.tolerate_if(open != '"');
        self.take()?;
        loop {
            match self.take()? {
                '\\' => self.escape(text)?,
                mark if closers.contains(&mark) => {
                    if self.ends(place) {
                        return Ok(());
                    }
                    self.tolerate_if(true);
                    text.push(mark);
                }
                other => {
                    self.tolerate_if(other == '\n');
                    text.push(other);
                }
            }
        }
    }

    /// In valid JSON it always does.
    fn ends(&self, place: Place) -> bool {
        let rest = self.rest();
        let after = rest.trim_start();
        match after.chars().next() {
            _ if place == Place::Key => true,
            None | Some('}' | ']') => true,
            Some(',') => {
                let next = after.get(1..).unwrap_or_default().trim_start();
                let has_bare_keys = self.deviations.bareword;
                let begins = |c| begins(c, place) || has_bare_keys && c.is_alphanumeric();
                next.chars().next().is_none_or(begins)
            }
            // A comma is missing if the next string begins on a new line.
            Some('"') => rest
                .split('"')
                .next()
                .is_some_and(|blank| blank.contains('\n')),
            Some(_) => ["```", "//", "/*"]
                .iter()
                .any(|sign| after.starts_with(sign)),
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<(), ParseStop> {
        let plain = match self.take()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            plain @ ('"' | '\\' | '/') => plain,
            'u' => return self.unicode(text),
            other => {
                self.tolerate_if(true);
                // `\'` is a quotation mark; before any other character, as in `\d`, the backslash
                // is part of the text.
                if other != '\'' {
                    text.push('\\');
                }
                other
            }
        };
        text.push(plain);
        Ok(())
    }

    /// Four, or two groups of four for characters above U+FFFF.
    fn unicode(&mut self, text: &mut String) -> Result<(), ParseStop> {
        if self.rest().len() < 4 {
            return Err(ParseStop::CutOff);
        }
        let Some(first) = unit(self.rest()) else {
            self.tolerate_if(true);
            text.push_str("\\u");
            return Ok(());
        };
        self.skip(4);
        let rest = self.rest();
        let is_half = (0xD800..0xDC00).contains(&first);
        if is_half && rest.len() < 6 && ("\\u".starts_with(rest) || rest.starts_with("\\u")) {
            return Err(ParseStop::CutOff);
        }
        let second = rest.strip_prefix("\\u").and_then(unit).filter(|_| is_half);
        let pair = char::decode_utf16(std::iter::once(first).chain(second)).next();
        let whole = pair.and_then(Result::ok);
        self.tolerate_if(whole.is_none());
        if is_half && whole.is_some() {
            self.skip(6);
        }
        text.push(whole.unwrap_or(char::REPLACEMENT_CHARACTER));
        Ok(())
    }
}

fn begins(c: char, place: Place) -> bool {
    let always = closers(c).is_some() || matches!(c, '}' | ']' | '/' | ',');
    match place {
        Place::Key | Place::Member => always || c == '_',
        Place::Item => {
            always || matches!(c, '{' | '[' | '-' | 't' | 'f' | 'n') || c.is_ascii_digit()
        }
    }
}

/// Reads the four hexadecimal digits of a UTF-16 unit.
fn unit(text: &str) -> Option<u16> {
    let digits = text.get(..4)?;
    let are_digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u16::from_str_radix(digits, 16).ok().filter(|_| are_digits)
}

pub(crate) fn unescape(text: &str) -> String {
    let mut reader = JsonReader::new(text, 0, usize::MAX);
    let mut plain = String::new();
    while let Ok(next) = reader.take() {
        if next != '\\' {
            plain.push(next);
        } else if reader.escape(&mut plain).is_err() {
            break;
        }
    }
    plain
}
