//! Opens resolved paths without following a link: what was checked is what is opened, also when a
//! part of the path is exchanged for a link in between.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};

use super::{SizeLimit, check, read_to_end, text};

/// Opens a folder on the way, of which the right to pass through it is enough.
#[cfg(any(target_os = "linux", target_os = "android"))]
const PASS: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const PASS: OFlags = OFlags::RDONLY;

/// An entry of a folder.
#[derive(Debug)]
pub struct FolderEntry {
    pub name: OsString,
    /// That of a link is its own.
    pub kind: FileType,
}

/// Resolves a path from a resolved folder.
///
/// # Errors
///
/// Of the kind `InvalidInput` if it leads out of the folder, by a link or by itself.
pub fn within(folder: &Path, path: &Path) -> io::Result<PathBuf> {
    let path = fs::canonicalize(folder.join(path))?;
    if path.starts_with(folder) {
        return Ok(path);
    }
    let outside = "it is a link out of its folder";
    Err(io::Error::new(io::ErrorKind::InvalidInput, outside))
}

/// Opens a regular file to read it.
///
/// # Errors
///
/// Those of [`super::open`], and when a part of the path is a link.
pub fn open(path: &Path, limit: SizeLimit) -> io::Result<File> {
    let file = File::from(open_last(path, OFlags::NONBLOCK | OFlags::NOCTTY)?);
    check(&file, limit).map(|()| file)
}

pub fn read(path: &Path, limit: SizeLimit) -> io::Result<Vec<u8>> {
    read_to_end(open(path, limit)?, limit)
}

pub fn read_text(path: &Path, limit: SizeLimit) -> io::Result<String> {
    text(read(path, limit)?)
}

/// Sorted by name.
pub fn list(folder: &Path) -> io::Result<Vec<FolderEntry>> {
    let mut folder = Dir::new(open_last(folder, OFlags::DIRECTORY)?)?;
    let mut entries = Vec::new();
    while let Some(entry) = folder.read() {
        let entry = entry?;
        let name = entry.file_name();
        if [c".", c".."].contains(&name) {
            continue;
        }
        let mut kind = entry.file_type();
        if kind == FileType::Unknown {
            let found = statat(folder.fd()?, name, AtFlags::SYMLINK_NOFOLLOW)?;
            kind = FileType::from_raw_mode(found.st_mode);
        }
        let name = OsStr::from_bytes(name.to_bytes()).to_owned();
        entries.push(FolderEntry { name, kind });
    }
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(entries)
}

fn open_last(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let mut parts = path.components().peekable();
    let mut at: Option<OwnedFd> = None;
    while let Some(part) = parts.next() {
        let flags = match parts.peek() {
            Some(_) => PASS | OFlags::DIRECTORY,
            None => flags,
        };
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = at.as_ref().map_or(CWD, AsFd::as_fd);
        at = Some(openat(folder, part.as_os_str(), flags, Mode::empty())?);
    }
    at.ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};

    use tempfile::TempDir;

    use super::*;

    /// A folder `in` and a folder `out`, each with the file `d/file` of its name, and their path.
    fn folders() -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(folder.path()).unwrap();
        for name in ["in", "out"] {
            fs::create_dir_all(path.join(name).join("d")).unwrap();
            fs::write(path.join(name).join("d/file"), name).unwrap();
        }
        (folder, path)
    }

    fn text(path: &Path) -> io::Result<String> {
        read_text(path, SizeLimit::SMALL)
    }

    #[test]
    fn links_are_followed_neither_at_the_end_nor_on_the_way() {
        let (_folder, path) = folders();
        assert_eq!(text(&path.join("in/d/file")).unwrap(), "in");
        symlink(path.join("out"), path.join("in/link")).unwrap();
        symlink("d/file", path.join("in/file")).unwrap();
        for name in ["in/file", "in/link/d/file"] {
            text(&path.join(name)).unwrap_err();
        }
        list(&path.join("in/link")).unwrap_err();
        list(&path.join("in/link/d")).unwrap_err();
    }

    #[test]
    fn entries_are_sorted_with_their_own_kinds() {
        let (_folder, path) = folders();
        symlink("d", path.join("in/a")).unwrap();
        fs::write(path.join("in/b"), "").unwrap();
        let entries = list(&path.join("in")).unwrap();
        let names: Vec<_> = entries.iter().map(|entry| entry.name.as_os_str()).collect();
        assert_eq!(names, ["a", "b", "d"]);
        let kinds: Vec<_> = entries.iter().map(|entry| entry.kind).collect();
        let expected = [
            FileType::Symlink,
            FileType::RegularFile,
            FileType::Directory,
        ];
        assert_eq!(kinds, expected);
        assert!(!list(Path::new("/")).unwrap().is_empty());
    }

    #[test]
    fn paths_out_of_a_folder_are_refused() {
        let (_folder, path) = folders();
        let folder = path.join("in");
        symlink("d/file", folder.join("inner")).unwrap();
        symlink("../out/d/file", folder.join("outer")).unwrap();
        let within = |name: &str| within(&folder, Path::new(name));
        assert_eq!(within("inner").unwrap(), folder.join("d/file"));
        for name in ["outer", "../out/d/file", ".."] {
            let error = within(name).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{name}");
        }
        let missing = within("missing").unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        fs::rename(&folder, path.join("was")).unwrap();
        symlink("out", &folder).unwrap();
        within("d/file").unwrap_err();
    }

    #[test]
    fn folder_that_is_exchanged_for_a_link_meanwhile_is_not_left() {
        let (_folder, path) = folders();
        let place = path.join("in/d");
        let has_ended = AtomicBool::new(false);
        let found: Vec<String> = std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut found = Vec::new();
                while !has_ended.load(Ordering::Relaxed) {
                    found.extend(text(&place.join("file")));
                }
                found.extend(text(&place.join("file")));
                found
            });
            for _ in 0..200 {
                fs::rename(&place, path.join("aside")).unwrap();
                symlink("../out/d", &place).unwrap();
                std::thread::yield_now();
                fs::remove_file(&place).unwrap();
                fs::rename(path.join("aside"), &place).unwrap();
                std::thread::yield_now();
            }
            has_ended.store(true, Ordering::Relaxed);
            reader.join().unwrap()
        });
        assert!(!found.is_empty());
        assert!(found.iter().all(|text| text == "in"));
    }
}
