//! Reads the sources of context: files, folders, globs and standard input, as text.

use crate::domain::context::SourceKind;

/// The text of one source, before it is scrubbed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    pub kind: SourceKind,
    /// A file's path as given or found, a project's folder; `stdin`.
    pub name: String,
    pub text: String,
}
