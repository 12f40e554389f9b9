//! Suites: their formats, their errors, and the one that ships.

mod errors;
mod folders;
mod formats;
mod garbage;
mod manifests;
mod promptfoo;
mod starter;

use std::fs;
use std::path::PathBuf;

use conclave::benchmark::case::{Case, Matcher};
use conclave::suites::{self, FieldMap, Suite, SuiteError};
use tempfile::TempDir;

/// A folder with the files of a suite.
struct Files {
    folder: TempDir,
}

impl Files {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> Result<Suite, SuiteError> {
        suites::read(&self.path(name), &FieldMap::new())
    }

    /// Returns the problems of a suite, without the folder in their paths.
    fn problems(&self, name: &str) -> Vec<String> {
        let folder = format!("{}/", self.folder.path().display());
        let problems = match self.read(name) {
            Err(error @ SuiteError::Invalid { .. }) => error.lines(),
            Err(SuiteError::Unreadable { source, .. }) => panic!("{source}"),
            Ok(suite) => panic!("no problem in {:#?}", suite.cases),
        };
        problems
            .iter()
            .map(|line| line.replace(&folder, ""))
            .collect()
    }
}

fn read(name: &str, text: &str) -> Suite {
    let files = Files::new(&[(name, text)]);
    files
        .read(name)
        .unwrap_or_else(|error| panic!("{:#?}", error.lines()))
}

fn ids(suite: &Suite) -> Vec<&str> {
    let cases = suite.cases.iter();
    cases.map(|entry| entry.case.id.as_str()).collect()
}

fn problems(name: &str, text: &str) -> Vec<String> {
    Files::new(&[(name, text)]).problems(name)
}

/// Returns the only case of a suite.
fn only(suite: Suite) -> Case {
    let [case] = <[_; 1]>::try_from(suite.cases).unwrap();
    case.case
}

/// Reads one case that is written as JSON.
fn case(text: &str) -> Case {
    only(read("suite.jsonl", text))
}

fn numeric(absolute: f64, relative: f64) -> Matcher {
    Matcher::Numeric { absolute, relative }
}
