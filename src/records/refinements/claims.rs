//! The documents that loops of this home write. A log can come with another person's project; the
//! home cannot.

use std::path::{Path, PathBuf};

use crate::domain::hash::sha256;
use crate::files::write::{Access, WriteError, create_private_dir, folder_of, write_atomically};

pub fn claim(home: &Path, document: &Path) -> Result<(), WriteError> {
    let (claim, document) = paths(home, document);
    create_private_dir(folder_of(&claim))?;
    let text = format!("{}\n", document.display());
    write_atomically(&claim, text.as_bytes(), Access::Own)
}

pub fn is_claimed(home: &Path, document: &Path) -> bool {
    paths(home, document).0.exists()
}

fn paths(home: &Path, document: &Path) -> (PathBuf, PathBuf) {
    let folder = folder_of(document);
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let document = folder.join(document.file_name().unwrap_or_default());
    let name = sha256(&document.to_string_lossy());
    (home.join("refinements").join(name), document)
}
