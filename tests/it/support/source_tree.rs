//! The files of the repository, for tests that read the code itself.

use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Returns all files of a folder of the repository in order, or the file at the path.
pub(crate) fn files(path: &str) -> Vec<PathBuf> {
    let mut open = vec![Path::new(ROOT).join(path)];
    let mut files = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).unwrap();
            open.extend(entries.map(|entry| entry.unwrap().path()));
        } else {
            files.push(path);
        }
    }
    assert!(!files.is_empty(), "{path} has no files");
    files.sort();
    files
}

/// Returns the path inside the repository, with `/` on every system.
pub(crate) fn relative(path: &Path) -> String {
    let path = path.strip_prefix(ROOT).unwrap();
    path.to_str().unwrap().replace('\\', "/")
}

/// Returns the Rust files of a folder in order: the path inside the repository, and the text.
pub(crate) fn rust_files(folder: &str) -> Vec<(String, String)> {
    files(folder)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| (relative(&path), fs::read_to_string(path).unwrap()))
        .collect()
}
