//! Files of the wild: the rows of `cases.toml`.

use std::collections::BTreeMap;
use std::fs;

use super::*;
use crate::benchmark::case::{Case, Matcher};
use crate::suites::{SuiteError, read};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    #[serde(default = "lines")]
    file: String,
    text: String,
    #[serde(default)]
    more: BTreeMap<String, String>,
    #[serde(default)]
    fields: FieldMap,
    #[serde(default)]
    is: Vec<String>,
    shape: Option<String>,
    error: Option<String>,
    note: Option<String>,
}

fn lines() -> String {
    "s.jsonl".to_owned()
}

/// `choice: Red? [sky | blood] = B`.
fn shown(case: &Case) -> String {
    let options = match &case.matcher {
        Matcher::Choice { options } => format!(" [{}]", options.join(" | ")),
        _ => String::new(),
    };
    let right = match case.expected.as_slice() {
        [] => String::new(),
        expected => format!(" = {}", expected.join(" | ")),
    };
    let text = format!("{}: {}{options}{right}", case.matcher.kind(), case.question);
    text.replace('\n', "↵")
}

/// What a row has that it should not have.
fn fault(row: &Row) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in row.more.iter().chain([(&row.file, &row.text)]) {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let suite = match (
        read(&folder.path().join(&row.file), &row.fields),
        &row.error,
    ) {
        (Err(SuiteError::Invalid { problems, .. }), error) => {
            let mut lines = problems.iter().map(|problem| &problem.problem);
            let is_named = error
                .as_ref()
                .is_some_and(|error| lines.any(|line| line.contains(error)));
            return (!is_named).then(|| format!("{problems:#?}"));
        }
        (Err(error), _) => return Some(error.to_string()),
        (Ok(suite), Some(_)) => return Some(format!("no problem in {:#?}", suite.cases)),
        (Ok(suite), None) => suite,
    };
    let cases: Vec<String> = suite.cases.iter().map(|entry| shown(&entry.case)).collect();
    let is_noted = |note: &String| suite.notes.iter().any(|line| line.contains(note));
    if cases != row.is || suite.shapes != Vec::from_iter(row.shape.clone()) {
        return Some(format!("{cases:#?} of {:?}", suite.shapes));
    }
    let note = row.note.as_ref();
    note.filter(|note| !is_noted(note))
        .map(|_| format!("{:#?}", suite.notes))
}

#[test]
fn files_of_the_wild_are_read_as_they_are_meant() {
    let classes: BTreeMap<String, Vec<Row>> = toml::from_str(include_str!("cases.toml")).unwrap();
    let mut faults = Vec::new();
    for (class, rows) in &classes {
        assert!(rows.len() >= 20, "{class}");
        let found = rows
            .iter()
            .filter_map(|row| Some((class, row, fault(row)?)));
        faults.extend(found.map(|(class, row, fault)| format!("{class}: {row:#?}\n{fault}")));
    }
    assert!(
        faults.is_empty(),
        "{} faults\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn shapes_have_no_fields_but_those_of_cases() {
    for shape in &SHAPES.shape {
        let unknown = shape
            .fields
            .keys()
            .find(|of| !FIELDS.contains(&of.as_str()));
        assert_eq!(unknown, None, "{}", shape.name);
    }
    assert!(SHAPES.shape.len() > 50);
}
