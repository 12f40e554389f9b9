use super::*;

#[test]
fn wrong_answers_of_a_baseline_count_for_nothing() {
    let mut batch = BatchState::new(StopConditions::default());
    for _ in 0..30 {
        batch.finish(ItemRole::Baseline, Rejected, 1);
        batch.finish(ItemRole::Subject, Approved, 1);
    }
    assert_eq!(reason(&batch), None);
    let statistics = batch.statistics(40, Some(40));
    assert_eq!(statistics.reject_rate, Some(0.0));
    assert_eq!(statistics.baseline.unwrap().cases_rejected, 30);
}

#[test]
fn failures_of_a_baseline_have_a_counter_of_their_own() {
    let mut batch = BatchState::new(StopConditions::default());
    for _ in 0..2 {
        batch.finish(ItemRole::Baseline, Failed, 1);
        batch.finish(ItemRole::Subject, Rejected, 1);
    }
    assert_eq!(reason(&batch), None);
    batch.finish(ItemRole::Baseline, Failed, 1);
    let reason = reason(&batch).unwrap();
    assert_eq!(reason.condition, StopCondition::ConsecutiveFails);
    assert_eq!(
        reason.message,
        "3 consecutive fails of the baseline reach the threshold of 3"
    );
}

#[test]
fn a_wrong_answer_of_a_baseline_ends_its_consecutive_fails() {
    let mut batch = BatchState::new(StopConditions::default());
    for outcome in [Failed, Failed, Rejected, Failed, Failed] {
        batch.finish(ItemRole::Baseline, outcome, 1);
    }
    assert_eq!(reason(&batch), None);
}

#[test]
fn retries_of_a_baseline_count() {
    let mut batch = BatchState::new(StopConditions::default());
    for number in 0..10 {
        let attempts = if number < 6 { 2 } else { 1 };
        batch.finish(ItemRole::Baseline, Approved, attempts);
    }
    assert_eq!(condition(&batch), Some(StopCondition::RetryRate));
}
