//! A folder: each file is a case, and each sub-folder is one, in the order of their names. Hidden
//! entries are skipped.

use std::io;
use std::path::Path;

use super::log::FileLog;
use super::raw_case::{self, CaseFile, ParsedFile, RawCase, path_inside, set};
use super::shapes::{self, RowTerms};
use crate::files::resolved;
use crate::text::node::{Node, NodeMap, NodeValue};

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
const MAX_FILES: usize = 1000;

pub(super) fn manifest(folder: &CaseFile) -> Option<CaseFile> {
    let files = MANIFESTS.map(|name| folder.inner(Path::new(name)).ok());
    files.into_iter().flatten().find(|file| file.path.is_file())
}

/// Problems go to the log.
pub(super) fn cases(
    folder: &CaseFile,
    terms: &RowTerms,
    log: &mut FileLog<'_>,
) -> io::Result<Vec<RawCase>> {
    let mut cases = Vec::new();
    for (name, file) in entries(folder, Path::new(""), log)? {
        let mut log = log.of_file(&file.shown);
        if file.path.is_dir() {
            cases.extend(case_of_folder(&file, &name, &mut log));
        } else if MANIFESTS.contains(&name.as_str()) {
        } else if ENDINGS.contains(&file.extension().as_str()) {
            if let Some(map) = fields(&file, &mut log) {
                let stem = Path::new(&name).file_stem();
                cases.push(RawCase {
                    id: stem.map(|stem| stem.to_string_lossy().into_owned()),
                    ..file.case(map)
                });
            }
        } else {
            log.note("not a case: neither a folder nor JSON nor YAML");
        }
    }
    let shaped = cases.into_iter().flat_map(|case: RawCase| {
        let mut log = log.of_file(&case.file);
        let rows = shapes::shaped(vec![case.node.clone()], false, terms, &mut log);
        log.recognise(&rows.shape.name);
        rows.nodes.into_iter().map(move |node| RawCase {
            node,
            ..case.clone()
        })
    });
    Ok(shaped.collect())
}

/// A file or folder with its name in a folder or a case.
type NamedFile = (String, CaseFile);

/// Leaves out hidden entries and sorts by name. Links out of the upper folder are problems.
fn entries(upper: &CaseFile, folder: &Path, log: &mut FileLog<'_>) -> io::Result<Vec<NamedFile>> {
    let mut entries = Vec::new();
    for entry in resolved::list(&path_inside(folder, &upper.path)?)? {
        let name = entry.name.to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let path = folder.join(&entry.name);
        match upper.inner(&path) {
            Ok(file) => entries.push((name, file)),
            Err(error) => {
                let shown = Path::new(&*upper.shown).join(path);
                let mut log = log.of_file(&shown.to_string_lossy());
                log.add(0, raw_case::unusable(&error));
            }
        }
    }
    Ok(entries)
}

fn fields(file: &CaseFile, log: &mut FileLog<'_>) -> Option<Node> {
    let before = log.problems();
    let content = raw_case::content(file, log);
    match content {
        Ok(ParsedFile::Document(Some(node))) => Some(node),
        Ok(_) if log.problems() > before => None,
        Ok(_) => log.refuse(0, "the file is empty"),
        Err(error) => log.refuse(0, raw_case::unusable(&error)),
    }
}

/// Takes the question, the answer, and all other files of the folder.
fn case_of_folder(file: &CaseFile, name: &str, log: &mut FileLog<'_>) -> Option<RawCase> {
    let before = log.problems();
    let mut files = Vec::new();
    walk(file, Path::new(""), &mut files, log);
    let mut node = Node::map(0, NodeMap::new());
    if let Some((_, inner)) = take(&mut files, &FIELDS, log) {
        node = fields(&inner, &mut log.of_file(&inner.shown))?;
    }
    let NodeValue::Map(map) = &mut node.value else {
        return log.refuse(0, "the file with the fields of the case has no keys");
    };
    for (key, names) in [("question", QUESTIONS), ("expected", ANSWERS)] {
        let Some((name, inner)) = take(&mut files, &names, log) else {
            continue;
        };
        if map.contains_key(key) {
            log.add(
                0,
                format!("`{key}` is in `{name}` and in the fields of the case"),
            );
        }
        let mut log = log.of_file(&inner.shown);
        let text = raw_case::read(&inner, &mut log);
        let text = text.unwrap_or_else(|error| log.refuse(0, raw_case::unusable(&error)))?;
        set(map, key, 0, NodeValue::Text(text));
    }
    if !files.is_empty() && !map.contains_key("files") {
        let names = files.into_iter().map(|(name, _)| name);
        let nodes = names.map(|name| Node::text(0, name)).collect();
        set(map, "files", 0, NodeValue::List(nodes));
    }
    (log.problems() == before).then(|| RawCase {
        id: Some(name.to_owned()),
        folder: file.path.clone(),
        ..file.case(node)
    })
}

fn take(files: &mut Vec<NamedFile>, names: &[&str], log: &mut FileLog<'_>) -> Option<NamedFile> {
    let (found, rest): (Vec<_>, Vec<_>) = std::mem::take(files)
        .into_iter()
        .partition(|(name, _)| names.contains(&name.as_str()));
    *files = rest;
    if let [(first, _), (second, _), ..] = found.as_slice() {
        log.add(0, format!("`{first}` and `{second}` mean the same"));
    }
    found.into_iter().next()
}

/// Leaves out hidden files; the keys are the names in the case.
fn walk(case: &CaseFile, folder: &Path, files: &mut Vec<NamedFile>, log: &mut FileLog<'_>) {
    if folder.components().count() > DEEPEST || files.len() > MAX_FILES {
        let problem = format!("more than {MAX_FILES} files, or {DEEPEST} levels of folders");
        log.add(0, problem);
        return;
    }
    let entries = match entries(case, folder, log) {
        Ok(entries) => entries,
        Err(error) => {
            log.add(0, raw_case::unusable(&error));
            return;
        }
    };
    for (name, file) in entries {
        let name = folder.join(name);
        if file.path.is_dir() {
            walk(case, &name, files, log);
        } else {
            files.push((name.to_string_lossy().into_owned(), file));
        }
    }
}
