//! The report as Markdown.

use conclave::benchmark::run::Arm;
use conclave::terminal::report::benchmark::markdown;

use crate::support::sample_results::{comparison, comparison_report, halted_report, report, terms};

#[test]
fn comparison_is_a_document() {
    insta::assert_snapshot!(markdown(&comparison_report(12)));
}

#[test]
fn halted_run_says_why_and_how_to_resume_it() {
    let markdown = markdown(&halted_report(6));
    assert!(markdown.contains("> Stopped: "), "{markdown}");
    let expected = "`conclave benchmark --resume bench-";
    assert!(markdown.contains(expected), "{markdown}");
}

#[test]
fn run_without_results_is_a_document() {
    let markdown = markdown(&report(&terms(3, &[Arm::Panel]), &[]));
    let expected = "3 of 3 case runs have no result.";
    assert!(markdown.contains(expected), "{markdown}");
    assert!(markdown.contains("| Accuracy | - |"), "{markdown}");
}

#[test]
fn answers_stay_in_their_cells() {
    let (terms, mut results) = comparison(3);
    let answer = results[4].answer.as_mut().unwrap();
    answer.text = "a | b\n\n# heading <script> ![x](y)".to_owned();
    let markdown = markdown(&report(&terms, &results));
    let mut lines = markdown.lines();
    let row = lines.find(|line| line.contains("heading")).unwrap();
    assert!(row.contains("a \\| b # heading \\<script"), "{row}");
    assert!(!row.contains("![x](y)"), "{row}");
}
