//! A folder: each file is a case, and each sub-folder is one, in the order of their names. Hidden
//! entries are skipped.

use std::io;
use std::path::Path;

use super::case_file::{CaseFile, path_inside, unusable};
use super::content::{self, ParsedFile};
use super::log::FileLog;
use super::raw_case::RawCase;
use super::shapes::{self, RowTerms};
use crate::files::resolved;
use crate::text::node::{Node, NodeMap, NodeValue};

/// The manifest of a folder, by its possible names.
const MANIFESTS: [&str; 6] = [
    "suite.yaml",
    "suite.yml",
    "suite.json",
    "promptfooconfig.yaml",
    "promptfooconfig.yml",
    "promptfooconfig.json",
];
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

/// Returns the cases of the log's folder.
pub(super) fn cases(terms: &RowTerms, log: &FileLog) -> io::Result<Vec<RawCase>> {
    let mut cases = Vec::new();
    for (name, file) in entries(Path::new(""), log)? {
        let is_folder = file.path.is_dir();
        let is_case = ENDINGS.contains(&file.extension().as_str());
        let log = log.of(file);
        let (node, log, id) = if is_folder {
            let node = case_of_folder(&log);
            let folder = log.file.path.clone();
            let file = CaseFile {
                folder,
                ..log.file.clone()
            };
            (node, log.of(file), name)
        } else if MANIFESTS.contains(&name.as_str()) {
            continue;
        } else if is_case {
            let stem = Path::new(&name).file_stem().unwrap_or_default();
            (fields(&log), log, stem.to_string_lossy().into_owned())
        } else {
            log.note("not a case: neither a folder nor JSON nor YAML");
            continue;
        };
        let own = shapes::cases(node.as_slice(), false, terms, &log).into_iter();
        let id = Some(id);
        cases.extend(own.map(|case| RawCase {
            id: id.clone(),
            ..case
        }));
    }
    Ok(cases)
}

/// A file or folder with its name in a folder or a case.
type NamedFile = (String, CaseFile);

/// Leaves out hidden entries and sorts by name. Links out of the log's folder are problems.
fn entries(folder: &Path, log: &FileLog) -> io::Result<Vec<NamedFile>> {
    let mut entries = Vec::new();
    for entry in resolved::list(&path_inside(folder, &log.file.path)?)? {
        let name = entry.name.to_string_lossy().into_owned();
        let path = folder.join(&entry.name);
        match log.file.inner(&path) {
            _ if name.starts_with('.') => {}
            Ok(file) => entries.push((name, file)),
            Err(error) => {
                let shown = log.file.shown_inner(&path);
                let file = CaseFile {
                    shown,
                    ..log.file.clone()
                };
                log.of(file).add(0, unusable(&error));
            }
        }
    }
    Ok(entries)
}

fn fields(log: &FileLog) -> Option<Node> {
    let before = log.problems();
    match content::parsed(log) {
        Ok(ParsedFile::Document(Some(node))) => Some(node),
        Ok(_) if log.problems() > before => None,
        Ok(_) => log.refuse(0, "the file is empty"),
        Err(error) => log.refuse(0, unusable(&error)),
    }
}

/// Takes the question, the answer, and all other files of the log's folder.
fn case_of_folder(log: &FileLog) -> Option<Node> {
    let before = log.problems();
    let mut files = Vec::new();
    walk(Path::new(""), &mut files, log);
    let mut node = Node::map(0, NodeMap::new());
    if let Some((_, inner)) = take(&mut files, &FIELDS, log) {
        node = fields(&log.of(inner))?;
    }
    let NodeValue::Map(map) = &mut node.value else {
        return log.refuse(0, "the file with the fields of the case has no keys");
    };
    for (key, names) in [("question", QUESTIONS), ("expected", ANSWERS)] {
        let Some((name, inner)) = take(&mut files, &names, log) else {
            continue;
        };
        if map.contains_key(key) {
            let problem = format!("`{key}` is in `{name}` and in the fields of the case");
            log.add(0, problem);
        }
        let log = log.of(inner);
        let text = content::read(&log);
        let text = text.unwrap_or_else(|error| log.refuse(0, unusable(&error)))?;
        map.insert(key.to_owned(), Node::text(0, text));
    }
    if !files.is_empty() && !map.contains_key("files") {
        let names = files.into_iter().map(|(name, _)| Node::text(0, name));
        map.insert("files".to_owned(), Node::list(0, names.collect()));
    }
    (log.problems() == before).then_some(node)
}

fn take(files: &mut Vec<NamedFile>, names: &[&str], log: &FileLog) -> Option<NamedFile> {
    let is_named = |(name, _): &mut NamedFile| names.contains(&name.as_str());
    let mut found = files.extract_if(.., is_named);
    let (first, second) = (found.next()?, found.next());
    if let Some((second, _)) = second {
        log.add(0, format!("`{}` and `{second}` mean the same", first.0));
    }
    drop(found);
    Some(first)
}

/// Leaves out hidden files; the keys are the names in the case.
fn walk(folder: &Path, files: &mut Vec<NamedFile>, log: &FileLog) {
    if folder.components().count() > DEEPEST || files.len() > MAX_FILES {
        let problem = format!("more than {MAX_FILES} files, or {DEEPEST} levels of folders");
        return log.add(0, problem);
    }
    let entries = entries(folder, log);
    for (name, file) in entries.unwrap_or_else(|error| log.refuse(0, unusable(&error))) {
        let name = folder.join(name);
        if file.path.is_dir() {
            walk(&name, files, log);
        } else {
            files.push((name.to_string_lossy().into_owned(), file));
        }
    }
}
