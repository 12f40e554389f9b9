//! How a value follows its name: the table `forms.toml`, whose forms say how the value is read.

use std::sync::LazyLock;

use serde::Deserialize;

use super::name::NameSpan;
use crate::scrub::value::ValueForm;
use crate::text::byte_pattern::BytePattern;
use crate::text::word_list::load;

/// A value is no longer than this.
pub(super) const LONGEST_VALUE: usize = 4096;

/// What stands between a name and its value is no longer than this.
const LONGEST_BETWEEN: usize = 240;

/// A value in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueSpan {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The end of the first piece of a literal in several; the value is judged by it.
    pub(super) judged_end: usize,
    pub(super) form: ValueForm,
}

/// Reads the value of a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueReader<'t> {
    pub(super) text: &'t [u8],
    pub(super) name: NameSpan,
}

/// A row of the table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AssignmentForm {
    name: Option<NameEnd>,
    signs: Option<String>,
    line: Option<BytePattern>,
    between: BytePattern,
    read: ValueReading,
}

/// How a name ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NameEnd {
    Quoted,
    Plain,
    Spaced,
}

/// How the value of a form is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ValueReading {
    /// A literal, or what stands there without quotes.
    Assigned,
    /// The same behind a colon, where code has types.
    Typed,
    /// The same behind a space, as settings of a shell.
    Setting,
    Literal,
    /// A literal that is passed or compared, not assigned.
    Argument,
    Sentence,
    /// The first of a list.
    Item,
    /// Up to the end of a cell.
    Cell,
    /// All of the line.
    Line,
    /// Up to the next comma.
    Field,
    /// Up to the next tag.
    Element,
}

#[derive(Debug, Default, Deserialize)]
struct Table {
    form: Vec<AssignmentForm>,
}

static FORMS: LazyLock<Table> = LazyLock::new(|| load(include_str!("forms.toml")));

/// What closes a name, with its quote and its spaces.
static NAME_END: BytePattern = BytePattern::new(r#"^(\\*["'`])?[\]?!]*([ \t]+)?"#);

impl AssignmentForm {
    fn begins(&self, name: NameEnd, sign: u8) -> bool {
        let is_name = match self.name {
            None => true,
            Some(NameEnd::Plain) => name != NameEnd::Quoted,
            Some(own) => own == name,
        };
        let signs = self.signs.as_ref();
        is_name && signs.is_none_or(|signs| signs.as_bytes().contains(&sign))
    }
}

impl<'t> ValueReader<'t> {
    /// `None` if nothing is assigned.
    pub(super) fn value(&self) -> Option<ValueSpan> {
        let rest = self.near(self.name.end);
        let closing = NAME_END.regex()?.captures(rest)?;
        let name = match (closing.get(1), closing.get(2)) {
            (Some(_), _) => NameEnd::Quoted,
            (None, Some(_)) => NameEnd::Spaced,
            (None, None) => NameEnd::Plain,
        };
        let (closing, rest) = rest.split_at_checked(closing.get(0)?.end())?;
        let sign = rest.first()?;
        let line = self.line_before(self.name.end);
        let mut forms = FORMS.form.iter().filter(|form| form.begins(name, *sign));
        forms.find_map(|form| {
            if let Some(on_line) = &form.line
                && !on_line.regex()?.is_match(line)
            {
                return None;
            }
            let between = form.between.regex()?.captures(rest)?;
            let value = between.name("value").map(|value| value.start());
            let length = value.or_else(|| Some(between.get(0)?.end()))?;
            self.read(closing.len() + length, form.read)
        })
    }

    fn read(&self, between: usize, reading: ValueReading) -> Option<ValueSpan> {
        let at = self.name.end + between;
        match reading {
            ValueReading::Assigned | ValueReading::Typed | ValueReading::Setting => {
                let between = self.text.get(self.name.end..at)?;
                let is_code = between.iter().any(|byte| b" \t\n:|+<".contains(byte));
                let is_spaced = is_code && reading != ValueReading::Setting;
                let value = self.literal(at).or_else(|| self.bare(at, is_spaced))?;
                match reading {
                    ValueReading::Typed => Some(self.as_type(value)),
                    ValueReading::Assigned if self.is_compared(at, value, is_spaced) => None,
                    _ => Some(value),
                }
            }
            ValueReading::Literal => self.literal(at),
            ValueReading::Argument => self.argument(at),
            ValueReading::Sentence => self.sentence(at),
            ValueReading::Item => Some(ValueSpan {
                form: ValueForm::Argument,
                ..self.argument(at).or_else(|| self.sentence(at))?
            }),
            ValueReading::Cell => self.cell(at),
            ValueReading::Field => self.field(at),
            ValueReading::Line => self.up_to(at, b'\n', ValueForm::Line),
            ValueReading::Element => {
                let is_closed = self.after(at).contains(&b'<');
                self.up_to(at, b'<', ValueForm::Quoted)
                    .filter(|_| is_closed)
            }
        }
    }

    fn up_to(&self, at: usize, end: u8, form: ValueForm) -> Option<ValueSpan> {
        let value = self.after(at).split(|byte| *byte == end).next()?;
        Some(span(at, value.trim_ascii_end().len(), form))
    }

    /// Code has a type behind a colon, where settings have a value.
    fn as_type(&self, value: ValueSpan) -> ValueSpan {
        let mut after = self.after(value.end).iter();
        let next = after.find(|byte| !matches!(byte, b' ' | b'\t'));
        let is_type = next.is_some_and(|byte| b",)=;{}".contains(byte));
        ValueSpan {
            form: match value.form {
                ValueForm::Inline if is_type => ValueForm::Annotation,
                form => form,
            },
            ..value
        }
    }

    /// Returns as much of the text from a place on as may stand before a value.
    pub(super) fn near(&self, at: usize) -> &'t [u8] {
        let rest = self.text.get(at..).unwrap_or_default();
        rest.get(..LONGEST_BETWEEN).unwrap_or(rest)
    }

    /// Returns as much of the text from a place on as a value may have.
    pub(super) fn after(&self, at: usize) -> &'t [u8] {
        let rest = self.text.get(at..).unwrap_or_default();
        rest.get(..LONGEST_VALUE).unwrap_or(rest)
    }

    /// Returns what stands on the line before a place, or its last 200 bytes.
    pub(super) fn line_before(&self, at: usize) -> &'t [u8] {
        let before = self.text.get(at.saturating_sub(200)..at);
        let mut lines = before.unwrap_or_default().rsplit(|byte| *byte == b'\n');
        lines.next().unwrap_or_default()
    }
}

pub(super) fn span(start: usize, length: usize, form: ValueForm) -> ValueSpan {
    ValueSpan {
        start,
        end: start + length,
        judged_end: start + length,
        form,
    }
}
