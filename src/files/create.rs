//! Creates files whole or not at all, and never in the place of another one.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::write::{Access, folder_of, sync_folder, temporary_beside};

/// Creates a file for its owner alone.
///
/// # Errors
///
/// When something has its name already, a link as well.
pub fn create_private(path: &Path, content: &[u8]) -> io::Result<()> {
    create(path, content, None)
}

/// Creates a file that the readers of another one can read, and its owner can write.
///
/// # Errors
///
/// As those of [`create_private`].
pub fn create_like(path: &Path, other: &Path, content: &[u8]) -> io::Result<()> {
    let mut permissions = fs::metadata(other)?.permissions();
    permissions.set_mode(permissions.mode() | 0o200);
    create(path, content, Some(permissions))
}

fn create(path: &Path, content: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    let mut temporary = temporary_beside(path, Access::Private)?;
    temporary.write_all(content)?;
    if let Some(permissions) = permissions {
        temporary.as_file().set_permissions(permissions)?;
    }
    temporary.as_file().sync_all()?;
    temporary
        .persist_noclobber(path)
        .map_err(|error| error.error)?;
    sync_folder(folder_of(path))
}
