//! Files that are no suites never do more than fail with a line.

use std::fs;

use proptest::prelude::*;

use super::{Files, problems};

const NAMES: [&str; 6] = ["s.jsonl", "s.json", "s.yaml", "s.csv", "s.tsv", "s.ndjson"];

#[test]
fn binary_files_are_not_text() {
    let files = Files::new(&[]);
    for name in NAMES {
        fs::write(files.path(name), b"{\"question\": \"x\"}\n\xff\xfe\x00").unwrap();
        let expected = [format!("{name}:2: not UTF-8 text; save it as UTF-8")];
        assert_eq!(files.problems(name), expected);
    }
    fs::write(files.path("s.parquet"), b"PAR1\xff").unwrap();
    let problems = files.problems("s.parquet");
    assert!(problems[0].starts_with("s.parquet: not a suite by its name"));
}

#[test]
fn long_lines_are_read() {
    let long = "x".repeat(1 << 20);
    let line = format!(r#"{{"question": "{long}", "expected": 1}}"#);
    let files = Files::new(&[("s.jsonl", &line), ("t.jsonl", &long)]);
    assert_eq!(files.read("s.jsonl").unwrap().cases.len(), 1);
    assert!(files.problems("t.jsonl")[0].starts_with("t.jsonl:1: not JSON"));
}

#[test]
fn deep_nesting_is_refused() {
    let lists = "[".repeat(100_000);
    let maps = "{\"a\":".repeat(100_000);
    for name in NAMES {
        for text in [&lists, &maps] {
            assert!(!problems(name, text).is_empty(), "{name}");
        }
    }
    let lines: Vec<String> = (0..1000).map(|depth| " ".repeat(depth) + "- \n").collect();
    let indented = lines.concat();
    assert!(problems("s.yaml", &indented)[0].contains("more than 128 levels"));
}

#[test]
fn aliases_stand_for_no_more_than_a_suite() {
    let first = "a: &a [x, x, x, x, x, x, x, x]\n".to_owned();
    let others = ('b'..='z').zip('a'..).map(|(name, earlier)| {
        format!("{name}: &{name} [*{earlier}, *{earlier}, *{earlier}, *{earlier}]\n")
    });
    let lines: Vec<String> = std::iter::once(first).chain(others).collect();
    let text = lines.concat();
    let expected = ": aliases stand for more than 64 MB";
    assert!(problems("s.yaml", &text)[0].ends_with(expected));
}

#[test]
fn huge_files_are_refused() {
    let files = Files::new(&[]);
    let file = fs::File::create(files.path("s.jsonl")).unwrap();
    file.set_len(1 << 40).unwrap();
    let error = files.read("s.jsonl").unwrap_err();
    assert!(error.to_string().contains("cannot read the suite"));
}

/// Texts that look like suites more than random bytes do.
fn likely_text() -> impl Strategy<Value = String> {
    let words = "{ } [ ] : , \" ' | &a *a # question expected match options cases suite tests prompts \
                 vars assert type value equals regex numeric choice levenshtein {{ }} 1 -0.5 true \
                 null é files metadata input __expected role content judge";
    let spaces = ["\n", "- ", "  ", "\t", "&a ", "\0", "\r\n"];
    let parts: Vec<&str> = words.split(' ').chain(spaces).collect();
    prop::collection::vec(prop::sample::select(parts), 0..60).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        name in prop::sample::select(NAMES.to_vec()),
    ) {
        let files = Files::new(&[]);
        fs::write(files.path(name), bytes).unwrap();
        if let Ok(suite) = files.read(name) {
            prop_assert!(!suite.cases.is_empty());
        }
    }

    #[test]
    fn any_likely_text_is_read_or_refused(
        text in likely_text(),
        name in prop::sample::select(NAMES.to_vec()),
    ) {
        let files = Files::new(&[(name, &text)]);
        if let Ok(suite) = files.read(name) {
            prop_assert!(!suite.cases.is_empty());
        }
    }
}
