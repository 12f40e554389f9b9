//! The journal: one event a line, in the file before the consultation goes on, on the disk soon after.
//!
//! Invariant: a killed process loses no event that was taken, because each goes to the file in one write; a lost power
//! supply loses at most what the syncing thread had not reached. The event loop never waits for the disk.

use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::thread::JoinHandle;

use crate::consultation::event::{Envelope, READABLE_VERSIONS, SCHEMA_VERSION};
use crate::engine::ports::{Subscriber, SubscriberFailed};

use super::files::{WriteFailed, create_private_dir, sync_folder};

/// A journal being written. Locked against other processes as long as it is open.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    sync: Option<Syncing>,
    has_failed: bool,
}

/// The thread that brings the file to the disk, and the bell that wakes it.
#[derive(Debug)]
struct Syncing {
    bell: SyncSender<()>,
    thread: JoinHandle<io::Result<()>>,
}

impl Journal {
    /// Starts a journal, making its folder if need be.
    ///
    /// # Errors
    ///
    /// When the folder or the file cannot be made, or there already is such a journal.
    pub fn create(path: &Path) -> Result<Self, WriteFailed> {
        let failed = |error| WriteFailed::new(path, error);
        let folder = path.parent().unwrap_or(Path::new("."));
        create_private_dir(folder)?;
        let mut options = File::options();
        options.append(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(failed(io::ErrorKind::ResourceBusy.into())),
            // A file system without locks: the new name alone keeps two processes apart.
            Err(TryLockError::Error(_)) => {}
        }
        let to_sync = file.try_clone().map_err(failed)?;
        let folder = folder.to_owned();
        // One waiting ring is enough: a sync takes along all that was written before it.
        let (bell, rings) = mpsc::sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || {
                sync_folder(&folder)?;
                // Invariant: every write is followed by a ring, and rings that wait are heard before the end: nothing is left to sync.
                while rings.recv().is_ok() {
                    to_sync.sync_data()?;
                }
                Ok(())
            })
            .map_err(failed)?;
        Ok(Self { path: path.to_owned(), file, sync: Some(Syncing { bell, thread }), has_failed: false })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True when an event could not be written, which was told then.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Waits until all events are on the disk. Nothing can be appended afterwards. A second call does nothing.
    pub fn finish(&mut self) -> Result<(), WriteFailed> {
        let Some(Syncing { bell, thread }) = self.sync.take() else { return Ok(()) };
        drop(bell);
        let synced = thread.join().unwrap_or_else(|_| Err(io::Error::other("the syncing thread failed")));
        synced.map_err(|error| WriteFailed::new(&self.path, error))
    }

    fn append(&mut self, envelope: &Envelope) -> io::Result<()> {
        let mut line = serde_json::to_vec(envelope)?;
        line.push(b'\n');
        let Some(sync) = &self.sync else { return Err(io::Error::other("the journal is closed")) };
        self.file.write_all(&line)?;
        match sync.bell.try_send(()) {
            Ok(()) | Err(TrySendError::Full(())) => Ok(()),
            // The thread is gone only because a sync failed; `finish` tells why.
            Err(TrySendError::Disconnected(())) => Ok(()),
        }
    }
}

impl Subscriber for Journal {
    fn name(&self) -> &'static str {
        "journal"
    }

    fn event(&mut self, envelope: &Envelope) -> Result<(), SubscriberFailed> {
        self.append(envelope).map_err(|error| {
            self.has_failed = true;
            SubscriberFailed(WriteFailed::new(&self.path, error).notice())
        })
    }
}

/// A journal as it was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadJournal {
    pub events: Vec<Envelope>,
    /// Bytes of a last line that a killed process left unfinished; it never was an event.
    pub torn_bytes: u64,
}

/// Why a journal cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum JournalUnreadable {
    #[error("cannot read journal `{}`", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("line {line} of journal `{}` is not an event", .path.display())]
    NotAnEvent { path: PathBuf, line: u64, source: serde_json::Error },
    #[error("line {line} of journal `{}` has version `{found}`; this program reads `{SCHEMA_VERSION}`", .path.display())]
    OtherVersion { path: PathBuf, line: u64, found: String },
}

/// Reads a journal. A last line that is not whole is left out and reported; damage anywhere else is an error.
pub fn read_journal(path: &Path) -> Result<ReadJournal, JournalUnreadable> {
    let io_error = |source| JournalUnreadable::Io { path: path.to_owned(), source };
    let mut reader = BufReader::new(File::open(path).map_err(io_error)?);
    let mut read = ReadJournal::default();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(io_error)? == 0 {
            break;
        }
        if line.last() != Some(&b'\n') {
            // The beginning of an object is never an object: what parses lacks nothing but its line break.
            match serde_json::from_slice::<Envelope>(&line) {
                Ok(envelope) if READABLE_VERSIONS.contains(&envelope.schema_version.as_str()) => read.events.push(envelope),
                Ok(_) | Err(_) => read.torn_bytes = line.len() as u64,
            }
            break;
        }
        let not_an_event = |source| JournalUnreadable::NotAnEvent { path: path.to_owned(), line: number, source };
        // The version first: another one explains whatever else does not fit.
        let Versioned { schema_version } = serde_json::from_slice(&line).map_err(not_an_event)?;
        if !READABLE_VERSIONS.contains(&schema_version.as_str()) {
            return Err(JournalUnreadable::OtherVersion { path: path.to_owned(), line: number, found: schema_version });
        }
        read.events.push(serde_json::from_slice(&line).map_err(not_an_event)?);
    }
    Ok(read)
}

#[derive(serde::Deserialize)]
struct Versioned {
    schema_version: String,
}
