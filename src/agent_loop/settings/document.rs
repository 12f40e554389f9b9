//! A configuration file as keys and values with their lines, whatever its format.

use crate::domain::node::yaml::{self, Aliases};
use crate::domain::node::{Member, Node, NodeValue, SyntaxProblem};
use crate::domain::text::shortened;

/// The most characters of a value that an error shows.
const MOST_SHOWN: usize = 40;

/// A key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) value: EntryValue,
    /// Of the key; the first is 1.
    pub(super) line: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EntryValue {
    Section(Vec<Entry>),
    Number(u64),
    Null,
    /// Anything else, for an error message.
    Other(String),
}

/// What is wrong with a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    pub(super) line: usize,
    pub(super) problem: String,
}

impl Entry {
    /// Returns the error for a value that does not belong to its key.
    pub(super) fn wrong(&self, but: &str) -> SyntaxError {
        let key = &self.key;
        let is = match &self.value {
            EntryValue::Section(_) => "has keys of its own".to_owned(),
            EntryValue::Number(number) => format!("is {number}"),
            EntryValue::Null => "is empty".to_owned(),
            EntryValue::Other(text) => format!("is {}", shortened(text, MOST_SHOWN)),
        };
        SyntaxError {
            line: self.line,
            problem: format!("`{key}` {is}, {but}"),
        }
    }
}

impl EntryValue {
    /// Reads a value as it is written without quotes.
    pub(super) fn of_word(text: &str) -> Self {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            Ok(number) if is_number => Self::Number(number),
            Ok(_) | Err(_) => Self::Other(format!("`{text}`")),
        }
    }
}

/// Returns the entries of a YAML file.
pub(super) fn of_yaml(text: &str) -> Result<Vec<Entry>, SyntaxError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let root = yaml::parse_with(text, Aliases::Ignored);
    let root = root.map_err(|SyntaxProblem { line, problem }| SyntaxError { line, problem })?;
    let Some(root) = root else {
        return Ok(Vec::new());
    };
    let line = root.line;
    match value(root) {
        EntryValue::Section(entries) => Ok(entries),
        EntryValue::Number(_) | EntryValue::Null | EntryValue::Other(_) => Err(SyntaxError {
            line,
            problem: "expected keys with values, such as `exit_decision:`".to_owned(),
        }),
    }
}

fn value(node: Node) -> EntryValue {
    match node.value {
        NodeValue::Null => EntryValue::Null,
        NodeValue::Bool(value) => EntryValue::Other(format!("`{value}`")),
        NodeValue::Number(number) => EntryValue::of_word(&number),
        NodeValue::Text(text) => EntryValue::Other(format!("the text `{text}`")),
        NodeValue::List(_) => EntryValue::Other("a list".to_owned()),
        NodeValue::Map(map) => EntryValue::Section(
            map.into_iter()
                .map(|(key, Member { line, node })| Entry {
                    key,
                    value: value(node),
                    line,
                })
                .collect(),
        ),
    }
}

/// Adds an entry; a key that was there already is an error.
pub(super) fn add(entries: &mut Vec<Entry>, entry: Entry) -> Result<(), SyntaxError> {
    if let Some(earlier) = entries.iter().find(|earlier| earlier.key == entry.key) {
        return Err(SyntaxError {
            line: entry.line,
            problem: format!("`{}` is set in line {} already", entry.key, earlier.line),
        });
    }
    entries.push(entry);
    Ok(())
}

/// Returns the line of a position in a text.
pub(super) fn line_at(text: &str, position: usize) -> usize {
    let before = text.as_bytes().iter().take(position);
    before.filter(|byte| **byte == b'\n').count() + 1
}
