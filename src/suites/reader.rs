//! Reads a suite from a path: finds out its format, reads its cases and checks them together.

use std::collections::BTreeMap;
use std::io;
use std::path::{self, Path};
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};

use super::case::{self, CaseDefaults};
use super::log::{FileLog, ProblemLog};
use super::log::{SuiteError, SuitePlace, SuiteProblem, printable};
use super::manifest::Manifest;
use super::raw_case::{self, CaseFile, ParsedFile, RawCase, unusable};
use super::shapes::{self, FieldMap, RowTerms, rows_of};
use super::suite::{Suite, SuiteCase, SuiteSettings, fingerprint};
use super::{MAX_CASES, folder, manifest, promptfoo};
use crate::text::node::{Node, NodeMap, NodeValue};

/// Reads and checks a suite.
///
/// # Errors
///
/// Lists the problems of all cases, with their lines.
pub fn read(path: &Path) -> Result<Suite, SuiteError> {
    read_mapped(path, &FieldMap::new())
}

/// Reads a suite whose rows have other fields.
///
/// # Errors
///
/// As [`read`].
pub fn read_mapped(path: &Path, fields: &FieldMap) -> Result<Suite, SuiteError> {
    let shown = printable(&path.to_string_lossy());
    let unreadable = |source| SuiteError::Unreadable {
        path: shown.clone(),
        source,
    };
    let absolute = path::absolute(path).map_err(unreadable)?;
    let mut log = ProblemLog::default();
    let file = CaseFile::named(path).map_err(unreadable)?;
    let contents = read_contents(&file, fields, &mut log).map_err(unreadable)?;
    check_together(&shown, &contents.cases, &mut log);
    if !log.problems.is_empty() {
        return Err(SuiteError::Invalid {
            path: shown,
            problems: in_order(log.problems),
        });
    }
    let named = if absolute.is_dir() {
        absolute.file_name()
    } else {
        absolute.file_stem()
    };
    let named = named.map(|name| printable(&name.to_string_lossy()));
    Ok(Suite {
        name: contents.name.or(named).unwrap_or_default(),
        path: absolute,
        sha256: fingerprint(&contents.cases),
        cases: contents.cases,
        settings: contents.settings,
        fields: fields.clone(),
        shapes: log.shapes.into_iter().collect(),
        notes: log.notes.into_iter().collect(),
    })
}

/// What the files of a suite say.
#[derive(Debug, Default)]
struct SuiteContents {
    name: Option<String>,
    cases: Vec<SuiteCase>,
    settings: SuiteSettings,
}

fn read_contents(
    file: &CaseFile,
    fields: &FieldMap,
    log: &mut ProblemLog,
) -> io::Result<SuiteContents> {
    let mut log = FileLog::new(&file.shown, log);
    let terms = RowTerms {
        fields: fields.clone(),
        ..RowTerms::default()
    };
    if !file.path.is_dir() {
        return read_file(file, None, terms, &mut log);
    }
    let Some(manifest) = folder::manifest(file) else {
        let raw = folder::cases(file, &terms, &mut log)?;
        return Ok(contents(Manifest::default(), &raw, &mut log));
    };
    let mut log = log.of_file(&manifest.shown);
    read_file(&manifest, Some(file), terms, &mut log)
}

fn contents(manifest: Manifest, raw: &[RawCase], log: &mut FileLog<'_>) -> SuiteContents {
    SuiteContents {
        name: manifest.name.map(|name| printable(&name)),
        cases: read_cases(raw, &manifest.defaults, log),
        settings: manifest.settings,
    }
}

fn read_file(
    file: &CaseFile,
    folder: Option<&CaseFile>,
    mut terms: RowTerms,
    log: &mut FileLog<'_>,
) -> io::Result<SuiteContents> {
    let map = match content_of(file, &terms, log)? {
        FileContent::Cases(raw) if folder.is_none() => {
            return Ok(contents(Manifest::default(), &raw, log));
        }
        FileContent::Cases(_) => {
            log.add(0, "the manifest of a folder must be a map of keys");
            return Ok(SuiteContents::default());
        }
        FileContent::Manifest(map) => map,
    };
    let mut manifest = manifest::read(&map, log);
    for (of, name) in &manifest.fields {
        let flag = terms.fields.entry(of.clone());
        flag.or_insert_with(|| name.clone());
    }
    terms.has_question = manifest.defaults.question.is_some();
    terms.has_match = manifest.defaults.matcher.is_some();
    let raw = match (&manifest.suite, manifest.cases.take(), folder) {
        (Some((name, line)), ..) => cases_of_path(name, *line, file, &terms, log),
        (None, Some(nodes), _) => cases_of(nodes, false, file, &terms, log),
        (None, None, Some(folder)) => folder::cases(folder, &terms, log)?,
        (None, None, None) => {
            log.add(0, "a manifest needs `suite` with a path, or `cases`");
            Vec::new()
        }
    };
    Ok(contents(manifest, &raw, log))
}

fn cases_of_path(
    name: &str,
    line: usize,
    file: &CaseFile,
    terms: &RowTerms,
    log: &mut FileLog<'_>,
) -> Vec<RawCase> {
    let cases = file.sibling(Path::new(name)).and_then(|other| {
        if other.path.is_dir() {
            return folder::cases(&other, terms, log);
        }
        match content_of(&other, terms, &mut log.of_file(&other.shown))? {
            FileContent::Cases(raw) => Ok(raw),
            FileContent::Manifest(_) => {
                let problem = format!("`{name}` is a manifest too, and must have cases");
                log.add(line, problem);
                Ok(Vec::new())
            }
        }
    });
    cases.unwrap_or_else(|error| {
        log.add(line, format!("the suite `{name}` {}", unusable(&error)));
        Vec::new()
    })
}

/// What a file has.
enum FileContent {
    Cases(Vec<RawCase>),
    Manifest(NodeMap),
}

/// Problems go to the log.
fn content_of(file: &CaseFile, terms: &RowTerms, log: &mut FileLog<'_>) -> io::Result<FileContent> {
    let cases = match raw_case::content(file, log)? {
        ParsedFile::List { nodes, is_table } => cases_of(nodes, is_table, file, terms, log),
        ParsedFile::Document(None) => Vec::new(),
        ParsedFile::Document(Some(Node { line, value })) => match value {
            NodeValue::List(nodes) => cases_of(nodes, false, file, terms, log),
            NodeValue::Map(map) if promptfoo::is_config(&map) => {
                promptfoo::cases_of_config(&map, line, file, log)
            }
            NodeValue::Map(map) => match rows_of(&map).filter(|_| !manifest::is(&map)) {
                Some(rows) => {
                    let mut terms = terms.clone();
                    terms.is_foreign = true;
                    cases_of(rows, false, file, &terms, log)
                }
                None => return Ok(FileContent::Manifest(map)),
            },
            _ => {
                log.add(line, "a suite must be a list of cases or a manifest");
                Vec::new()
            }
        },
        ParsedFile::Unknown => {
            log.add(
                0,
                "not a suite by its name: it must be a folder or end in `.jsonl`, `.json`, \
                 `.yaml`, `.csv` or `.tsv`",
            );
            Vec::new()
        }
    };
    Ok(FileContent::Cases(cases))
}

fn cases_of(
    nodes: Vec<Node>,
    is_table: bool,
    file: &CaseFile,
    terms: &RowTerms,
    log: &mut FileLog<'_>,
) -> Vec<RawCase> {
    if nodes.len() > MAX_CASES {
        log.add(0, format!("there are more than {MAX_CASES} cases"));
        return Vec::new();
    }
    if terms.fields.is_empty() && nodes.iter().any(promptfoo::is_test) {
        return promptfoo::cases_of_tests(&nodes, file, log);
    }
    let rows = shapes::shaped(nodes, is_table, terms, log);
    log.recognise(&rows.shape.name);
    let case = |node| RawCase {
        is_table,
        matcher: rows.shape.matcher.clone(),
        ..file.case(node)
    };
    rows.nodes.into_iter().map(case).collect()
}

fn read_cases(raw: &[RawCase], defaults: &CaseDefaults, log: &mut FileLog<'_>) -> Vec<SuiteCase> {
    if raw.len() > MAX_CASES {
        log.add(0, format!("there are more than {MAX_CASES} cases"));
        return Vec::new();
    }
    let cases = raw.iter().zip(1..);
    cases
        .filter_map(|(raw, number)| case::read(raw, number, defaults, &mut log.of_file(&raw.file)))
        .collect()
}

/// By file and line, each once: what holds for several cases is found with each.
fn in_order(problems: Vec<SuiteProblem>) -> Vec<SuiteProblem> {
    let unique: IndexSet<SuiteProblem> = problems.into_iter().collect();
    let mut files: IndexMap<Arc<str>, Vec<SuiteProblem>> = IndexMap::new();
    for problem in unique {
        let file = Arc::clone(&problem.place.file);
        files.entry(file).or_default().push(problem);
    }
    for of_file in files.values_mut() {
        of_file.sort_by_key(|problem| problem.place.line);
    }
    files.into_values().flatten().collect()
}

/// Checks what no case shows alone.
fn check_together(path: &str, cases: &[SuiteCase], log: &mut ProblemLog) {
    let whole = SuitePlace {
        file: path.into(),
        line: None,
    };
    if cases.is_empty() && log.problems.is_empty() {
        log.add(&whole, "it has no cases");
    }
    let mut places = BTreeMap::new();
    for entry in cases {
        let id = &entry.case.id;
        if let Some(earlier) = places.insert(id, &entry.place) {
            let problem = format!("the id `{id}` is used at {earlier} already");
            log.add(&entry.place, problem);
        }
    }
}
