//! The report as a page.

use conclave::benchmark::report::BenchmarkReport;
use conclave::benchmark::result::CaseOutcome;
use conclave::benchmark::run::Arm;
use conclave::domain::cost::money::Cost;
use conclave::domain::ids::SeatId;
use conclave::terminal::report::benchmark::page;

use crate::support::html::{ScannedPage, scan};
use crate::support::sample_results::{
    comparison, comparison_report, halted_report, report, result, terms,
};

/// Reports with every part, with few, and with none.
fn reports() -> Vec<BenchmarkReport> {
    let one = result(1, Arm::Single, CaseOutcome::Approved);
    vec![
        comparison_report(24),
        halted_report(6),
        report(&terms(1, &[Arm::Single]), &[one]),
        report(&terms(3, &[Arm::Panel]), &[]),
    ]
}

fn count(page: &ScannedPage, tag: &str) -> usize {
    page.tags
        .iter()
        .filter(|found| found.starts_with(tag))
        .count()
}

#[test]
fn page_loads_and_runs_nothing() {
    for report in reports() {
        let page = page(&report);
        for word in [
            "url(", "src=", "href=", "@import", "<script", " style=", "xlink",
        ] {
            assert_eq!(page.find(word), None, "{word}");
        }
        scan(&page);
    }
}

#[test]
fn headings_go_down_one_level_at_a_time() {
    for report in reports() {
        let levels = scan(&page(&report)).levels;
        let titles: Vec<_> = levels.iter().filter(|level| **level == 1).collect();
        assert_eq!(titles.len(), 1);
        assert!(
            levels.windows(2).all(|pair| pair[1] <= pair[0] + 1),
            "{levels:?}"
        );
    }
}

#[test]
fn page_shows_the_result_before_the_cases() {
    let page = scan(&page(&comparison_report(24)));
    let mut rest = page.text.as_str();
    for expected in [
        "Benchmark",
        "capitals",
        "24 cases",
        "Result",
        "66.7% (95% interval 46.7-82.0%) right, 16 of 24",
        "The panel was right in 4 more of 24 cases",
        "Figures",
        "Accuracy and Cost",
        "By Tag",
        "Calibration",
        "panel, stated",
        "Debate",
        "Wrong to right",
        "Cases",
        "capital-001",
        "City 1",
        "consult-",
        "About this report",
    ] {
        let at = rest.find(expected);
        rest = &rest[at.unwrap_or_else(|| panic!("{expected}: {rest}"))..];
    }
}

#[test]
fn drawings_have_texts_for_those_who_do_not_see_them() {
    let page = scan(&page(&comparison_report(24)));
    let drawings = count(&page, "<svg");
    assert_eq!(drawings, 4);
    assert_eq!(count(&page, "<title>"), drawings + 1);
    assert_eq!(count(&page, "<desc>"), drawings);
    let tags = page.tags.iter();
    let labels = tags.filter(|tag| tag.contains("aria-label=\"")).count();
    assert_eq!(labels, drawings);
    // Panel, single model and three experts.
    let page = &page.text;
    assert!(page.contains("Panel: 66.7% at $0.0100"), "{page}");
}

#[test]
fn points_stay_inside_the_drawing() {
    for report in reports() {
        for tag in scan(&page(&report)).tags {
            let attributes: Vec<&str> = tag.split(['"', ' ', '>']).collect();
            for pair in attributes.windows(2) {
                let is_place = ["cx=", "cy=", "x1=", "x2=", "y1=", "y2="].contains(&pair[0]);
                if is_place {
                    let at: f64 = pair[1].parse().unwrap();
                    assert!((0.0..=560.0).contains(&at), "{tag}");
                }
            }
        }
    }
}

#[test]
fn unknown_costs_leave_the_points_in_the_table() {
    let (terms, mut results) = comparison(12);
    for result in &mut results {
        for expert in &mut result.experts {
            expert.cost = None;
        }
    }
    let page = scan(&page(&report(&terms, &results)));
    assert!(page.text.contains("security"), "{}", page.text);
    assert!(!page.text.contains("C: "), "{}", page.text);
}

#[test]
fn free_models_have_a_drawing() {
    let (terms, mut results) = comparison(12);
    for result in &mut results {
        result.spend.cost = Cost::FREE;
    }
    let page = scan(&page(&report(&terms, &results)));
    assert!(page.text.contains("Panel: 66.7% at $0.00"), "{}", page.text);
}

#[test]
fn missing_results_are_listed_as_not_done() {
    let page = scan(&page(&halted_report(6)));
    assert!(page.text.contains("Stopped: "), "{}", page.text);
    assert!(page.text.contains("conclave benchmark --resume bench-"));
    assert_eq!(page.text.matches("not done").count(), 18);
}

#[test]
fn foreign_text_is_text() {
    let foreign = "<script>alert(1)</script>&\"'\u{1b}[2J";
    let (mut terms, mut results) = comparison(3);
    terms.suite.name = foreign.to_owned();
    terms.suite.path = foreign.to_owned();
    terms.cases[0].tags = vec![foreign.to_owned()];
    terms.cases[0].expected = foreign.to_owned();
    for result in &mut results {
        result.error = Some(foreign.to_owned());
        if let Some(answer) = &mut result.answer {
            foreign.clone_into(&mut answer.text);
        }
        for expert in &mut result.experts {
            expert.seat = SeatId::new(foreign);
            expert.model.model = foreign.to_owned();
        }
    }
    let page = scan(&page(&report(&terms, &results)));
    assert!(page.text.contains("<script>alert(1)</script>&\"'[2J"));
}
