//! The layout of a project: its languages, and its folders with what they are for and the number of
//! source files in each.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::rules::Rules;
use super::tree::Tree;
use crate::text::clean::count;

/// So many folders are named.
const FOLDERS: usize = 20;
/// So many languages are named.
const LANGUAGES: usize = 4;
/// A folder with at least this part of the source files is shown by its own folders, as a divisor.
const LARGE: u64 = 8;

/// Most first.
pub(super) fn languages(tree: &Tree) -> Option<String> {
    let mut languages: Vec<_> = tree.languages.iter().collect();
    languages.sort_by_key(|(_, files)| Reverse(**files));
    let names: Vec<_> = languages
        .iter()
        .take(LANGUAGES)
        .map(|(language, files)| format!("{language} ({})", count(**files, "file")))
        .collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Large folders are divided.
pub(super) fn folders(tree: &Tree, rules: &Rules, router: Option<&str>) -> Vec<String> {
    let sums = sums(tree);
    let large = tree.sources() / LARGE;
    let mut shown: BTreeMap<&str, u64> = BTreeMap::new();
    for (folder, files) in &sums {
        if !folder.contains('/') && !folder.is_empty() {
            shown.insert(folder, *files);
        }
    }
    // The largest folder first, as long as there is room.
    loop {
        let fits = |folder: &str| {
            let inner = children(&sums, folder).len();
            inner > 1 && shown.len() + inner <= FOLDERS
        };
        // The first of those with as many files.
        let fitting = shown
            .iter()
            .rev()
            .filter(|(folder, files)| **files > large && fits(folder))
            .max_by_key(|(_, files)| **files);
        let Some((folder, _)) = fitting else { break };
        let folder = *folder;
        shown.remove(folder);
        shown.extend(children(&sums, folder));
        // Only a folder with files of its own is shown beside its folders, and not divided again.
        if let Some(own) = tree.folders.get(folder)
            && *own > large
        {
            break;
        }
    }
    let mut lines: Vec<(&str, u64)> = shown.into_iter().collect();
    if lines.len() > FOLDERS {
        lines.sort_by_key(|(_, files)| Reverse(*files));
        lines.truncate(FOLDERS);
        lines.sort_unstable();
    }
    let lines = lines.into_iter().map(|(folder, files)| {
        let name = folder.rsplit('/').next().unwrap_or(folder);
        let purpose = match (name, router) {
            ("app", Some("app_router" | "app_and_pages_router")) => Some("App Router pages"),
            ("pages", Some("pages_router" | "app_and_pages_router")) => Some("Pages Router pages"),
            _ => rules
                .folders
                .get(&name.to_ascii_lowercase())
                .map(String::as_str),
        };
        match purpose {
            Some(purpose) => format!("- {folder}/ ({purpose}; {})", count(files, "file")),
            None => format!("- {folder}/ ({})", count(files, "file")),
        }
    });
    let own = tree
        .folders
        .get("")
        .map(|files| format!("- ./ ({})", count(*files, "file")));
    lines.chain(own).collect()
}

/// Returns the number of source files below each folder, and in it.
pub(super) fn sums(tree: &Tree) -> BTreeMap<&str, u64> {
    let mut sums = BTreeMap::new();
    for (folder, files) in &tree.folders {
        let ends = folder.match_indices('/').map(|(end, _)| end);
        for end in ends.chain([folder.len()]) {
            *sums.entry(folder.get(..end).unwrap_or(folder)).or_default() += files;
        }
    }
    sums
}

fn children<'a>(sums: &BTreeMap<&'a str, u64>, folder: &str) -> Vec<(&'a str, u64)> {
    let below = sums.iter().filter(|(other, _)| {
        other
            .strip_prefix(folder)
            .and_then(|rest| rest.strip_prefix('/'))
            .is_some_and(|rest| !rest.contains('/'))
    });
    below.map(|(other, files)| (*other, *files)).collect()
}
