//! L2: opens and reads files that people and other programs put in place, [`write`](mod@write)s or
//! [`create`](mod@create)s files whole or not at all, and replaces those that people edit by
//! [`compare_and_swap`]; keeps [`log`](mod@log)s of events; runs programs with a limit of time and
//! output ([`process`]), and [`git`] so that it runs no others. In other people's folders it opens
//! [`resolved`] paths, and follows no link in them.
//!
//! Only regular files of a bounded size are read: a named pipe would block this program, a device
//! or a sparse file would fill the memory.

pub mod write;
pub mod create;
pub mod log;
pub mod compare_and_swap;
pub mod process;
pub mod git;
pub mod resolved;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use rustix::fs::OFlags;

/// The size up to which a kind of file is read, in bytes. No real one comes near it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeLimit(u64);

impl SizeLimit {
    /// The settings.
    pub const SETTINGS: Self = Self::mb(4);
    /// The user's models and prices.
    pub const MODELS: Self = Self::mb(16);
    /// A prompt or a persona.
    pub const PROMPT: Self = Self::mb(4);
    /// A question on standard input.
    pub const QUESTION: Self = Self::mb(4);
    /// The certificates that the user trusts.
    pub const CERTIFICATES: Self = Self::mb(16);
    /// A grade, or the amounts of one process in the monthly budget.
    pub const SMALL: Self = Self::mb(1);
    /// A record: a hundred answers of the greatest allowed length are a tenth of it.
    pub const RECORD: Self = Self::mb(64);
    /// A journal, which is read line by line.
    pub const JOURNAL: Self = Self::mb(256);
    /// A log of events, which is read line by line.
    pub const LOG: Self = Self::mb(4_096);
    /// A manifest of a project that a person asks about.
    pub const MANIFEST: Self = Self::mb(4);
    /// A file of a suite; ten thousand cases are a tenth of it.
    pub const SUITE: Self = Self::mb(64);
    /// A file that belongs to a case: as much as a consultation takes as context.
    pub const CASE_FILE: Self = Self::mb(16);
    /// A document that a panel refines.
    pub const DOCUMENT: Self = Self::mb(16);
    /// A lock file of such a project.
    pub const LOCK_FILE: Self = Self::mb(32);
    /// A local model, which is never in memory as a whole.
    pub const NONE: Self = Self(u64::MAX);

    pub const fn of_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    const fn mb(number: u64) -> Self {
        Self(number << 20)
    }

    pub const fn bytes(self) -> u64 {
        self.0
    }
}

/// The length and the time of a file: they change whenever something is written.
pub type Stamp = (u64, SystemTime);

/// `None` if there is no such file.
pub fn stamp(file: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(file).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

/// The treatment of a symbolic link in the place of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkPolicy {
    Follow,
    /// For files that this program alone creates, where a link leads to something else.
    Refuse,
}

/// Opens a regular file to read it.
///
/// # Errors
///
/// Also when it is larger than the limit, or not a regular file. Never waits for another process.
pub fn open(path: &Path, limit: SizeLimit) -> io::Result<File> {
    open_with(File::options().read(true), path, limit, LinkPolicy::Follow)
}

/// Opens a regular file as the options say.
///
/// # Errors
///
/// As those of [`open`].
pub fn open_with(
    options: &mut OpenOptions,
    path: &Path,
    limit: SizeLimit,
    links: LinkPolicy,
) -> io::Result<File> {
    // The opening of a named pipe waits for its other end without `NONBLOCK`.
    let flags = OFlags::NONBLOCK
        | OFlags::NOCTTY
        | match links {
            LinkPolicy::Follow => OFlags::empty(),
            LinkPolicy::Refuse => OFlags::NOFOLLOW,
        };
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags.bits().cast_signed());
    let file = options.open(path).map_err(|error| {
        if links == LinkPolicy::Refuse && path.is_symlink() {
            io::Error::new(error.kind(), "it is a symbolic link")
        } else {
            error
        }
    })?;
    check(&file, limit).map(|()| file)
}

/// The lock of a file, which ends when this is dropped, or with its process.
#[derive(Debug)]
pub struct FileLock(File);

impl Drop for FileLock {
    fn drop(&mut self) {
        // A program that is being started has copies of open files for a moment, and their locks.
        let _ = self.0.unlock();
    }
}

/// Creates a file for its owner alone if there is none, and locks it once no other process has.
pub fn lock(path: &Path) -> io::Result<FileLock> {
    let file = lock_file(path)?;
    file.lock().map(|()| FileLock(file))
}

/// As [`lock`]; `None` if another has it.
pub fn try_lock(path: &Path) -> io::Result<Option<FileLock>> {
    let file = lock_file(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(FileLock(file))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn lock_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, write::PRIVATE);
    open_with(&mut options, path, SizeLimit::NONE, LinkPolicy::Refuse)
}

fn check(file: &File, limit: SizeLimit) -> io::Result<()> {
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        Err(io::ErrorKind::IsADirectory.into())
    } else if !metadata.is_file() {
        Err(io::Error::other("it is not a regular file"))
    } else if metadata.len() > limit.0 {
        Err(too_large(limit))
    } else {
        Ok(())
    }
}

pub fn read(path: &Path, limit: SizeLimit) -> io::Result<Vec<u8>> {
    read_to_end(open(path, limit)?, limit)
}

/// A link in its place is an error.
pub fn read_own(path: &Path, limit: SizeLimit) -> io::Result<Vec<u8>> {
    let file = open_with(File::options().read(true), path, limit, LinkPolicy::Refuse)?;
    read_to_end(file, limit)
}

/// Reads a regular file as text.
///
/// # Errors
///
/// Also when it is not UTF-8.
pub fn read_text(path: &Path, limit: SizeLimit) -> io::Result<String> {
    text(read(path, limit)?)
}

/// Returns bytes as text.
///
/// # Errors
///
/// When they are not UTF-8.
pub fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Reads a stream to its end; more than the limit is an error.
pub fn read_to_end(stream: impl Read, limit: SizeLimit) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream
        .take(limit.0.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit.0 {
        return Err(too_large(limit));
    }
    Ok(bytes)
}

fn too_large(limit: SizeLimit) -> io::Error {
    io::Error::new(
        io::ErrorKind::FileTooLarge,
        format!("it is larger than {} MB", limit.0 >> 20),
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn error(path: &Path) -> String {
        read(path, SizeLimit::SMALL).unwrap_err().to_string()
    }

    #[test]
    fn files_up_to_the_limit_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let file = File::create(&path).unwrap();
        file.set_len(SizeLimit::SMALL.bytes()).unwrap();
        assert_eq!(read(&path, SizeLimit::SMALL).unwrap().len(), 1 << 20);
        file.set_len(SizeLimit::SMALL.bytes() + 1).unwrap();
        assert_eq!(error(&path), "it is larger than 1 MB");
        file.set_len(1 << 40).unwrap();
        assert_eq!(error(&path), "it is larger than 1 MB");
        assert_eq!(
            open(&path, SizeLimit::NONE)
                .unwrap()
                .metadata()
                .unwrap()
                .len(),
            1 << 40
        );
    }

    #[test]
    fn endless_streams_are_read_up_to_the_limit() {
        let endless = read_to_end(io::repeat(0), SizeLimit::SMALL).unwrap_err();
        assert_eq!(endless.kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn pipes_devices_and_folders_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let (here, fifo) = (rustix::fs::CWD, rustix::fs::FileType::Fifo);
        rustix::fs::mknodat(here, &pipe, fifo, 0o600.into(), 0).unwrap();
        let not_regular = "it is not a regular file";
        assert_eq!(error(&pipe), not_regular);
        assert_eq!(error(Path::new("/dev/zero")), not_regular);
        let appended = open_with(
            File::options().append(true),
            &pipe,
            SizeLimit::NONE,
            LinkPolicy::Follow,
        );
        appended.unwrap_err();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        assert_eq!(error(&link), not_regular);
        let kind = read(folder.path(), SizeLimit::SMALL).unwrap_err().kind();
        assert_eq!(kind, io::ErrorKind::IsADirectory);
    }

    #[test]
    fn links_are_followed_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "text").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert_eq!(read_text(&link, SizeLimit::SMALL).unwrap(), "text");
        let opened = open_with(
            File::options().write(true),
            &link,
            SizeLimit::NONE,
            LinkPolicy::Refuse,
        );
        assert_eq!(opened.unwrap_err().to_string(), "it is a symbolic link");
    }
}
