//! Hashes of contents, with a limit on how much is read.

use std::fs::Metadata;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::files::{self, LinkPolicy, SizeLimit};

use super::{FileHash, program};

/// The bytes of contents that one check may still read. Of larger files, length and time of the last
/// change count.
pub(super) struct ContentBudget(u64);

/// The largest file that is read.
const LARGEST: u64 = 16 << 20;

impl Default for ContentBudget {
    fn default() -> Self {
        Self(256 << 20)
    }
}

impl ContentBudget {
    /// Returns a hash of what is at a path; a link is not followed.
    pub(super) fn hash(&mut self, path: &Path) -> FileHash {
        let Ok(metadata) = path.symlink_metadata() else {
            return hash_of(b"absent");
        };
        let mut hash = Sha256::new();
        hash.update([kind(&metadata)]);
        let length = metadata.len();
        if metadata.is_symlink() {
            let target = path.read_link().map(|target| program::bytes(&target));
            hash.update(target.unwrap_or_default());
        } else if metadata.is_file() && length <= LARGEST.min(self.0) {
            self.0 -= length;
            // What cannot be read is the same each time.
            let _ = add_content(path, &mut hash);
        } else {
            hash.update(length.to_le_bytes());
            let changed = metadata.modified().ok();
            let since = changed.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
            hash.update(since.unwrap_or_default().as_nanos().to_le_bytes());
        }
        shortened(hash)
    }
}

/// Returns what Git records of a file besides its content.
fn kind(metadata: &Metadata) -> u8 {
    let is_executable = std::os::unix::fs::MetadataExt::mode(metadata) & 0o100 != 0;
    match (metadata.is_symlink(), metadata.is_file(), is_executable) {
        (true, _, _) => b'l',
        (_, true, true) => b'x',
        (_, true, false) => b'f',
        (false, false, _) => b'o',
    }
}

fn add_content(path: &Path, hash: &mut Sha256) -> io::Result<()> {
    let mut options = std::fs::File::options();
    let limit = SizeLimit::of_bytes(LARGEST);
    let file = files::open_with(options.read(true), path, limit, LinkPolicy::Refuse)?;
    let mut reader = file.take(LARGEST);
    let mut chunk = vec![0; 64 << 10];
    loop {
        let count = reader.read(&mut chunk)?;
        if count == 0 {
            return Ok(());
        }
        hash.update(chunk.get(..count).unwrap_or_default());
    }
}

pub(super) fn hash_of(bytes: &[u8]) -> FileHash {
    shortened(Sha256::new_with_prefix(bytes))
}

/// Half of a hash: files are compared with themselves, not with those of an enemy.
fn shortened(hash: Sha256) -> FileHash {
    let mut short = FileHash::default();
    for (short, byte) in short.iter_mut().zip(hash.finalize()) {
        *short = byte;
    }
    short
}
