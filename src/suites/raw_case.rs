//! A case as a format has it, before its fields are read.

use std::path::Path;
use std::sync::Arc;

use crate::domain::node::{Member, Node, NodeMap, NodeValue, json};

#[derive(Clone, Debug)]
pub(super) struct RawCase {
    pub(super) node: Node,
    /// The id if it has none of its own; `None` for one with its number.
    pub(super) id: Option<String>,
    /// The file's path, as it is shown.
    pub(super) file: Arc<str>,
    /// The folder of its files; absolute.
    pub(super) folder: Arc<Path>,
    pub(super) is_table: bool,
}

/// A file with cases.
#[derive(Clone, Debug)]
pub(super) struct CaseFile {
    /// Its path, as it is shown.
    pub(super) shown: Arc<str>,
    /// Its path; absolute.
    pub(super) path: Arc<Path>,
    /// Its folder; absolute.
    pub(super) folder: Arc<Path>,
}

impl CaseFile {
    pub(super) fn new(shown: &Path, path: &Path) -> Self {
        Self {
            shown: shown.to_string_lossy().into(),
            path: path.into(),
            folder: path.parent().unwrap_or(path).into(),
        }
    }

    /// Returns a file of the same folder or one below it.
    pub(super) fn sibling(&self, name: &str) -> Self {
        let shown = Path::new(&*self.shown).with_file_name(name);
        Self::new(&shown, &self.folder.join(name))
    }

    /// Returns a file or folder in this folder.
    pub(super) fn inner(&self, name: &str) -> Self {
        Self::new(&Path::new(&*self.shown).join(name), &self.path.join(name))
    }

    pub(super) fn case(&self, node: Node) -> RawCase {
        RawCase {
            node,
            id: None,
            file: Arc::clone(&self.shown),
            folder: Arc::clone(&self.folder),
            is_table: false,
        }
    }

    pub(super) fn row(&self, node: Node) -> RawCase {
        RawCase {
            is_table: true,
            ..self.case(node)
        }
    }

    /// Returns the ending of its name in lower case, without the dot.
    pub(super) fn extension(&self) -> String {
        let extension = self.path.extension();
        let extension = extension.map(|ending| ending.to_string_lossy().to_lowercase());
        extension.unwrap_or_default()
    }
}

/// Adds a member to a map.
pub(super) fn set(map: &mut NodeMap, key: &str, line: usize, value: NodeValue) {
    let node = Node { line, value };
    map.insert(key.to_owned(), Member { line, node });
}

/// Returns a value with one line for all its parts.
pub(super) fn node_of(line: usize, value: &serde_json::Value) -> Node {
    let node = json::parse(&value.to_string()).ok().flatten();
    let null = Node {
        line,
        value: NodeValue::Null,
    };
    node.unwrap_or(null).at_line(line)
}
