//! Values with their lines, whatever format they were written in.

pub mod json;
pub mod table;
pub mod toml;
pub mod yaml;

use indexmap::IndexMap;

use super::clean::shortened_unmasked;

/// The most characters of a word in a message.
const MAX_SHOWN: usize = 40;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The first is 1.
    pub line: usize,
    pub value: NodeValue,
}

#[derive(Clone, Debug, PartialEq)]
pub enum NodeValue {
    Null,
    Bool(bool),
    /// As it is written.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Map(NodeMap),
}

/// The line of a value is that of its key.
pub type NodeMap = IndexMap<String, Node>;

/// What is wrong with a line of a file that cannot be parsed.
#[derive(Debug, PartialEq, Eq)]
pub struct SyntaxProblem {
    pub line: usize,
    pub problem: String,
}

impl SyntaxProblem {
    pub fn new(line: usize, problem: impl Into<String>) -> Self {
        Self {
            line,
            problem: problem.into(),
        }
    }
}

impl Node {
    pub fn text(line: usize, text: impl Into<String>) -> Self {
        Self {
            line,
            value: NodeValue::Text(text.into()),
        }
    }

    pub fn list(line: usize, list: Vec<Self>) -> Self {
        Self {
            line,
            value: NodeValue::List(list),
        }
    }

    pub fn map(line: usize, map: NodeMap) -> Self {
        Self {
            line,
            value: NodeValue::Map(map),
        }
    }

    /// Returns a text, a number, or true or false as text.
    pub fn scalar(&self) -> Option<String> {
        match &self.value {
            NodeValue::Text(text) | NodeValue::Number(text) => Some(text.clone()),
            NodeValue::Bool(value) => Some(value.to_string()),
            NodeValue::Null | NodeValue::List(_) | NodeValue::Map(_) => None,
        }
    }

    /// Returns the text of a text or a number, without the white space around it; `None` for others
    /// and for a blank one.
    pub fn as_word(&self) -> Option<&str> {
        match &self.value {
            NodeValue::Text(text) | NodeValue::Number(text) => {
                Some(text.trim()).filter(|text| !text.is_empty())
            }
            _ => None,
        }
    }

    pub fn as_map(&self) -> Option<&NodeMap> {
        match &self.value {
            NodeValue::Map(map) => Some(map),
            _ => None,
        }
    }

    /// Returns a finite number.
    pub fn as_number(&self) -> Option<f64> {
        match &self.value {
            NodeValue::Number(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
            _ => None,
        }
    }

    pub fn is_null(&self) -> bool {
        self.value == NodeValue::Null
    }

    /// Returns the values of a list, or the only value.
    pub fn elements(&self) -> &[Self] {
        match &self.value {
            NodeValue::List(list) => list,
            _ => std::slice::from_ref(self),
        }
    }

    /// Returns the value with another line, also for all its parts.
    #[must_use]
    pub fn at_line(self, line: usize) -> Self {
        let value = match self.value {
            NodeValue::List(list) => {
                NodeValue::List(list.into_iter().map(|node| node.at_line(line)).collect())
            }
            NodeValue::Map(map) => {
                let members = map.into_iter();
                let members = members.map(|(key, node)| (key, node.at_line(line)));
                NodeValue::Map(members.collect())
            }
            value => value,
        };
        Self { line, value }
    }

    /// Returns the length of all its texts, in bytes.
    pub fn text_length(&self) -> usize {
        match &self.value {
            NodeValue::Text(text) | NodeValue::Number(text) => text.len(),
            NodeValue::List(list) => list.iter().map(Self::text_length).sum(),
            NodeValue::Map(map) => map.values().map(Self::text_length).sum(),
            NodeValue::Null | NodeValue::Bool(_) => 0,
        }
    }

    /// `a list`, and a word as it is written.
    pub fn described(&self) -> String {
        match &self.value {
            NodeValue::Bool(value) => format!("`{value}`"),
            NodeValue::Number(word) => format!("`{}`", shortened_unmasked(word, MAX_SHOWN)),
            NodeValue::Text(text) if !text.trim().is_empty() => {
                let shown = shortened_unmasked(text.trim(), MAX_SHOWN);
                match plain_scalar(text.trim()) {
                    NodeValue::Text(_) => format!("`{shown}`"),
                    // It could be taken for another kind of value.
                    _ => format!("the text `{shown}`"),
                }
            }
            _ => self.kind().to_owned(),
        }
    }

    /// `a list`.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            NodeValue::Null => "nothing",
            NodeValue::Bool(_) => "true or false",
            NodeValue::Number(_) => "a number",
            NodeValue::Text(text) if text.trim().is_empty() => "blank",
            NodeValue::Text(_) => "a text",
            NodeValue::List(_) => "a list",
            NodeValue::Map(_) => "a map of keys",
        }
    }
}

/// Reads a value that is written without quotes, as YAML and tables have them.
pub fn plain_scalar(text: &str) -> NodeValue {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => NodeValue::Null,
        "true" | "True" | "TRUE" => NodeValue::Bool(true),
        "false" | "False" | "FALSE" => NodeValue::Bool(false),
        text if is_number(text) => NodeValue::Number(text.to_owned()),
        text => NodeValue::Text(text.to_owned()),
    }
}

/// A text that begins with a zero, such as `007`, is an identifier.
fn is_number(text: &str) -> bool {
    let is_json = serde_json::from_str::<serde_json::Number>(text).is_ok();
    is_json && !text.contains(char::is_whitespace)
}

/// The ends of the lines of a text.
struct Lines {
    ends: Vec<usize>,
    first: usize,
}

impl Lines {
    /// Takes the number of the first line.
    fn new(text: &str, first: usize) -> Self {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes()).collect();
        Self { ends, first }
    }

    fn at(&self, position: usize) -> usize {
        self.first + self.ends.partition_point(|end| *end < position)
    }
}
