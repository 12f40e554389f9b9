//! Why the folder beside a document cannot be used.

use crate::error::Error;
use crate::records::refinements::RefinementStoreError;

/// Explains why the loops over a document cannot be read or continued.
pub(super) fn unreadable(error: RefinementStoreError) -> Error {
    match &error {
        RefinementStoreError::Busy(_) => {
            Error::usage(error).hint("wait until that process has ended, or end it")
        }
        RefinementStoreError::FolderLink(folder) => {
            let hint = format!("remove the link `{}`", folder.display());
            Error::usage(error).hint(hint)
        }
        RefinementStoreError::OtherDocument { folder, .. } => {
            let hint = format!("rename the folder `{}`, or the document", folder.display());
            Error::usage(error).hint(hint)
        }
        RefinementStoreError::NotBegun(_)
        | RefinementStoreError::Gone(_)
        | RefinementStoreError::Write(_) => Error::failed(error),
        RefinementStoreError::Log(_) => Error::failed(error)
            .hint("begin without it: rename the folder beside the document, which has that log"),
    }
}
