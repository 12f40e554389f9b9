//! The `.part` file of an unfinished download: written piece by piece, checked as a whole, then
//! renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::domain::hash::hex;
use crate::files::{self, LinkPolicy, SizeLimit};

use super::super::manifest::{GgufModel, size};

/// Bytes read or written between two points of cancellation.
pub(in crate::providers::local) const PIECE: usize = 1 << 20;

/// Errors of writing or reading the local file.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    #[error(
        "the disk that holds `{}` is full; {} are needed for `{model}`",
        .path.display(),
        size(*.bytes)
    )]
    DiskFull {
        path: PathBuf,
        model: &'static str,
        bytes: u64,
    },
    #[error("cannot write `{}`", .path.display())]
    File { path: PathBuf, source: io::Error },
}

/// An unfinished download.
#[derive(Debug)]
pub struct PartialDownload<'a> {
    pub model: &'a GgufModel,
    pub path: PathBuf,
}

impl<'a> PartialDownload<'a> {
    pub fn new(model: &'a GgufModel, path: PathBuf) -> Self {
        Self { model, path }
    }

    pub fn downloaded(&self) -> u64 {
        fs::metadata(&self.path).map_or(0, |meta| meta.len())
    }

    /// Opens it to continue after `keep` bytes.
    pub fn open(&self, keep: u64) -> Result<PartWriter<'_>, PartError> {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = files::open_with(
            &mut options,
            &self.path,
            SizeLimit::NONE,
            LinkPolicy::Refuse,
        )
        .map_err(|error| self.error(error))?;
        file.set_len(keep).map_err(|error| self.error(error))?;
        Ok(PartWriter {
            part: self,
            file,
            written: keep,
        })
    }

    pub fn delete(&self) -> Result<(), PartError> {
        match fs::remove_file(&self.path) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(self.error(error)),
        }
    }

    /// Cancellable: it yields after each piece.
    pub async fn sha256(&self, on: &mut dyn FnMut(u64)) -> Result<String, PartError> {
        let mut file =
            files::open(&self.path, SizeLimit::NONE).map_err(|error| self.error(error))?;
        let (mut hash, mut buffer, mut done) = (Sha256::new(), vec![0; PIECE], 0);
        loop {
            let read = file.read(&mut buffer).map_err(|error| self.error(error))?;
            if read == 0 {
                break;
            }
            hash.update(buffer.get(..read).unwrap_or_default());
            done += u64::try_from(read).unwrap_or(0);
            on(done);
            tokio::task::yield_now().await;
        }
        Ok(hex(&hash.finalize()))
    }

    pub fn finish(&self, path: &Path) -> Result<(), PartError> {
        fs::rename(&self.path, path).map_err(|error| self.error(error))
    }

    fn error(&self, source: io::Error) -> PartError {
        let path = self.path.clone();
        match source.kind() {
            io::ErrorKind::StorageFull => PartError::DiskFull {
                path,
                model: self.model.name,
                bytes: self.model.bytes,
            },
            _ => PartError::File { path, source },
        }
    }
}

/// An open `.part` file.
#[derive(Debug)]
pub struct PartWriter<'a> {
    part: &'a PartialDownload<'a>,
    file: File,
    /// The bytes so far, with those of earlier attempts.
    pub written: u64,
}

impl PartWriter<'_> {
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), PartError> {
        self.file
            .write_all(bytes)
            .map_err(|error| self.part.error(error))?;
        self.written += u64::try_from(bytes.len()).unwrap_or(0);
        Ok(())
    }

    pub fn is_too_long(&self) -> bool {
        self.written > self.part.model.bytes
    }
}
