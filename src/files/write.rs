//! Writes files whole or not at all, and folders that belong to their owner alone.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use serde::Serialize;

use crate::domain::time::Timestamp;
use crate::text::clean::pretty_json;

/// The readers of a file that this program writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Its owner alone: a file of a consultation or a budget. Whatever has its name is replaced, a
    /// link as well: no user puts one there.
    Own,
    /// Its owner alone: the settings, which can be linked from another folder.
    Private,
    /// As the umask or the mode of an existing file allows: files that the user asked for.
    Normal,
}

/// A file that could not be written, and the reason.
#[derive(Debug, thiserror::Error)]
#[error("{what} `{}`", .path.display())]
pub struct WriteError {
    what: &'static str,
    path: PathBuf,
    #[source]
    source: io::Error,
}

impl WriteError {
    pub fn new(path: &Path, source: io::Error) -> Self {
        let what = match source.kind() {
            io::ErrorKind::PermissionDenied => "no permission to write",
            io::ErrorKind::ReadOnlyFilesystem => "on a read-only file system:",
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "the disk is full: cannot write"
            }
            io::ErrorKind::AlreadyExists => "there is already a file",
            _ => "cannot write",
        };
        Self {
            what,
            path: path.to_owned(),
            source,
        }
    }
}

/// New folders belong to their owner alone.
pub fn create_private_dir(path: &Path) -> Result<(), WriteError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(path)
        .map_err(|error| WriteError::new(path, error))
}

/// Whether what is written lasts when the power fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    Synced,
    /// Whole for every process, also when this one is killed; after a power failure it may be
    /// empty. For what can be rebuilt: a sync takes longer than all else.
    Unsynced,
}

/// Writes a file whole or not at all: to a temporary file beside it, synced, renamed over it, the
/// folder synced.
///
/// A link is followed, unless the file is this program's own: its target is replaced, not the link.
/// A device or pipe (`/dev/stdout`) is written to directly.
pub fn write_atomically(path: &Path, bytes: &[u8], access: Access) -> Result<(), WriteError> {
    let written = replace(path, bytes, access, Durability::Synced)
        .and_then(|folder| folder.map_or(Ok(()), |folder| sync_folder(&folder)));
    written.map_err(|error| WriteError::new(path, error))
}

/// Writes a value as JSON for scripts, whole or not at all, in a file of this program.
pub fn write_json(
    path: &Path,
    value: &impl Serialize,
    durability: Durability,
) -> Result<(), WriteError> {
    let failed = |error| WriteError::new(path, error);
    let json = pretty_json(value).map_err(|error| failed(error.into()))? + "\n";
    match durability {
        Durability::Synced => write_atomically(path, json.as_bytes(), Access::Own),
        Durability::Unsynced => replace(path, json.as_bytes(), Access::Own, durability)
            .map(drop)
            .map_err(failed),
    }
}

/// Checks that a file can be written at this path now, and leaves nothing behind.
///
/// # Errors
///
/// When the path is a folder, or its folder takes no new file.
pub fn check_writable(path: &Path) -> Result<(), WriteError> {
    let check = || match WriteTarget::of(path)? {
        WriteTarget::Stream => Ok(()),
        WriteTarget::File { path, .. } => temporary_beside(&path, PRIVATE).map(drop),
    };
    check().map_err(|error| WriteError::new(path, error))
}

/// The target of a path.
enum WriteTarget {
    /// A device or a pipe.
    Stream,
    /// A file, with the permissions of an existing one.
    File {
        path: PathBuf,
        existing: Option<fs::Permissions>,
    },
}

impl WriteTarget {
    fn of(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(metadata) if !metadata.is_file() => Ok(Self::Stream),
            Ok(metadata) => Ok(Self::File {
                path: fs::canonicalize(path)?,
                existing: Some(metadata.permissions()),
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::File {
                path: path.to_owned(),
                existing: None,
            }),
            Err(error) => Err(error),
        }
    }
}

/// The prefix of temporary files; six letters and digits follow.
const TEMPORARY: &str = ".conclave-";

/// Deletes the temporary files that killed processes left in a folder: those of at least a day ago.
pub fn clear_leftovers(folder: &Path, now: Timestamp) {
    let day = Duration::from_secs(24 * 60 * 60);
    let is_leftover = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY));
        let is_ours = name.is_some_and(|random| {
            random.len() == 6 && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        // The metadata of a link is its own.
        is_ours
            && entry.metadata().is_ok_and(|file| {
                file.is_file() && written_at(&file).is_some_and(|written| written.after(day) <= now)
            })
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for leftover in entries.filter(is_leftover) {
        // One that stays is found again.
        let _ = fs::remove_file(leftover.path());
    }
}

pub fn written_at(file: &fs::Metadata) -> Option<Timestamp> {
    let since = file.modified().ok()?.duration_since(UNIX_EPOCH);
    Some(Timestamp(0).after(since.unwrap_or_default()))
}

/// Returns the folder of a file, which a bare name has as well.
pub fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// The mode of a file for its owner alone.
pub(super) const PRIVATE: u32 = 0o600;

/// Creates a temporary file with this mode, less the umask.
pub(super) fn temporary_beside(path: &Path, mode: u32) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    builder.tempfile_in(folder_of(path))
}

/// Returns the folder that must be synced for the rename to last.
pub fn replace(
    path: &Path,
    bytes: &[u8],
    access: Access,
    durability: Durability,
) -> io::Result<Option<PathBuf>> {
    let target = match access {
        Access::Own => WriteTarget::File {
            path: path.to_owned(),
            existing: None,
        },
        Access::Private | Access::Normal => WriteTarget::of(path)?,
    };
    let (target, existing) = match target {
        WriteTarget::Stream => {
            return File::options()
                .write(true)
                .open(path)?
                .write_all(bytes)
                .map(|()| None);
        }
        WriteTarget::File { path, existing } => (path, existing),
    };
    let mode = match access {
        Access::Own | Access::Private => PRIVATE,
        Access::Normal => 0o666,
    };
    let mut file = temporary_beside(&target, mode)?;
    if let (Access::Normal, Some(permissions)) = (access, existing) {
        file.as_file().set_permissions(permissions)?;
    }
    file.write_all(bytes)?;
    if durability == Durability::Synced {
        file.as_file().sync_all()?;
    }
    file.persist(&target).map_err(|error| error.error)?;
    Ok(Some(folder_of(&target).to_owned()))
}

/// Not every system can; others sync only the data.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_replaced_whole_without_leftovers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answer.md");
        write_atomically(&path, b"one", Access::Normal).unwrap();
        write_atomically(&path, b"two", Access::Normal).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn write_check_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        check_writable(&folder.path().join("answer.md")).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        check_writable(folder.path()).unwrap_err();
        check_writable(&folder.path().join("nowhere/answer.md")).unwrap_err();
    }

    #[test]
    fn private_files_get_owner_mode_and_others_keep_theirs() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let private = folder.path().join("new/logs/record.json");
        create_private_dir(private.parent().unwrap()).unwrap();
        write_atomically(&private, b"{}", Access::Private).unwrap();
        assert_eq!(mode(&private), 0o600);
        assert_eq!(mode(private.parent().unwrap()), 0o700);
        let shared = folder.path().join("shared.md");
        write_atomically(&shared, b"a", Access::Normal).unwrap();
        let plain = folder.path().join("plain.md");
        fs::write(&plain, "a").unwrap();
        assert_eq!(mode(&shared), mode(&plain), "created under the umask");
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o644)).unwrap();
        write_atomically(&shared, b"b", Access::Normal).unwrap();
        assert_eq!(mode(&shared), 0o644);
    }

    #[test]
    fn links_are_followed_and_devices_written_directly() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_atomically(&link, b"new", Access::Normal).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
        write_atomically(Path::new("/dev/null"), b"gone", Access::Normal).unwrap();
    }

    #[test]
    fn temporary_files_of_killed_processes_are_cleared_after_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in [
            ".conclave-aB3xyz",
            ".conclave-notes1.md",
            ".conclave-notes",
            "record",
        ] {
            fs::write(path(name), "").unwrap();
        }
        fs::create_dir(path(".conclave-folder")).unwrap();
        let now = written_at(&fs::metadata(path("record")).unwrap()).unwrap();
        let hours = |hours: u64| now.after(Duration::from_secs(hours * 60 * 60));
        let is_left = || path(".conclave-aB3xyz").exists();
        clear_leftovers(folder.path(), hours(23));
        assert!(is_left(), "another process may be writing it");
        clear_leftovers(folder.path(), hours(25));
        assert!(!is_left());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    }

    #[test]
    fn links_in_place_of_own_files_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (victim, link) = (folder.path().join("victim"), folder.path().join("link"));
        fs::write(&victim, "old").unwrap();
        for target in [&victim, Path::new("/dev/null"), Path::new("missing")] {
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink(target, &link).unwrap();
            write_atomically(&link, b"new", Access::Own).unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_file());
            assert_eq!(fs::read(&link).unwrap(), b"new");
        }
        assert_eq!(fs::read(&victim).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
