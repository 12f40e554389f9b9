//! Configurations and tests of promptfoo.

use conclave::benchmark::case::{ErrorRate, Matcher};
use serde_json::json;

use super::{Files, ids, only, problems, read};

const CONFIG: &str = r"
description: Capitals
providers: [openai:gpt-5]
prompts:
  - 'Answer briefly: {{question}}'
  - file://long.txt
defaultTest:
  metadata: {category: geography}
  vars: {tone: politely}
tests:
  - description: Norway
    vars: {question: 'What is the capital of Norway?'}
    assert:
      - type: icontains
        value: oslo
  - vars:
      question: ['2 + 2?', '1 + 3?']
    assert: [{type: equals, value: 4}]
";

#[test]
fn each_test_with_each_prompt_is_a_case() {
    let files = Files::new(&[
        ("promptfooconfig.yaml", CONFIG),
        ("long.txt", "Answer {{ tone }}.\n{{question}}\n"),
    ]);
    let suite = files.read("promptfooconfig.yaml").unwrap();
    let questions: Vec<_> = suite
        .cases
        .iter()
        .map(|entry| entry.case.question.as_str())
        .collect();
    let expected = [
        "Answer briefly: What is the capital of Norway?",
        "Answer politely.\nWhat is the capital of Norway?",
        "Answer briefly: 2 + 2?",
        "Answer politely.\n2 + 2?",
        "Answer briefly: 1 + 3?",
        "Answer politely.\n1 + 3?",
    ];
    assert_eq!(questions, expected);
    let first = &suite.cases[0].case;
    assert_eq!(first.expected, ["(?i)oslo"]);
    assert_eq!(first.matcher, Matcher::Regex);
    assert_eq!(first.tags, ["geography"]);
    assert_eq!(suite.cases[2].case.matcher, Matcher::Exact);
    assert!(suite.notes[0].contains("`providers` of promptfoo is not used"));
}

#[test]
fn a_description_is_an_id_if_it_is_unique() {
    let test = |description: &str| {
        format!(
            "- {{description: {description}, vars: {{question: x?}}, assert: [{{type: equals, value: y}}]}}\n"
        )
    };
    let suite = read(
        "tests.yaml",
        &[test("One"), test("Two"), test("One")].concat(),
    );
    assert_eq!(ids(&suite), ["One", "Two", "case-3"]);
}

#[test]
fn assertions_become_matchers_that_mean_the_same() {
    let rubric = Some("Is polite".to_owned());
    let cer = Matcher::Similarity {
        measure: ErrorRate::Cer,
        at_most: 0.2,
    };
    let is = |assertion: &str, expected: &[&str], matcher: &Matcher| {
        let text = format!("- vars: {{question: x?, answer: yes}}\n  assert:\n    - {assertion}\n");
        let case = only(read("tests.yaml", &text));
        assert_eq!(case.expected, expected, "{assertion}");
        assert_eq!(case.matcher, *matcher, "{assertion}");
    };
    let (exact, regex) = (&Matcher::Exact, &Matcher::Regex);
    is("{type: equals, value: Oslo}", &["Oslo"], exact);
    is("{type: equals, value: '{{answer}}'}", &["yes"], exact);
    is("{type: contains, value: a.b}", &[r"a\.b"], regex);
    is("{type: contains-any, value: [a, b]}", &["a", "b"], regex);
    is("{type: contains-any, value: 'a, b'}", &["a", "b"], regex);
    is("{type: contains-all, value: [a]}", &["a"], regex);
    let all = &Matcher::All { none: Vec::new() };
    is("{type: contains-all, value: [a, b]}", &["a", "b"], all);
    is("{type: starts-with, value: a}", &[r"\Aa"], regex);
    is("{type: regex, value: '\\d+'}", &[r"\d+"], regex);
    let near = "{type: levenshtein, value: abcdefghij, threshold: 2}";
    is(near, &["abcdefghij"], &cer);
    let polite = "{type: llm-rubric, value: Is polite}";
    is(polite, &[], &Matcher::Judge { rubric });
    let judge = Matcher::Judge { rubric: None };
    is("{type: factuality, value: Oslo}", &["Oslo"], &judge);
}

#[test]
fn tests_may_be_lines_or_a_table() {
    let lines = r#"{"vars": {"question": "x?"}, "assert": [{"type": "equals", "value": "y"}]}"#;
    let table = "question,__expected,__metadata:category\nx?,equals: y,math\nz?,Paris,geo\n";
    assert_eq!(read("tests.jsonl", lines).cases[0].case.expected, ["y"]);
    let suite = read("tests.csv", table);
    assert_eq!(suite.cases[0].case.expected, ["y"]);
    assert_eq!(suite.cases[0].case.tags, ["math"]);
    assert_eq!(suite.cases[1].case.expected, ["Paris"]);
    let files = Files::new(&[
        (
            "promptfooconfig.yaml",
            "prompts: ['{{question}}']\ntests: file://tests.csv\n",
        ),
        ("tests.csv", table),
    ]);
    assert_eq!(files.read("promptfooconfig.yaml").unwrap().cases.len(), 2);
}

#[test]
fn what_cannot_be_compared_is_an_error_with_its_line() {
    let text = "prompts:
  - '{{question}}'
  - file://prompt.js
  - '{% if x %}{% endif %}'
defaultTest:
  threshold: 0.5
nunjucksFilters: {shout: shout.js}
tests:
  - vars: {question: x?}
    assert:
      - type: similar
        value: y
        threshold: 0.8
  - vars: {question: x?}
    assert:
      - type: not-equals
        value: y
  - vars: {question: x?}
    assert:
      - {type: contains, value: a}
      - {type: contains, value: b}
  - vars: {question: x?}
  - vars: {other: x?}
    assert: [{type: equals, value: y, weight: 2}]
  - vars: {question: x?}
    assert: [{type: javascript, value: 'output.length < 9'}]
  - vars: {question: x?}
    assert: [{type: contains-all, value: [a, b]}]
  - file://missing.yaml
";
    insta::assert_snapshot!(problems("promptfooconfig.yaml", text).join("\n"), @r#"
    promptfooconfig.yaml:3: the prompt `prompt.js` is a program, which is not run
    promptfooconfig.yaml:6: `threshold` of a test cannot be applied here
    promptfooconfig.yaml:7: `nunjucksFilters` of promptfoo cannot be applied here
    promptfooconfig.yaml:11: `type: similar` of `assert` cannot be compared here
    promptfooconfig.yaml:23: there is no variable `question`
    promptfooconfig.yaml:26: `type: javascript` of `assert` cannot be compared here
    promptfooconfig.yaml:29: the file of tests `missing.yaml` does not exist
    "#);
}

#[test]
fn variables_make_no_more_cases_and_text_than_a_suite_has() {
    let values = |count: usize| (0..count).map(|n| format!("v{n}")).collect::<Vec<_>>();
    let big = "x".repeat(1_000_000);
    let three = json!({"a": values(10), "b": values(10), "c": values(10)});
    for (prompts, vars, limit) in [
        (vec!["{{a}}"; 1], json!({"a": values(1001)}), "1000 cases"),
        (vec!["{{a}}"; 101], three, "100000 cases"),
        (
            vec![&*"{{big}}".repeat(14)],
            json!({"big": big, "a": values(5)}),
            "64 MB of text",
        ),
        (vec![&*"{{big}}".repeat(17)], json!({"big": big}), "16 MB"),
    ] {
        let assert = json!([{"type": "equals", "value": "x"}]);
        let tests = [json!({"vars": vars, "assert": assert})];
        let config = json!({"prompts": prompts, "tests": tests}).to_string();
        let problems = problems("promptfoo.json", &config);
        assert_eq!(problems.len(), 1, "{problems:?}");
        let expected = format!(" than {limit}");
        assert!(problems[0].ends_with(&expected), "{problems:?}");
    }
}
