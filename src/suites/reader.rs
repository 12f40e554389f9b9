//! Reads a suite from a path: finds out its format, reads its cases and checks them together.

use std::collections::BTreeMap;
use std::io;
use std::path::{self, Path};
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};

use super::case::{self, CaseDefaults};
use super::case_file::{CaseFile, printable, shown_path, unusable};
use super::content::{self, ParsedFile};
use super::log::{FileLog, ProblemLog, SuiteError, SuitePlace, SuiteProblem};
use super::manifest::Manifest;
use super::raw_case::RawCase;
use super::shapes::{self, FieldMap, RowTerms, rows_of};
use super::suite::{Suite, SuiteCase, fingerprint};
use super::{MAX_CASES, folder, manifest, promptfoo};
use crate::text::node::{Node, NodeMap, NodeValue};

/// Reads and checks a suite, whose rows may have other fields.
///
/// # Errors
///
/// Lists the problems of all cases, with their lines.
pub fn read(path: &Path, fields: &FieldMap) -> Result<Suite, SuiteError> {
    let shown = shown_path(path);
    let unreadable = |source| SuiteError::Unreadable {
        path: shown.to_string(),
        source,
    };
    let absolute = path::absolute(path).map_err(unreadable)?;
    let log = FileLog::new(CaseFile::named(path).map_err(unreadable)?);
    let terms = RowTerms {
        fields: fields.clone(),
        ..RowTerms::default()
    };
    let (manifest, raw) = raw_cases(terms, &log).map_err(unreadable)?;
    let cases = cases(&raw, &manifest.defaults, &log);
    let mut log = log.take();
    check_together(&shown, &cases, &mut log);
    if !log.problems.is_empty() {
        return Err(SuiteError::Invalid {
            path: shown.to_string(),
            problems: in_order(log.problems),
        });
    }
    let of_file = if absolute.is_dir() {
        absolute.file_name()
    } else {
        absolute.file_stem()
    };
    let of_file = || of_file.unwrap_or_default().to_string_lossy().into_owned();
    Ok(Suite {
        name: printable(&manifest.name.unwrap_or_else(of_file)),
        path: absolute,
        sha256: fingerprint(&cases),
        cases,
        settings: manifest.settings,
        fields: fields.clone(),
        shapes: log.shapes.into_iter().collect(),
        notes: log.notes.into_iter().collect(),
    })
}

/// Returns the cases of a file or a folder, with what a manifest says of them.
fn raw_cases(mut terms: RowTerms, log: &FileLog) -> io::Result<(Manifest, Vec<RawCase>)> {
    let is_folder = log.file.path.is_dir();
    let manifest = folder::manifest(&log.file).filter(|_| is_folder);
    let of_file = match manifest {
        Some(manifest) => log.of(manifest),
        None if is_folder => return Ok((Manifest::default(), folder::cases(&terms, log)?)),
        None => log.clone(),
    };
    let map = match content_of(&terms, &of_file)? {
        FileContent::Manifest(map) => map,
        FileContent::Cases(_) if is_folder && !of_file.file.shown.contains("promptfoo") => {
            return Ok(of_file.refuse(0, "the manifest of a folder must be a map of keys"));
        }
        FileContent::Cases(raw) => return Ok((Manifest::default(), raw)),
    };
    let manifest = manifest::read(&map, &of_file);
    for (of, name) in &manifest.fields {
        let flag = terms.fields.entry(of.clone());
        flag.or_insert_with(|| name.clone());
    }
    terms.has_question = manifest.defaults.question.is_some();
    terms.has_match = manifest.defaults.matcher.is_some();
    let raw = match (&manifest.suite, &manifest.cases) {
        (Some((name, line)), _) => cases_of_path(name, *line, &terms, &of_file),
        (None, Some(nodes)) => cases_of(nodes, false, &terms, &of_file),
        (None, None) if is_folder => folder::cases(&terms, log)?,
        (None, None) => of_file.refuse(0, "a manifest needs `suite` with a path, or `cases`"),
    };
    Ok((manifest, raw))
}

fn cases_of_path(name: &str, line: usize, terms: &RowTerms, log: &FileLog) -> Vec<RawCase> {
    let cases = log.file.sibling(Path::new(name)).and_then(|other| {
        let other = log.of(other);
        if other.file.path.is_dir() {
            return folder::cases(terms, &other);
        }
        Ok(match content_of(terms, &other)? {
            FileContent::Cases(raw) => raw,
            FileContent::Manifest(_) => {
                let problem = format!("`{name}` is a manifest too, and must have cases");
                log.refuse(line, problem)
            }
        })
    });
    cases.unwrap_or_else(|error| {
        log.refuse(line, format!("the suite `{name}` {}", unusable(&error)))
    })
}

/// What a file has.
enum FileContent {
    Cases(Vec<RawCase>),
    Manifest(NodeMap),
}

fn content_of(terms: &RowTerms, log: &FileLog) -> io::Result<FileContent> {
    const UNKNOWN: &str = "not a suite by its name: it must be a folder or end in `.jsonl`, \
                           `.json`, `.yaml`, `.csv` or `.tsv`";
    let (line, value) = match content::parsed(log)? {
        ParsedFile::Document(Some(Node { line, value })) => (line, value),
        ParsedFile::Document(None) => return Ok(FileContent::Cases(Vec::new())),
        ParsedFile::Unknown => return Ok(FileContent::Cases(log.refuse(0, UNKNOWN))),
        ParsedFile::List { nodes, is_table } => {
            return Ok(FileContent::Cases(cases_of(&nodes, is_table, terms, log)));
        }
    };
    Ok(FileContent::Cases(match value {
        NodeValue::List(nodes) => cases_of(&nodes, false, terms, log),
        NodeValue::Map(map) if promptfoo::is_config(&map) => {
            promptfoo::cases_of_config(&map, line, log)
        }
        NodeValue::Map(map) => match rows_of(&map).filter(|_| !manifest::is(&map)) {
            Some(rows) => {
                let mut terms = terms.clone();
                terms.is_foreign = true;
                cases_of(&rows, false, &terms, log)
            }
            None => return Ok(FileContent::Manifest(map)),
        },
        _ => log.refuse(line, "a suite must be a list of cases or a manifest"),
    }))
}

fn cases_of(nodes: &[Node], is_table: bool, terms: &RowTerms, log: &FileLog) -> Vec<RawCase> {
    if nodes.len() > MAX_CASES {
        return log.refuse(0, too_many());
    }
    if terms.fields.is_empty() && nodes.iter().any(promptfoo::is_test) {
        return promptfoo::cases_of_tests(nodes, log);
    }
    shapes::cases(nodes, is_table, terms, log)
}

fn cases(raw: &[RawCase], defaults: &CaseDefaults, log: &FileLog) -> Vec<SuiteCase> {
    if raw.len() > MAX_CASES {
        return log.refuse(0, too_many());
    }
    let cases = raw.iter().zip(1..);
    let cases = cases.filter_map(|(raw, number)| case::read(raw, number, defaults));
    cases.collect()
}

fn too_many() -> String {
    format!("there are more than {MAX_CASES} cases")
}

/// By file and line, each once: what holds for several cases is found with each.
fn in_order(problems: Vec<SuiteProblem>) -> Vec<SuiteProblem> {
    let mut files: IndexMap<Arc<str>, IndexSet<SuiteProblem>> = IndexMap::new();
    for problem in problems {
        let file = Arc::clone(&problem.place.file);
        files.entry(file).or_default().insert(problem);
    }
    for of_file in files.values_mut() {
        of_file.sort_by_key(|problem| problem.place.line);
    }
    files.into_values().flatten().collect()
}

/// Checks what no case shows alone.
fn check_together(path: &Arc<str>, cases: &[SuiteCase], log: &mut ProblemLog) {
    if cases.is_empty() && log.problems.is_empty() {
        let (file, line) = (Arc::clone(path), None);
        log.add(SuitePlace { file, line }, "it has no cases");
    }
    let mut places = BTreeMap::new();
    for entry in cases {
        let id = &entry.case.id;
        if let Some(earlier) = places.insert(id, &entry.place) {
            let problem = format!("the id `{id}` is used at {earlier} already");
            log.add(entry.place.clone(), problem);
        }
    }
}
