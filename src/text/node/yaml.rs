//! YAML: one document.
//!
//! Anchors and aliases are not followed: a few lines of them can stand for gigabytes.

use indexmap::map::Entry;
use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use super::json::set_before;
use super::{Node, NodeMap, NodeValue, SyntaxProblem, plain_scalar};

const DEEPEST: usize = 128;

/// What becomes of aliases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aliases {
    Refused,
    /// They stand for nothing: the file has parts that are not for this program.
    Ignored,
}

/// `None` for an empty one.
pub fn parse(text: &str) -> Result<Option<Node>, SyntaxProblem> {
    parse_with(text, Aliases::Refused)
}

/// Parses a file as [`parse`] does, with these aliases.
pub fn parse_with(text: &str, aliases: Aliases) -> Result<Option<Node>, SyntaxProblem> {
    let mut events = Parser::new_from_str(text).map(|event| {
        let read = event.map(|(event, span)| (event, span.start.line()));
        read.map_err(|error| {
            let problem = format!("not YAML: {}", error.info());
            SyntaxProblem::new(error.marker().line(), problem)
        })
    });
    let mut root: Option<Node> = None;
    while let Some((event, line)) = events.next().transpose()? {
        match event {
            Event::DocumentStart(_) if root.is_some() => {
                return Err(SyntaxProblem::new(line, "a second document begins here"));
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {}
            event => root = Some(node(&mut events, event, line, aliases, 0)?),
        }
    }
    Ok(root.filter(|node| !node.is_null()))
}

/// What the parser says, each with its line.
type Events<'e, 't> = dyn Iterator<Item = Result<(Event<'t>, usize), SyntaxProblem>> + 'e;

fn node<'t>(
    events: &mut Events<'_, 't>,
    event: Event<'t>,
    line: usize,
    aliases: Aliases,
    depth: usize,
) -> Result<Node, SyntaxProblem> {
    let is_open = matches!(event, Event::SequenceStart(..) | Event::MappingStart(..));
    if is_open && depth == DEEPEST {
        let problem = format!("more than {DEEPEST} levels of lists and maps");
        return Err(SyntaxProblem::new(line, problem));
    }
    let value = match event {
        Event::Scalar(text, style, _, tag) => scalar(&text, style, tag.as_deref()),
        Event::SequenceStart(..) => {
            let mut list = Vec::new();
            while let Some((event, line)) = inner(events)? {
                list.push(node(events, event, line, aliases, depth + 1)?);
            }
            NodeValue::List(list)
        }
        Event::MappingStart(..) => {
            let mut map = NodeMap::new();
            while let Some((event, line)) = inner(events)? {
                let key = key_text(&node(events, event, line, aliases, depth + 1)?)?;
                let Some((event, of_value)) = inner(events)? else {
                    break;
                };
                let value = node(events, event, of_value, aliases, depth + 1)?;
                match map.entry(key) {
                    Entry::Occupied(earlier) => {
                        return Err(set_before(line, earlier.key(), earlier.get().line));
                    }
                    Entry::Vacant(place) => drop(place.insert(Node { line, ..value })),
                }
            }
            NodeValue::Map(map)
        }
        Event::Alias(_) if aliases == Aliases::Refused => {
            let problem = "aliases (`*name`) are not followed; write the value out";
            return Err(SyntaxProblem::new(line, problem));
        }
        _ => NodeValue::Null,
    };
    Ok(Node { line, value })
}

/// `None` at its end.
fn inner<'t>(events: &mut Events<'_, 't>) -> Result<Option<(Event<'t>, usize)>, SyntaxProblem> {
    let next = events.next().transpose()?;
    Ok(next.filter(|(event, _)| !matches!(event, Event::SequenceEnd | Event::MappingEnd)))
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
