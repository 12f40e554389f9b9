//! The rows within a document of other programs: `examples`, `data`, and what the fields around
//! them say of each.

use crate::text::node::{Node, NodeMap};

use super::value::is_same;

/// Where the rows of a document stand, and where those stand that are within others.
const OUTER: &str = "examples data dataset questions tests rows records entries instances samples \
                     items problems results train test validation dev";
const INNER: &str = "paragraphs qas row";

/// Returns the rows of a document with the fields around them; `None` if there are none.
pub(in crate::suites) fn rows_of(document: &NodeMap) -> Option<Vec<Node>> {
    rows_at(document, OUTER)
}

fn rows_at(map: &NodeMap, names: &str) -> Option<Vec<Node>> {
    let has_rows = |node: &Node| node.elements().first().and_then(Node::as_map).is_some();
    let mut keys = names
        .split(' ')
        .filter_map(|name| map.keys().find(|key| is_same(key, name)));
    let key = keys.find(|key| map.get(*key).is_some_and(has_rows))?;
    let mut around = map.clone();
    let rows = around.shift_remove(key)?;
    let row = |node: &Node| {
        let Some(map) = node.as_map() else {
            return vec![node.clone()];
        };
        let mut row = around.clone();
        row.extend(map.clone());
        rows_at(&row, INNER).unwrap_or_else(|| vec![Node::map(node.line, row)])
    };
    Some(rows.elements().iter().flat_map(row).collect())
}
