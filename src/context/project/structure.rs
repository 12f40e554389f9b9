//! The layout of a project: its folders with the number of source files in each.

use std::collections::BTreeMap;

use super::tree::Tree;

/// Returns the languages with the number of their files, most first.
pub(super) fn languages(tree: &Tree) -> String {
    let mut languages: Vec<_> = tree.languages.iter().collect();
    languages.sort_by_key(|(_, files)| std::cmp::Reverse(**files));
    let languages: Vec<_> = languages
        .into_iter()
        .take(5)
        .map(|(language, files)| format!("{language} ({files})"))
        .collect();
    languages.join(", ")
}

/// Returns one line for each folder at the top that holds source files.
pub(super) fn folders(tree: &Tree) -> String {
    let mut folders: BTreeMap<&str, u64> = BTreeMap::new();
    for (folder, files) in &tree.folders {
        let top = folder.split('/').next().unwrap_or_default();
        *folders.entry(top).or_default() += files;
    }
    let lines = folders.into_iter().map(|(folder, files)| {
        let folder = if folder.is_empty() { "." } else { folder };
        format!("- {folder}/: {files}\n")
    });
    lines.collect()
}
