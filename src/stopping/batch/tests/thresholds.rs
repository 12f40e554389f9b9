use super::*;

#[test]
fn thresholds_that_cannot_be_reached_are_refused() {
    let usual = StopConditions::default();
    let problem = |conditions: StopConditions| conditions.validate().unwrap_err().to_string();
    assert_eq!(
        problem(StopConditions { window: 5, ..usual }),
        "`window` is 5: the rates never have their 10 items (`min_items`)"
    );
    assert_eq!(
        problem(StopConditions {
            min_items: 0,
            ..usual
        }),
        "`min_items` is 0: a rate needs an item; the least is 1"
    );
    assert_eq!(
        problem(StopConditions {
            max_attempts: Some(0),
            ..usual
        }),
        "`max_attempts` is 0: every batch reaches it; the least is 1, or switch it off"
    );
    assert_eq!(
        problem(StopConditions {
            max_consecutive_fails: Some(0),
            ..usual
        }),
        "`max_consecutive_fails` is 0: every batch reaches it; the least is 1, or switch it off"
    );
    assert_eq!(
        problem(StopConditions {
            max_consecutive_outages: Some(0),
            ..usual
        }),
        "`max_consecutive_outages` is 0: every batch reaches it; the least is 1, or switch it off"
    );
    assert_eq!(
        problem(StopConditions {
            max_retry_rate: Some(rate(1.0)),
            ..usual
        }),
        "`max_retry_rate` is 1: no rate exceeds it; switch it off instead"
    );
    assert_eq!(
        problem(StopConditions {
            min_items: 20,
            window: 20,
            max_attempts: Some(15),
            ..usual
        }),
        "`min_items` is 20: it can never be reached, because `max_attempts` is 15"
    );
    assert_eq!(
        problem(StopConditions {
            max_consecutive_fails: Some(6),
            max_attempts: Some(5),
            ..usual
        }),
        "`max_consecutive_fails` is 6: it can never be reached, because `max_attempts` is 5"
    );
    assert_eq!(
        problem(StopConditions {
            max_reject_rate: Some(rate(0.8)),
            ..usual
        }),
        "`max_reject_rate` is 0.8: it can never be exceeded, because `max_consecutive_fails` is 3"
    );
    assert_eq!(
        problem(StopConditions {
            window: 20_000,
            ..usual
        }),
        "`window` is 20000: the most is 10000"
    );
}

#[test]
fn thresholds_at_their_limits_are_accepted() {
    let usual = StopConditions::default();
    for conditions in [
        StopConditions {
            min_items: 1,
            window: 1,
            ..usual
        },
        StopConditions {
            max_attempts: Some(1),
            ..usual
        },
        StopConditions {
            max_consecutive_fails: Some(1),
            ..usual
        },
        StopConditions {
            max_reject_rate: Some(rate(0.0)),
            ..usual
        },
        StopConditions {
            max_reject_rate: Some(rate(0.7)),
            ..usual
        },
        StopConditions {
            max_reject_rate: Some(rate(0.9)),
            max_consecutive_fails: None,
            ..usual
        },
        StopConditions {
            max_retry_rate: Some(rate(0.99)),
            ..usual
        },
        StopConditions::off(),
    ] {
        conditions.validate().unwrap();
    }
}
