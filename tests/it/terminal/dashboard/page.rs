//! The statistics as a page.

use std::collections::BTreeSet;

use conclave::domain::model::vendors;
use conclave::domain::record::statistics::{Span, Statistics, UsageNumbers};
use conclave::stopping::calibration::{Calibration, GradedAnswers, GradedConfidence, Reliability};
use conclave::terminal::document;
use conclave::terminal::tables::calibration::page_parts;
use conclave::terminal::tables::dashboard::page;

use super::sample_statistics::{all, full, range};
use crate::support::html::{ScannedPage, scan};

fn calibration() -> Calibration {
    let graded = [(0.9, 1.0), (0.9, 0.0), (0.6, 1.0)];
    let graded = graded.map(|(stated, right)| GradedConfidence { stated, right });
    Calibration {
        graded: GradedAnswers {
            total: 3,
            right: 2,
            mixed: 0,
            wrong: 1,
        },
        answers: Reliability::of(graded),
        ..Calibration::default()
    }
}

fn shown(statistics: &Statistics, elsewhere: Option<&UsageNumbers>) -> ScannedPage {
    let calibration = page_parts(&calibration(), &statistics.range);
    let parts = page(statistics, elsewhere, vendors::name, calibration);
    scan(&document::page("Statistics", "", &parts, &BTreeSet::new()))
}

#[test]
fn statistics_have_pictures_with_their_figures_in_tables() {
    let page = shown(&full(), None);
    let count = |tag: &str| page.tags.iter().filter(|one| one.starts_with(tag)).count();
    for name in [
        "Runs per day",
        "Cost per day",
        "Cost by vendor",
        "Time to the first token",
        "Failed calls by vendor",
        "Hedges won by vendor",
        "Support of the strongest point",
        "Early ends",
        "Confidence and outcome",
    ] {
        let named = format!("aria-label=\"{name}\"");
        assert_eq!(
            page.tags.iter().filter(|tag| tag.contains(&named)).count(),
            1,
            "{name}"
        );
    }
    assert_eq!(count("<svg"), 9);
    assert_eq!(count("<desc"), 9);
    for figure in [
        "Nov 21: 10",
        "anthropic:claude-sonnet-5-5: 1.2s – 4.2s",
        "67% of the experts: 70",
        "90% sure: 50% of 2 right",
    ] {
        assert!(page.text.contains(figure), "{figure}: {}", page.text);
    }
}

#[test]
fn every_statistics_has_a_page_with_headings_in_order() {
    for statistics in all() {
        let levels = shown(&statistics, None).levels;
        let is_next = levels.windows(2).all(|pair| pair[1] <= pair[0] + 1);
        assert!(levels[0] == 1 && is_next, "{levels:?}");
    }
}

#[test]
fn an_empty_range_says_where_consultations_are() {
    let mut nothing = full();
    nothing.range = range(Span::Week);
    let page = shown(&nothing, Some(&full().usage));
    assert!(
        page.text
            .contains("No consultations found in the last 7 days"),
        "{}",
        page.text
    );
    assert!(
        page.text.contains("there are 147 consultations"),
        "{}",
        page.text
    );
}
