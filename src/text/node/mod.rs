//! Values with their lines, whatever format they were written in.

mod lines;
pub mod json;
pub mod table;
pub mod yaml;

use indexmap::IndexMap;

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

pub type NodeMap = IndexMap<String, Member>;

/// A value with the line of its key.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    pub line: usize,
    pub node: Node,
}

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

    /// Returns the text of a text or a number, without the white space around it; `None` for others
    /// and for a blank one.
    pub fn as_word(&self) -> Option<&str> {
        match &self.value {
            NodeValue::Text(text) | NodeValue::Number(text) => {
                Some(text.trim()).filter(|text| !text.is_empty())
            }
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::List(_) | NodeValue::Map(_) => None,
        }
    }

    pub fn as_map(&self) -> Option<&NodeMap> {
        match &self.value {
            NodeValue::Map(map) => Some(map),
            NodeValue::Null
            | NodeValue::Bool(_)
            | NodeValue::Number(_)
            | NodeValue::Text(_)
            | NodeValue::List(_) => None,
        }
    }

    /// Returns a finite number.
    pub fn as_number(&self) -> Option<f64> {
        match &self.value {
            NodeValue::Number(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
            NodeValue::Null
            | NodeValue::Bool(_)
            | NodeValue::Text(_)
            | NodeValue::List(_)
            | NodeValue::Map(_) => None,
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
                let at_line = |(key, member): (String, Member)| {
                    let node = member.node.at_line(line);
                    (key, Member { line, node })
                };
                NodeValue::Map(map.into_iter().map(at_line).collect())
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
            NodeValue::Map(map) => map.values().map(|member| member.node.text_length()).sum(),
            NodeValue::Null | NodeValue::Bool(_) => 0,
        }
    }

    /// Describes the kind of value: `a list`.
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

/// Returns whether a text is a number as JSON writes it. One that begins with a zero, such as
/// `007`, is an identifier.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let begins_well = match digits.as_bytes() {
        [b'0'] | [b'0', b'.' | b'e' | b'E', ..] => true,
        [first, ..] => (b'1'..=b'9').contains(first),
        [] => false,
    };
    let is_made_of_digits = digits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    let is_finite = text.parse().is_ok_and(f64::is_finite);
    begins_well && is_made_of_digits && !digits.ends_with('.') && is_finite
}
