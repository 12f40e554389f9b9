//! The values of a row's fields, by their paths.

use std::borrow::Cow;

use crate::text::node::{Node, NodeMap, NodeValue, plain_scalar};

use super::parts;

/// Names of the same field: `Correct Answer` and `correct_answer`. Letters are options, and stay
/// apart.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let folded = |name: &str| -> String {
        let plain = name.chars().filter(|c| !matches!(c, '_' | '-' | ' '));
        plain.flat_map(char::to_lowercase).collect()
    };
    // Most names differ in the first letter, and there are many rows.
    let first = |name: &str| name.chars().next().map(|c| c.to_ascii_lowercase());
    let is_word = one.len() > 1 && other.len() > 1;
    one == other || is_word && first(one) == first(other) && folded(one) == folded(other)
}

pub(super) fn member<'a>(map: &'a NodeMap, name: &str) -> Option<&'a Node> {
    let same = || map.iter().find(|(key, _)| is_same(key, name));
    map.get(name).or_else(|| same().map(|(_, member)| member))
}

/// The names of a path, from outside: `a.b` may be a name itself.
fn steps(path: &str) -> impl Iterator<Item = (&str, &str)> {
    path.match_indices('.')
        .filter_map(|(at, _)| Some((path.get(..at)?, path.get(at + 1..)?)))
}

/// Returns whether a row has a field, blank or not.
pub(super) fn has(map: &NodeMap, path: &str) -> bool {
    member(map, path).is_some()
        || steps(path).any(|(first, rest)| {
            let elements = member(map, first).map_or(&[][..], Node::elements);
            let mut maps = elements.iter().filter_map(Node::as_map);
            maps.any(|map| has(map, rest))
        })
}

/// Returns the first value of the alternatives that is there and not blank.
pub(super) fn value<'a>(map: &'a NodeMap, alternatives: &str) -> Option<Cow<'a, Node>> {
    parts(alternatives, '|').find_map(|path| at(map, path))
}

pub(super) fn at<'a>(map: &'a NodeMap, path: &str) -> Option<Cow<'a, Node>> {
    if let Some(node) = member(map, path) {
        return (!is_absent(node)).then_some(Cow::Borrowed(node));
    }
    steps(path).find_map(|(first, rest)| match member(map, first)? {
        Node {
            value: NodeValue::List(list),
            line,
        } => {
            let inner = list.iter().filter_map(|node| at(node.as_map()?, rest));
            let inner = inner.flat_map(|node| node.elements().to_vec());
            let value = NodeValue::List(inner.collect());
            let list = Node { line: *line, value };
            (!is_absent(&list)).then_some(Cow::Owned(list))
        }
        node => at(node.as_map()?, rest),
    })
}

fn is_absent(node: &Node) -> bool {
    match &node.value {
        NodeValue::Null => true,
        NodeValue::List(list) => list.is_empty(),
        _ => false,
    }
}

/// Programs write all values as texts.
pub(super) fn typed(node: &Node) -> Node {
    let value = match &node.value {
        NodeValue::Text(text) => match plain_scalar(text.trim()) {
            NodeValue::Null => NodeValue::Text(text.clone()),
            typed => typed,
        },
        value => value.clone(),
    };
    let line = node.line;
    Node { line, value }
}

/// Returns a text, a number, or true or false as text.
pub(super) fn word(node: &Node) -> Option<String> {
    match &node.value {
        NodeValue::Bool(value) => Some(value.to_string()),
        _ => node.as_word().map(str::to_owned),
    }
}
