//! YAML: one document.
//!
//! Anchors and aliases are not followed: a few lines of them can stand for gigabytes.

use indexmap::map::Entry;
use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use super::json::set_before;
use super::{Node, NodeMap, NodeValue, SyntaxProblem, plain_scalar};

/// The deepest value.
const DEEPEST: usize = 128;

/// A list or a map that is being read.
enum Open {
    List {
        line: usize,
        nodes: Vec<Node>,
    },
    Map {
        line: usize,
        map: NodeMap,
        /// A key that waits for its value, and its line.
        key: Option<(String, usize)>,
    },
}

/// What becomes of aliases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aliases {
    Refused,
    /// They stand for nothing: the file has parts that are not for this program.
    Ignored,
}

/// Parses a file; `None` for an empty one.
pub fn parse(text: &str) -> Result<Option<Node>, SyntaxProblem> {
    parse_with(text, Aliases::Refused)
}

/// Parses a file as [`parse`] does, with these aliases.
pub fn parse_with(text: &str, aliases: Aliases) -> Result<Option<Node>, SyntaxProblem> {
    let mut open: Vec<Open> = Vec::new();
    let mut root: Option<Node> = None;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let problem = format!("not YAML: {}", error.info());
            SyntaxProblem::new(error.marker().line(), problem)
        })?;
        let line = span.start.line();
        let node = match event {
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() == DEEPEST => {
                let problem = format!("more than {DEEPEST} levels of lists and maps");
                return Err(SyntaxProblem::new(line, problem));
            }
            Event::SequenceStart(..) => {
                let nodes = Vec::new();
                open.push(Open::List { line, nodes });
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map {
                    line,
                    map: NodeMap::new(),
                    key: None,
                });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(closed) => closed.node(),
                None => continue,
            },
            Event::Scalar(text, style, _, tag) => Node {
                line,
                value: scalar(&text, style, tag.as_deref()),
            },
            Event::Alias(_) if aliases == Aliases::Ignored => Node {
                line,
                value: NodeValue::Null,
            },
            Event::Alias(_) => {
                return Err(SyntaxProblem::new(
                    line,
                    "aliases (`*name`) are not followed; write the value out",
                ));
            }
            Event::DocumentStart(_) if root.is_some() => {
                return Err(SyntaxProblem::new(line, "a second document begins here"));
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => continue,
        };
        match open.last_mut() {
            None => root = Some(node),
            Some(parent) => parent.add(node)?,
        }
    }
    Ok(root.filter(|node| !node.is_null()))
}

impl Open {
    fn add(&mut self, node: Node) -> Result<(), SyntaxProblem> {
        let (map, key) = match self {
            Self::List { nodes, .. } => {
                nodes.push(node);
                return Ok(());
            }
            Self::Map { map, key, .. } => (map, key),
        };
        let Some((name, line)) = key.take() else {
            *key = Some((key_text(&node)?, node.line));
            return Ok(());
        };
        match map.entry(name) {
            Entry::Occupied(earlier) => Err(set_before(line, earlier.key(), earlier.get().line)),
            Entry::Vacant(place) => {
                place.insert(Node { line, ..node });
                Ok(())
            }
        }
    }

    fn node(self) -> Node {
        match self {
            Self::List { line, nodes } => Node {
                line,
                value: NodeValue::List(nodes),
            },
            Self::Map { line, map, .. } => Node {
                line,
                value: NodeValue::Map(map),
            },
        }
    }
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> NodeValue {
    let is_text = tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
    match style {
        ScalarStyle::Plain if !is_text => plain_scalar(text),
        _ => NodeValue::Text(text.to_owned()),
    }
}

fn key_text(node: &Node) -> Result<String, SyntaxProblem> {
    match &node.value {
        NodeValue::Text(text) | NodeValue::Number(text) => Ok(text.clone()),
        NodeValue::Bool(value) => Ok(value.to_string()),
        NodeValue::Null | NodeValue::List(_) | NodeValue::Map(_) => {
            let problem = format!("a key is {}, but must be a text", node.kind());
            Err(SyntaxProblem::new(node.line, problem))
        }
    }
}
