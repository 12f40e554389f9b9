//! The working tree of the last check, in a file beside the state: without it the files that have
//! changed since then cannot be counted.
//!
//! The file is a cache. One that is missing or damaged, or belongs to another check, is none.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use crate::files::{self, LinkPolicy, SizeLimit};

use super::{FileHash, WorkingTree};

/// The first line of the file.
const VERSION: &[u8] = b"conclave git snapshot 1\n";

const FILE_NAME: &str = "git-snapshot";

/// The file before it has its name. One is enough: it is written under the lock of the state.
const NEW_FILE_NAME: &str = "git-snapshot.new";

const LIMIT: SizeLimit = SizeLimit::of_bytes(128 << 20);

/// The snapshot could not be written.
#[derive(Debug, thiserror::Error)]
#[error("the snapshot of the working tree cannot be written")]
pub struct SnapshotError(#[from] io::Error);

impl WorkingTree {
    /// Reads the tree of the last check from the folder of the state.
    pub fn read_snapshot(folder: &Path) -> Option<Self> {
        let bytes = files::read(&folder.join(FILE_NAME), LIMIT).ok()?;
        Self::from_bytes(&bytes)
    }

    /// Writes the tree into the folder of the state, for the next check.
    pub fn write_snapshot(&self, folder: &Path) -> Result<(), SnapshotError> {
        let mut options = File::options();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let new = folder.join(NEW_FILE_NAME);
        let mut file = files::open_with(&mut options, &new, SizeLimit::NONE, LinkPolicy::Refuse)?;
        file.write_all(&self.to_bytes())?;
        fs::rename(new, folder.join(FILE_NAME))?;
        Ok(())
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = VERSION.to_vec();
        bytes.extend(self.head.as_deref().unwrap_or_default().bytes());
        bytes.push(b'\n');
        for (path, hash) in &self.files {
            bytes.extend(hash);
            bytes.extend(path);
            // Not in any path.
            bytes.push(0);
        }
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(VERSION)?;
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        let (head, mut rest) = (rest.get(..end)?, rest.get(end + 1..)?);
        let mut files = BTreeMap::new();
        while let Some((hash, after)) = rest.split_first_chunk::<{ size_of::<FileHash>() }>() {
            let end = after.iter().position(|byte| *byte == 0)?;
            files.insert(after.get(..end)?.to_vec(), *hash);
            rest = after.get(end + 1..)?;
        }
        let head = String::from_utf8(head.to_vec()).ok()?;
        rest.is_empty().then_some(Self {
            head: Some(head).filter(|head| !head.is_empty()),
            files,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> WorkingTree {
        WorkingTree {
            head: Some("12ab".to_owned()),
            files: BTreeMap::from([(b"a\n b".to_vec(), [0; 16]), (b"c".to_vec(), [7; 16])]),
        }
    }

    #[test]
    fn snapshot_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(WorkingTree::read_snapshot(folder.path()), None);
        let without_commit = WorkingTree {
            head: None,
            ..tree()
        };
        for tree in [tree(), without_commit] {
            tree.write_snapshot(folder.path()).unwrap();
            assert_eq!(WorkingTree::read_snapshot(folder.path()), Some(tree));
        }
    }

    #[test]
    fn snapshot_that_is_cut_is_none() {
        let whole = tree().to_bytes();
        // A cut behind a file is a shorter tree, which no check has.
        let cuts = (0..whole.len()).filter(|cut| WorkingTree::from_bytes(&whole[..*cut]).is_some());
        for cut in cuts {
            let tree = WorkingTree::from_bytes(&whole[..cut]).unwrap();
            assert_ne!(tree.hash(), self::tree().hash());
        }
    }
}
