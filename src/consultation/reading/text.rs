//! Reads texts and lists of texts from values of any type. No value with words is lost.

use serde_json::Value;

use super::fields::FieldValue;
use super::reader::Reader;
use crate::text::json::{self, Attempt};

impl Reader<'_> {
    /// Reads the text of a value; `None`, with a note, if it has no words.
    pub(super) fn text(&mut self, field: &FieldValue) -> Option<String> {
        let text = match field.value.as_ref()? {
            Value::String(text) => self.notes.clean(text),
            other => {
                let text = self.notes.clean(&words(other));
                if !text.is_empty() {
                    self.notes.repaired(&field.path, "read as text");
                }
                text
            }
        };
        // Dots, dashes and brackets alone are a placeholder that was copied.
        has_words(&text).then_some(text)
    }

    /// Reads a text that may be missing.
    pub(super) fn optional(&mut self, field: &FieldValue) -> String {
        self.text(field).unwrap_or_else(|| {
            self.notes.flagged(&field.path, "is missing");
            String::new()
        })
    }

    /// Reads a list of texts. A single text counts as a list of its lines.
    pub(super) fn texts(&mut self, FieldValue { value, path }: FieldValue) -> Vec<String> {
        let Some(value) = value else {
            self.notes.flagged(path, "is missing");
            return Vec::new();
        };
        let items = self.text_items(value, &path);
        let many = items.len();
        let mut texts = Vec::new();
        for (at, item) in items.into_iter().enumerate() {
            texts.extend(self.text(&FieldValue {
                value: Some(item),
                path: format!("{path}[{at}]"),
            }));
        }
        if texts.len() < many {
            self.notes.repaired(path, "empty items were left out");
        }
        texts
    }

    /// Returns the items of a value that should be a list: those of an array, the values of an
    /// object, the lines of a text, or the value itself.
    fn text_items(&mut self, value: Value, path: &str) -> Vec<Value> {
        let (items, what) = match value {
            Value::Array(items) => return items,
            Value::Object(members) => {
                let item = |(key, value): (String, Value)| {
                    if is_numbering(&key) {
                        value
                    } else {
                        Value::String(format!("{key}: {}", words(&value)))
                    }
                };
                let items = members.into_iter().map(item).collect();
                (items, "an object was read as a list")
            }
            Value::String(text) => {
                if let Some(Value::Array(items)) = decoded(&text) {
                    (items, "a list inside a text was read as a list")
                } else {
                    let items: Vec<Value> = lines(&text).into_iter().map(Value::String).collect();
                    let what = if items.len() == 1 {
                        "a text was read as a list of one"
                    } else {
                        "a text was read as a list of its lines"
                    };
                    (items, what)
                }
            }
            other => (vec![other], "a value was read as a list of one"),
        };
        self.notes.repaired(path, what);
        items
    }

    /// Replaces a text that is the JSON of a list or an object by what it contains.
    pub(super) fn decode(&mut self, field: &mut FieldValue) {
        if let Some(Value::String(text)) = &field.value
            && let Some(inside) = decoded(text)
        {
            self.notes
                .repaired(&field.path, "a list inside a text was read as a list");
            field.value = Some(inside);
        }
    }
}

/// Returns whether a text has a letter or a digit.
pub(super) fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// Returns the JSON inside a text that contains nothing else.
fn decoded(text: &str) -> Option<Value> {
    let text = text.trim();
    if !text.starts_with(['[', '{']) {
        return None;
    }
    match json::parse(text, 0, &mut (text.len() * 8)) {
        Attempt::Whole { value, end, .. } if end == text.len() => Some(value),
        Attempt::Whole { .. } | Attempt::CutOff { .. } | Attempt::Broken => None,
    }
}

/// Returns all words in a value of any shape.
pub(super) fn words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(yes) => yes.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        Value::Array(items) => joined(items.iter().map(words), "\n"),
        // A piece of a schema contains no words of the model.
        Value::Object(members) if is_schema(value) && members.len() <= 4 => String::new(),
        Value::Object(members) => joined(members.values().map(words), ": "),
    }
}

fn joined(texts: impl Iterator<Item = String>, with: &str) -> String {
    texts
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join(with)
}

fn is_schema(value: &Value) -> bool {
    let named = value.get("type").and_then(Value::as_str);
    named.is_some_and(|name| ["string", "array", "number", "object", "boolean"].contains(&name))
        && value.get("description").is_some()
}

/// Returns the lines of a text without item marks. A text of one line, or of wrapped lines, stays
/// one item.
fn lines(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let marked = lines.iter().filter(|line| unmarked(line).is_some()).count();
    if marked == lines.len() {
        return lines
            .iter()
            .filter_map(|line| unmarked(line))
            .map(str::to_owned)
            .collect();
    }
    if marked == 0 && lines.len() > 1 {
        return lines.into_iter().map(str::to_owned).collect();
    }
    if lines.first().is_some_and(|line| unmarked(line).is_some()) && marked > 1 {
        // Lines without a mark continue the item before them.
        let mut items: Vec<String> = Vec::new();
        for line in lines {
            match (unmarked(line), items.last_mut()) {
                (Some(item), _) => items.push(item.to_owned()),
                (None, Some(last)) => {
                    last.push(' ');
                    last.push_str(line);
                }
                (None, None) => items.push(line.to_owned()),
            }
        }
        return items;
    }
    vec![text.trim().to_owned()]
}

/// Returns a line without its bullet or number; `None` if it has neither.
fn unmarked(line: &str) -> Option<&str> {
    if let Some(rest) = ["- ", "* ", "• ", "– ", "· "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))
    {
        return Some(rest.trim_start());
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line.get(digits..).filter(|_| (1..=2).contains(&digits))?;
    [". ", ") ", ": "]
        .iter()
        .find_map(|mark| rest.strip_prefix(mark))
        .map(str::trim_start)
}

/// Returns whether a key numbers the items of a list written as an object: `1`, `item_2`, `point3`.
pub(super) fn is_numbering(key: &str) -> bool {
    let rest = key.trim_end_matches(|c: char| c.is_ascii_digit());
    rest.len() < key.len()
        && ["", "item", "point", "keypoint", "option", "choice"]
            .contains(&rest.to_lowercase().replace(['_', '-', ' '], "").as_str())
}
