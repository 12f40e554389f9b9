//! A case as a format has it, before its fields are read.

use super::log::FileLog;
use crate::text::node::{Node, json};

#[derive(Clone, Debug)]
pub(super) struct RawCase {
    pub(super) node: Node,
    /// The id if it has none of its own; `None` for one with its number.
    pub(super) id: Option<String>,
    /// Of its file, whose folder has the files that the case names.
    pub(super) log: FileLog,
    /// Cells of a table are texts, also those of lists.
    pub(super) is_table: bool,
    /// How answers of its shape are compared; blank if the answer decides.
    pub(super) matcher: String,
}

impl RawCase {
    pub(super) fn new(node: Node, log: &FileLog) -> Self {
        Self {
            node,
            id: None,
            log: log.clone(),
            is_table: false,
            matcher: String::new(),
        }
    }
}

/// Returns a value with one line for all its parts.
pub(super) fn node_of(line: usize, value: &serde_json::Value) -> Node {
    let node = json::parse(&value.to_string()).ok().flatten();
    node.unwrap_or_else(|| Node::text(line, "")).at_line(line)
}
