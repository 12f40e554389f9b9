//! Reads from the end of a name to the value that it is given.

use super::assignment::NameSpan;
use super::value::ValueForm;

/// A value is no longer than this.
const LONGEST_VALUE: usize = 4096;

/// A literal has no more pieces than this.
const MOST_PIECES: usize = 64;

/// Calls around a literal that leave it what it is.
const WRAPPERS: &[&str] = &[
    "Some",
    "Ok",
    "from",
    "new",
    "String",
    "byte",
    "bytes",
    "bytearray",
    "str",
    "of",
    "b64decode",
    "atob",
    "init",
    "into",
    "Buffer",
    "Borrowed",
    "strdup",
    "SecretStr",
    "Secret",
    "SecretString",
    "Password",
    "Just",
    "pure",
    "unwrap_or",
    "unwrap_or_else",
];

/// Words between a name and its value in a sentence.
const VERBS: &[&str] = &["is", "was", "ist", "lautet", "are", "for the API"];

/// What stands before the name on a line of settings or of a shell.
const LINE_HEADS: &[&str] = &[
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
    "env",
    "declare -x",
    "\"",
    "'",
    "RUN export",
    "set -gx",
    "set -x",
    "- {",
    "local",
    "readonly",
];

/// A value in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueSpan {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The end of the first piece of a literal in several; the value is judged by it.
    pub(super) judged_end: usize,
    pub(super) form: ValueForm,
}

/// Reads on from the end of a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    name: NameSpan,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t [u8], name: NameSpan) -> Self {
        Self {
            text,
            at: name.end,
            name,
        }
    }

    /// Returns the value; `None` if nothing is assigned.
    pub(super) fn value(mut self) -> Option<ValueSpan> {
        let is_quoted_name = self.skip_quote();
        while self.skip(b']') || self.skip(b'?') || self.skip(b'!') {}
        let before_spaces = self.at;
        self.skip_spaces();
        let is_spaced = self.at > before_spaces;
        match self.peek()? {
            b'=' if self.peek_at(1) == Some(b'=') || self.peek_at(1) == Some(b'~') => {
                self.skip_run(b"=~");
                self.literal()
            }
            b'=' => {
                self.skip_run(b"=>");
                self.assigned(is_spaced)
            }
            b':' if self.peek_at(1) == Some(b'=') => {
                self.at += 2;
                self.assigned(true)
            }
            b':' if self.peek_at(1) == Some(b':') => None,
            b':' => self.after_colon(),
            b'!' => {
                self.skip_run(b"!=");
                self.literal()
            }
            b'<' if self.rest().starts_with(b"</key>") => self.next_element(),
            b'<' if self.rest().starts_with(b"<<<") => {
                self.at += 3;
                self.literal()
            }
            b')' if is_quoted_name => self.fallback(),
            b'?' | b'|' | b'+' | b'<' => {
                self.skip_run(b"?|+<");
                if !self.skip(b'=') && !self.skip(b'-') {
                    return None;
                }
                self.assigned(true)
            }
            b',' => {
                self.at += 1;
                match self.skip_label() {
                    true => self.assigned(true),
                    false if is_quoted_name => self.argument(),
                    false => None,
                }
            }
            b'(' if !is_quoted_name => {
                self.at += 1;
                self.argument()
            }
            b'[' => {
                self.skip_past(b']', 8)?;
                self.skip_spaces();
                self.skip(b'=').then_some(())?;
                self.literal()
            }
            b'{' => self.in_block(),
            b'>' if is_quoted_name || self.is_tag() => self.element(),
            b'\n' | b'\r' | b'v' | b'V' | b'd' if self.skip_label() => self.assigned(true),
            _ if is_quoted_name || !is_spaced => None,
            _ if self.is_flag() => self.assigned(false),
            b'"' | b'\'' | b'`' => self.argument(),
            _ => self.declaration().or_else(|| self.sentence()),
        }
    }

    fn after_colon(&mut self) -> Option<ValueSpan> {
        self.at += 1;
        self.skip_type();
        if self.rest().starts_with(b"** ") {
            // `**API key:** value`
            self.at += 3;
        }
        self.skip_spaces();
        if self.peek() == Some(b'{') && self.peek_at(1) != Some(b'{') {
            return self.in_block();
        }
        let value = self.assigned(true)?;
        if value.form != ValueForm::Inline {
            return Some(value);
        }
        let after = self.text.get(value.end..).unwrap_or_default();
        let after = after.iter().find(|byte| !matches!(byte, b' ' | b'\t'));
        let is_type = after.is_some_and(|byte| b",)=;{}".contains(byte));
        Some(ValueSpan {
            form: if is_type {
                ValueForm::Annotation
            } else {
                value.form
            },
            ..value
        })
    }

    /// Reads a literal or, failing that, a bare value.
    fn assigned(&mut self, is_spaced: bool) -> Option<ValueSpan> {
        let start = self.at;
        if let Some(literal) = self.literal() {
            return Some(literal);
        }
        self.at = start;
        self.skip_spaces();
        let is_spaced = is_spaced || self.at > start;
        self.fallback().or_else(|| self.bare(is_spaced))
    }

    /// Reads the literal that stands in for a missing variable: `env.KEY || "value"`.
    fn fallback(self) -> Option<ValueSpan> {
        const MARKS: &[&str] = &[
            "||",
            "??",
            " or ",
            "unwrap_or(",
            "unwrap_or_else(|_|",
            "\", ",
            "', ",
        ];
        let rest = self.rest();
        let line = rest.get(..rest.len().min(160)).unwrap_or_default();
        let line = line.split(|byte| *byte == b'\n').next()?;
        let name = self.name.start.saturating_sub(20)..self.at;
        let before = self.text.get(name)?.to_ascii_lowercase();
        let lookup = line.get(..line.len().min(40))?.to_ascii_lowercase();
        if line.starts_with(b")") && !contains(&before, b"env") {
            return None;
        }
        if !line.starts_with(b")") && !contains(&lookup, b"env") && !contains(&lookup, b"config") {
            return None;
        }
        for mark in MARKS {
            if let Some(at) = position(line, mark.as_bytes()) {
                let mut reader = self;
                reader.at += at + mark.len();
                if let Some(literal) = reader.argument() {
                    return Some(literal);
                }
            }
        }
        None
    }

    /// Reads a literal that is passed and not assigned.
    fn argument(&mut self) -> Option<ValueSpan> {
        let literal = self.literal()?;
        Some(ValueSpan {
            form: ValueForm::Argument,
            ..literal
        })
    }

    /// Reads a string literal, also inside a call that keeps its value, or in pieces that the
    /// language joins.
    fn literal(&mut self) -> Option<ValueSpan> {
        self.skip_line_end();
        self.skip_spaces();
        for _ in 0..3 {
            if !self.skip_wrapper() {
                break;
            }
        }
        let mut literal = self.piece()?;
        for _ in 0..MOST_PIECES {
            if !self.skip_join() {
                break;
            }
            let Some(piece) = self.piece() else {
                break;
            };
            let text = self.text.get(piece.start..piece.end).unwrap_or_default();
            if text.iter().any(u8::is_ascii_whitespace) {
                break;
            }
            literal.end = piece.end;
        }
        Some(literal)
    }

    /// Reads one literal, also with a prefix, and goes behind it.
    fn piece(&mut self) -> Option<ValueSpan> {
        let prefix = self.rest().iter().take(4);
        let prefix = prefix
            .take_while(|byte| b"bBrRuUfFL@$#&N".contains(byte))
            .count();
        let (mut slashes, quote) = self.quote_at(prefix)?;
        self.at += prefix + slashes + 1;
        match self.rest() {
            [a, b, ..] if *a == quote && *b == quote => self.at += 2,
            [a, ..] if *a == quote => return None,
            [b'\\', a, ..] if *a == quote && slashes == 0 => {
                // `"\"value\""`
                self.at += 2;
                slashes = 1;
            }
            _ => {}
        }
        let start = self.at;
        let end = self.closing(slashes, quote)?;
        self.at = end + slashes + 1;
        Some(ValueSpan {
            start,
            end,
            judged_end: end,
            form: ValueForm::Quoted,
        })
    }

    /// Skips a line end before a literal: `token =`, `TOKEN = (`.
    fn skip_line_end(&mut self) {
        let is_gap = |byte: &&u8| byte.is_ascii_whitespace() || **byte == b'(';
        let gap = self.rest().iter().take(80).take_while(is_gap).count();
        let has_line_end = self
            .rest()
            .get(..gap)
            .is_some_and(|gap| gap.contains(&b'\n'));
        if has_line_end && self.quote_at(gap).is_some() {
            self.at += gap;
        }
    }

    /// Skips what stands between the pieces of a literal: `"…" +`, a line's end.
    fn skip_join(&mut self) -> bool {
        let is_join = |byte: &&u8| byte.is_ascii_whitespace() || b"+.\\".contains(byte);
        let between = self.rest().iter().take(80).take_while(is_join).count();
        let signs = self.rest().get(..between).unwrap_or_default();
        let joins = signs.contains(&b'\n') || signs.contains(&b'+');
        self.at += if joins { between } else { 0 };
        joins
    }

    /// Returns the end of the literal: the next quote with no more backslashes than the first.
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

    fn bare(&mut self, is_spaced: bool) -> Option<ValueSpan> {
        if self.rest().starts_with(b"\\\n") {
            self.at += 2;
            self.skip_spaces();
        }
        let rest = self.rest();
        let rest = rest
            .get(..rest.len().min(LONGEST_VALUE))
            .unwrap_or_default();
        let length = rest
            .iter()
            .position(u8::is_ascii_whitespace)
            .unwrap_or(rest.len());
        let whole = rest.get(..length)?;
        let tail = rest.get(length..)?;
        let tail = tail.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let is_last = matches!(tail.trim_ascii(), [] | [b'#', ..]);
        let is_closed = whole.ends_with(b",") || whole.ends_with(b";");
        let is_line = is_last && !is_closed && !has_pairs(whole) && self.begins_line();
        if is_line {
            let form = if is_spaced {
                ValueForm::Line
            } else {
                ValueForm::EnvironmentLine
            };
            return Some(self.span(length, form));
        }
        let is_delimiter = |byte: &u8| b"\"'`;,&<>()[]{}|\\".contains(byte);
        let inline = whole.iter().position(is_delimiter).unwrap_or(length);
        if matches!(whole.get(inline), Some(b'(' | b'[' | b'{' | b'<')) {
            return None;
        }
        let whole = whole.get(..inline)?;
        let dots = whole.iter().rev().take_while(|byte| **byte == b'.').count();
        let form = match !is_spaced && self.is_setting() {
            true => ValueForm::EnvironmentLine,
            false => ValueForm::Inline,
        };
        Some(self.span(inline - dots, form))
    }

    /// Returns whether the name is one of settings rather than of code: `PGPASSWORD=value psql`,
    /// `Server=db;Password=value`, `?password=value`.
    fn is_setting(&self) -> bool {
        let name = self.text.get(self.name.start..self.name.end);
        let has = |is: fn(&u8) -> bool| name.is_some_and(|name| name.iter().any(is));
        let is_shouted = !has(u8::is_ascii_lowercase);
        let is_member = has(|byte| *byte == b'.');
        let before = self.text.get(..self.name.start).unwrap_or_default();
        is_shouted || !is_member && before.last().is_some_and(|byte| b";&?".contains(byte))
    }

    fn span(&self, length: usize, form: ValueForm) -> ValueSpan {
        ValueSpan {
            start: self.at,
            end: self.at + length,
            judged_end: self.at + length,
            form,
        }
    }

    /// `the password is value`, `password value`
    fn sentence(&mut self) -> Option<ValueSpan> {
        for verb in VERBS {
            let rest = self.rest();
            let next = rest.get(verb.len());
            if rest.starts_with(verb.as_bytes()) && next.is_some_and(|byte| b" :".contains(byte)) {
                self.at += verb.len();
                self.skip(b':');
                self.skip_spaces();
                break;
            }
        }
        let start = self.at;
        if let Some(literal) = self.argument() {
            return Some(literal);
        }
        self.at = start;
        let value = self.bare(true)?;
        let text = self.text.get(value.start..value.end)?;
        if text
            .trim_ascii_end()
            .strip_suffix(b"=")
            .unwrap_or(text)
            .contains(&b'=')
        {
            // `Token token=value` has another name.
            return None;
        }
        Some(ValueSpan {
            form: ValueForm::Sentence,
            ..value
        })
    }

    /// Reads the text of an element: `<password>value</password>`.
    fn element(&mut self) -> Option<ValueSpan> {
        self.at += 1;
        let spaces = self.rest().iter().take(80);
        self.at += spaces.take_while(|byte| byte.is_ascii_whitespace()).count();
        let mut rest = self.rest().iter().take(LONGEST_VALUE);
        let length = rest.position(|byte| *byte == b'<')?;
        let inside = self.rest().get(..length)?.trim_ascii_end().len();
        Some(self.span(inside, ValueForm::Quoted))
    }

    /// `<key>name</key><string>value</string>`
    fn next_element(&mut self) -> Option<ValueSpan> {
        self.skip_past(b'>', 8)?;
        let spaces = self.rest().iter().take(80);
        self.at += spaces.take_while(|byte| byte.is_ascii_whitespace()).count();
        if !self.rest().starts_with(b"<string>") {
            return None;
        }
        self.at += b"<string".len();
        self.element()
    }

    /// `var password string = "value"`
    fn declaration(mut self) -> Option<ValueSpan> {
        let is_type = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_*&[]".contains(byte);
        let length = self.rest().iter().take(24).take_while(is_type).count();
        self.at += length;
        self.skip_spaces();
        if length == 0 || !self.skip(b'=') {
            return None;
        }
        self.literal()
    }

    /// `variable "password" { default = "value" }`, `Password { get; set; } = "value"`
    fn in_block(&mut self) -> Option<ValueSpan> {
        let rest = self.rest();
        let block = rest.get(..rest.len().min(240)).unwrap_or_default();
        let close = block.iter().position(|byte| *byte == b'}');
        let inside = block.get(..close.unwrap_or(block.len()))?;
        for label in ["default", "value", "Default", "Value"] {
            if let Some(at) = position(inside, label.as_bytes()) {
                let before = at.checked_sub(1).and_then(|before| inside.get(before));
                if before.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
                    continue;
                }
                let mut reader = *self;
                reader.at += at;
                if reader.skip_label() {
                    return reader.literal();
                }
            }
        }
        self.at += close? + 1;
        self.skip_spaces();
        self.skip(b'=').then_some(())?;
        self.literal()
    }

    /// Skips a type between a colon and `=`: `: &'static str =`.
    fn skip_type(&mut self) {
        let is_type = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_&<>[]?|.*: ,'".contains(byte);
        let length = self.rest().iter().take(60).take_while(is_type).count();
        let annotation = self.rest().get(..length).unwrap_or_default().trim_ascii();
        let begins_type = annotation
            .first()
            .is_some_and(|byte| byte.is_ascii_alphabetic() || b"&*[".contains(byte));
        let is_assigned = self.peek_at(length) == Some(b'=')
            && !matches!(self.peek_at(length + 1), Some(b'=' | b'>'));
        let is_spaced = self.peek() == Some(b' ');
        if is_assigned && begins_type && is_spaced {
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
        let is_path = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_:. []".contains(byte);
        let length = self.rest().iter().take(48).take_while(is_path).count();
        let path = self.rest().get(..length).unwrap_or_default();
        if self.peek_at(length) != Some(b'(') {
            return false;
        }
        let is_new = path.starts_with(b"new ");
        let last = path
            .rsplit(|byte| b":. ]".contains(byte))
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
        LINE_HEADS.iter().any(|known| known.as_bytes() == head)
    }

    fn is_tag(&self) -> bool {
        let before = self.name.start.checked_sub(1);
        before.and_then(|at| self.text.get(at)) == Some(&b'<')
    }

    /// `--password`, `ENV PASSWORD`
    fn is_flag(&self) -> bool {
        let before = self.text.get(..self.name.start).unwrap_or_default();
        let name = self.text.get(self.name.start..).unwrap_or_default();
        name.starts_with(b"--") || before.ends_with(b"ENV ") || before.ends_with(b"setx ")
    }

    fn rest(&self) -> &'t [u8] {
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

    /// Skips past a byte that is not further than `limit`.
    fn skip_past(&mut self, byte: u8, limit: usize) -> Option<()> {
        let mut near = self.rest().iter().take(limit);
        self.at += near.position(|other| *other == byte)? + 1;
        Some(())
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

/// Returns whether a value goes on with other names: `value&expires=3600`, `value;Database=x`.
fn has_pairs(whole: &[u8]) -> bool {
    let mut parts = whole.split(|byte| matches!(byte, b'&' | b';')).skip(1);
    parts.any(|part| part.contains(&b'=') && part.first().is_some_and(u8::is_ascii_alphabetic))
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    position(text, part).is_some()
}

fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
