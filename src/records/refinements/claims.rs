//! The documents that loops of this home write. A log can come with another person's project; the
//! home cannot.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::domain::hash::sha256;
use crate::files::write::{Access, WriteError, create_private_dir, folder_of, write_atomically};
use crate::files::{self, SizeLimit};

/// Characters of a key, enough for the documents of a person.
const KEY: usize = 16;

pub fn claim(home: &Path, document: &Path, source: &Path) -> Result<(), WriteError> {
    let (claim, document) = paths(home, document);
    let (_, source) = paths(home, source);
    create_private_dir(folder_of(&claim))?;
    let text = format!("{}\n{}\n", document.display(), source.display());
    write_atomically(&claim, text.as_bytes(), Access::Own)
}

/// Returns the documents that the loops of this home read, whose folders have their logs, each with
/// a key that names it in addresses. What cannot be read is left out.
pub fn sources(home: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(home.join("refinements")).into_iter().flatten();
    let source = |entry: fs::DirEntry| {
        let text = files::read_own(&entry.path(), SizeLimit::DOCUMENT).ok()?;
        files::text(text).ok()?.lines().last().map(str::to_owned)
    };
    let sources: BTreeSet<String> = entries.flatten().filter_map(source).collect();
    let key = |source: &str| sha256(source).chars().take(KEY).collect();
    let sources = sources.into_iter();
    sources
        .map(|source| (key(&source), source.into()))
        .collect()
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
