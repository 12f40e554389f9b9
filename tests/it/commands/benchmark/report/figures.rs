//! The figures of a report, worked out by hand.

use conclave::benchmark::case::ErrorRate;
use conclave::benchmark::event::{BenchmarkEventKind, CaseRunDeferred, DeferralCause};
use conclave::benchmark::report::BenchmarkReport;
use conclave::benchmark::report::accuracy::{Accuracy, Consistency};
use conclave::benchmark::report::debate::AnswerChanges;
use conclave::benchmark::result::CaseOutcome::{self, Approved, Failed, Rejected};
use conclave::benchmark::result::CaseResult;
use conclave::benchmark::run::{Arm, RunId};
use conclave::benchmark::statistics::paired::PairedCounts;
use conclave::benchmark::statistics::proportion::Proportion;
use conclave::domain::cost::money::{Cost, MicroUsd};
use conclave::domain::ids::{ConsultationId, ModelRef};
use conclave::domain::record::stored_record::spend::ConsultationSpend;

use crate::support::sample_results::{
    comparison, comparison_report, halted_report, log, report, report_of_log, result, terms,
    transcriptions,
};

fn outcomes(arm: Arm, outcomes: &[CaseOutcome]) -> Vec<CaseResult> {
    let numbered = outcomes.iter().zip(1..);
    numbered
        .map(|(outcome, case)| result(case, arm, *outcome))
        .collect()
}

/// The report of one arm with these outcomes.
fn report_of(arm: Arm, of_cases: &[CaseOutcome]) -> BenchmarkReport {
    report(&terms(of_cases.len(), &[arm]), &outcomes(arm, of_cases))
}

/// The report of a comparison of twelve cases with changed results.
fn changed(change: impl Fn(&mut Vec<CaseResult>)) -> BenchmarkReport {
    let (terms, mut results) = comparison(12);
    change(&mut results);
    report(&terms, &results)
}

/// The accuracy's share and interval in percent.
fn percent(accuracy: Option<Accuracy>) -> String {
    let Accuracy {
        share, interval, ..
    } = accuracy.unwrap();
    let [share, low, high] = [share, interval.low, interval.high].map(|share| share * 100.0);
    format!("{share:.1} ({low:.1} to {high:.1})")
}

fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-12
}

fn is_said(report: &BenchmarkReport, words: &str) -> bool {
    let notices = report.notices();
    notices.iter().any(|notice| notice.text.contains(words))
}

fn exactly(micro_usd: u64) -> Cost {
    Cost::exactly(MicroUsd(micro_usd))
}

#[test]
fn failed_cases_count_as_not_right() {
    let arm = &report_of(Arm::Panel, &[Approved, Approved, Rejected, Failed]).arms[0];
    assert_eq!(percent(arm.accuracy), "50.0 (15.0 to 85.0)");
    assert_eq!(percent(arm.accuracy_of_answered), "66.7 (20.8 to 93.9)");
}

#[test]
fn costs_and_tokens_are_shared_by_right_answers() {
    let spend = report_of(Arm::Panel, &[Approved, Approved, Rejected]).arms[0].spend;
    assert_eq!(spend.cost, exactly(30_000));
    assert_eq!(spend.cost_per_case, Some(exactly(10_000)));
    assert_eq!(spend.cost_per_right, Some(exactly(15_000)));
    assert_eq!(spend.tokens_per_right, Some(12_000));
    assert_eq!(spend.calls, 24);
    let none = &report_of(Arm::Panel, &[Failed, Failed]).arms[0];
    assert_eq!(none.spend.cost_per_right, None);
    assert_eq!(none.spend.tokens_per_right, None);
    assert_eq!(percent(none.accuracy), "0.0 (0.0 to 65.8)");
    assert_eq!(none.accuracy_of_answered, None);
}

#[test]
fn free_and_unpriced_models_have_no_ratio() {
    let free = changed(|results| {
        for result in results {
            result.spend.cost = Cost::FREE;
        }
    });
    assert_eq!(free.spend.cost, Cost::FREE);
    let comparison = free.comparison.unwrap();
    assert_eq!(comparison.cost_ratio, None);
    assert!(!comparison.sentence.contains("cost"));

    let unpriced = changed(|results| results[0].spend.cost = Cost::at_least(MicroUsd(5)));
    assert!(unpriced.arms[0].spend.cost_per_right.unwrap().lower_bound);
    assert_eq!(unpriced.comparison.unwrap().cost_ratio, None);
}

#[test]
fn times_are_the_nearest_ranks() {
    let time = report_of(Arm::Single, &[Approved; 10]).arms[0]
        .time
        .unwrap();
    assert_eq!(time.median_ms, 850);
    assert_eq!(time.p90_ms, 890);
}

#[test]
fn tags_have_their_own_figures() {
    let report = comparison_report(12);
    let tags = report.arms[0].tags.iter().map(|figures| {
        let Accuracy { right, of, .. } = figures.accuracy;
        (figures.tag.as_deref().unwrap_or("-"), right, of)
    });
    let expected = [
        ("asia", 3, 4),
        ("europe", 2, 4),
        ("hard", 3, 4),
        ("-", 3, 4),
    ];
    assert_eq!(tags.collect::<Vec<_>>(), expected);
}

#[test]
fn pairs_are_compared_in_one_sentence() {
    let comparison = comparison_report(60).comparison.unwrap();
    let expected = PairedCounts {
        both_right: 25,
        only_first: 15,
        only_second: 5,
        both_wrong: 15,
    };
    assert_eq!(comparison.pairs, expected);
    assert_eq!(
        comparison.sentence,
        "The panel was right in 10 more of 60 cases (+16.7 points, 95% interval +2.1 to +30.1, \
         p = 0.041): clearly better, at 8.0 times the cost."
    );

    let few = comparison_report(6).comparison.unwrap().sentence;
    assert!(few.contains("too few cases differ to tell"), "{few}");

    let mut results = outcomes(Arm::Panel, &[Rejected; 10]);
    results.extend(outcomes(Arm::Single, &[Approved; 10]));
    let worse = report(&terms(10, &Arm::ALL), &results);
    let worse = worse.comparison.unwrap().sentence;
    let beginning = "The panel was right in 10 fewer of 10 cases (-100.0 points";
    assert!(worse.starts_with(beginning), "{worse}");
    assert!(worse.contains("clearly worse"), "{worse}");
}

#[test]
fn only_pairs_are_compared() {
    // The single model has not answered the last three cases.
    let report = changed(|results| {
        results.retain(|result| {
            result.run.arm == Arm::Panel || result.run.case.as_str() < "capital-010"
        });
    });
    assert_eq!(report.arms[0].accuracy.unwrap().of, 12);
    assert_eq!(report.comparison.unwrap().pairs.total(), 9);
}

#[test]
fn nothing_in_common_is_not_compared() {
    let results = [
        result(1, Arm::Panel, Approved),
        result(2, Arm::Single, Approved),
    ];
    let comparison = report(&terms(2, &Arm::ALL), &results).comparison.unwrap();
    assert_eq!(comparison.p, None);
    assert_eq!(comparison.difference, None);
    let expected = "No case has a result in both arms: there is nothing to compare.";
    assert_eq!(comparison.sentence, expected);
}

#[test]
fn repetitions_do_not_narrow_intervals() {
    let (mut terms, results) = comparison(12);
    let once = report(&terms, &results);
    terms.repetitions = 4;
    let mut repetitions = Vec::new();
    for repetition in 1..=4 {
        for result in &results {
            let mut result = result.clone();
            result.run.repetition = repetition;
            repetitions.push(result);
        }
    }
    let four_times = report(&terms, &repetitions);
    let [single, repeated] = [&once, &four_times].map(|report| report.arms[0].accuracy.unwrap());
    assert_eq!(repeated.of, 48);
    assert_eq!(repeated.interval_cases, 12);
    assert_eq!(repeated.interval, single.interval);
    let (single, repeated) = (once.comparison.unwrap(), four_times.comparison.unwrap());
    assert_eq!(repeated.pairs.total(), 48);
    assert_eq!(repeated.interval, single.interval);
    assert_eq!(repeated.p, single.p);
    let sentence = repeated.sentence;
    assert!(sentence.contains("48 answers to 12 cases"), "{sentence}");
}

#[test]
fn repetitions_show_how_consistent_answers_are() {
    let mut terms = terms(3, &[Arm::Panel]);
    terms.repetitions = 2;
    let mut results = outcomes(Arm::Panel, &[Approved, Approved, Rejected]);
    for mut second in outcomes(Arm::Panel, &[Approved, Rejected, Rejected]) {
        second.run.repetition = 2;
        results.push(second);
    }
    let expected = Consistency {
        cases: 3,
        always_right: 1,
        sometimes_right: 1,
        never_right: 1,
    };
    assert_eq!(report(&terms, &results).arms[0].consistency, Some(expected));
}

#[test]
fn debate_counts_what_the_rounds_change() {
    let report = comparison_report(12);
    let debate = report.arms[0].debate.unwrap();
    let expected = AnswerChanges {
        compared: 11,
        both_right: 6,
        right_to_wrong: 1,
        wrong_to_right: 2,
        both_wrong: 2,
    };
    assert_eq!(debate.vote_to_verdict, expected);
    // Two early stops have no Rounds 3 and 4.
    assert_eq!(debate.synthesis_to_verdict.compared, 9);
    assert_eq!(debate.synthesis_to_verdict.both_right, 4);
    assert_eq!(report.arms[1].debate, None);
}

#[test]
fn debate_without_a_verdict_says_nothing_of_rounds_3_and_4() {
    let (mut terms, results) = comparison(12);
    terms.arms[0].rounds = 2;
    let debate = report(&terms, &results).arms[0].debate.unwrap();
    assert_eq!(debate.synthesis_to_verdict, AnswerChanges::default());
    assert_eq!(debate.vote_to_verdict.compared, 11);
}

#[test]
fn early_stops_are_set_against_full_debates() {
    let stops = comparison_report(12).arms[0].early_stops.unwrap();
    assert_eq!(stops.stopped, Proportion::new(2, 2));
    assert_eq!(stops.full, Proportion::new(6, 10));
    assert_eq!(stops.saved, exactly(8_000));
    assert_eq!(stops.saved_known, 2);
}

#[test]
fn experts_are_measured_alone() {
    let report = comparison_report(12);
    let experts = &report.arms[0].experts;
    assert_eq!(experts.len(), 3);
    assert_eq!(experts[0].seat.as_str(), "performance");
    assert_eq!(experts[0].accuracy.of, 11);
    assert_eq!(experts[0].cost_per_case, Some(exactly(240)));
    assert!(report.arms[1].experts.is_empty());

    let unknown = changed(|results| results[0].experts[0].cost = None);
    let mut experts = unknown.arms[0].experts.iter();
    let security = experts.find(|expert| expert.seat.as_str() == "security");
    assert_eq!(security.unwrap().cost_per_case, None);
}

#[test]
fn demonstration_models_are_not_calibrated() {
    let report = changed(|results| {
        for result in results {
            result.demonstration = true;
            for expert in &mut result.experts {
                expert.model = ModelRef::new("local", "qwen3-0.6b");
            }
        }
    });
    let calibration = &report.arms[0].calibration;
    assert_eq!(calibration.stated, None);
    assert!(calibration.experts.is_empty());
    assert_eq!(calibration.demonstration, 11);
    assert!(is_said(&report, "demonstration quality"));
}

#[test]
fn stated_confidence_is_compared_with_the_verdict() {
    let report = comparison_report(12);
    let calibration = &report.arms[0].calibration;
    let stated = calibration.stated.as_ref().unwrap();
    assert_eq!(stated.count, 11);
    assert!(is_near(stated.mean_right, 8.0 / 11.0));
    // The calibrated probability is one of the leading point of Round 2.
    let calibrated = calibration.calibrated.as_ref().unwrap();
    assert!(is_near(calibrated.mean_right, 7.0 / 11.0));
}

#[test]
fn calibrated_probability_of_a_point_without_an_answer_is_left_out() {
    let report = changed(|results| {
        let debate = results
            .iter_mut()
            .find(|result| result.calibrated.is_some() && result.stages.synthesis == Some(false));
        let debate = debate.unwrap();
        debate.stages.synthesis = None;
        debate.early_stop = true;
    });
    let calibration = &report.arms[0].calibration;
    assert_eq!(calibration.uncompared, 1);
    let calibrated = calibration.calibrated.as_ref().unwrap();
    assert_eq!(calibrated.count, 10);
    assert!(is_near(calibrated.mean_right, 7.0 / 10.0));
    assert!(is_said(&report, "1 calibrated probability is left"));
}

#[test]
fn error_rates_are_grouped_by_measure() {
    let (terms, results) = transcriptions(4);
    let report = report(&terms, &results);
    let [cer, wer] = report.arms[0].error_rates[..] else {
        panic!("{:?}", report.arms[0].error_rates);
    };
    assert_eq!(cer.measure, ErrorRate::Cer);
    assert!(is_near(cer.mean, 0.03));
    assert_eq!(wer.count, 2);
    assert!(is_near(wer.median, 0.1));
}

#[test]
fn outages_remain_to_be_done_and_cost_what_they_cost() {
    let terms = terms(2, &[Arm::Panel]);
    let mut events = log(&terms, &[result(1, Arm::Panel, Approved)]);
    let run = result(2, Arm::Panel, Failed).run;
    events.push(BenchmarkEventKind::CaseRunStarted {
        run: run.clone(),
        attempt: 1,
        consultation: ConsultationId::from_unique("01K2OUTAGE"),
    });
    let spend = ConsultationSpend {
        cost: exactly(500),
        calls: 1,
        ..ConsultationSpend::default()
    };
    let deferred = CaseRunDeferred {
        run: run.clone(),
        cause: DeferralCause::Infrastructure,
        spend,
        error: Some("the provider is overloaded".to_owned()),
    };
    events.push(BenchmarkEventKind::CaseRunDeferred(Box::new(deferred)));
    let report = report_of_log(events);
    assert_eq!(report.not_done, [run]);
    assert_eq!(report.arms[0].accuracy.unwrap().of, 1);
    assert_eq!(report.arms[0].spend.cost, exactly(10_500));
    let expected = "1 of 2 case runs have no result (1 of them were attempted).";
    assert_eq!(report.notices()[0].text, expected);
}

#[test]
fn merged_run_has_the_report_of_one_run() {
    let (terms, mut results) = comparison(12);
    let whole = report(&terms, &results);
    let mut events = log(&terms, &[]);
    events.push(BenchmarkEventKind::Merged {
        runs: vec![RunId::from_unique("one"), RunId::from_unique("other")],
    });
    // The cases of the other part come first.
    results.rotate_left(8);
    for result in results {
        events.push(BenchmarkEventKind::CaseRunFinished {
            result: Box::new(result),
        });
    }
    let merged = report_of_log(events);
    assert_eq!(merged.arms, whole.arms);
    assert_eq!(merged.comparison, whole.comparison);
    assert_eq!(merged.spend, whole.spend);
    assert_eq!(merged.results, whole.results);
    assert_eq!(merged.merged_from.len(), 2);
}

#[test]
fn halted_run_names_its_reason_and_its_resume() {
    let report = halted_report(6);
    let notice = &report.notices()[0];
    assert!(notice.text.starts_with("Stopped: "), "{}", notice.text);
    let expected = Some("conclave benchmark --resume bench-01k2abcdefgh");
    assert_eq!(notice.command.as_deref(), expected);
    assert_eq!(report.remaining.len(), 9);
}

#[test]
fn misses_begin_with_the_most_confident_answer_of_the_panel() {
    let report = comparison_report(12);
    let misses = report.misses();
    assert_eq!(misses.len(), 10);
    assert_eq!(misses[0].confidence, Some(0.95));
    assert_eq!(misses[3].outcome, Failed);
    assert_eq!(misses[3].given(), "the reply has no answer");
    assert_eq!(misses[4].confidence, Some(0.99));
}
