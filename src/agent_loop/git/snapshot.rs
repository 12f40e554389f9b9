//! The working tree of the last check, in a file beside the state: without it the files that have
//! changed since then cannot be counted.
//!
//! The file is a cache. One that is missing or damaged, or belongs to another check, is none.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files::write::{Access, WriteError, write_atomically};
use crate::files::{self, SizeLimit};

use super::WorkingTree;

const FILE_NAME: &str = "git-snapshot.json";

const LIMIT: SizeLimit = SizeLimit::of_bytes(128 << 20);

/// A working tree, and the check that saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitSnapshot {
    /// Names the check.
    pub check: String,
    pub tree: WorkingTree,
}

impl GitSnapshot {
    /// Returns the file in the folder of the state.
    pub fn path(folder: &Path) -> PathBuf {
        folder.join(FILE_NAME)
    }

    /// Reads the tree of the last check from the folder of the state.
    pub fn read(folder: &Path) -> Option<Self> {
        let bytes = files::read(&Self::path(folder), LIMIT).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Writes the tree into the folder of the state, for the next check.
    pub fn write(&self, folder: &Path) -> Result<(), WriteError> {
        let path = Self::path(folder);
        let bytes =
            serde_json::to_vec(self).map_err(|error| WriteError::new(&path, error.into()))?;
        write_atomically(&path, &bytes, Access::Own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot() -> GitSnapshot {
        GitSnapshot {
            check: "run 1, turn 3".to_owned(),
            tree: WorkingTree {
                head: Some("12ab".to_owned()),
                files: [("a\n b", "1"), ("c", "2")]
                    .map(|(path, hash)| (path.to_owned(), hash.to_owned()))
                    .into(),
            },
        }
    }

    #[test]
    fn snapshot_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(GitSnapshot::read(folder.path()), None);
        let mut without_commit = snapshot();
        without_commit.tree.head = None;
        for snapshot in [snapshot(), without_commit] {
            snapshot.write(folder.path()).unwrap();
            assert_eq!(GitSnapshot::read(folder.path()), Some(snapshot));
        }
    }

    #[test]
    fn snapshot_that_is_cut_is_none() {
        let folder = tempfile::tempdir().unwrap();
        snapshot().write(folder.path()).unwrap();
        let path = folder.path().join(FILE_NAME);
        let whole = std::fs::read(&path).unwrap();
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(GitSnapshot::read(folder.path()), None);
        }
    }
}
