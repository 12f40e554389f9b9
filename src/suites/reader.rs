//! Reads a suite from a path: finds out its format, reads its cases and checks them together.

use std::collections::BTreeMap;
use std::io;
use std::path::{self, Path};

use crate::files::{self, SizeLimit};

use super::case::{self, CaseDefaults, CaseOrigin};
use super::error::{Place, SuiteError, printable};
use super::log::{FileLog, ProblemLog};
use super::node::json;
use super::suite::{Suite, SuiteCase, SuiteSettings, fingerprint};

/// The most cases of a suite.
const MOST_CASES: usize = 100_000;

/// Reads and checks a suite.
///
/// # Errors
///
/// Lists the problems of all cases, with their lines.
pub fn read(path: &Path) -> Result<Suite, SuiteError> {
    let shown = printable(&path.to_string_lossy());
    let unreadable = |source| SuiteError::Unreadable {
        path: shown.clone(),
        source,
    };
    let absolute = path::absolute(path).map_err(unreadable)?;
    let mut log = ProblemLog::default();
    let contents = read_contents(path, &absolute, &mut log).map_err(unreadable)?;
    check_together(&shown, &contents.cases, &mut log);
    if !log.problems.is_empty() {
        return Err(SuiteError::Invalid {
            path: shown,
            problems: log.problems,
        });
    }
    let named = absolute.file_stem().map(|stem| stem.to_string_lossy());
    let named = named.map(|stem| printable(&stem));
    Ok(Suite {
        name: contents.name.or(named).unwrap_or_default(),
        path: absolute,
        sha256: fingerprint(&contents.cases),
        cases: contents.cases,
        settings: contents.settings,
        notes: log.notes,
    })
}

/// What the files of a suite say.
#[derive(Debug, Default)]
struct SuiteContents {
    name: Option<String>,
    cases: Vec<SuiteCase>,
    settings: SuiteSettings,
}

fn read_contents(path: &Path, absolute: &Path, log: &mut ProblemLog) -> io::Result<SuiteContents> {
    let mut log = FileLog::new(&path.to_string_lossy(), log);
    let Some(text) = read_text(path, &mut log)? else {
        return Ok(SuiteContents::default());
    };
    let folder = absolute.parent().unwrap_or(absolute);
    let defaults = CaseDefaults::default();
    let mut contents = SuiteContents::default();
    for (node, number) in json::parse_lines(&text).into_iter().zip(1..) {
        let origin = CaseOrigin {
            number,
            id: None,
            folder,
            is_table: false,
            defaults: &defaults,
        };
        match node {
            Ok(node) => contents.cases.extend(case::read(&node, &origin, &mut log)),
            Err(error) => log.add(error.line, error.problem),
        }
    }
    Ok(contents)
}

/// Reads a file; `None` if it is not text, which is in the log then.
fn read_text(path: &Path, log: &mut FileLog<'_>) -> io::Result<Option<String>> {
    let bytes = files::read(path, SizeLimit::SUITE)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(match text.strip_prefix('\u{feff}') {
            Some(text) => text.to_owned(),
            None => text,
        })),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let before = error.as_bytes().get(..valid).unwrap_or_default();
            let line = memchr::memchr_iter(b'\n', before).count() + 1;
            log.add(line, "not UTF-8 text");
            Ok(None)
        }
    }
}

/// Checks what no case shows alone.
fn check_together(path: &str, cases: &[SuiteCase], log: &mut ProblemLog) {
    let whole = Place {
        file: path.into(),
        line: None,
    };
    if cases.is_empty() && log.problems.is_empty() {
        log.add(&whole, "it has no cases");
    }
    if cases.len() > MOST_CASES {
        let number = cases.len();
        log.add(&whole, format!("{number} cases are more than {MOST_CASES}"));
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::benchmark::case::Matcher;

    fn read_lines(text: &str) -> Result<Suite, SuiteError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("suite.jsonl");
        fs::write(&path, text).unwrap();
        read(&path)
    }

    #[test]
    fn matchers_follow_from_the_answers() {
        let suite = read_lines(
            "{\"question\": \"2 + 2?\", \"expected\": 4}\n\
             {\"question\": \"Capital?\", \"expected\": \"Oslo\"}\n\n\
             {\"question\": \"Which?\", \"options\": [\"x\", \"y\"], \"expected\": \"y\"}\n",
        )
        .unwrap();
        let cases: Vec<_> = suite.cases.iter().map(|entry| &entry.case).collect();
        assert_eq!(cases[0].id.as_str(), "case-1");
        assert!(matches!(cases[0].matcher, Matcher::Numeric { .. }));
        assert_eq!(cases[1].matcher, Matcher::Exact);
        assert!(matches!(cases[2].matcher, Matcher::Choice { .. }));
        assert_eq!(cases[2].expected, ["B"]);
        assert_eq!(suite.cases[2].place.line, Some(4));
    }

    #[test]
    fn all_problems_are_listed_with_their_lines() {
        let error = read_lines("{\"question\": \"x\"}\n[1\n{\"expektet\": 1}\n").unwrap_err();
        let problems = error.problems();
        let lines: Vec<_> = problems.iter().map(|one| one.place.line.unwrap()).collect();
        assert_eq!(lines, [1, 2, 3, 3, 3]);
        assert!(problems[2].problem.contains("did you mean `expected`?"));
    }
}
