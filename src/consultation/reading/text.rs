//! Reads texts, lists of texts and lists of items from values of any type, in the forms in which
//! models write them. No value with words is lost.

use serde_json::{Map, Value};

use super::fields::{FieldValue, Fields, Name, shown};
use super::reader::Reader;
use crate::text::json::{self, Parse};
use crate::text::pattern::Pattern;

impl Reader<'_> {
    /// `None`, with a note, if it has no words.
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

    pub(super) fn optional(&mut self, field: &FieldValue) -> String {
        self.text(field).unwrap_or_else(|| {
            self.notes.flagged(&field.path, "is missing");
            String::new()
        })
    }

    /// A single text counts as a list of its lines.
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

impl Reader<'_> {
    /// Reads an item's main text: its own field, else all text it has. `None` for an item without
    /// text.
    pub(super) fn main(&mut self, item: &mut Fields, name: Name) -> Option<String> {
        let mut main = item.take(name, &mut self.notes);
        if let Some(text) = self.text(&main) {
            return Some(text);
        }
        main.value = Some(Value::String(words(&Value::Object(std::mem::take(
            &mut item.members,
        )))));
        let rest = self.text(&main);
        let what = match &rest {
            Some(_) => "is missing; the item's other text is used",
            None => "is missing; the item was left out",
        };
        self.notes.flagged(main.path, what);
        rest
    }

    /// A text instead of an object is the item's main text.
    pub(super) fn each<T>(
        &mut self,
        list: FieldValue,
        main: Name,
        mut read: impl FnMut(&mut Self, &mut Fields) -> Option<T>,
    ) -> Vec<T> {
        let at = list.path.clone();
        let mut items = Vec::new();
        for (place, item) in self.items(list).into_iter().enumerate() {
            let path = format!("{at}[{place}]");
            let members = match item {
                Value::Object(members) => members,
                other => {
                    self.notes.repaired(&path, "a text was read as an object");
                    Map::from_iter([(shown(main).to_owned(), words(&other).into())])
                }
            };
            let mut fields = Fields::new(members, path);
            if let Some(item) = read(self, &mut fields) {
                fields.end(&mut self.notes);
                items.push(item);
            }
        }
        items
    }

    /// Reads the items of a list of statements by agents, which may also be written as an object
    /// with the agents as keys.
    pub(super) fn each_by_agent<T>(
        &mut self,
        list: FieldValue,
        said: Name,
        make: impl Fn(String, String) -> T,
    ) -> Vec<T> {
        let list = self.by_agent(list, said);
        self.each(list, said, |reader, item| {
            let [from] = reader.take(item, ["agent"]);
            let text = reader.main(item, said)?;
            Some(make(reader.agent(&from), text))
        })
    }

    /// Turns `{"Expert A": "…"}` into a list of objects; returns any other value unchanged.
    pub(super) fn by_agent(&mut self, list: FieldValue, said: Name) -> FieldValue {
        let FieldValue { value, path } = list;
        let value = match value {
            Some(Value::Object(members)) if members.keys().any(|key| self.known(key).is_some()) => {
                self.notes.repaired(&path, "an object was read as a list");
                let item = |(agent, text): (String, Value)| {
                    Value::Object(Map::from_iter([
                        ("agent".to_owned(), agent.into()),
                        (shown(said).to_owned(), words(&text).into()),
                    ]))
                };
                Some(members.into_iter().map(item).collect())
            }
            other => other,
        };
        FieldValue { value, path }
    }

    fn items(&mut self, mut list: FieldValue) -> Vec<Value> {
        self.decode(&mut list);
        match list.value {
            None => {
                self.notes.flagged(list.path, "is missing");
                Vec::new()
            }
            Some(Value::Array(items)) => items,
            Some(one) if has_words(&words(&one)) => {
                self.notes
                    .repaired(list.path, "one value was read as a list of one");
                vec![one]
            }
            Some(_) => {
                self.notes
                    .repaired(list.path, "an empty value was read as an empty list");
                Vec::new()
            }
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
        Parse::Whole { value, end, .. } if end == text.len() => Some(value),
        Parse::Whole { .. } | Parse::CutOff { .. } | Parse::Broken => None,
    }
}

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

/// A text of one line, or of wrapped lines, stays one item.
fn lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let is_marked = |line: &&str| unmarked(line).is_some();
    let marked = lines.iter().filter(|line| is_marked(line)).count();
    let begins_marked = lines.first().is_some_and(is_marked);
    let is_list = match marked {
        0 => lines.len() != 1,
        1 => lines.len() == 1,
        _ => begins_marked,
    };
    if !is_list {
        return vec![text.trim().to_owned()];
    }
    let mut items: Vec<String> = Vec::new();
    for line in lines {
        match (unmarked(line), items.last_mut()) {
            // Lines without a mark continue the item before them.
            (None, Some(last)) if marked > 0 => last.extend([" ", line]),
            (item, _) => items.push(item.unwrap_or(line).to_owned()),
        }
    }
    items
}

/// `None` if it has neither.
fn unmarked(line: &str) -> Option<&str> {
    static MARK: Pattern = Pattern::new(r"^(?:[-*•–·]|[0-9]{1,2}[.):]) \s*");
    let mark = MARK.all(line).next()?.get(0)?;
    line.get(mark.end()..)
}

/// Returns whether a key numbers the items of a list written as an object: `1`, `item_2`, `point3`.
pub(super) fn is_numbering(key: &str) -> bool {
    let rest = key.trim_end_matches(|c: char| c.is_ascii_digit());
    rest.len() < key.len()
        && ["", "item", "point", "keypoint", "option", "choice"]
            .contains(&rest.to_lowercase().replace(['_', '-', ' '], "").as_str())
}
