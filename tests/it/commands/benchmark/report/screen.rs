//! The report on a terminal.

use conclave::benchmark::result::CaseOutcome;
use conclave::benchmark::run::Arm;
use conclave::domain::cost::money::{Cost, MicroUsd};
use conclave::terminal::document;
use conclave::terminal::output::style::Paint;
use conclave::terminal::report::benchmark::summary;
use console::measure_text_width;

use crate::support::sample_results::{
    comparison, comparison_report, halted_report, report, result, terms, transcriptions,
};

fn shown(report: &conclave::benchmark::report::BenchmarkReport, width: usize) -> String {
    let screen = document::screen(&summary(report), Some(width), Paint::PLAIN);
    for line in screen.lines() {
        // Commands stay on one line, to be copied.
        let is_command = line.contains("conclave ");
        assert!(is_command || measure_text_width(line) <= width, "{line}");
    }
    screen
}

#[test]
fn comparison_fits_a_screen() {
    let screen = shown(&comparison_report(24), 80);
    insta::assert_snapshot!(screen);
    assert!(screen.lines().count() <= 62, "{}", screen.lines().count());
}

#[test]
fn narrow_screen_shows_the_same() {
    insta::assert_snapshot!(shown(&comparison_report(24), 50));
}

#[test]
fn every_width_is_kept() {
    let report = comparison_report(12);
    for width in 30..=100 {
        shown(&report, width);
    }
}

#[test]
fn halted_run_says_why_and_how_to_resume_it() {
    insta::assert_snapshot!(shown(&halted_report(6), 80));
}

#[test]
fn run_without_results_has_no_figures() {
    insta::assert_snapshot!(shown(&report(&terms(3, &[Arm::Panel]), &[]), 80));
}

#[test]
fn transcriptions_have_error_rates() {
    let (terms, results) = transcriptions(4);
    let screen = shown(&report(&terms, &results), 80);
    let expected = "panel, character error rate               2   3.0%    2.0%";
    assert!(screen.contains(expected), "{screen}");
    let expected = "panel, word error rate                    2  20.0%   10.0%";
    assert!(screen.contains(expected), "{screen}");
}

#[test]
fn unknown_prices_make_costs_lower_bounds() {
    let mut result = result(1, Arm::Panel, CaseOutcome::Approved);
    result.spend.cost = Cost::at_least(MicroUsd(20_000));
    let screen = shown(&report(&terms(1, &[Arm::Panel]), &[result]), 80);
    assert!(screen.contains("≥ $0.0200"), "{screen}");
    assert!(screen.contains("are at least as high"), "{screen}");
}

#[test]
fn many_tags_and_misses_are_cut() {
    let (mut terms, mut results) = comparison(24);
    for (at, case) in terms.cases.iter_mut().enumerate() {
        case.tags = vec![format!("tag-{at:02}")];
    }
    for result in &mut results {
        result.outcome = CaseOutcome::Rejected;
    }
    let screen = shown(&report(&terms, &results), 80);
    let left_out = screen.lines().filter(|line| line.starts_with("and "));
    assert_eq!(left_out.count(), 2, "{screen}");
}

#[test]
fn text_from_outside_stays_on_its_line_without_control_characters() {
    let (mut terms, mut results) = comparison(3);
    terms.suite.name = "evil\u{1b}[2J\nsuite".to_owned();
    terms.cases[2].expected = "a\u{1b}[31m\nb".to_owned();
    results[4].answer.as_mut().unwrap().text = "x\r\ny\u{7}".to_owned();
    let screen = shown(&report(&terms, &results), 80);
    assert!(screen.starts_with("Benchmark evil[2J suite\n"), "{screen}");
    assert!(
        screen.contains("a[31m b") && screen.contains("x y"),
        "{screen}"
    );
    assert!(!screen.contains(|c: char| c.is_control() && c != '\n'));
}
