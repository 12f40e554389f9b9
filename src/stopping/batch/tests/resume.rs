use super::*;

#[test]
fn a_batch_that_ends_on_its_last_attempt_is_complete() {
    let batch = after(StopConditions::default(), &[Approved; 50]);
    assert_eq!(condition(&batch), Some(StopCondition::AttemptBudget));
    assert_eq!(
        reason(&batch).unwrap().message,
        "50 attempts reach the budget of 50"
    );
    let all_in_flight = Workload {
        remaining: 2,
        waiting: 0,
        in_flight: 2,
    };
    assert!(!batch.evaluate(all_in_flight).stops());
    assert_eq!(
        batch.evaluate(Workload::default()).class(),
        Some(Class::Done)
    );
}

#[test]
fn a_resume_restarts_windows_and_counters_and_leaves_the_totals() {
    let mut batch = after(
        StopConditions::default(),
        &[Approved, Failed, Failed, Failed],
    );
    assert!(reason(&batch).is_some());
    batch.resume(StopConditions::default());
    assert_eq!(reason(&batch), None);
    assert_eq!(batch.totals.attempts, 4);
    assert_eq!(batch.totals.subject.failed, 3);
    // Two more are not three in a row, and far from ten.
    add(&mut batch, Failed, 1);
    add(&mut batch, Failed, 1);
    assert_eq!(reason(&batch), None);
    add(&mut batch, Failed, 1);
    assert_eq!(condition(&batch), Some(StopCondition::ConsecutiveFails));
    assert_eq!(batch.statistics(40, None).cases_failed, 6);
}

#[test]
fn a_resume_gives_the_budget_again() {
    let mut batch = after(StopConditions::default(), &[Approved; 50]);
    assert!(!batch.allows_attempt());
    batch.resume(StopConditions::default());
    assert!(batch.allows_attempt());
    assert_eq!(reason(&batch), None);
}

#[test]
fn a_failed_probe_halts_at_once() {
    let mut batch = after(StopConditions::default(), &[Failed; 3]);
    batch.resume(StopConditions::default());
    add(&mut batch, Failed, 1);
    assert_eq!(condition(&batch), None);
    batch.probe_failed = true;
    assert_eq!(condition(&batch), Some(StopCondition::ProbeFailed));
}

#[test]
fn three_outages_in_a_row_halt_and_count_as_no_reject() {
    let mut batch = BatchState::new(StopConditions::default());
    batch.defer();
    batch.defer();
    assert_eq!(condition(&batch), None);
    add(&mut batch, Rejected, 1);
    batch.defer();
    batch.defer();
    assert_eq!(condition(&batch), None);
    batch.defer();
    let reason = reason(&batch).unwrap();
    assert_eq!(reason.condition, StopCondition::ProviderOutage);
    assert_eq!(
        reason.message,
        "3 attempts in a row failed because of a provider"
    );
    let statistics = batch.statistics(40, None);
    assert_eq!(statistics.infrastructure_failures, 5);
    assert_eq!(statistics.cases_attempted, 1);
    assert_eq!(statistics.consecutive_fails, 1);
}

#[test]
fn items_that_can_no_longer_be_answered_end_the_batch() {
    let batch = BatchState::new(StopConditions::default());
    let stuck = Workload {
        remaining: 2,
        waiting: 0,
        in_flight: 0,
    };
    let evaluation = batch.evaluate(stuck);
    let reason = BatchStopReason::of(&evaluation).unwrap();
    assert_eq!(reason.condition, StopCondition::Unanswered);
    assert_eq!(evaluation.class(), Some(Class::Stalled));
    assert_eq!(
        reason.message,
        "2 cases have no answer because of provider failures"
    );
}
