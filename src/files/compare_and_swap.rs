//! Replaces a file that people edit, if it still has the content that was read from it.
//!
//! The new content is written to a temporary file beside it and synced. Then the file is compared,
//! and the two files change places in one step. On Linux and macOS the old file is compared once
//! more after that, and put back if a person saved it between the first comparison and the
//! exchange. So no save is lost, with three exceptions:
//!
//! - An editor that writes into the file as it is, rather than to a new one, and has opened it
//!   before the exchange but writes after the second comparison, writes to the old file, which is
//!   gone.
//! - A process that is killed between the exchange and the second comparison, a fraction of a
//!   millisecond, leaves the old file under the name of the temporary one.
//! - Where the file system cannot exchange files, a save between the only comparison and the rename
//!   is replaced.
//!
//! At any moment the name leads to a whole file, the old or the new one, also after a power
//! failure.
//!
//! A link is followed: its target is replaced. Mode and group stay, and the owner if the system
//! allows it. Other hard links keep the old content; access lists and extended attributes are not
//! copied.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use super::write::{PRIVATE, folder_of, sync_folder, temporary_beside};
use super::{LinkPolicy, SizeLimit, open_with, read_own};

/// The outcome of a replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwapOutcome {
    Swapped,
    /// The file has another content than expected, and keeps it.
    Changed,
}

/// What identifies the expected content.
pub type IsExpected<'a> = &'a dyn Fn(&[u8]) -> bool;

/// Replaces a regular file that has the expected content.
///
/// # Errors
///
/// As [`check_replaceable`], and when the disk is full; the file is as it was.
pub fn compare_and_swap(
    path: &Path,
    is_expected: IsExpected<'_>,
    new: &[u8],
    limit: SizeLimit,
) -> io::Result<SwapOutcome> {
    let target = fs::canonicalize(path)?;
    let before = replaceable(&target)?;
    let mut temporary = temporary_beside(&target, PRIVATE)?;
    temporary.write_all(new)?;
    set_owner(temporary.as_file(), &before)?;
    temporary.as_file().set_permissions(before.permissions())?;
    temporary.as_file().sync_all()?;
    if !is_unchanged(&target, is_expected, limit)? {
        return Ok(SwapOutcome::Changed);
    }
    if exchange(temporary.path(), &target).is_ok() {
        if !is_unchanged(temporary.path(), is_expected, limit).is_ok_and(|same| same) {
            put_back(temporary, &target, new, limit)?;
            return Ok(SwapOutcome::Changed);
        }
        drop(temporary);
    } else {
        if !is_unchanged(&target, is_expected, limit)? {
            return Ok(SwapOutcome::Changed);
        }
        temporary.persist(&target).map_err(|error| error.error)?;
    }
    sync_folder(folder_of(&target))?;
    Ok(SwapOutcome::Swapped)
}

/// Checks that a file can be replaced now, and leaves nothing behind.
///
/// # Errors
///
/// When it is missing, not a regular file or read-only, or its folder takes no new file.
pub fn check_replaceable(path: &Path) -> io::Result<()> {
    let target = fs::canonicalize(path)?;
    replaceable(&target)?;
    temporary_beside(&target, PRIVATE).map(drop)
}

/// A rename would not ask.
fn replaceable(target: &Path) -> io::Result<Metadata> {
    let mut options = File::options();
    let file = open_with(
        options.append(true),
        target,
        SizeLimit::NONE,
        LinkPolicy::Refuse,
    )?;
    let metadata = file.metadata()?;
    // An administrator may write to every file.
    if metadata.permissions().readonly() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(metadata)
}

/// A file that was saved a second time meanwhile stays: the last save wins.
fn put_back(
    temporary: NamedTempFile,
    target: &Path,
    new: &[u8],
    limit: SizeLimit,
) -> io::Result<()> {
    if exchange(temporary.path(), target).is_ok() {
        let is_ours = is_unchanged(temporary.path(), &|out| out == new, limit);
        if is_ours.is_ok_and(|ours| ours) || exchange(temporary.path(), target).is_ok() {
            return Ok(());
        }
    }
    // The target was removed meanwhile. What is in the temporary file is a person's.
    match temporary.persist_noclobber(target) {
        Ok(_) => Ok(()),
        Err(error) => {
            let (_, kept) = error.file.keep().map_err(|error| error.error)?;
            Err(io::Error::other(format!(
                "it was saved meanwhile; what was saved is in `{}`",
                kept.display()
            )))
        }
    }
}

/// A path that is no longer a regular file cannot be compared.
fn is_unchanged(path: &Path, is_expected: IsExpected<'_>, limit: SizeLimit) -> io::Result<bool> {
    match read_own(path, limit) {
        Ok(content) => Ok(is_expected(&content)),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos")))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Gives a new file the owner and the group of the one that it replaces; the group alone where only
/// an administrator may give the owner.
fn set_owner(file: &File, before: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let made = file.metadata()?;
    let (owner, group) = (before.uid(), before.gid());
    if (made.uid(), made.gid()) == (owner, group) {
        return Ok(());
    }
    fchown(file, Some(owner), Some(group)).or_else(|_| fchown(file, None, Some(group)))
}
