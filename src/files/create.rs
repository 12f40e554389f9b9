//! Creates files whole or not at all, and never in the place of another one.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::write::{PRIVATE, folder_of, sync_folder, temporary_beside};

/// Creates a file for its owner alone.
///
/// # Errors
///
/// When something has its name already, a link as well.
pub fn create_private(path: &Path, content: &[u8]) -> io::Result<()> {
    create(path, content, PRIVATE)
}

/// Creates a file that the readers of another one can read, as far as the umask allows it, and its
/// owner can write. It is never executable, whatever the other one is.
///
/// # Errors
///
/// As those of [`create_private`].
pub fn create_like(path: &Path, other: &Path, content: &[u8]) -> io::Result<()> {
    let readers = fs::metadata(other)?.permissions().mode() & 0o044;
    create(path, content, PRIVATE | readers)
}

fn create(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    let mut temporary = temporary_beside(path, mode)?;
    temporary.write_all(content)?;
    temporary.as_file().sync_all()?;
    temporary
        .persist_noclobber(path)
        .map_err(|error| error.error)?;
    sync_folder(folder_of(path))
}
