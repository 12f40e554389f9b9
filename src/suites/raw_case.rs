//! A case as a format has it, before its fields are read.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::files::resolved;
use crate::files::write::folder_of;
use crate::text::node::{Member, Node, NodeMap, NodeValue, json};

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

/// A file with cases, or a folder.
#[derive(Clone, Debug)]
pub(super) struct CaseFile {
    /// Its path, as it is shown.
    pub(super) shown: Arc<str>,
    /// Its path; resolved.
    pub(super) path: Arc<Path>,
    /// The folder that holds what it names; resolved.
    pub(super) folder: Arc<Path>,
}

impl CaseFile {
    /// Returns a file or folder that a person names; a link is followed.
    pub(super) fn named(path: &Path) -> io::Result<Self> {
        Ok(Self {
            shown: path.to_string_lossy().into(),
            path: fs::canonicalize(path)?.into(),
            folder: fs::canonicalize(folder_of(path))?.into(),
        })
    }

    /// Returns a file or folder that this file names: in its folder or below it.
    pub(super) fn sibling(&self, name: &Path) -> io::Result<Self> {
        let shown = Path::new(&*self.shown).with_file_name(name);
        Self::below(&self.folder, name, &shown)
    }

    /// Returns a file or folder in this folder or below it.
    pub(super) fn inner(&self, name: &Path) -> io::Result<Self> {
        Self::below(&self.path, name, &Path::new(&*self.shown).join(name))
    }

    fn below(folder: &Path, name: &Path, shown: &Path) -> io::Result<Self> {
        let path = path_inside(name, folder)?;
        Ok(Self {
            shown: shown.to_string_lossy().into(),
            folder: path.parent().unwrap_or(&path).into(),
            path: path.into(),
        })
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
        let extension = Path::new(&*self.shown).extension();
        let extension = extension.map(|ending| ending.to_string_lossy().to_lowercase());
        extension.unwrap_or_default()
    }
}

/// Returns the path of a file below a folder, resolved: it is to be opened without following links.
///
/// # Errors
///
/// When it is outside, or not there; [`super::text_file::unusable`] has the words.
pub(super) fn path_inside(name: &Path, folder: &Path) -> io::Result<PathBuf> {
    let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if !name.components().all(is_plain) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    resolved::within(folder, name)
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
