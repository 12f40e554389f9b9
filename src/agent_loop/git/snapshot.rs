//! The working tree of the last check, in a file beside the state: without it the files that have
//! changed since then cannot be counted.
//!
//! The file is a cache. One that is missing or damaged, or belongs to another check, is none.

use std::collections::BTreeMap;
use std::path::Path;

use crate::files::write::{Access, WriteError, write_atomically};
use crate::files::{self, SizeLimit};

use super::{FileHash, WorkingTree};

/// The first line of the file.
const VERSION: &[u8] = b"conclave git snapshot 1\n";

const FILE_NAME: &str = "git-snapshot";

const LIMIT: SizeLimit = SizeLimit::of_bytes(128 << 20);

/// A working tree, and the check that saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSnapshot {
    /// Names the check, on one line.
    pub check: String,
    pub tree: WorkingTree,
}

impl GitSnapshot {
    /// Reads the tree of the last check from the folder of the state.
    pub fn read(folder: &Path) -> Option<Self> {
        let bytes = files::read(&folder.join(FILE_NAME), LIMIT).ok()?;
        Self::from_bytes(&bytes)
    }

    /// Writes the tree into the folder of the state, for the next check.
    pub fn write(&self, folder: &Path) -> Result<(), WriteError> {
        write_atomically(&folder.join(FILE_NAME), &self.to_bytes(), Access::Own)
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = VERSION.to_vec();
        for line in [&self.check, self.tree.head.as_deref().unwrap_or_default()] {
            bytes.extend(line.bytes());
            bytes.push(b'\n');
        }
        for (path, hash) in &self.tree.files {
            bytes.extend(hash);
            bytes.extend(path);
            // Not in any path.
            bytes.push(0);
        }
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(VERSION)?;
        let (check, rest) = line(rest)?;
        let (head, mut rest) = line(rest)?;
        let mut files = BTreeMap::new();
        while let Some((hash, after)) = rest.split_first_chunk::<{ size_of::<FileHash>() }>() {
            let end = after.iter().position(|byte| *byte == 0)?;
            files.insert(after.get(..end)?.to_vec(), *hash);
            rest = after.get(end + 1..)?;
        }
        rest.is_empty().then_some(Self {
            check,
            tree: WorkingTree {
                head: Some(head).filter(|head| !head.is_empty()),
                files,
            },
        })
    }
}

/// Returns the first line and the rest.
fn line(bytes: &[u8]) -> Option<(String, &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let line = String::from_utf8(bytes.get(..end)?.to_vec()).ok()?;
    Some((line, bytes.get(end + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot() -> GitSnapshot {
        GitSnapshot {
            check: "run 1, turn 3".to_owned(),
            tree: WorkingTree {
                head: Some("12ab".to_owned()),
                files: BTreeMap::from([(b"a\n b".to_vec(), [0; 16]), (b"c".to_vec(), [7; 16])]),
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
    fn snapshot_that_is_cut_is_none_or_another_tree() {
        let whole = snapshot().to_bytes();
        for cut in 0..whole.len() {
            if let Some(cut) = GitSnapshot::from_bytes(&whole[..cut]) {
                assert_ne!(cut.tree.hash(), snapshot().tree.hash());
            }
        }
    }
}
