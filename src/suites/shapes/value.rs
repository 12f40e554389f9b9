//! The values of a row's fields, by their paths.

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

/// Returns the first value of the alternatives that is there; a blank text is.
pub(super) fn value(map: &NodeMap, alternatives: &str) -> Option<Node> {
    parts(alternatives, '|').find_map(|path| at(map, path))
}

pub(super) fn at(map: &NodeMap, path: &str) -> Option<Node> {
    if let Some(node) = member(map, path) {
        return (!is_absent(node)).then(|| node.clone());
    }
    // `a.b` may be a name itself, and `a` a list of maps.
    let (first, rest) = path.split_once('.')?;
    let outer = member(map, first)?;
    let NodeValue::List(list) = &outer.value else {
        return at(outer.as_map()?, rest);
    };
    let inner = list.iter().filter_map(|node| at(node.as_map()?, rest));
    let inner = inner.flat_map(|node| node.elements().to_vec());
    let list = Node::list(outer.line, inner.collect());
    (!is_absent(&list)).then_some(list)
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

/// Returns a text, a number, or true or false as text; `None` for a blank one.
pub(super) fn word(node: &Node) -> Option<String> {
    let text = node.scalar()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}
