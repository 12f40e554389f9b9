//! The rows within a document of other programs: `examples`, `data`, and what the fields around
//! them say of each; or its columns.

use crate::text::node::{Node, NodeMap, NodeValue};

use super::value::is_same;

/// Where the rows of a document stand, and where those stand that are within others.
const OUTER: &str = "examples data dataset questions tests rows records entries instances samples \
                     items problems results train test validation dev";
const INNER: &str = "paragraphs qas row";

/// Returns the rows of a document with the fields around them; `None` if there are none.
pub(in crate::suites) fn rows_of(document: &NodeMap) -> Option<Vec<Node>> {
    rows_at(document, OUTER).or_else(|| rows_of_columns(document))
}

/// A list for each field, or a map from the numbers of the rows, as data frames are written.
fn rows_of_columns(document: &NodeMap) -> Option<Vec<Node>> {
    let cells = |node: &Node| match &node.value {
        NodeValue::List(list) => Some(list.clone()),
        NodeValue::Map(map) if map.contains_key("0") => Some(map.values().cloned().collect()),
        _ => None,
    };
    let columns: Vec<Vec<Node>> = document.values().map(cells).collect::<Option<_>>()?;
    let rows = columns.first().map(Vec::len)?;
    let is_table = columns.len() > 1 && columns.iter().all(|column| column.len() == rows);
    let row = |at: usize| {
        let cells = document.keys().cloned().zip(&columns);
        let cells = cells.filter_map(|(key, column)| Some((key, column.get(at)?.clone())));
        let cells: NodeMap = cells.collect();
        Node::map(cells.values().next().map_or(0, |cell| cell.line), cells)
    };
    is_table.then(|| (0..rows).map(row).collect())
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
