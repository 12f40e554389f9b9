//! YAML: one document. A few lines of aliases can stand for gigabytes, so that what they stand for
//! has a limit.

use std::collections::HashMap;

use indexmap::map::Entry;
use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use super::json::set_before;
use super::{Node, NodeMap, NodeValue, SyntaxProblem, plain_scalar};

const DEEPEST: usize = 128;

/// The most that anchors and aliases may stand for together, in bytes of text; a value counts as
/// much as a short text.
const MAX_ALIASED: usize = 64 << 20;
const BYTES_OF_VALUE: usize = 64;

/// What becomes of aliases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aliases {
    Followed,
    /// They stand for nothing: the file has parts that are not for this program.
    Ignored,
}

/// `None` for an empty one.
pub fn parse(text: &str) -> Result<Option<Node>, SyntaxProblem> {
    parse_with(text, Aliases::Followed)
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
    let mut anchors = Anchors {
        aliases,
        nodes: HashMap::new(),
        size: 0,
    };
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
            event => root = Some(node(&mut events, event, line, &mut anchors, 0)?),
        }
    }
    Ok(root.filter(|node| !node.is_null()))
}

/// What the parser says, each with its line.
type Events<'e, 't> = dyn Iterator<Item = Result<(Event<'t>, usize), SyntaxProblem>> + 'e;

/// The values that aliases stand for.
struct Anchors {
    aliases: Aliases,
    nodes: HashMap<usize, Node>,
    size: usize,
}

impl Anchors {
    /// Returns a copy of a value that is small enough.
    fn copy(&mut self, node: &Node, line: usize) -> Result<Node, SyntaxProblem> {
        self.size = self.size.saturating_add(size(node));
        if self.size <= MAX_ALIASED {
            return Ok(node.clone());
        }
        let problem = format!("aliases stand for more than {} MB", MAX_ALIASED >> 20);
        Err(SyntaxProblem::new(line, problem))
    }

    fn get(&mut self, id: usize, line: usize) -> Result<NodeValue, SyntaxProblem> {
        if self.aliases == Aliases::Ignored {
            return Ok(NodeValue::Null);
        }
        let node = self.nodes.remove(&id);
        let node = node.ok_or_else(|| SyntaxProblem::new(line, "an alias stands within itself"))?;
        let copy = self.copy(&node, line)?;
        self.nodes.insert(id, node);
        Ok(copy.value)
    }
}

fn size(node: &Node) -> usize {
    let inner: usize = match &node.value {
        NodeValue::List(list) => list.iter().map(size).sum(),
        NodeValue::Map(map) => map.iter().map(|(key, node)| key.len() + size(node)).sum(),
        _ => node.text_length(),
    };
    BYTES_OF_VALUE + inner
}

fn node<'t>(
    events: &mut Events<'_, 't>,
    event: Event<'t>,
    line: usize,
    anchors: &mut Anchors,
    depth: usize,
) -> Result<Node, SyntaxProblem> {
    let is_open = matches!(event, Event::SequenceStart(..) | Event::MappingStart(..));
    if is_open && depth == DEEPEST {
        let problem = format!("more than {DEEPEST} levels of lists and maps");
        return Err(SyntaxProblem::new(line, problem));
    }
    let anchor = match &event {
        Event::Scalar(_, _, anchor, _)
        | Event::SequenceStart(anchor, _)
        | Event::MappingStart(anchor, _) => *anchor,
        _ => 0,
    };
    let value = match event {
        Event::Scalar(text, style, _, tag) => scalar(&text, style, tag.as_deref()),
        Event::SequenceStart(..) => {
            let mut list = Vec::new();
            while let Some((event, line)) = inner(events)? {
                list.push(node(events, event, line, anchors, depth + 1)?);
            }
            NodeValue::List(list)
        }
        Event::MappingStart(..) => NodeValue::Map(map(events, anchors, depth)?),
        Event::Alias(id) => anchors.get(id, line)?,
        _ => NodeValue::Null,
    };
    let node = Node { line, value };
    if anchor > 0 && anchors.aliases == Aliases::Followed {
        let copy = anchors.copy(&node, line)?;
        anchors.nodes.insert(anchor, copy);
    }
    Ok(node)
}

fn map(
    events: &mut Events<'_, '_>,
    anchors: &mut Anchors,
    depth: usize,
) -> Result<NodeMap, SyntaxProblem> {
    let mut map = NodeMap::new();
    let mut merged = Vec::new();
    while let Some((event, line)) = inner(events)? {
        let is_merge = anchors.aliases == Aliases::Followed
            && matches!(&event, Event::Scalar(key, ScalarStyle::Plain, ..) if key == "<<");
        let key = key_text(&node(events, event, line, anchors, depth + 1)?)?;
        let Some((event, of_value)) = inner(events)? else {
            break;
        };
        let value = node(events, event, of_value, anchors, depth + 1)?;
        if is_merge {
            for node in value.elements() {
                let problem = || SyntaxProblem::new(line, "`<<` must be a map or a list of maps");
                merged.extend(node.as_map().ok_or_else(problem)?.clone());
            }
            continue;
        }
        match map.entry(key) {
            Entry::Occupied(earlier) => {
                return Err(set_before(line, earlier.key(), earlier.get().line));
            }
            Entry::Vacant(place) => drop(place.insert(Node { line, ..value })),
        }
    }
    // A map's own keys come before merged ones, and of these the first.
    for (key, node) in merged {
        map.entry(key).or_insert(node);
    }
    Ok(map)
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
