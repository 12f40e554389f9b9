//! What holds for the report of any results.

use conclave::benchmark::junit::junit;
use conclave::benchmark::report::BenchmarkReport;
use conclave::benchmark::report::arm::OutcomeCounts;
use conclave::benchmark::result::{CaseOutcome, CaseResult};
use conclave::benchmark::run::RunTerms;
use conclave::benchmark::statistics::Interval;
use conclave::domain::cost::money::Cost;
use conclave::stopping::batch::statistics::BatchStatistics;
use conclave::terminal::document::screen;
use conclave::terminal::output::style::Paint;
use conclave::terminal::report::benchmark::{markdown, page, summary};
use proptest::prelude::*;
use roxmltree::Document;

use crate::support::html::scan;
use crate::support::sample_results::{comparison, report};

/// The case runs that have a result.
fn done(counts: OutcomeCounts) -> u64 {
    counts.approved + counts.rejected + counts.failed
}

/// A part of a comparison, with other outcomes, in any order.
fn results() -> impl Strategy<Value = (RunTerms, Vec<CaseResult>)> {
    let outcome = prop_oneof![
        Just(CaseOutcome::Approved),
        Just(CaseOutcome::Rejected),
        Just(CaseOutcome::Failed),
    ];
    let cases = 1..20_usize;
    cases.prop_flat_map(move |cases| {
        let changes = prop::collection::vec((outcome.clone(), any::<bool>()), cases * 2);
        changes.prop_map(move |changes| {
            let (terms, results) = comparison(cases);
            let results = results.into_iter().zip(changes);
            let results = results.filter_map(|(mut result, (outcome, is_done))| {
                result.outcome = outcome;
                if let Some(answer) = &mut result.answer {
                    answer.is_right = outcome == CaseOutcome::Approved;
                }
                is_done.then_some(result)
            });
            (terms, results.collect())
        })
    })
}

/// The report without what depends on the order in which case runs finish.
fn without_order(report: BenchmarkReport) -> BenchmarkReport {
    BenchmarkReport {
        statistics: BatchStatistics::default(),
        ..report
    }
}

fn is_share(share: f64) -> bool {
    (0.0..=1.0).contains(&share)
}

fn check_interval(share: f64, interval: Interval) {
    assert!(is_share(share));
    assert!(is_share(interval.low) && is_share(interval.high));
    assert!(interval.low <= share + 1e-12 && share <= interval.high + 1e-12);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn order_does_not_matter((terms, results) in results(), seed in any::<u64>()) {
        let mut shuffled = results.clone();
        fastrand::Rng::with_seed(seed).shuffle(&mut shuffled);
        let expected = without_order(report(&terms, &shuffled));
        prop_assert_eq!(without_order(report(&terms, &results)), expected);
    }

    #[test]
    fn counts_and_costs_agree((terms, results) in results()) {
        let report = report(&terms, &results);
        let mut cost = Cost::FREE;
        for arm in &report.arms {
            let counts = arm.counts;
            prop_assert_eq!(counts.total, u64::try_from(terms.cases.len()).unwrap());
            prop_assert_eq!(counts.total, done(counts) + counts.not_done);
            prop_assert_eq!(arm.accuracy.map_or(0, |share| share.of), done(counts));
            prop_assert_eq!(arm.accuracy.map_or(0, |share| share.right), counts.approved);
            prop_assert_eq!(
                arm.accuracy_of_answered.map_or(0, |share| share.of),
                counts.approved + counts.rejected
            );
            cost += arm.spend.cost;
        }
        prop_assert_eq!(report.spend.cost, cost);
        let done: u64 = report.arms.iter().map(|arm| done(arm.counts)).sum();
        prop_assert_eq!(u64::try_from(report.results.len()).unwrap(), done);
        let misses = report.arms.iter().map(|arm| arm.counts.rejected + arm.counts.failed);
        let misses: u64 = misses.sum();
        prop_assert_eq!(u64::try_from(report.misses().len()).unwrap(), misses);
        let comparison = report.comparison.unwrap();
        prop_assert!(comparison.pairs.total() <= u64::try_from(terms.cases.len()).unwrap());
        prop_assert!(comparison.p.is_none_or(is_share));
    }

    #[test]
    fn shares_are_in_their_intervals((terms, results) in results()) {
        let report = report(&terms, &results);
        for arm in &report.arms {
            let experts = arm.experts.iter().map(|expert| expert.accuracy);
            let tags = arm.tags.iter().map(|figures| figures.accuracy);
            for accuracy in arm.accuracy.into_iter().chain(experts).chain(tags) {
                check_interval(accuracy.share, accuracy.interval);
            }
        }
        if let Some(comparison) = report.comparison
            && let (Some(difference), Some(interval)) =
                (comparison.difference, comparison.interval)
        {
            prop_assert!((-1.0..=1.0).contains(&difference));
            prop_assert!(interval.low <= difference && difference <= interval.high);
        }
    }

    #[test]
    fn every_face_shows_any_results((terms, results) in results()) {
        let report = report(&terms, &results);
        prop_assert!(!screen(&summary(&report), Some(80), Paint::PLAIN).is_empty());
        prop_assert!(markdown(&report).ends_with('\n'));
        scan(&page(&report));
        prop_assert!(Document::parse(&junit(&report)).is_ok());
        prop_assert!(serde_json::to_value(&report).is_ok());
    }
}
