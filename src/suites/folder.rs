//! A folder: each file is a case, and each sub-folder is one, in the order of their names. Hidden
//! entries are skipped.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::log::FileLog;
use super::raw_case::{CaseFile, RawCase, set};
use super::text_file::{self, ParsedFile};
use crate::domain::node::{Node, NodeMap, NodeValue};

/// The manifest of a folder, by its possible names.
const MANIFESTS: [&str; 3] = ["suite.yaml", "suite.yml", "suite.json"];
/// A case's fields, beside its texts.
const FIELDS: [&str; 3] = ["case.yaml", "case.yml", "case.json"];
const QUESTIONS: [&str; 2] = ["question.md", "question.txt"];
const ANSWERS: [&str; 2] = ["expected.txt", "expected.md"];
/// The endings of files that are cases.
const ENDINGS: [&str; 3] = ["json", "yaml", "yml"];

/// The deepest folder and the most files of a case.
const DEEPEST: usize = 8;
const MOST_FILES: usize = 1000;

/// Returns the manifest of a folder.
pub(super) fn manifest(folder: &Path) -> Option<PathBuf> {
    let mut paths = MANIFESTS.iter().map(|name| folder.join(name));
    paths.find(|path| path.is_file())
}

/// Reads the cases of a folder; their problems are in the log.
pub(super) fn cases(
    shown: &Path,
    folder: &Path,
    log: &mut FileLog<'_>,
) -> io::Result<Vec<RawCase>> {
    let mut cases = Vec::new();
    for (name, path) in entries(folder)? {
        let file = CaseFile::new(&shown.join(&name), &path);
        let mut log = log.of_file(&file.shown);
        if path.is_dir() {
            cases.extend(case_of_folder(&file, &name, &mut log));
        } else if MANIFESTS.contains(&name.as_str()) {
        } else if ENDINGS.contains(&file.extension().as_str()) {
            if let Some(map) = fields(&file, &mut log) {
                let stem = path.file_stem().map(|stem| stem.to_string_lossy());
                cases.push(RawCase {
                    id: stem.map(std::borrow::Cow::into_owned),
                    ..file.case(map)
                });
            }
        } else {
            log.note("not a case: neither a folder nor JSON nor YAML");
        }
    }
    Ok(cases)
}

/// Returns the entries of a folder that are not hidden, sorted by name.
fn entries(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') {
            entries.push((name, entry.path()));
        }
    }
    entries.sort();
    Ok(entries)
}

/// Reads the fields of a case from a file.
fn fields(file: &CaseFile, log: &mut FileLog<'_>) -> Option<Node> {
    let before = log.problems();
    let content = text_file::content(&file.path, log);
    match content {
        Ok(ParsedFile::Document(Some(node))) => Some(node),
        Ok(_) if log.problems() > before => None,
        Ok(_) => log.refuse(0, "the file is empty"),
        Err(error) => log.refuse(0, text_file::unusable(&error)),
    }
}

fn text(path: &Path, log: &mut FileLog<'_>) -> Option<String> {
    text_file::read(path, log).unwrap_or_else(|error| log.refuse(0, text_file::unusable(&error)))
}

/// Makes a case of a sub-folder: its question, its answer, and all other files as what belongs to
/// it.
fn case_of_folder(file: &CaseFile, name: &str, log: &mut FileLog<'_>) -> Option<RawCase> {
    let before = log.problems();
    let mut paths = Vec::new();
    walk(&file.path, Path::new(""), &mut paths, log);
    let mut node = Node {
        line: 0,
        value: NodeValue::Map(NodeMap::new()),
    };
    if let Some(name) = take(&mut paths, &FIELDS, log) {
        let inner = file.inner(&name);
        node = fields(&inner, &mut log.of_file(&inner.shown))?;
    }
    let NodeValue::Map(map) = &mut node.value else {
        return log.refuse(0, "the file with the fields of the case has no keys");
    };
    for (key, names) in [("question", QUESTIONS), ("expected", ANSWERS)] {
        let Some(name) = take(&mut paths, &names, log) else {
            continue;
        };
        if map.contains_key(key) {
            log.add_whole(format!(
                "`{key}` is in `{name}` and in the fields of the case"
            ));
        }
        let inner = file.inner(&name);
        let text = text(&inner.path, &mut log.of_file(&inner.shown))?;
        set(map, key, 0, NodeValue::Text(text));
    }
    if !paths.is_empty() && !map.contains_key("files") {
        let nodes = paths.into_iter().map(|path| Node::text(0, path)).collect();
        set(map, "files", 0, NodeValue::List(nodes));
    }
    (log.problems() == before).then(|| RawCase {
        id: Some(name.to_owned()),
        folder: file.path.clone(),
        ..file.case(node)
    })
}

/// Takes the file with one of these names out of the paths.
fn take(paths: &mut Vec<String>, names: &[&str], log: &mut FileLog<'_>) -> Option<String> {
    let (found, rest): (Vec<_>, Vec<_>) = std::mem::take(paths)
        .into_iter()
        .partition(|path| names.contains(&path.as_str()));
    *paths = rest;
    if let [first, second, ..] = found.as_slice() {
        log.add_whole(format!("`{first}` and `{second}` mean the same"));
    }
    found.into_iter().next()
}

/// Lists the files below a folder that are not hidden, relative to the case.
fn walk(folder: &Path, relative: &Path, paths: &mut Vec<String>, log: &mut FileLog<'_>) {
    if relative.components().count() > DEEPEST || paths.len() > MOST_FILES {
        let problem = format!("more than {MOST_FILES} files, or {DEEPEST} levels of folders");
        log.add_whole(problem);
        return;
    }
    let entries = match entries(folder) {
        Ok(entries) => entries,
        Err(error) => {
            log.add_whole(text_file::unusable(&error));
            return;
        }
    };
    for (name, path) in entries {
        let relative = relative.join(name);
        if path.is_dir() {
            walk(&path, &relative, paths, log);
        } else {
            paths.push(relative.to_string_lossy().into_owned());
        }
    }
}
