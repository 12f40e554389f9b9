//! The text of a consultation's context, in `consult-<id>.context` beside the journal: as the
//! prompts carry it, with secrets masked. Journal, record and index only name it, by sources, size
//! and SHA-256.

use std::io;
use std::path::{Path, PathBuf};

use crate::domain::context::{Context, ContextStorage, ContextText};
use crate::domain::hash::sha256;
use crate::files::write::{Access, WriteError, write_atomically};
use crate::files::{self, SizeLimit};

/// The reason why the text of a context is not available.
#[derive(Debug, thiserror::Error)]
pub enum ContextFileError {
    #[error("the text of its context was not stored, because `log_context` was off")]
    Off,
    #[error("the text of its context could not be stored when the question was asked")]
    Failed,
    #[error("the text of its context is missing: there is no `{}`", .path.display())]
    Missing { path: PathBuf },
    #[error("`{}` has changed since the consultation began: its SHA-256 differs", .path.display())]
    Changed { path: PathBuf },
    #[error("cannot read the text of its context, `{}`", .path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Writes the text whole or not at all, readable by its owner alone, and waits for the disk.
pub fn write(path: &Path, context: &Context) -> Result<(), WriteError> {
    write_atomically(path, context.text.as_str().as_bytes(), Access::Own)
}

/// Reads the text that a context names; empty for a context without text.
///
/// # Errors
///
/// When the file is missing, is a link or no regular file, or has another text.
pub fn read(path: &Path, context: &Context) -> Result<ContextText, ContextFileError> {
    if context.bytes == 0 {
        return Ok(ContextText::default());
    }
    let path = path.to_owned();
    // A file of another size is not read, however large it is.
    let text = files::read_own(&path, SizeLimit::of_bytes(context.bytes)).and_then(files::text);
    match text {
        Ok(text) if sha256(&text) == context.sha256 => {
            Ok(ContextText::counted(text, context.tokens))
        }
        Ok(_) => Err(ContextFileError::Changed { path }),
        Err(source) => Err(match (source.kind(), context.storage) {
            (io::ErrorKind::NotFound, ContextStorage::Off) => ContextFileError::Off,
            (io::ErrorKind::NotFound, ContextStorage::Failed) => ContextFileError::Failed,
            (io::ErrorKind::NotFound, ContextStorage::Stored) => ContextFileError::Missing { path },
            (io::ErrorKind::FileTooLarge | io::ErrorKind::InvalidData, _) => {
                ContextFileError::Changed { path }
            }
            _ => ContextFileError::Io { path, source },
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    fn context(text: &str) -> Context {
        Context {
            bytes: text.len() as u64,
            sha256: sha256(text),
            text: ContextText::from(text.to_owned()),
            ..Context::default()
        }
    }

    fn error(path: &Path, context: &Context) -> String {
        read(path, context).unwrap_err().to_string()
    }

    #[test]
    fn text_is_read_back_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("consult-1.context");
        let context = context("### File: a.rs\n\nfn a() {}\n\n");
        write(&path, &context).unwrap();
        assert_eq!(read(&path, &context).unwrap(), context.text);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn file_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("consult-1.context");
        write(&path, &context("text")).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn changed_text_is_an_error_whatever_its_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("consult-1.context");
        let context = context("a text");
        let texts: [&[u8]; 5] = [b"", b"a text\n", b"a test", b"a te", b"a te\xff\xff"];
        for changed in texts {
            fs::write(&path, changed).unwrap();
            let error = error(&path, &context);
            assert!(
                error.ends_with("its SHA-256 differs"),
                "{changed:?}: {error}"
            );
        }
        // A sparse file of a terabyte is not read.
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert!(error(&path, &context).ends_with("its SHA-256 differs"));
    }

    #[test]
    fn missing_file_is_explained() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("consult-1.context");
        let mut context = context("a text");
        assert!(error(&path, &context).contains("there is no `"));
        context.storage = ContextStorage::Off;
        assert!(error(&path, &context).contains("`log_context` was off"));
        context.storage = ContextStorage::Failed;
        assert!(error(&path, &context).contains("could not be stored"));
    }

    #[test]
    fn context_without_text_needs_no_file() {
        let text = read(Path::new("/nowhere"), &Context::default()).unwrap();
        assert_eq!(text.as_str(), "");
    }

    #[test]
    fn link_is_refused_when_reading_and_replaced_when_writing() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("link"), folder.path().join("other"));
        fs::write(&other, "a text").unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        let context = context("a text");
        let refused = read(&path, &context).unwrap_err();
        let cause = std::error::Error::source(&refused).unwrap();
        assert_eq!(cause.to_string(), "it is a symbolic link");
        write(&path, &context).unwrap();
        assert!(!path.is_symlink());
        assert_eq!(read(&path, &context).unwrap(), context.text);
    }
}
