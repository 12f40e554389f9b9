//! Folders of cases.

use std::fs;
use std::os::unix::fs::symlink;

use conclave::benchmark::case::{ErrorRate, Matcher};

use super::{Files, ids};

#[test]
fn each_file_is_a_case_named_for_it() {
    let files = Files::new(&[
        ("s/b.yaml", "question: x?\nexpected: 1"),
        ("s/a.json", r#"{"question": "y?", "expected": "z"}"#),
        ("s/.hidden.yaml", "not: read"),
        ("s/README.md", "About this suite."),
        ("s/c.yml", "id: own\nquestion: x?\nexpected: 2"),
    ]);
    let suite = files.read("s").unwrap();
    assert_eq!(ids(&suite), ["a", "b", "own"]);
    assert_eq!(suite.name, "s");
    assert_eq!(suite.notes.len(), 1);
    assert!(suite.notes[0].contains("README.md"));
}

#[test]
fn a_sub_folder_has_the_texts_of_a_case_and_its_files() {
    let files = Files::new(&[
        ("s/page-2/question.md", "What does the page say?\n"),
        ("s/page-2/expected.txt", "Dear Sir,\nI thank you.\n"),
        ("s/page-2/context/scan.txt", "Dear S1r,\nI thank you."),
        ("s/page-2/notes.md", "from the archive"),
        ("s/page-2/.keep", ""),
        ("s/page-1/question.txt", "2 + 2?"),
        ("s/page-1/expected.md", "four"),
        ("s/page-1/case.yaml", "tags: [math]\nmatch: contains"),
    ]);
    let suite = files.read("s").unwrap();
    let [first, second] = suite.cases.as_slice() else {
        panic!("{:#?}", suite.cases)
    };
    assert_eq!(first.case.id.as_str(), "page-1");
    assert_eq!(first.case.matcher, Matcher::Contains);
    assert_eq!(first.case.tags, ["math"]);
    assert_eq!(second.case.question, "What does the page say?");
    assert_eq!(second.case.expected, ["Dear Sir,\nI thank you."]);
    assert_eq!(second.case.matcher, Matcher::Judge { rubric: None });
    assert!(second.case.files[0].ends_with("page-2/context/scan.txt"));
    assert!(second.case.files[1].ends_with("page-2/notes.md"));
    assert_eq!(second.case.files.len(), 2);
}

#[test]
fn the_manifest_of_a_folder_says_what_its_cases_do_not() {
    let files = Files::new(&[
        (
            "s/suite.yaml",
            "name: Letters\nquestion: Transcribe the file.\nmatch: {wer: 0.2}\njobs: 2",
        ),
        ("s/one/expected.txt", "Dear Sir"),
        ("s/one/scan.txt", "Dear S1r"),
    ]);
    let suite = files.read("s").unwrap();
    assert_eq!(suite.name, "Letters");
    assert_eq!(suite.settings.jobs, Some(2));
    let case = &suite.cases[0].case;
    assert_eq!(case.question, "Transcribe the file.");
    let wer = Matcher::Similarity {
        measure: ErrorRate::Wer,
        at_most: 0.2,
    };
    assert_eq!(case.matcher, wer);
}

#[test]
fn a_folder_reads_as_the_file_with_the_same_cases() {
    let files = Files::new(&[
        ("s/a.yaml", "question: x?\nexpected: y"),
        (
            "t.jsonl",
            r#"{"id": "a", "question": "x?", "expected": "y"}"#,
        ),
    ]);
    let folder = files.read("s").unwrap();
    assert_eq!(folder.sha256, files.read("t.jsonl").unwrap().sha256);
}

#[test]
fn a_manifest_may_name_a_folder() {
    let files = Files::new(&[
        ("bench.yaml", "suite: s\nmatch: contains"),
        ("s/a.yaml", "question: x?\nexpected: y"),
    ]);
    let suite = files.read("bench.yaml").unwrap();
    assert_eq!(suite.cases[0].case.matcher, Matcher::Contains);
}

#[test]
fn problems_of_a_folder_name_the_file() {
    let files = Files::new(&[
        ("s/a.yaml", "question: x?\n\nexpectde: y"),
        ("s/b/question.md", "x?"),
        ("s/c/question.md", "x?"),
        ("s/c/question.txt", "x?"),
        ("s/c/expected.txt", "y"),
        ("s/d.json", ""),
    ]);
    let problems = files.problems("s");
    insta::assert_snapshot!(problems.join("\n"), @r#"
    s/a.yaml:1: the case has no `expected` answer
    s/a.yaml:3: a case has no field `expectde`; did you mean `expected`?
    s/c: `question.md` and `question.txt` mean the same
    s/d.json: the file is empty
    s/b: the case has no `expected` answer
    "#);
}

#[test]
fn an_empty_folder_is_no_suite() {
    let files = Files::new(&[("s/.hidden", "")]);
    assert_eq!(files.problems("s"), ["s: it has no cases"]);
}

/// Returns the problems of a suite in which a link has taken a place.
fn problems_with_link(target: &str, place: &str) -> Vec<String> {
    let files = Files::new(&[
        ("out/secret", "A secret?"),
        ("out/case.yaml", "question: A secret?\nexpected: x"),
        ("out/case/question.md", "A secret?"),
        ("out/case/expected.txt", "x"),
        ("s/a/question.md", "x?"),
        ("s/a/expected.txt", "y"),
        ("s/a/notes/one.md", "z"),
        ("s/b.yaml", "question: x?\nexpected: y"),
    ]);
    let place = files.path(place);
    let _ = fs::remove_file(&place);
    let _ = fs::remove_dir_all(&place);
    symlink(files.path(target), &place).unwrap();
    files.problems("s")
}

#[test]
fn links_out_of_a_folder_are_refused_in_the_place_of_any_file() {
    for (target, place) in [
        ("out/secret", "s/a/question.md"),
        ("out/secret", "s/a/expected.txt"),
        ("out/case.yaml", "s/a/case.yaml"),
        ("out/secret", "s/a/notes/one.md"),
        ("out/case", "s/a/notes"),
        ("out/case", "s/c"),
        ("out/case.yaml", "s/b.yaml"),
        ("out/case.yaml", "s/suite.yaml"),
        // Into another case of the same suite.
        ("s/b.yaml", "s/a/case.yaml"),
    ] {
        let problem = format!("{place}: is not in the folder of the suite");
        assert_eq!(problems_with_link(target, place), [problem], "{place}");
    }
    for target in ["/dev/zero", "/nowhere"] {
        assert_eq!(problems_with_link(target, "s/b.yaml").len(), 1);
    }
}

#[test]
fn links_within_a_folder_are_followed() {
    let files = Files::new(&[
        ("s/a/texts/question.md", "x?"),
        ("s/a/expected.txt", "y"),
        ("s/a/scan/page", "z"),
    ]);
    symlink("texts/question.md", files.path("s/a/question.md")).unwrap();
    symlink("scan", files.path("s/a/more")).unwrap();
    symlink("a", files.path("s/b")).unwrap();
    let suite = files.read("s").unwrap();
    let cases: Vec<_> = suite.cases.iter().map(|entry| &entry.case).collect();
    assert_eq!(cases[0].question, "x?");
    assert!(cases[0].files[0].ends_with("/s/a/scan/page"));
    assert_eq!(cases[1].id.as_str(), "b");
    assert_eq!(cases[1].files, cases[0].files);
}

#[test]
fn linked_suite_is_read_where_it_is_named() {
    let files = Files::new(&[
        ("real/s/a.yaml", "question: x?\nexpected: y"),
        (
            "real/cases",
            "{\"question\": \"x?\", \"expected\": \"y\", \"files\": [\"f\"]}",
        ),
        ("f", "z"),
    ]);
    symlink("real/s", files.path("s")).unwrap();
    assert_eq!(files.read("s").unwrap().name, "s");
    symlink("real/cases", files.path("cases.jsonl")).unwrap();
    let suite = files.read("cases.jsonl").unwrap();
    assert_eq!(suite.name, "cases");
    assert!(suite.cases[0].case.files[0].ends_with("/f"));
}
