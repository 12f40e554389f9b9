//! Reads the sources of context: files, folders, globs and standard input, as text.

mod decode;
pub mod error;
mod walk;
pub mod files;
pub mod stdin;

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

/// The size of sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceSize {
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

/// Returns a size in megabytes, rounded up to one decimal place.
fn megabytes(bytes: u64) -> String {
    let tenths = u128::from(bytes).saturating_mul(10).div_ceil(1 << 20);
    let (whole, rest) = (tenths / 10, tenths % 10);
    if rest == 0 {
        format!("{whole} MB")
    } else {
        format!("{whole}.{rest} MB")
    }
}
