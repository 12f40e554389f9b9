//! Hashes of contents, with a limit on how much is read.

use std::fs::Metadata;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::domain::hash::hex;
use crate::files::{self, SizeLimit};

use super::program;

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
    pub(super) fn hash(&mut self, path: &Path) -> String {
        let Ok(metadata) = path.symlink_metadata() else {
            return "absent".to_owned();
        };
        let length = metadata.len();
        let content = if metadata.is_symlink() {
            let target = path.read_link().unwrap_or_default();
            program::bytes(&target).to_vec()
        } else if metadata.is_file() && length <= LARGEST.min(self.0) {
            self.0 -= length;
            // What cannot be read is the same each time.
            files::read(path, SizeLimit::of_bytes(LARGEST)).unwrap_or_default()
        } else {
            format!("{length} {:?}", metadata.modified().ok()).into_bytes()
        };
        format!("{} {}", kind(&metadata), hex(&Sha256::digest(content)))
    }
}

/// Returns what Git records of a file besides its content.
fn kind(metadata: &Metadata) -> &'static str {
    let is_executable = std::os::unix::fs::MetadataExt::mode(metadata) & 0o100 != 0;
    match (metadata.is_symlink(), metadata.is_file(), is_executable) {
        (true, _, _) => "link",
        (_, true, true) => "program",
        (_, true, false) => "file",
        (false, false, _) => "other",
    }
}
