//! The report as JUnit XML, read by a parser.

use conclave::benchmark::case::CaseId;
use conclave::benchmark::junit::junit;
use conclave::benchmark::report::BenchmarkReport;
use conclave::benchmark::result::CaseOutcome;
use conclave::benchmark::run::Arm;
use roxmltree::{Document, Node};

use crate::support::sample_results::{comparison, comparison_report, report, result, terms};

fn number(node: Node<'_, '_>, attribute: &str) -> u64 {
    node.attribute(attribute).unwrap().parse().unwrap()
}

fn count(node: Node<'_, '_>, tag: &str) -> u64 {
    let found = node.descendants().filter(|node| node.has_tag_name(tag));
    u64::try_from(found.count()).unwrap()
}

/// Checks what the schema of Jenkins demands: names, order, counts.
fn check(xml: &str) {
    let document = Document::parse(xml).unwrap();
    let root = document.root_element();
    assert!(root.has_tag_name("testsuites"));
    let mut tests = 0;
    for suite in root.children().filter(Node::is_element) {
        assert!(suite.has_tag_name("testsuite"));
        let cases: Vec<_> = suite.children().filter(Node::is_element).collect();
        assert!(cases.iter().all(|case| case.has_tag_name("testcase")));
        assert_eq!(number(suite, "tests"), u64::try_from(cases.len()).unwrap());
        assert_eq!(number(suite, "failures"), count(suite, "failure"));
        assert_eq!(number(suite, "errors"), count(suite, "error"));
        assert_eq!(number(suite, "skipped"), count(suite, "skipped"));
        let sum: f64 = cases
            .iter()
            .map(|case| case.attribute("time").unwrap().parse::<f64>().unwrap())
            .sum();
        let time: f64 = suite.attribute("time").unwrap().parse().unwrap();
        assert!((sum - time).abs() < 1e-6);
        for case in cases {
            assert!(!case.attribute("name").unwrap().is_empty());
            let children: Vec<&str> = case
                .children()
                .filter(Node::is_element)
                .map(|child| child.tag_name().name())
                .collect();
            let known = [
                vec![],
                vec!["system-out"],
                vec!["failure", "system-out"],
                vec!["error", "system-out"],
                vec!["skipped"],
            ];
            assert!(known.contains(&children), "{children:?}");
        }
        tests += number(suite, "tests");
    }
    assert_eq!(number(root, "tests"), tests);
    assert_eq!(number(root, "failures"), count(root, "failure"));
    assert_eq!(number(root, "errors"), count(root, "error"));
}

#[test]
fn comparison_is_a_document() {
    let xml = junit(&comparison_report(3));
    check(&xml);
    insta::assert_snapshot!(xml);
}

#[test]
fn every_outcome_has_its_element() {
    let results = [
        result(1, Arm::Panel, CaseOutcome::Approved),
        result(2, Arm::Panel, CaseOutcome::Rejected),
        result(3, Arm::Panel, CaseOutcome::Failed),
    ];
    let xml = junit(&report(&terms(5, &[Arm::Panel]), &results));
    check(&xml);
    let document = Document::parse(&xml).unwrap();
    let counts = ["failure", "error", "skipped"].map(|tag| count(document.root(), tag));
    assert_eq!(counts, [1, 1, 2]);
}

#[test]
fn run_without_results_is_a_document() {
    check(&junit(&report(&terms(0, &[Arm::Panel]), &[])));
    check(&junit(&report(&terms(2, &Arm::ALL), &[])));
}

#[test]
fn foreign_text_is_text() {
    let foreign: String = (0..0x300)
        .chain([0xfffe, 0xffff, 0x1_f600, 0x2028])
        .filter_map(char::from_u32)
        .chain("]]><a b='c'>&amp;\"".chars())
        .collect();
    let (mut terms, mut results) = comparison(3);
    terms.suite.name.clone_from(&foreign);
    terms.cases[0].tags = vec![foreign.clone()];
    terms.cases[0].expected.clone_from(&foreign);
    let id = CaseId::parse("a<b>&\"c\" 'd' \u{202e}").unwrap();
    terms.cases[0].id = id.clone();
    for result in &mut results[..2] {
        result.run.case = id.clone();
        result.outcome = CaseOutcome::Rejected;
        result.answer.as_mut().unwrap().text.clone_from(&foreign);
    }
    let xml = junit(&report(&terms, &results));
    check(&xml);
    let document = Document::parse(&xml).unwrap();
    let mut nodes = document.descendants();
    let case = nodes.find(|node| node.has_tag_name("testcase")).unwrap();
    assert_eq!(case.attribute("name"), Some("a<b>&\"c\" 'd'"));
    let failure = case.first_element_child().unwrap().text().unwrap();
    assert!(failure.contains("]]><a b='c'>&amp;\""), "{failure}");
}

#[test]
fn repetitions_have_names_of_their_own() {
    let (mut terms, results) = comparison(1);
    terms.repetitions = 2;
    let mut second = results.clone();
    for result in &mut second {
        result.run.repetition = 2;
    }
    let report: BenchmarkReport = report(&terms, &[results, second].concat());
    let xml = junit(&report);
    check(&xml);
    assert!(xml.contains("name=\"capital-001 #1\""), "{xml}");
    assert!(xml.contains("name=\"capital-001 #2\""), "{xml}");
}
