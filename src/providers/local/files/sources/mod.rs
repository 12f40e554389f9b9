//! Sources of a model's file. Each downloads the bytes to the `.part` file; none is trusted: the
//! hash decides.

pub mod hub;
pub mod part;
#[cfg(feature = "local")]
pub mod wheels;

/// Errors of a source.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Another source may succeed.
    #[error("{0}")]
    Unavailable(String),
    /// No other source can help: the file cannot be written here.
    #[error(transparent)]
    Part(#[from] part::PartError),
}
