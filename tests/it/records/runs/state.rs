//! The state of a run: what starts when, halts, resumes, and what scripts read of it.

use conclave::benchmark::event::{BenchmarkEvent, BenchmarkEventKind, DeferralCause};
use conclave::benchmark::result::CaseOutcome;
use conclave::benchmark::run::{Arm, CaseRunId};
use conclave::benchmark::state::{BenchmarkState, BenchmarkStateError, BenchmarkStatus};
use conclave::domain::ids::ProviderId;
use conclave::domain::random::SplitMix64;
use conclave::domain::record::log::Fold as _;
use conclave::stopping::batch::conditions::StopConditions;
use conclave::stopping::batch::reason::StopCondition;
use conclave::stopping::batch::state::StopRequest;
use proptest::prelude::*;

use super::sample::{
    Fate, PlayedRun, begun, consultation, deferred, finished, number, played, started, terms,
};

fn condition(state: &BenchmarkState) -> Option<StopCondition> {
    state.stop_reason().map(|reason| reason.condition)
}

fn ids(runs: &[&CaseRunId]) -> Vec<u32> {
    runs.iter().map(|run| number(run)).collect()
}

fn panel_run(cases: u32, jobs: usize) -> PlayedRun {
    let terms = terms(cases, &[Arm::Panel]);
    PlayedRun::new(begun(terms, StopConditions::default()), jobs, 1)
}

fn in_flight(run: &PlayedRun) -> Vec<CaseRunId> {
    let in_flight = run.state.in_flight().iter();
    in_flight.map(|pending| pending.run.clone()).collect()
}

#[test]
fn three_failures_in_a_row_stop_a_run_without_failing_it() {
    let run = played(12, StopConditions::default(), |_, _| Fate::NoAnswer);
    assert_eq!(run.state.status(), BenchmarkStatus::Stopped);
    assert_eq!(condition(&run.state), Some(StopCondition::ConsecutiveFails));
    assert_eq!(run.state.results.len(), 3);
    // Two attempts each.
    assert_eq!(run.state.statistics().attempts, 6);
    assert_eq!(ids(&run.state.remaining()), (4..=12).collect::<Vec<_>>());
}

#[test]
fn what_is_in_flight_at_a_halt_finishes_and_counts() {
    let mut run = panel_run(12, 4);
    run.start_all();
    let in_flight = in_flight(&run);
    assert_eq!(in_flight.len(), 4);
    for case_run in &in_flight[..3] {
        run.record(finished(case_run, CaseOutcome::Rejected, 1));
    }
    assert!(run.state.is_halted());
    assert_eq!(run.state.next_start(), None);
    assert!(!run.state.has_ended());
    run.record(finished(&in_flight[3], CaseOutcome::Approved, 1));
    assert!(run.state.has_ended());
    assert_eq!(run.state.results.len(), 4);
    assert_eq!(condition(&run.state), Some(StopCondition::ConsecutiveFails));
}

#[test]
fn a_halt_with_nothing_left_to_do_is_a_complete_run() {
    let mut run = panel_run(4, 4);
    run.start_all();
    for case_run in in_flight(&run) {
        run.record(finished(&case_run, CaseOutcome::Rejected, 1));
    }
    assert_eq!(run.state.halts.len(), 1);
    assert_eq!(run.state.status(), BenchmarkStatus::Complete);
    assert_eq!(run.state.stop_reason(), None);
}

#[test]
fn no_second_attempt_starts_after_a_halt() {
    let mut run = panel_run(12, 4);
    run.start_all();
    for case_run in &in_flight(&run)[..3] {
        run.record(finished(case_run, CaseOutcome::Rejected, 1));
    }
    run.play(|_, _| Fate::NoAnswer);
    assert_eq!(run.starts.values().max(), Some(&1));
    assert_eq!(run.state.remaining().len(), 9);
    assert!(run.state.has_ended());
}

#[test]
fn a_resume_probes_with_one_case_run() {
    let mut run = played(12, StopConditions::default(), |_, _| Fate::Wrong);
    run.resume();
    let mut parallel = run.clone();
    let first = parallel.state.next_start().unwrap().run.clone();
    parallel.record(started(&first, 1));
    assert_eq!(parallel.state.next_start(), None);
    run = parallel.clone();
    run.record(finished(&first, CaseOutcome::Rejected, 1));
    assert!(!run.state.is_halted(), "a wrong answer is an answer");
    parallel.record(finished(&first, CaseOutcome::Approved, 1));
    assert!(parallel.state.next_start().is_some());
}

#[test]
fn a_probe_without_an_answer_halts_again_at_once() {
    let mut run = played(12, StopConditions::default(), |_, _| Fate::NoAnswer);
    run.resume();
    run.play(|_, _| Fate::NoAnswer);
    assert_eq!(condition(&run.state), Some(StopCondition::ProbeFailed));
    assert_eq!(run.state.results.len(), 4);
    run.resume();
    run.play(|_, _| Fate::Outage);
    assert_eq!(condition(&run.state), Some(StopCondition::ProbeFailed));
    assert_eq!(run.state.results.len(), 4);
}

#[test]
fn a_case_that_only_meets_outages_is_not_every_probe() {
    let fate = |run: &CaseRunId, _| match number(run) {
        1 => Fate::Outage,
        _ => Fate::Right,
    };
    let mut run = panel_run(12, 1);
    run.start_all();
    run.resume();
    run.play(fate);
    assert_eq!(condition(&run.state), Some(StopCondition::ProbeFailed));
    run.resume();
    run.play(fate);
    assert_eq!(condition(&run.state), Some(StopCondition::Unanswered));
    assert_eq!(ids(&run.state.remaining()), [1]);
}

#[test]
fn a_run_that_was_killed_after_its_last_result_is_complete() {
    let run = played(3, StopConditions::default(), |_, _| Fate::Right);
    let (first, others) = run.log.split_first().unwrap();
    let (_ended, others) = others.split_last().unwrap();
    let mut state = BenchmarkState::begin(first).unwrap();
    for event in others {
        state.apply(event).unwrap();
    }
    assert!(!state.has_ended());
    assert_eq!(state.status(), BenchmarkStatus::Complete);
}

#[test]
fn what_an_earlier_process_had_in_flight_comes_first_after_a_resume() {
    let mut run = panel_run(12, 3);
    run.start_all();
    let killed = in_flight(&run);
    run.record(finished(&killed[0], CaseOutcome::Approved, 1));
    run.resume();
    let left_over: Vec<_> = run
        .state
        .without_result()
        .filter(|pending| pending.unfinished.is_some())
        .map(|pending| (pending.run.clone(), pending.unfinished.clone()))
        .collect();
    let expected: Vec<_> = killed[1..]
        .iter()
        .map(|case_run| (case_run.clone(), Some(consultation(case_run, 1))))
        .collect();
    assert_eq!(left_over, expected);
    assert_eq!(run.state.next_start().unwrap().run, killed[1]);
    // A consultation that had finished is taken over; it is not the probe.
    run.record(finished(&killed[1], CaseOutcome::Approved, 1));
    run.start_all();
    assert_eq!(in_flight(&run), [killed[2].clone()]);
}

#[test]
fn a_resumed_consultation_is_no_new_attempt() {
    let mut run = panel_run(12, 1);
    run.start_all();
    let case_run = in_flight(&run)[0].clone();
    run.resume();
    run.record(started(&case_run, 1));
    assert_eq!(run.state.statistics().attempts, 1);
    assert_eq!(run.state.pending(&case_run).unwrap().consultations.len(), 1);
}

#[test]
fn each_start_counts_once_and_an_outage_never() {
    // What follows the first start of a case, and the attempts then.
    let rows: [(&[&str], u32); 8] = [
        (&["start 2"], 2),
        (&["kill", "start 1"], 1),
        (&["kill", "start 2"], 1),
        (&["kill", "start 2", "start 3"], 2),
        (&["outage", "start 2"], 1),
        (&["outage", "start 1"], 1),
        (&["start 2", "outage", "start 2"], 2),
        (&["stop", "kill", "start 1"], 1),
    ];
    for (steps, attempts) in rows {
        let mut run = panel_run(12, 1);
        run.start_all();
        let case_run = in_flight(&run)[0].clone();
        for step in steps {
            run.record(match step.split_once(' ') {
                Some((_, number)) => started(&case_run, number.parse().unwrap()),
                None if *step == "outage" => deferred(&case_run, DeferralCause::Infrastructure),
                None if *step == "stop" => deferred(&case_run, DeferralCause::Stop),
                None => BenchmarkEventKind::Resumed {
                    conditions: StopConditions::default(),
                },
            });
        }
        let pending = run.state.pending(&case_run).unwrap();
        assert_eq!(pending.attempts, attempts, "{steps:?}");
        assert_eq!(
            run.state.statistics().attempts,
            u64::from(attempts),
            "{steps:?}"
        );
    }
}

#[test]
fn an_outage_is_tried_again_after_the_other_cases() {
    let mut order = Vec::new();
    let run = played(5, StopConditions::default(), |run, attempt| {
        order.push((number(run), attempt));
        if number(run) == 2 && attempt == 1 {
            Fate::Outage
        } else {
            Fate::Right
        }
    });
    assert_eq!(order, [(1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (2, 2)]);
    assert_eq!(run.state.status(), BenchmarkStatus::Complete);
    let statistics = run.state.statistics();
    assert_eq!(statistics.infrastructure_failures, 1);
    assert_eq!(statistics.cases_rejected, 0);
    assert_eq!(statistics.cases_failed, 0);
}

#[test]
fn outages_are_neither_attempts_nor_retries() {
    let conditions = StopConditions {
        max_attempts: Some(12),
        ..StopConditions::default()
    };
    // Never three in a row.
    let meets_one = |run: &CaseRunId| !number(run).is_multiple_of(3);
    let run = played(12, conditions, |run, start| {
        let is_outage = start == 1 && meets_one(run);
        if is_outage { Fate::Outage } else { Fate::Right }
    });
    assert_eq!(run.state.status(), BenchmarkStatus::Complete);
    assert!(run.state.halts.is_empty(), "{:?}", run.state.halts);
    let statistics = run.state.statistics();
    assert_eq!(statistics.infrastructure_failures, 8);
    assert_eq!(statistics.attempts, 12);
    assert_eq!(statistics.cases_retried, 0);
    assert_eq!(statistics.window_retry_rate, Some(0.0));
}

#[test]
fn a_budget_ends_a_run_before_the_attempt_that_exceeds_it() {
    let conditions = StopConditions {
        max_attempts: Some(5),
        ..StopConditions::default()
    };
    let mut run = PlayedRun::new(begun(terms(12, &[Arm::Panel]), conditions), 4, 1);
    run.play(|_, _| Fate::Right);
    assert_eq!(condition(&run.state), Some(StopCondition::AttemptBudget));
    assert_eq!(run.state.results.len(), 5);
    run.resume();
    run.play(|_, _| Fate::Right);
    assert_eq!(run.state.results.len(), 10);
}

#[test]
fn a_refused_key_halts_at_once_and_names_the_provider() {
    let mut run = panel_run(12, 2);
    run.start_all();
    let case_runs = in_flight(&run);
    let provider = ProviderId::new("openai");
    let refused = StopRequest::Authentication { provider };
    run.record(BenchmarkEventKind::StopRequested(refused));
    let reason = run.state.stop_reason().unwrap();
    assert_eq!(reason.condition, StopCondition::Authentication);
    assert_eq!(reason.message, "Provider `openai` refuses the key");
    run.record(deferred(&case_runs[0], DeferralCause::Stop));
    run.record(finished(&case_runs[1], CaseOutcome::Approved, 1));
    assert!(run.state.has_ended());
    assert_eq!(ids(&run.state.remaining())[0], 1);
}

#[test]
fn arms_of_a_comparison_run_next_to_each_other() {
    let mut terms = terms(2, &Arm::ALL);
    terms.repetitions = 2;
    let runs: Vec<String> = terms.case_runs().iter().map(CaseRunId::describe).collect();
    assert_eq!(
        runs,
        [
            "case-1 (panel, 1)",
            "case-1 (single, 1)",
            "case-2 (panel, 1)",
            "case-2 (single, 1)",
            "case-1 (panel, 2)",
            "case-1 (single, 2)",
            "case-2 (panel, 2)",
            "case-2 (single, 2)"
        ]
    );
}

#[test]
fn a_single_model_is_the_subject_only_without_a_panel() {
    for (arms, expected) in [
        (&Arm::ALL[..], None),
        (&[Arm::Single], Some(StopCondition::ConsecutiveFails)),
    ] {
        let begun = begun(terms(20, arms), StopConditions::default());
        let mut run = PlayedRun::new(begun, 4, 3);
        run.play(|run, _| match run.arm {
            Arm::Panel => Fate::Right,
            Arm::Single => Fate::Wrong,
        });
        assert_eq!(condition(&run.state), expected);
        let statistics = run.state.statistics();
        let rejected = statistics.baseline.map(|baseline| baseline.cases_rejected);
        assert_eq!(rejected, expected.is_none().then_some(20));
    }
}

#[test]
fn spending_counts_deferred_attempts_once() {
    let mut run = panel_run(3, 1);
    run.start_all();
    let case_run = in_flight(&run)[0].clone();
    run.record(deferred(&case_run, DeferralCause::Infrastructure));
    assert_eq!(run.state.spend().cost.known.0, 1_000);
    let pending = run.state.pending(&case_run).unwrap();
    assert_eq!(pending.spend.cost.known.0, 1_000);
    // The second one has the cost of both.
    run.record(started(&case_run, 2));
    run.record(deferred(&case_run, DeferralCause::Stop));
    assert_eq!(run.state.spend().cost.known.0, 1_000);
    run.record(finished(&case_run, CaseOutcome::Approved, 2));
    // The result has the cost of all its attempts.
    assert_eq!(run.state.spend().cost.known.0, 10_000);
}

#[test]
fn events_that_do_not_fit_are_refused() {
    let mut run = panel_run(3, 1);
    run.start_all();
    let case_run = in_flight(&run)[0].clone();
    run.record(finished(&case_run, CaseOutcome::Approved, 1));
    let before = run.state.clone();
    let event = |kind| BenchmarkEvent::new(before.updated_at, kind);
    let twice = event(finished(&case_run, CaseOutcome::Approved, 1));
    assert_eq!(
        run.state.apply(&twice),
        Err(BenchmarkStateError::UnknownCaseRun(case_run))
    );
    let begun = run.log[0].clone();
    assert_eq!(
        run.state.apply(&begun),
        Err(BenchmarkStateError::BegunTwice)
    );
    assert_eq!(run.state, before);
    assert_eq!(
        BenchmarkState::begin(&event(BenchmarkEventKind::Ended)),
        Err(BenchmarkStateError::NotBegun)
    );
}

/// Draws the fate of attempts: mostly right answers.
fn drawn(seed: u64) -> impl FnMut(&CaseRunId, u32) -> Fate {
    let mut random = SplitMix64::new(seed);
    move |_, _| match random.below(10) {
        0 => Fate::Wrong,
        1 => Fate::NoAnswer,
        2 => Fate::Outage,
        _ => Fate::Right,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn every_run_ends_and_its_log_replays(seed: u64, cases in 1..40_u32, jobs in 1..9_usize) {
        let terms = terms(cases, if seed % 2 == 0 { &Arm::ALL } else { &[Arm::Panel] });
        let all = terms.case_runs().len();
        let mut run = PlayedRun::new(begun(terms, StopConditions::default()), jobs, seed);
        // Each stretch ends, however often it is resumed.
        for stretch in 0..3 {
            run.play(drawn(seed.wrapping_add(stretch)));
            prop_assert!(run.state.has_ended());
            let done = run.state.results.len();
            prop_assert_eq!(done + run.state.remaining().len(), all);
            if run.state.is_complete() {
                break;
            }
            prop_assert!(run.state.stop_reason().is_some());
            run.resume();
        }
        let mut replayed = BenchmarkState::begin(&run.log[0]).unwrap();
        for event in &run.log[1..] {
            let json = serde_json::to_string(event).unwrap();
            prop_assert_eq!(&serde_json::from_str::<BenchmarkEvent>(&json).unwrap(), event);
            replayed.apply(event).unwrap();
        }
        prop_assert_eq!(replayed, run.state);
    }

    #[test]
    fn resumed_runs_lose_and_repeat_no_case(seed: u64, cases in 10..60_u32, jobs in 1..9_usize) {
        let mut run = PlayedRun::new(
            begun(terms(cases, &[Arm::Panel]), StopConditions::default()), jobs, seed,
        );
        let mut fate = drawn(seed);
        for _ in 0..1_000 {
            run.play(&mut fate);
            if run.state.is_complete() {
                break;
            }
            run.resume();
        }
        let mut finished: Vec<u32> = run.state.results.iter().map(|result| number(&result.run)).collect();
        finished.sort_unstable();
        prop_assert_eq!(finished, (1..=cases).collect::<Vec<_>>());
    }
}
