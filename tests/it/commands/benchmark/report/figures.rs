//! The figures of a report, worked out by hand.

use conclave::benchmark::case::ErrorRate;
use conclave::benchmark::event::{BenchmarkEventKind, CaseRunDeferred, DeferralCause};
use conclave::benchmark::report::accuracy::{Accuracy, Consistency};
use conclave::benchmark::report::debate::AnswerChanges;
use conclave::benchmark::report::notices::ReportNotice;
use conclave::benchmark::result::{CaseOutcome, CaseResult};
use conclave::benchmark::run::{Arm, RunId};
use conclave::benchmark::statistics::paired::PairedCounts;
use conclave::benchmark::statistics::proportion::Proportion;
use conclave::domain::ids::{ConsultationId, ModelRef};
use conclave::domain::money::{Cost, MicroUsd};
use conclave::domain::stored_record::spend::ConsultationSpend;

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

/// The accuracy's share and interval in percent.
fn percent(accuracy: &Accuracy) -> String {
    format!(
        "{:.1} ({:.1} to {:.1})",
        accuracy.share * 100.0,
        accuracy.interval.low * 100.0,
        accuracy.interval.high * 100.0
    )
}

#[test]
fn failed_cases_count_as_not_right() {
    use CaseOutcome::{Approved, Failed, Rejected};
    let results = outcomes(Arm::Panel, &[Approved, Approved, Rejected, Failed]);
    let report = report(&terms(4, &[Arm::Panel]), &results);
    let arm = &report.arms[0];
    assert_eq!(percent(&arm.accuracy.unwrap()), "50.0 (15.0 to 85.0)");
    assert_eq!(
        percent(&arm.accuracy_of_answered.unwrap()),
        "66.7 (20.8 to 93.9)"
    );
}

#[test]
fn costs_and_tokens_are_shared_by_right_answers() {
    use CaseOutcome::{Approved, Rejected};
    let results = outcomes(Arm::Panel, &[Approved, Approved, Rejected]);
    let report = report(&terms(3, &[Arm::Panel]), &results);
    let spend = report.arms[0].spend;
    assert_eq!(spend.cost, Cost::exactly(MicroUsd(30_000)));
    assert_eq!(spend.cost_per_case, Some(Cost::exactly(MicroUsd(10_000))));
    assert_eq!(spend.cost_per_right, Some(Cost::exactly(MicroUsd(15_000))));
    assert_eq!(spend.tokens_per_right, Some(12_000));
    assert_eq!(spend.calls, 24);
}

#[test]
fn no_right_answer_has_no_price() {
    let results = outcomes(Arm::Panel, &[CaseOutcome::Failed, CaseOutcome::Failed]);
    let report = report(&terms(2, &[Arm::Panel]), &results);
    let arm = &report.arms[0];
    assert_eq!(arm.spend.cost_per_right, None);
    assert_eq!(arm.spend.tokens_per_right, None);
    assert_eq!(percent(&arm.accuracy.unwrap()), "0.0 (0.0 to 65.8)");
    assert_eq!(arm.accuracy_of_answered, None);
}

#[test]
fn free_models_cost_nothing_and_have_no_ratio() {
    let (terms, mut results) = comparison(12);
    for result in &mut results {
        result.spend.cost = Cost::FREE;
    }
    let report = report(&terms, &results);
    let comparison = report.comparison.unwrap();
    assert_eq!(report.spend.cost, Cost::FREE);
    assert_eq!(comparison.cost_ratio, None);
    assert!(
        !comparison.sentence.contains("cost"),
        "{}",
        comparison.sentence
    );
}

#[test]
fn unpriced_models_have_no_ratio() {
    let (terms, mut results) = comparison(12);
    results[0].spend.cost = Cost::at_least(MicroUsd(5));
    let report = report(&terms, &results);
    assert!(report.arms[0].spend.cost_per_right.unwrap().lower_bound);
    assert_eq!(report.comparison.unwrap().cost_ratio, None);
}

#[test]
fn times_are_the_nearest_ranks() {
    let results = outcomes(Arm::Single, &[CaseOutcome::Approved; 10]);
    let report = report(&terms(10, &[Arm::Single]), &results);
    let time = report.arms[0].time.unwrap();
    assert_eq!(time.median_ms, 850);
    assert_eq!(time.p90_ms, 890);
}

#[test]
fn tags_have_their_own_figures() {
    let report = comparison_report(12);
    let tags: Vec<_> = report.arms[0]
        .tags
        .iter()
        .map(|figures| {
            let Accuracy { right, of, .. } = figures.accuracy;
            (figures.tag.as_deref().unwrap_or("-"), right, of)
        })
        .collect();
    let expected = [
        ("asia", 3, 4),
        ("europe", 2, 4),
        ("hard", 3, 4),
        ("-", 3, 4),
    ];
    assert_eq!(tags, expected);
}

#[test]
fn pairs_are_compared_in_one_sentence() {
    let report = comparison_report(60);
    let comparison = report.comparison.unwrap();
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
}

#[test]
fn few_different_cases_decide_nothing() {
    let (terms, results) = comparison(6);
    let sentence = report(&terms, &results).comparison.unwrap().sentence;
    assert!(
        sentence.contains("too few cases differ to tell"),
        "{sentence}"
    );
}

#[test]
fn worse_panel_is_called_worse() {
    let mut results = outcomes(Arm::Panel, &[CaseOutcome::Rejected; 10]);
    results.extend(outcomes(Arm::Single, &[CaseOutcome::Approved; 10]));
    let report = report(&terms(10, &Arm::ALL), &results);
    let sentence = report.comparison.unwrap().sentence;
    assert!(
        sentence.starts_with("The panel was right in 10 fewer of 10 cases (-100.0 points"),
        "{sentence}"
    );
    assert!(sentence.contains("clearly worse"), "{sentence}");
}

#[test]
fn only_pairs_are_compared() {
    let (terms, mut results) = comparison(12);
    // The single model has not answered the last three cases.
    results
        .retain(|result| result.run.arm == Arm::Panel || result.run.case.as_str() < "capital-010");
    let report = report(&terms, &results);
    assert_eq!(report.arms[0].accuracy.unwrap().of, 12);
    assert_eq!(report.comparison.unwrap().pairs.total(), 9);
}

#[test]
fn nothing_in_common_is_not_compared() {
    let mut results = vec![result(1, Arm::Panel, CaseOutcome::Approved)];
    results.push(result(2, Arm::Single, CaseOutcome::Approved));
    let comparison = report(&terms(2, &Arm::ALL), &results).comparison.unwrap();
    assert_eq!(comparison.p, None);
    assert_eq!(comparison.difference, None);
    assert_eq!(
        comparison.sentence,
        "No case has a result in both arms: there is nothing to compare."
    );
}

#[test]
fn repetitions_do_not_narrow_intervals() {
    let (mut terms, results) = comparison(12);
    let once = report(&terms, &results);
    terms.repetitions = 4;
    let repetitions: Vec<CaseResult> = (1..=4)
        .flat_map(|repetition| {
            results.iter().cloned().map(move |mut result| {
                result.run.repetition = repetition;
                result
            })
        })
        .collect();
    let four_times = report(&terms, &repetitions);
    let (single, repeated) = (&once.arms[0], &four_times.arms[0]);
    assert_eq!(repeated.accuracy.unwrap().of, 48);
    assert_eq!(repeated.accuracy.unwrap().interval_cases, 12);
    assert_eq!(
        repeated.accuracy.unwrap().interval,
        single.accuracy.unwrap().interval
    );
    let (single, repeated) = (once.comparison.unwrap(), four_times.comparison.unwrap());
    assert_eq!(repeated.pairs.total(), 48);
    assert_eq!(repeated.interval, single.interval);
    assert_eq!(repeated.p, single.p);
    assert!(
        repeated.sentence.contains("48 answers to 12 cases"),
        "{}",
        repeated.sentence
    );
}

#[test]
fn repetitions_show_how_consistent_answers_are() {
    use CaseOutcome::{Approved, Rejected};
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
    let report = comparison_report(12);
    let stops = report.arms[0].early_stops.unwrap();
    assert_eq!(stops.stopped, Proportion::new(2, 2));
    assert_eq!(stops.full, Proportion::new(6, 10));
    assert_eq!(stops.saved, Cost::exactly(MicroUsd(8_000)));
    assert_eq!(stops.saved_known, 2);
}

#[test]
fn experts_are_measured_alone() {
    let report = comparison_report(12);
    let experts = &report.arms[0].experts;
    assert_eq!(experts.len(), 3);
    assert_eq!(experts[0].seat.as_str(), "performance");
    assert_eq!(experts[0].accuracy.of, 11);
    assert_eq!(experts[0].cost_per_case, Some(Cost::exactly(MicroUsd(240))));
    assert!(report.arms[1].experts.is_empty());
}

#[test]
fn unknown_cost_of_one_answer_leaves_the_expert_without_a_cost() {
    let (terms, mut results) = comparison(12);
    results[0].experts[0].cost = None;
    let report = report(&terms, &results);
    let experts = &report.arms[0].experts;
    let security = experts
        .iter()
        .find(|expert| expert.seat.as_str() == "security");
    assert_eq!(security.unwrap().cost_per_case, None);
}

#[test]
fn demonstration_models_are_not_calibrated() {
    let (terms, mut results) = comparison(12);
    for result in &mut results {
        result.demonstration = true;
        for expert in &mut result.experts {
            expert.model = ModelRef::new("local", "qwen3-0.6b");
        }
    }
    let report = report(&terms, &results);
    let calibration = &report.arms[0].calibration;
    assert_eq!(calibration.stated, None);
    assert!(calibration.experts.is_empty());
    assert_eq!(calibration.demonstration, 11);
    assert!(
        report
            .notices()
            .iter()
            .any(|notice| notice.text.contains("demonstration quality")),
        "{:?}",
        report.notices()
    );
}

#[test]
fn stated_confidence_is_compared_with_the_verdict() {
    let report = comparison_report(12);
    let calibration = &report.arms[0].calibration;
    let stated = calibration.stated.as_ref().unwrap();
    assert_eq!(stated.count, 11);
    assert!((stated.mean_right - 8.0 / 11.0).abs() < 1e-12);
    // The calibrated probability is one of the leading point of Round 2.
    let calibrated = calibration.calibrated.as_ref().unwrap();
    assert!((calibrated.mean_right - 7.0 / 11.0).abs() < 1e-12);
}

#[test]
fn calibrated_probability_of_a_point_without_an_answer_is_left_out() {
    let (terms, mut results) = comparison(12);
    let debate = results
        .iter_mut()
        .find(|result| result.calibrated.is_some() && result.stages.synthesis == Some(false));
    let debate = debate.unwrap();
    debate.stages.synthesis = None;
    debate.early_stop = true;
    let report = report(&terms, &results);
    let calibration = &report.arms[0].calibration;
    assert_eq!(calibration.uncompared, 1);
    let calibrated = calibration.calibrated.as_ref().unwrap();
    assert_eq!(calibrated.count, 10);
    assert!((calibrated.mean_right - 7.0 / 10.0).abs() < 1e-12);
    let notices = report.notices();
    let is_said = |notice: &ReportNotice| notice.text.contains("1 calibrated probability is left");
    assert!(notices.iter().any(is_said), "{notices:?}");
}

#[test]
fn error_rates_are_grouped_by_measure() {
    let (terms, results) = transcriptions(4);
    let report = report(&terms, &results);
    let [cer, wer] = report.arms[0].error_rates[..] else {
        panic!("{:?}", report.arms[0].error_rates);
    };
    assert_eq!(cer.measure, ErrorRate::Cer);
    assert!((cer.mean - 0.03).abs() < 1e-12);
    assert_eq!(wer.count, 2);
    assert!((wer.median - 0.1).abs() < 1e-12);
}

#[test]
fn outages_remain_to_be_done_and_cost_what_they_cost() {
    let terms = terms(2, &[Arm::Panel]);
    let mut events = log(&terms, &[result(1, Arm::Panel, CaseOutcome::Approved)]);
    let run = result(2, Arm::Panel, CaseOutcome::Failed).run;
    events.push(BenchmarkEventKind::CaseRunStarted {
        run: run.clone(),
        attempt: 1,
        consultation: ConsultationId::from_unique("01K2OUTAGE"),
    });
    events.push(BenchmarkEventKind::CaseRunDeferred(Box::new(
        CaseRunDeferred {
            run: run.clone(),
            cause: DeferralCause::Infrastructure,
            spend: ConsultationSpend {
                cost: Cost::exactly(MicroUsd(500)),
                calls: 1,
                ..ConsultationSpend::default()
            },
            error: Some("the provider is overloaded".to_owned()),
        },
    )));
    let report = report_of_log(events);
    assert_eq!(report.not_done, [run]);
    assert_eq!(report.arms[0].accuracy.unwrap().of, 1);
    assert_eq!(report.arms[0].spend.cost, Cost::exactly(MicroUsd(10_500)));
    assert_eq!(
        report.notices()[0].text,
        "1 of 2 case runs have no result (1 of them were attempted)."
    );
}

#[test]
fn merged_run_has_the_report_of_one_run() {
    let (terms, results) = comparison(12);
    let whole = report(&terms, &results);
    let (one, other): (Vec<CaseResult>, Vec<CaseResult>) = results
        .into_iter()
        .partition(|result| result.run.case.as_str() < "capital-005");
    let mut events = log(&terms, &[]);
    events.push(BenchmarkEventKind::Merged {
        runs: vec![RunId::from_unique("one"), RunId::from_unique("other")],
    });
    for result in other.into_iter().chain(one) {
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
    assert_eq!(
        notice.command.as_deref(),
        Some("conclave benchmark --resume bench-01k2abcdefghjkmnpqrstvwxyz")
    );
    assert_eq!(report.remaining.len(), 9);
}

#[test]
fn misses_begin_with_the_most_confident_answer_of_the_panel() {
    let report = comparison_report(12);
    let misses = report.misses();
    assert_eq!(misses.len(), 10);
    assert_eq!(misses[0].confidence, Some(0.95));
    assert_eq!(misses[3].outcome, CaseOutcome::Failed);
    assert_eq!(misses[3].given(), "the reply has no answer");
    assert_eq!(misses[4].confidence, Some(0.99));
}
