//! Reads strings: finds the end of a string with unescaped quotation marks, and resolves escapes.

use super::scan::Scan;
use super::{Leniency, Stop};

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

/// Reads a string from its opening mark. If the text ends within, it has the beginning.
pub(super) fn read(
    scan: &mut Scan<'_>,
    open: char,
    closers: &[char],
    place: Place,
    text: &mut String,
) -> Result<(), Stop> {
    if open != '"' {
        scan.tolerate(Leniency::QuoteMarks);
    }
    scan.advance(open);
    loop {
        match scan.next()?.ok_or(Stop::CutOff)? {
            '\\' => escape(scan, text)?,
            mark if closers.contains(&mark) => {
                if ends(scan, place) {
                    return Ok(());
                }
                scan.tolerate(Leniency::InnerQuote);
                text.push(mark);
            }
            other => {
                if other == '\n' {
                    scan.tolerate(Leniency::RawLineBreak);
                }
                text.push(other);
            }
        }
    }
}

/// Returns whether a closing mark ends the string, judged by what follows it. In valid JSON it
/// always does.
fn ends(scan: &Scan<'_>, place: Place) -> bool {
    let rest = scan.rest();
    let after = rest.trim_start();
    let Some(next) = after.chars().next() else {
        return true;
    };
    match (place, next) {
        (Place::Key, _) => true,
        (Place::Member | Place::Item, '}' | ']') => true,
        (Place::Member | Place::Item, ',') => {
            let following = after
                .get(1..)
                .unwrap_or_default()
                .trim_start()
                .chars()
                .next();
            let bare_keys = scan.leniencies.contains(&Leniency::Bareword);
            following.is_none_or(|c| begins(c, place) || (bare_keys && c.is_alphanumeric()))
        }
        // A comma is missing if the next string begins on a new line.
        (Place::Member | Place::Item, '"') => rest
            .get(..rest.len() - after.len())
            .is_some_and(|blank| blank.contains('\n')),
        (Place::Member | Place::Item, _) => ["```", "//", "/*"]
            .iter()
            .any(|sign| after.starts_with(sign)),
    }
}

/// Returns whether a key, an item or the end of the container can begin with this character.
fn begins(c: char, place: Place) -> bool {
    let always = closers(c).is_some() || matches!(c, '}' | ']' | '/' | ',');
    match place {
        Place::Key | Place::Member => always || c == '_',
        Place::Item => {
            always || matches!(c, '{' | '[' | '-' | 't' | 'f' | 'n') || c.is_ascii_digit()
        }
    }
}

fn escape(scan: &mut Scan<'_>, text: &mut String) -> Result<(), Stop> {
    let plain = match scan.next()?.ok_or(Stop::CutOff)? {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        plain @ ('"' | '\\' | '/') => plain,
        'u' => return unicode(scan, text),
        other => {
            scan.tolerate(Leniency::Escape);
            // `\'` is a quotation mark; before any other character, as in `\d`, the backslash is
            // part of the text.
            if other != '\'' {
                text.push('\\');
            }
            other
        }
    };
    text.push(plain);
    Ok(())
}

/// Reads the digits after `\u`: four, or two groups of four for characters above U+FFFF.
fn unicode(scan: &mut Scan<'_>, text: &mut String) -> Result<(), Stop> {
    if scan.rest().len() < 4 {
        return Err(Stop::CutOff);
    }
    let Some(first) = hex(scan.rest()) else {
        scan.tolerate(Leniency::Escape);
        text.push_str("\\u");
        return Ok(());
    };
    scan.skip(4);
    let rest = scan.rest();
    let is_half = (0xD800..0xDC00).contains(&first);
    if is_half && rest.len() < 6 && ("\\u".starts_with(rest) || rest.starts_with("\\u")) {
        return Err(Stop::CutOff);
    }
    let pair = rest
        .strip_prefix("\\u")
        .and_then(hex)
        .filter(|low| (0xDC00..0xE000).contains(low));
    let code = match pair {
        Some(low) if is_half => {
            scan.skip(6);
            0x1_0000 + ((first - 0xD800) << 10) + (low - 0xDC00)
        }
        Some(_) | None => first,
    };
    text.push(char::from_u32(code).unwrap_or_else(|| {
        scan.tolerate(Leniency::Escape);
        char::REPLACEMENT_CHARACTER
    }));
    Ok(())
}

fn hex(text: &str) -> Option<u32> {
    let digits = text
        .get(..4)
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

/// Removes the escapes of a whole text.
pub(crate) fn unescape(text: &str) -> String {
    let mut scan = Scan::new(text, 0, usize::MAX);
    let mut plain = String::new();
    while let Ok(Some(next)) = scan.next() {
        if next != '\\' {
            plain.push(next);
        } else if escape(&mut scan, &mut plain).is_err() {
            break;
        }
    }
    plain
}
