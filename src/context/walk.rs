//! Walks a folder in the order of names, without what ignore files exclude. It follows no link, not
//! even one that replaces a part of the folder during the walk.

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fs::FileType;

use super::ignores::IgnoreRules;
use crate::files::resolved::{self, FolderEntry};

/// What a walk came to: a file, or a folder that cannot be read.
pub(super) struct WalkEntry {
    /// Resolved: to be opened by [`resolved`].
    pub(super) path: PathBuf,
    /// The kind of a file, or the error of a folder.
    pub(super) kind: io::Result<FileType>,
    /// Those of the folder that it is in.
    rules: Rc<IgnoreRules>,
}

/// Walks a folder, of which the path is resolved, with rules from above it, and without the folders
/// that are skipped for their path and the entries beside them.
///
/// # Errors
///
/// When the folder or an ignore file in it cannot be read.
pub(super) fn walk<F: Fn(&Path, &[FolderEntry]) -> bool>(
    root: &Path,
    above: IgnoreRules,
    is_skipped: F,
) -> io::Result<impl Iterator<Item = WalkEntry> + use<F>> {
    let mut entries = open(root, above, &is_skipped)?;
    Ok(std::iter::from_fn(move || {
        loop {
            let mut entry = entries.pop()?;
            if let Ok(FileType::Directory) = entry.kind {
                let rules = IgnoreRules::clone(&entry.rules);
                match open(&entry.path, rules, &is_skipped) {
                    Ok(inner) => {
                        entries.extend(inner);
                        continue;
                    }
                    Err(error) => entry.kind = Err(error),
                }
            }
            return Some(entry);
        }
    }))
}

/// The last one first.
fn open(
    folder: &Path,
    mut rules: IgnoreRules,
    is_skipped: impl Fn(&Path, &[FolderEntry]) -> bool,
) -> io::Result<Vec<WalkEntry>> {
    let entries = resolved::list(folder)?;
    rules.add(folder)?;
    let rules = Rc::new(rules);
    let mut kept = Vec::new();
    for FolderEntry { name, kind } in entries.iter().rev() {
        let path = folder.join(name);
        let is_folder = *kind == FileType::Directory;
        // Git's own files are none of the folder's, whatever a rule says.
        let is_left_out = name == ".git" || rules.exclude(&path, is_folder);
        if !(is_left_out || is_folder && is_skipped(&path, &entries)) {
            let (kind, rules) = (Ok(*kind), Rc::clone(&rules));
            kept.push(WalkEntry { path, kind, rules });
        }
    }
    Ok(kept)
}
