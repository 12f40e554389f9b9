//! Problems of cases are all found, each with its line.

use conclave::suites::{self, FieldMap, SuiteError};

use super::{Files, problems};

#[test]
fn every_problem_of_every_case_is_listed() {
    let text = r#"{"id": "a", "question": "x?", "expected": "y"}
{"id": "a", "question": "x?", "expected": "y"}
{"question": "", "expected": []}
{"question": "x?", "expected": "y", "matches": "exact"}
{"question": "x?", "expected": "y", "match": "exactt"}
{"question": "x?", "expected": "y", "match": {"numeric": -1}}
{"question": "x?", "expected": "y", "match": "numeric"}
{"question": "x?", "expected": "(", "match": "regex"}
{"question": "x?", "expected": "z", "options": ["x", "y"]}
{"question": "x?", "expected": "y", "match": "choice"}
{"question": "x?", "expected": "y", "options": ["y", "Y"]}
{"question": "x?", "expected": "y", "options": ["x", "y"], "match": "exact"}
{"question": "x?", "expected": "B", "options": ["B", "A"]}
{"question": "x?", "expected": "y", "files": ["missing.txt"]}
{"question": "x?", "expected": "y", "match": {"cer": 2}}
{"question": "x?", "expected": {"a": 1}}
{"question": "x?", "expected": "y", "expected": "z"}
{"question": "x?", "expected": "y", "id": "two\nlines"}
{"question": "x?", "prompt": "y?", "expected": "y"}
{"question": "x?", "expected": "y"
"#;
    insta::assert_snapshot!(problems("suite.jsonl", text).join("\n"), @r#"
    suite.jsonl:2: the id `a` is used at suite.jsonl:1 already
    suite.jsonl:3: the `question` is blank, but must be a text
    suite.jsonl:3: the case has no `expected` answer
    suite.jsonl:4: a case has no field `matches`; did you mean `match`?
    suite.jsonl:5: `exactt` is not a way to match; did you mean `exact`?
    suite.jsonl:6: the tolerance `absolute` must be a number from 0 up
    suite.jsonl:7: `y` is not one number
    suite.jsonl:8: `(` is not a regular expression: unclosed group
    suite.jsonl:9: `z` is neither the letter of an option nor its text
    suite.jsonl:10: a choice has from 2 to 26 options, not 0
    suite.jsonl:11: option `Y` occurs twice
    suite.jsonl:12: `options` need `match: choice`
    suite.jsonl:13: `B` is the letter of one option and the text of another
    suite.jsonl:14: the file `missing.txt` does not exist
    suite.jsonl:15: the error rate of `cer` must be a number from 0 to 1
    suite.jsonl:16: `expected` is a map of keys, but must be a text, a number, true or false
    suite.jsonl:17: `expected` is set twice
    suite.jsonl:18: the `id` must be one line of 1 to 200 characters
    suite.jsonl:19: `question` and `prompt` mean the same field
    suite.jsonl:20: not JSON: unterminated object
    "#);
}

#[test]
fn many_problems_are_counted() {
    let text = "{}\n".repeat(30);
    let problems = problems("suite.jsonl", &text);
    assert_eq!(problems.len(), 21);
    assert_eq!(problems[20], "and 40 more");
}

#[test]
fn an_empty_suite_is_an_error() {
    for (name, text) in [
        ("suite.jsonl", "\n\n"),
        ("suite.csv", "question,answer\n"),
        ("suite.yaml", "# nothing\n"),
        ("suite.json", "[]"),
        ("bench.yaml", "cases: []"),
    ] {
        assert_eq!(problems(name, text), [format!("{name}: it has no cases")]);
    }
}

#[test]
fn a_missing_suite_is_an_error() {
    let files = Files::new(&[]);
    let error = suites::read(&files.path("none.jsonl"), &FieldMap::new()).unwrap_err();
    assert!(matches!(error, SuiteError::Unreadable { .. }));
    assert!(error.to_string().starts_with("cannot read the suite `"));
}

#[test]
fn other_files_are_no_suites() {
    let problems = problems("suite.txt", "x");
    assert!(problems[0].starts_with("suite.txt: not a suite by its name"));
}

#[test]
fn tables_name_the_line_of_a_wrong_row() {
    let table = "question,answer\n\"x\ny?\",1\n\nz?,1,2\nw?,\n";
    assert_eq!(
        problems("suite.csv", table),
        [
            "suite.csv:5: the row has 3 cells, but the header 2; quote cells with separators",
            "suite.csv:6: the case has no `expected` answer",
        ]
    );
    let twice = problems("suite.csv", "question,Question,answer\nx?,y?,1\n");
    assert_eq!(twice, ["suite.csv:1: two columns are named `question`"]);
    assert_eq!(
        problems("suite.csv", "question,expectd\nx?,1\n")[0],
        "suite.csv:2: a case has no field `expectd`; did you mean `expected`?"
    );
}

#[test]
fn yaml_and_json_name_the_line_of_a_mistake() {
    for (name, text, start) in [
        ("s.yaml", "- question: x?\n  expected: [1\n", "s.yaml:"),
        ("s.yaml", "- &a [*a]\n", "s.yaml:1: an alias"),
        (
            "s.yaml",
            "cases: []\n---\ncases: []\n",
            "s.yaml:2: a second document",
        ),
        (
            "s.yaml",
            "name: a\nname: b\n",
            "s.yaml:2: `name` is set in line 1 already",
        ),
        ("s.yaml", "just text", "s.yaml:1: a suite must be a list"),
        ("s.json", "{\n\"cases\": [,]}", "s.json:2: not JSON"),
        ("s.json", "[1, \"x\"]", "s.json:1: a case is a number"),
    ] {
        let problems = problems(name, text);
        assert!(problems[0].starts_with(start), "{problems:?}");
    }
}

#[test]
fn files_outside_of_the_suite_are_refused() {
    for path in ["/etc/hostname", "../other.txt", "a/../../other.txt"] {
        let text = format!(r#"{{"question": "x?", "expected": "y", "files": ["{path}"]}}"#);
        assert_eq!(
            problems("suite.jsonl", &text),
            [format!(
                "suite.jsonl:1: the file `{path}` is not in the folder of the suite"
            )]
        );
    }
}

#[test]
fn links_that_lead_outside_are_refused() {
    let outside = Files::new(&[("secret.txt", "x")]);
    let files = Files::new(&[(
        "suite.jsonl",
        r#"{"question": "x?", "expected": "y", "files": ["link.txt"]}"#,
    )]);
    std::os::unix::fs::symlink(outside.path("secret.txt"), files.path("link.txt")).unwrap();
    let expected = ["suite.jsonl:1: the file `link.txt` is not in the folder of the suite"];
    assert_eq!(files.problems("suite.jsonl"), expected);
}

#[test]
fn samples_that_cannot_be_compared_are_refused() {
    let text = r#"{"input": "x?", "target": "y", "sandbox": "docker"}
{"input": "x?", "target": ["A", "B"], "choices": ["x", "y"]}
{"input": [{"role": "tool", "content": "x"}], "target": "y"}
{"input": "x?", "target": ""}
"#;
    insta::assert_snapshot!(problems("suite.jsonl", text).join("\n"), @r#"
    suite.jsonl:2: several options that must be chosen together cannot be compared
    suite.jsonl:3: the `role` of a message must be `system`, `user` or `assistant`
    suite.jsonl:4: `target` has no answer
    "#);
}

#[test]
fn more_cases_than_a_suite_has_are_refused_before_they_are_read() {
    let most = 100_000;
    for (name, text) in [
        ("suite.jsonl", "1\n".repeat(most + 1) + "not JSON"),
        (
            "suite.csv",
            "question\n".to_owned() + &"x\n".repeat(most + 1),
        ),
    ] {
        let expected = format!("{name}: there are more than {most} cases");
        assert_eq!(problems(name, &text), [expected]);
    }
}
