//! Every format makes the same cases of the same suite.

use conclave::benchmark::case::{ErrorRate, Matcher};

use conclave::suites::Suite;

use super::{Files, case, ids, numeric, only, read};

const JSONL: &str = r#"
{"id": "sum", "question": "2 + 2?", "expected": 4, "tags": ["math", "easy"], "source": "own"}
{"id": "capital", "question": "What is\nthe capital?", "context": "Norway", "expected": "Oslo", "match": "contains"}
{"id": "pick", "question": "Which one?", "options": ["red", "blue"], "expected": "blue"}
{"id": "truth", "question": "Is water wet?", "expected": true}
{"id": "tolerance", "question": "Pi?", "expected": 3.14, "match": {"numeric": {"absolute": 0.01}}}
"#;

const CSV: &str = "\u{feff}ID,Prompt,context,gold,match,choices,tags,source\r\n\
    sum,2 + 2?,,4,,,math; easy,own\r\n\
    capital,\"What is\r\nthe capital?\",Norway,Oslo,contains,,,\r\n\
    \r\n\
    pick,Which one?,,blue,,red | blue,,\r\n\
    truth,Is water wet?,,true,,,,\r\n\
    tolerance,Pi?,,3.14,\"{\"\"numeric\"\": {\"\"absolute\"\": 0.01}}\",,,\r\n";

const YAML: &str = "
- id: sum
  question: 2 + 2?
  expected: 4
  tags: [math, easy]
  source: own
- id: capital
  question: |
    What is
    the capital?
  context: Norway
  expected: Oslo
  match: contains
- {id: pick, question: Which one?, options: {A: red, B: blue}, expected: B}
- id: truth
  question: Is water wet?
  expected: true
- id: tolerance
  question: Pi?
  expected: 3.14
  match: {numeric: 0.01}
";

fn json() -> String {
    let lines: Vec<&str> = JSONL.trim().lines().collect();
    format!("[\n{}\n]", lines.join(",\n"))
}

#[test]
fn all_formats_make_the_same_cases() {
    let first = read("suite.jsonl", JSONL);
    let inline = format!("cases:{}", YAML.replace('\n', "\n  "));
    let texts: [(&str, &str); 8] = [
        ("suite.csv", CSV),
        ("suite.tsv", &CSV.replace(',', "\t")),
        ("suite.yaml", YAML),
        ("suite.json", &json()),
        ("inline.yaml", &inline),
        ("inline.json", &format!("{{\"cases\": {}}}", json())),
        ("named.yml", "suite: suite.yaml"),
        ("windows.jsonl", &JSONL.replace('\n', "\r\n")),
    ];
    let files = Files::new(&texts);
    for (name, _) in texts {
        let suite = files.read(name);
        let suite = suite.unwrap_or_else(|error| panic!("{name}: {:#?}", error.lines()));
        let cases = |suite: &Suite| -> Vec<_> {
            suite.cases.iter().map(|entry| entry.case.clone()).collect()
        };
        assert_eq!(cases(&suite), cases(&first), "{name}");
        assert_eq!(suite.sha256, first.sha256, "{name}");
    }
}

#[test]
fn spreadsheets_may_separate_with_semicolons() {
    let suite = read("suite.csv", "question;answer\n\"1; 2 or 3?\";2\n");
    assert_eq!(suite.cases[0].case.question, "1; 2 or 3?");
}

#[test]
fn the_fingerprint_is_of_what_is_asked_and_right() {
    let fingerprint = |text: &str| read("suite.jsonl", text).sha256;
    let one = r#"{"id": "a", "question": "x?", "expected": "y"}"#;
    let other = r#"{"id": "b", "question": "z?", "expected": "y"}"#;
    let both = fingerprint(&format!("{one}\n{other}"));
    assert_eq!(fingerprint(&format!("{other}\n{one}")), both);
    let tagged = one.replace('}', r#", "tags": ["t"], "source": "own"}"#);
    assert_eq!(fingerprint(&format!("{tagged}\n{other}")), both);
    for changed in [one.replace("x?", "X?"), one.replace("\"y\"", "\"n\"")] {
        assert_ne!(fingerprint(&format!("{changed}\n{other}")), both);
    }
    assert_ne!(fingerprint(one), both);
}

#[test]
fn the_fingerprint_follows_the_content_of_files() {
    let suite = r#"{"question": "x?", "files": ["a.txt"], "expected": "y"}"#;
    let fingerprint = |text: &str| {
        let files = Files::new(&[("suite.jsonl", suite), ("a.txt", text)]);
        files.read("suite.jsonl").unwrap().sha256
    };
    assert_eq!(fingerprint("one"), fingerprint("one"));
    assert_ne!(fingerprint("one"), fingerprint("two"));
}

#[test]
fn cases_without_an_id_are_numbered() {
    let suite = read("suite.csv", "question,answer\nx?,1\n\ny?,2\n");
    assert_eq!(ids(&suite), ["case-1", "case-2"]);
    assert_eq!(suite.cases[1].place.line, Some(4));
}

#[test]
fn matchers_have_names_and_values() {
    let similarity = |measure, at_most| Matcher::Similarity { measure, at_most };
    let rubric = Matcher::Judge {
        rubric: Some("It is polite.".to_owned()),
    };
    for (text, expected) in [
        (r#""exact""#, Matcher::Exact),
        (r#""contains""#, Matcher::Contains),
        (r#""regex""#, Matcher::Regex),
        (r#"{"regex": {}}"#, Matcher::Regex),
        (r#""numeric""#, numeric(0.0, 0.0)),
        (r#"{"numeric": 0.5}"#, numeric(0.5, 0.0)),
        (r#"{"numeric": {"relative": 0.01}}"#, numeric(0.0, 0.01)),
        (r#""cer""#, similarity(ErrorRate::Cer, 0.05)),
        (r#""wer""#, similarity(ErrorRate::Wer, 0.1)),
        (r#"{"wer": 0.2}"#, similarity(ErrorRate::Wer, 0.2)),
        (
            r#"{"similarity": {"measure": "cer", "at_most": 0.02}}"#,
            similarity(ErrorRate::Cer, 0.02),
        ),
        (r#""judge""#, Matcher::Judge { rubric: None }),
        (r#"{"judge": "It is polite."}"#, rubric.clone()),
        (r#"{"judge": {"rubric": "It is polite."}}"#, rubric),
    ] {
        let line = format!(r#"{{"question": "x?", "expected": "42", "match": {text}}}"#);
        assert_eq!(case(&line).matcher, expected, "{text}");
    }
}

#[test]
fn the_answer_decides_the_matcher_where_none_is_named() {
    let matcher = |fields: &str| case(&format!(r#"{{"question": "x?", {fields}}}"#)).matcher;
    assert_eq!(matcher(r#""expected": "Oslo""#), Matcher::Exact);
    assert_eq!(matcher(r#""expected": "42""#), Matcher::Exact);
    assert_eq!(matcher(r#""expected": 42"#), numeric(0.0, 0.0));
    assert_eq!(matcher(r#""expected": [42, 43.5]"#), numeric(0.0, 0.0));
    assert_eq!(matcher(r#""expected": [42, "none"]"#), Matcher::Exact);
    let prose = matcher(r#""expected": "two\nlines""#);
    assert_eq!(prose, Matcher::Judge { rubric: None });
}

#[test]
fn several_answers_may_be_right() {
    let case = case(r#"{"question": "x?", "expected": ["third", "3rd", 3]}"#);
    assert_eq!(case.expected, ["third", "3rd", "3"]);
}

#[test]
fn truth_has_two_words() {
    let no = case(r#"{"question": "x?", "expected": false}"#);
    assert_eq!(no.expected, ["false", "no"]);
}

#[test]
fn numbers_are_compared_as_they_are_written() {
    let expected = case(r#"{"question": "x?", "expected": 1.50}"#).expected;
    assert_eq!(expected, ["1.50"]);
    let row = only(read("suite.csv", "question,answer\nx?,007\n"));
    assert_eq!(row.expected, ["007"]);
    assert_eq!(row.matcher, Matcher::Exact);
}

#[test]
fn options_are_chosen_by_letter_or_text() {
    let chosen = |fields: &str| {
        let case = case(&format!(r#"{{"question": "x?", {fields}}}"#));
        let Matcher::Choice { options } = case.matcher else {
            panic!("{:?}", case.matcher)
        };
        (case.expected.join(","), options.join(","))
    };
    let second = ("B".to_owned(), "red,blue".to_owned());
    for fields in [
        r#""options": ["red", "blue"], "expected": "b""#,
        r#""options": ["red", "blue"], "expected": " Blue ""#,
        r#""options": {"A": "red", "B": "blue"}, "expected": "B""#,
        r#""options": ["A) red", "B) blue"], "expected": "B""#,
        r#""options": ["(A) red", "(B) blue"], "expected": "blue""#,
        r#""match": {"choice": {"options": ["red", "blue"]}}, "expected": "blue""#,
        r#""match": "choice", "options": ["red", "blue"], "expected": "blue""#,
    ] {
        assert_eq!(chosen(fields), second, "{fields}");
    }
    assert_eq!(chosen(r#""choices": ["1", "2"], "expected": 2"#).0, "B");
}

#[test]
fn columns_with_letters_are_options() {
    let case = only(read(
        "suite.csv",
        "question,A,B,C,D,answer\nWhich?,w,x,y,z,C\n",
    ));
    assert_eq!(case.expected, ["C"]);
    let options = ["w", "x", "y", "z"].map(str::to_owned).to_vec();
    assert_eq!(case.matcher, Matcher::Choice { options });
}

#[test]
fn a_rubric_needs_no_answer() {
    let case = case(r#"{"question": "x?", "match": {"judge": "It is polite."}}"#);
    assert_eq!(case.expected, [""; 0]);
}

#[test]
fn other_columns_are_noted() {
    let suite = read(
        "suite.csv",
        "question,answer,difficulty\nx?,1,hard\ny?,2,easy\n",
    );
    assert_eq!(suite.notes.len(), 1);
    assert!(suite.notes[0].ends_with("the field `difficulty` is not used"));
}

#[test]
fn samples_of_inspect_are_read_as_they_are() {
    let suite = read(
        "suite.jsonl",
        r#"{"input": "2 + 2?", "target": "4", "id": 7, "metadata": {"subject": "math", "n": 1}}
{"input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Capital?"}], "target": ["Oslo", "Christiania"], "extra": 1}
{"input": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}, {"role": "user", "content": [{"type": "text", "text": "Bye?"}]}], "target": "Bye"}
{"input": "Which?", "choices": ["x", "y"], "target": "B"}
"#,
    );
    let cases: Vec<_> = suite.cases.iter().map(|entry| &entry.case).collect();
    assert_eq!(cases[0].id.as_str(), "7");
    assert_eq!(cases[0].matcher, numeric(0.0, 0.0));
    assert_eq!(cases[0].tags, ["math"]);
    assert_eq!(cases[1].question, "Be brief.\n\nCapital?");
    assert_eq!(cases[1].expected, ["Oslo", "Christiania"]);
    let expected = "User: Hi\n\nAssistant: Hello\n\nUser: Bye?";
    assert_eq!(cases[2].question, expected);
    assert_eq!(cases[3].expected, ["B"]);
    assert!(suite.notes[0].contains("`extra`"));
}
