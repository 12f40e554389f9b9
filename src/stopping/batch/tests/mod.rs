use crate::domain::cost::money::MicroUsd;
use crate::domain::ids::ProviderId;
use crate::stopping::evaluation::{Class, Evaluation, RuleOutcome, Value};

use crate::domain::answer::confidence::Confidence;
use crate::stopping::batch::conditions::StopConditions;
use crate::stopping::batch::reason::{BatchStopReason, StopCondition};
use crate::stopping::batch::state::{BatchState, StopRequest, Workload};
use crate::stopping::batch::totals::{CaseOutcome, ItemRole};

use CaseOutcome::{Approved, Failed, Rejected};

mod resume;
mod baseline;
mod thresholds;
mod properties;

/// Items are still to come.
const BUSY: Workload = Workload {
    remaining: 100,
    waiting: 100,
    in_flight: 0,
};

fn rate(share: f64) -> Confidence {
    Confidence::new(share).unwrap()
}

/// Returns a batch after these items of the subject, each with one attempt.
fn after(conditions: StopConditions, outcomes: &[CaseOutcome]) -> BatchState {
    let mut batch = BatchState::new(conditions);
    for outcome in outcomes {
        add(&mut batch, *outcome, 1);
    }
    batch
}

fn add(batch: &mut BatchState, outcome: CaseOutcome, attempts: u32) {
    for _ in 0..attempts {
        batch.start_attempt();
    }
    batch.finish(ItemRole::Subject, outcome, attempts);
}

fn reason(batch: &BatchState) -> Option<BatchStopReason> {
    BatchStopReason::of(&batch.evaluate(BUSY))
}

fn condition(batch: &BatchState) -> Option<StopCondition> {
    reason(batch).map(|reason| reason.condition)
}

fn outcome_of(evaluation: &Evaluation, condition: StopCondition) -> RuleOutcome {
    let name = serde_json::to_value(condition).unwrap();
    let name = name.as_str().unwrap().to_ascii_lowercase();
    evaluation.rule(&name).unwrap().outcome
}

fn only_rejects() -> StopConditions {
    StopConditions {
        max_reject_rate: StopConditions::default().max_reject_rate,
        ..StopConditions::off()
    }
}

fn only_retries() -> StopConditions {
    StopConditions {
        max_retry_rate: StopConditions::default().max_retry_rate,
        ..StopConditions::off()
    }
}

#[test]
fn defaults_are_those_of_the_story() {
    let conditions = StopConditions::default();
    assert_eq!(conditions.max_retry_rate, Some(rate(0.5)));
    assert_eq!(conditions.max_reject_rate, Some(rate(0.3)));
    assert_eq!(conditions.max_consecutive_fails, Some(3));
    assert_eq!(conditions.max_attempts, Some(50));
    conditions.validate().unwrap();
}

#[test]
fn a_reject_rate_above_30_percent_halts() {
    // 3 of 8 with a minimum of 8: the story's 37.5%.
    let conditions = StopConditions {
        min_items: 8,
        ..only_rejects()
    };
    let items = [
        Rejected, Approved, Approved, Failed, Approved, Approved, Approved, Rejected,
    ];
    let batch = after(conditions, &items);
    let expected = serde_json::json!({
        "condition": "REJECT_RATE",
        "value": 0.375,
        "threshold": 0.3,
        "message": "Reject rate 37.5% exceeds 30% threshold"
    });
    assert_eq!(
        serde_json::to_value(reason(&batch).unwrap()).unwrap(),
        expected
    );
}

#[test]
fn three_of_ten_are_not_above_30_percent() {
    let mut items = [Approved; 10];
    items[2] = Rejected;
    items[5] = Failed;
    items[8] = Rejected;
    let mut batch = after(StopConditions::default(), &items);
    assert_eq!(condition(&batch), None);
    let evaluation = batch.evaluate(BUSY);
    let rule = evaluation.rule("reject_rate").unwrap();
    assert_eq!(rule.value, Some(Value::Share { part: 3, of: 10 }));
    assert_eq!(rule.outcome, RuleOutcome::Held);
    // 4 of 11.
    add(&mut batch, Rejected, 1);
    assert_eq!(condition(&batch), Some(StopCondition::RejectRate));
}

#[test]
fn one_failure_of_one_case_is_no_rate() {
    let batch = after(StopConditions::default(), &[Failed]);
    assert_eq!(condition(&batch), None);
    let evaluation = batch.evaluate(BUSY);
    let rule = evaluation.rule("reject_rate").unwrap();
    assert_eq!(rule.outcome, RuleOutcome::Unknown);
    assert_eq!(rule.value, None);
    assert_eq!(rule.detail.as_deref(), Some("1 of 10 cases"));
    // The story itself has no minimum.
    let conditions = StopConditions {
        min_items: 1,
        ..StopConditions::default()
    };
    let batch = after(conditions, &[Failed]);
    assert_eq!(condition(&batch), Some(StopCondition::RejectRate));
}

#[test]
fn a_retry_rate_above_50_percent_halts() {
    let mut batch = BatchState::new(only_retries());
    for number in 0..10 {
        add(&mut batch, Approved, 1 + number % 2);
    }
    // 5 of 10 is not above.
    assert_eq!(condition(&batch), None);
    add(&mut batch, Approved, 2);
    let reason = reason(&batch).unwrap();
    assert_eq!(reason.condition, StopCondition::RetryRate);
    assert_eq!(reason.message, "Retry rate 54.5% exceeds 50% threshold");
}

#[test]
fn three_consecutive_fails_halt() {
    let mut batch = after(StopConditions::default(), &[Approved, Failed, Rejected]);
    assert_eq!(condition(&batch), None);
    add(&mut batch, Failed, 1);
    let reason = reason(&batch).unwrap();
    assert_eq!(reason.condition, StopCondition::ConsecutiveFails);
    assert_eq!(reason.value.to_string(), "3");
    assert_eq!(reason.threshold.to_string(), "3");
    assert_eq!(
        reason.message,
        "3 consecutive fails reach the threshold of 3"
    );
}

#[test]
fn only_an_approval_ends_consecutive_fails() {
    let items = [Failed, Rejected, Approved, Failed, Failed];
    assert_eq!(condition(&after(StopConditions::default(), &items)), None);
}

#[test]
fn chosen_thresholds_replace_the_defaults() {
    let conditions = StopConditions {
        max_consecutive_fails: Some(2),
        ..StopConditions::default()
    };
    let batch = after(conditions, &[Failed, Failed]);
    assert_eq!(condition(&batch), Some(StopCondition::ConsecutiveFails));

    let conditions = StopConditions {
        max_reject_rate: Some(rate(0.5)),
        ..only_rejects()
    };
    let mut items = [Approved; 10];
    items[..5].fill(Rejected);
    let mut batch = after(conditions, &items);
    assert_eq!(condition(&batch), None);
    add(&mut batch, Rejected, 1);
    assert_eq!(condition(&batch), Some(StopCondition::RejectRate));
}

#[test]
fn conditions_of_a_manifest_are_read() {
    let conditions: StopConditions = serde_json::from_str(
        r#"{"max_retry_rate": 0.6, "max_reject_rate": null, "max_consecutive_fails": 5}"#,
    )
    .unwrap();
    assert_eq!(conditions.max_retry_rate, Some(rate(0.6)));
    assert_eq!(conditions.max_reject_rate, None);
    assert_eq!(conditions.max_consecutive_fails, Some(5));
    assert_eq!(conditions.max_attempts, Some(50));
    let read = |json: &str| serde_json::from_str::<StopConditions>(json);
    assert!(read(r#"{"max_reject_rate": 1.5}"#).is_err());
    assert!(read(r#"{"max_rejects": 1}"#).is_err());
    let json = serde_json::to_string(&conditions).unwrap();
    assert_eq!(read(&json).unwrap(), conditions);
}

#[test]
fn a_condition_that_is_off_never_fires() {
    let batch = after(StopConditions::off(), &[Failed; 200]);
    let evaluation = batch.evaluate(BUSY);
    assert!(!evaluation.stops());
    for condition in [
        StopCondition::AttemptBudget,
        StopCondition::ConsecutiveFails,
        StopCondition::RejectRate,
        StopCondition::RetryRate,
        StopCondition::ProviderOutage,
    ] {
        let outcome = outcome_of(&evaluation, condition);
        assert_eq!(outcome, RuleOutcome::NotApplicable, "{condition:?}");
    }
}

#[test]
fn the_first_condition_in_order_of_priority_decides() {
    let mut batch = BatchState::new(StopConditions {
        max_attempts: Some(20),
        ..StopConditions::default()
    });
    for _ in 0..10 {
        add(&mut batch, Failed, 2);
    }
    // All four fire; the budget comes first.
    let evaluation = batch.evaluate(BUSY);
    let fired = |condition| outcome_of(&evaluation, condition) == RuleOutcome::Fired;
    for condition in [
        StopCondition::AttemptBudget,
        StopCondition::ConsecutiveFails,
        StopCondition::RejectRate,
        StopCondition::RetryRate,
    ] {
        assert!(fired(condition), "{condition:?}");
    }
    assert_eq!(condition(&batch), Some(StopCondition::AttemptBudget));
    let switch_off: [(fn(&mut StopConditions), _); 3] = [
        (|of| of.max_attempts = None, StopCondition::ConsecutiveFails),
        (
            |of| of.max_consecutive_fails = None,
            StopCondition::RejectRate,
        ),
        (|of| of.max_reject_rate = None, StopCondition::RetryRate),
    ];
    let mut conditions = batch.conditions;
    for (switch_off, next) in switch_off {
        switch_off(&mut conditions);
        let mut again = BatchState::new(conditions);
        for _ in 0..10 {
            add(&mut again, Failed, 2);
        }
        assert_eq!(condition(&again), Some(next));
    }
}

#[test]
fn requests_to_stop_come_before_all_conditions() {
    let provider = || ProviderId::new("openai");
    let ceiling = MicroUsd(1_000_000);
    let needed = MicroUsd(1_250_000);
    for (request, condition, class, message) in [
        (
            StopRequest::Authentication {
                provider: provider(),
            },
            StopCondition::Authentication,
            Class::Halted,
            "Provider `openai` refuses the key",
        ),
        (
            StopRequest::Quota {
                provider: provider(),
            },
            StopCondition::Quota,
            Class::Halted,
            "Provider `openai` reports no credit left",
        ),
        (
            StopRequest::CostCeiling { needed, ceiling },
            StopCondition::CostCeiling,
            Class::Exhausted,
            "The next call could exceed the ceiling of $1.0000: $1.2500 with it",
        ),
        // What other calls have reserved is not in the sum.
        (
            StopRequest::CostCeiling {
                needed: MicroUsd(400_000),
                ceiling,
            },
            StopCondition::CostCeiling,
            Class::Exhausted,
            "The next call could exceed the ceiling of $1.0000",
        ),
        (
            StopRequest::MonthlyBudget { needed, ceiling },
            StopCondition::MonthlyBudget,
            Class::Exhausted,
            "The next call could exceed the monthly budget of $1.0000: $1.2500 with it",
        ),
    ] {
        let mut batch = after(StopConditions::default(), &[Failed; 5]);
        batch.request_stop(request);
        let evaluation = batch.evaluate(BUSY);
        let reason = BatchStopReason::of(&evaluation).unwrap();
        assert_eq!(reason.condition, condition);
        assert_eq!(reason.message, message);
        assert_eq!(evaluation.class(), Some(class), "{message}");
    }
    let mut batch = after(StopConditions::default(), &[Failed; 5]);
    batch.request_stop(StopRequest::CostCeiling { needed, ceiling });
    let reached = reason(&batch).unwrap();
    assert_eq!(reached.value.to_string(), "1.25");
    assert_eq!(reached.threshold.to_string(), "1");
    let mut batch = after(StopConditions::default(), &[Failed; 5]);
    batch.request_stop(StopRequest::Interrupt);
    assert_eq!(condition(&batch), Some(StopCondition::Interrupted));
    assert_eq!(batch.evaluate(BUSY).class(), Some(Class::Cancelled));
}

#[test]
fn the_classes_of_stops_differ() {
    let exhausted = after(
        StopConditions {
            max_attempts: Some(1),
            ..StopConditions::default()
        },
        &[Approved],
    );
    assert_eq!(exhausted.evaluate(BUSY).class(), Some(Class::Exhausted));
    let halted = after(StopConditions::default(), &[Failed; 3]);
    assert_eq!(halted.evaluate(BUSY).class(), Some(Class::Halted));
    let complete = after(StopConditions::default(), &[Approved]);
    let evaluation = complete.evaluate(Workload::default());
    assert_eq!(evaluation.class(), Some(Class::Done));
    assert_eq!(BatchStopReason::of(&evaluation), None);
}

#[test]
fn a_budget_below_the_number_of_items_is_refused() {
    let conditions = StopConditions::default();
    conditions.check_budget(50).unwrap();
    let error = conditions.check_budget(51).unwrap_err();
    assert_eq!(
        error.to_string(),
        "51 case runs need at least 51 attempts, but `max_attempts` is 50"
    );
    StopConditions::off().check_budget(1_000).unwrap();
}

#[test]
fn rates_look_at_the_last_items() {
    let mut batch = after(only_rejects(), &[Approved; 100]);
    for failed in 1..=6 {
        add(&mut batch, Failed, 1);
        assert_eq!(reason(&batch), None, "{failed} of 20");
    }
    add(&mut batch, Failed, 1);
    assert_eq!(
        reason(&batch).unwrap().message,
        "Reject rate 35% exceeds 30% threshold"
    );
    let statistics = batch.statistics(200, None);
    assert_eq!(statistics.window_reject_rate, Some(0.35));
    assert_eq!(statistics.reject_rate, Some(7.0 / 107.0));
}

#[test]
fn the_rate_of_the_storys_state_is_a_half_by_its_definition() {
    // 4 attempted, 2 approved, 1 rejected, 1 failed: the story prints 0.375.
    let mut batch = after(StopConditions::default(), &[Approved, Approved]);
    add(&mut batch, Rejected, 1);
    add(&mut batch, Failed, 2);
    let json = serde_json::to_value(batch.statistics(8, None)).unwrap();
    let expected = [
        ("total_cases", 8.into()),
        ("cases_attempted", 4.into()),
        ("cases_approved", 2.into()),
        ("cases_rejected", 1.into()),
        ("cases_failed", 1.into()),
        ("retry_rate", serde_json::json!(0.25)),
        ("reject_rate", serde_json::json!(0.5)),
        ("consecutive_fails", 2.into()),
    ];
    for (key, value) in expected {
        assert_eq!(json[key], value, "{key}");
    }
}

#[test]
fn a_rate_without_items_is_unknown() {
    let statistics = BatchState::new(StopConditions::default()).statistics(8, None);
    assert_eq!(statistics.retry_rate, None);
    assert_eq!(statistics.reject_rate, None);
    assert_eq!(statistics.window_reject_rate, None);
}
