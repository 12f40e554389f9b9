//! Reads the value that a name is given, in any language: `name = "value"`, `"name": "value"`,
//! `name: value`, `--name value`, `<name>value</name>`, `set("name", "value")`.

use super::compiled_rule::Place;
use super::name::{self, NameStrength};
use super::rules::NamePolicy;
use super::value::{self, AssignedValue, ValueForm};

/// Names are no longer than this on either side of their keyword.
const LONGEST_SIDE: usize = 64;

/// A value is no longer than this.
const LONGEST_VALUE: usize = 4096;

/// Calls around a literal that leave it what it is.
const WRAPPERS: &[&str] = &[
    "Some",
    "Ok",
    "from",
    "new",
    "String",
    "bytes",
    "bytearray",
    "str",
    "of",
    "encode",
    "b64decode",
    "atob",
    "init",
    "into",
    "to_string",
    "Buffer",
    "Borrowed",
    "strdup",
    "SecretStr",
];

/// Returns the secret that is assigned to the name around a keyword.
pub(super) fn find(place: Place<'_>, policy: NamePolicy) -> Option<(usize, usize)> {
    let text = place.text.as_bytes();
    let name = NameSpan::around(text, place);
    if name.is_in_address(text) {
        return None;
    }
    let is_long = place.end - place.start >= 6;
    let strength = name::judge(
        text.get(name.start..name.end)?,
        place.start - name.start,
        place.end - name.start,
        policy == NamePolicy::Password && is_long,
    )?;
    let mut reader = Reader {
        text,
        at: name.end,
        name,
        strength,
    };
    let found = reader.value()?;
    let value = place.text.get(found.start..found.end)?;
    let assigned = AssignedValue {
        value,
        form: found.form,
        strength: reader.strength,
        policy,
    };
    value::is_secret(&assigned).then_some((found.start, found.end))
}

#[derive(Clone, Copy)]
struct NameSpan {
    start: usize,
    end: usize,
}

impl NameSpan {
    fn around(text: &[u8], place: Place<'_>) -> Self {
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.$".contains(byte);
        let is_tail = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
        let before = text.get(..place.start).unwrap_or_default();
        let left = before.iter().rev().take(LONGEST_SIDE).take_while(is_name);
        let after = text.get(place.end..).unwrap_or_default();
        let mut right = after.iter().take(LONGEST_SIDE).take_while(is_tail).count();
        if after.get(..right).is_some_and(|tail| tail.ends_with(b"-")) {
            // `token->value`
            right -= 1;
        }
        Self {
            start: place.start - left.count(),
            end: place.end + right,
        }
    }

    /// Returns whether the name is that of the user in an address: `https://token:…@host`.
    fn is_in_address(self, text: &[u8]) -> bool {
        let before = text.get(..self.start).unwrap_or_default();
        before.ends_with(b"://")
    }
}

struct ValueSpan {
    start: usize,
    end: usize,
    form: ValueForm,
}

/// Reads on from the end of a name.
struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    name: NameSpan,
    strength: NameStrength,
}

impl Reader<'_> {
    fn value(&mut self) -> Option<ValueSpan> {
        let is_quoted_name = self.skip_quote();
        while self.skip(b']') || self.skip(b'?') || self.skip(b'!') {}
        let before_spaces = self.at;
        self.skip_spaces();
        let is_spaced = self.at > before_spaces;
        match self.peek()? {
            b'=' => {
                self.skip_run(b"=>~");
                self.assigned(is_spaced)
            }
            b':' if self.peek_at(1) == Some(b'=') => {
                self.at += 2;
                self.assigned(true)
            }
            b':' if self.peek_at(1) == Some(b':') => None,
            b':' => {
                self.at += 1;
                self.skip_type();
                self.assigned(true)
            }
            b'?' | b'|' | b'+' | b'!' | b'<' => {
                self.skip_run(b"?|+!<");
                if !self.skip(b'=') && !self.skip(b'-') {
                    return None;
                }
                self.skip_run(b"=");
                self.assigned(true)
            }
            b',' if is_quoted_name => {
                self.at += 1;
                self.skip_label();
                self.strength = NameStrength::Unsure;
                self.literal()
            }
            b'(' if !is_quoted_name => {
                self.at += 1;
                self.strength = NameStrength::Unsure;
                self.literal()
            }
            b'[' => {
                let inside = self.rest().iter().take(8).position(|byte| *byte == b']')?;
                self.at += inside + 1;
                self.skip_spaces();
                if !self.skip(b'=') {
                    return None;
                }
                self.literal()
            }
            b'>' if self.is_tag() => self.element(),
            b'\n' | b'\r' | b'v' | b'V' | b'd' if self.skip_label() => self.assigned(true),
            _ if is_spaced && self.is_flag() => self.assigned(false),
            _ if is_spaced => self.typed_declaration(),
            _ => None,
        }
    }

    /// Reads a literal or, failing that, a bare value.
    fn assigned(&mut self, is_spaced: bool) -> Option<ValueSpan> {
        let start = self.at;
        if let Some(literal) = self.literal() {
            return Some(literal);
        }
        self.at = start;
        self.skip_spaces();
        self.bare(is_spaced || self.at > start)
    }

    /// Reads a string literal, also with a prefix or inside a call that keeps its value.
    fn literal(&mut self) -> Option<ValueSpan> {
        self.skip_spaces();
        for _ in 0..3 {
            if !self.skip_wrapper() {
                break;
            }
        }
        let prefix = self.rest().iter().take(3);
        let prefix = prefix
            .take_while(|byte| b"bBrRuUfFL@$#&".contains(byte))
            .count();
        let (slashes, quote) = self.quote_at(prefix)?;
        self.at += prefix + slashes + 1;
        let start = self.at;
        if self.rest().starts_with(&[quote, quote]) {
            return None;
        }
        let end = self.closing(slashes, quote)?;
        Some(ValueSpan {
            start,
            end,
            form: ValueForm::Quoted,
        })
    }

    /// Returns the end of the literal: the next quote with as many backslashes as the first had.
    fn closing(&self, slashes: usize, quote: u8) -> Option<usize> {
        let mut escapes = 0;
        for (offset, byte) in self.rest().iter().take(LONGEST_VALUE).enumerate() {
            match byte {
                b'\\' => escapes += 1,
                b'\n' => return None,
                byte if *byte == quote && escapes <= slashes => {
                    return Some(self.at + offset - escapes);
                }
                _ => escapes = 0,
            }
        }
        None
    }

    fn bare(&self, is_spaced: bool) -> Option<ValueSpan> {
        let rest = self.rest();
        let rest = rest
            .get(..rest.len().min(LONGEST_VALUE))
            .unwrap_or_default();
        let is_end = |byte: &u8| byte.is_ascii_whitespace();
        let length = rest.iter().position(is_end).unwrap_or(rest.len());
        let whole = rest.get(..length)?;
        let tail = rest.get(length..)?;
        let line_tail = tail.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let is_last = matches!(line_tail.trim_ascii(), [] | [b'#', ..]);
        let is_closed = whole.ends_with(b",") || whole.ends_with(b";");
        let is_line = is_last && !is_closed && self.begins_line();
        let (length, form) = match (is_line, is_spaced) {
            (true, true) => (length, ValueForm::Line),
            (true, false) => (length, ValueForm::EnvironmentLine),
            (false, _) => {
                let is_delimiter = |byte: &u8| b"\"'`;,&<>()[]{}|\\".contains(byte);
                let inline = whole.iter().position(is_delimiter).unwrap_or(length);
                if matches!(whole.get(inline), Some(b'(' | b'[' | b'{')) {
                    return None;
                }
                (inline, ValueForm::Inline)
            }
        };
        Some(ValueSpan {
            start: self.at,
            end: self.at + length,
            form,
        })
    }

    /// Reads the text of an element: `<password>value</password>`.
    fn element(&mut self) -> Option<ValueSpan> {
        self.at += 1;
        self.skip_spaces();
        let rest = self.rest().iter().take(LONGEST_VALUE);
        let length = rest.clone().position(|byte| *byte == b'<')?;
        let inside = self.rest().get(..length)?.trim_ascii_end().len();
        Some(ValueSpan {
            start: self.at,
            end: self.at + inside,
            form: ValueForm::Quoted,
        })
    }

    /// `var password string = "value"`
    fn typed_declaration(&mut self) -> Option<ValueSpan> {
        let is_type = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_*&[]".contains(byte);
        let length = self.rest().iter().take(24).take_while(is_type).count();
        self.at += length;
        self.skip_spaces();
        if length == 0 || !self.skip(b'=') {
            return None;
        }
        self.literal()
    }

    /// Skips a type between a colon and `=`: `: &'static str =`.
    fn skip_type(&mut self) {
        let is_type = |byte: &&u8| {
            byte.is_ascii_alphanumeric() || b"_&<>[]?|.*: ,".contains(byte) || **byte == b'\''
        };
        let length = self.rest().iter().take(60).take_while(is_type).count();
        let annotation = self.rest().get(..length).unwrap_or_default().trim_ascii();
        let is_literal = annotation.starts_with(b"'") || annotation.is_empty();
        let is_assigned = self.peek_at(length) == Some(b'=')
            && !matches!(self.peek_at(length + 1), Some(b'=' | b'>'));
        let begins_type = annotation
            .first()
            .is_some_and(|byte| !byte.is_ascii_digit());
        if is_assigned && !is_literal && begins_type && annotation.len() < length {
            self.at += length + 1;
        }
    }

    /// Skips the label of a value that stands apart from its name: `, "value": `, `\n  value: `.
    fn skip_label(&mut self) -> bool {
        let is_between = |byte: &&u8| byte.is_ascii_whitespace() || b",{\"'\\".contains(byte);
        let between = self.rest().iter().take(80).take_while(is_between).count();
        let rest = self.rest().get(between..).unwrap_or_default();
        let label = ["value", "default"].into_iter().find(|label| {
            let head = rest.get(..label.len()).unwrap_or_default();
            head.eq_ignore_ascii_case(label.as_bytes())
        });
        let Some(label) = label else {
            return false;
        };
        let after = rest.get(label.len()..).unwrap_or_default();
        let is_sign = |byte: &&u8| b"\"'\\ \t:=".contains(byte);
        let sign = after.iter().take(8).take_while(is_sign).count();
        let signs = after.get(..sign).unwrap_or_default();
        let Some(operator) = signs.iter().position(|byte| b":=".contains(byte)) else {
            return false;
        };
        self.at += between + label.len() + operator + 1;
        true
    }

    /// Skips `Some(`, `String::from(`, `new Password(`.
    fn skip_wrapper(&mut self) -> bool {
        let is_path = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_:. ".contains(byte);
        let length = self.rest().iter().take(48).take_while(is_path).count();
        let path = self.rest().get(..length).unwrap_or_default();
        if self.peek_at(length) != Some(b'(') {
            return false;
        }
        let is_new = path.starts_with(b"new ");
        let last = path
            .rsplit(|byte| b":. ".contains(byte))
            .next()
            .unwrap_or_default();
        if is_new || WRAPPERS.iter().any(|wrapper| wrapper.as_bytes() == last) {
            self.at += length + 1;
            self.skip_spaces();
            return true;
        }
        false
    }

    /// Returns the number of backslashes before a quote, and the quote.
    fn quote_at(&self, offset: usize) -> Option<(usize, u8)> {
        let rest = self.rest().get(offset..)?;
        let slashes = rest
            .iter()
            .take(8)
            .take_while(|byte| **byte == b'\\')
            .count();
        let quote = *rest.get(slashes)?;
        matches!(quote, b'"' | b'\'' | b'`').then_some((slashes, quote))
    }

    fn skip_quote(&mut self) -> bool {
        let Some((slashes, _)) = self.quote_at(0) else {
            return false;
        };
        self.at += slashes + 1;
        true
    }

    /// Returns whether the name is the first thing on its line, but for words such as `export`.
    fn begins_line(&self) -> bool {
        let before = self.text.get(..self.name.start).unwrap_or_default();
        let line = before.iter().rev().take(80).position(|byte| *byte == b'\n');
        let start = match line {
            Some(distance) => before.len() - distance,
            None if before.len() <= 80 => 0,
            None => return false,
        };
        let head = before.get(start..).unwrap_or_default().trim_ascii();
        let words = [
            "",
            "-",
            "export",
            "ENV",
            "ARG",
            "set",
            "SET",
            "setx",
            "$env:",
            "#",
            "//",
            ";",
            "+",
            "declare -x",
            "env",
            "\"",
            "'",
            "RUN export",
        ];
        words.iter().any(|word| word.as_bytes() == head)
    }

    fn is_tag(&self) -> bool {
        let before = self.name.start.checked_sub(1);
        before.and_then(|at| self.text.get(at)) == Some(&b'<')
    }

    /// `--password`, `ENV PASSWORD`
    fn is_flag(&self) -> bool {
        let before = self.text.get(..self.name.start).unwrap_or_default();
        let name = self.text.get(self.name.start..).unwrap_or_default();
        name.starts_with(b"--") || before.ends_with(b"ENV ")
    }

    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    fn peek_at(&self, offset: usize) -> Option<u8> {
        self.text.get(self.at + offset).copied()
    }

    fn skip(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn skip_run(&mut self, bytes: &[u8]) {
        let run = self.rest().iter().take(3);
        self.at += run.take_while(|byte| bytes.contains(byte)).count();
    }

    fn skip_spaces(&mut self) {
        let spaces = self.rest().iter().take(200);
        self.at += spaces
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
    }
}
