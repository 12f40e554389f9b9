//! The rows within a document of other programs: `examples`, `data`, and what the fields around
//! them say of each.

use crate::text::node::{Node, NodeMap, NodeValue};

/// Where rows stand, the most precise path first.
const PATHS: [&str; 13] = [
    "data.paragraphs.qas",
    "rows.row",
    "examples",
    "data",
    "questions",
    "tests",
    "rows",
    "instances",
    "samples",
    "items",
    "train",
    "test",
    "validation",
];

/// Returns the rows of a document with the fields around them; `None` if there are none.
pub(in crate::suites) fn rows_of(document: &NodeMap) -> Option<Vec<Node>> {
    let name = |name: &str| {
        let same = |key: &&String| key.eq_ignore_ascii_case(name);
        document.keys().find(same)
    };
    let path = PATHS.iter().find(|path| {
        let mut steps = path.split('.');
        let first = steps
            .next()
            .and_then(name)
            .and_then(|key| document.get(key));
        let row = first.and_then(|list| match &list.value {
            NodeValue::List(list) => list.first()?.as_map(),
            _ => None,
        });
        row.is_some_and(|row| steps.next().is_none_or(|second| row.contains_key(second)))
    })?;
    let mut rows = Vec::new();
    collect(document, path, &NodeMap::new(), &mut rows);
    Some(rows)
}

fn collect(map: &NodeMap, path: &str, around: &NodeMap, rows: &mut Vec<Node>) {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let inner = map.iter().find(|(key, _)| key.eq_ignore_ascii_case(first));
    let Some((name, inner)) = inner else {
        return;
    };
    let mut around = around.clone();
    let others = map.iter().filter(|(key, _)| *key != name);
    around.extend(others.map(|(key, member)| (key.clone(), member.clone())));
    for node in inner.elements() {
        match &node.value {
            NodeValue::Map(map) if !rest.is_empty() => collect(map, rest, &around, rows),
            NodeValue::Map(map) => {
                let mut row = around.clone();
                row.extend(map.clone());
                let value = NodeValue::Map(row);
                rows.push(Node {
                    line: node.line,
                    value,
                });
            }
            _ => rows.push(node.clone()),
        }
    }
}
