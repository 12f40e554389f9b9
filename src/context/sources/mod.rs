//! Reads the sources of context: files, folders, globs and standard input, as text.

mod decode;
pub mod error;
pub mod files;

use crate::domain::context::SourceKind;

/// The text of one source, before it is scrubbed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    pub kind: SourceKind,
    /// A file's path as given or found, a project's folder; `stdin`.
    pub name: String,
    pub text: String,
}

/// The limits of all sources together. Exceeding one is an error; no source is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceLimits {
    pub files: usize,
    pub bytes: u64,
}

impl Default for SourceLimits {
    fn default() -> Self {
        Self {
            files: 1_000,
            bytes: 16 << 20,
        }
    }
}
