use super::*;

#[test]
fn thresholds_that_cannot_be_reached_are_refused() {
    type Row = (fn(&mut StopConditions), &'static str);
    let table: [Row; 10] = [
        (
            |of| of.window = 5,
            "`window` is 5: the rates never have their 10 items (`min_items`)",
        ),
        (
            |of| of.min_items = 0,
            "`min_items` is 0: a rate needs an item; the least is 1",
        ),
        (
            |of| of.max_attempts = Some(0),
            "`max_attempts` is 0: every batch reaches it; the least is 1, or switch it off",
        ),
        (
            |of| of.max_consecutive_fails = Some(0),
            "`max_consecutive_fails` is 0: every batch reaches it; the least is 1, or switch it \
             off",
        ),
        (
            |of| of.max_consecutive_outages = Some(0),
            "`max_consecutive_outages` is 0: every batch reaches it; the least is 1, or switch it \
             off",
        ),
        (
            |of| of.max_retry_rate = Some(rate(1.0)),
            "`max_retry_rate` is 1: no rate exceeds it; switch it off instead",
        ),
        (
            |of| (of.min_items, of.max_attempts) = (20, Some(15)),
            "`min_items` is 20: it can never be reached, because `max_attempts` is 15",
        ),
        (
            |of| (of.max_consecutive_fails, of.max_attempts) = (Some(6), Some(5)),
            "`max_consecutive_fails` is 6: it can never be reached, because `max_attempts` is 5",
        ),
        (
            |of| of.max_reject_rate = Some(rate(0.8)),
            "`max_reject_rate` is 0.8: it can never be exceeded, because `max_consecutive_fails` \
             is 3",
        ),
        (
            |of| of.window = 20_000,
            "`window` is 20000: the most is 10000",
        ),
    ];
    for (change, expected) in table {
        let mut conditions = StopConditions::default();
        change(&mut conditions);
        assert_eq!(conditions.validate().unwrap_err().to_string(), expected);
    }
}

#[test]
fn thresholds_at_their_limits_are_accepted() {
    let changes: [fn(&mut StopConditions); 8] = [
        |of| (of.min_items, of.window) = (1, 1),
        |of| of.max_attempts = Some(1),
        |of| of.max_consecutive_fails = Some(1),
        |of| of.max_reject_rate = Some(rate(0.0)),
        |of| of.max_reject_rate = Some(rate(0.7)),
        |of| (of.max_reject_rate, of.max_consecutive_fails) = (Some(rate(0.9)), None),
        |of| of.max_retry_rate = Some(rate(0.99)),
        |of| *of = StopConditions::off(),
    ];
    for change in changes {
        let mut conditions = StopConditions::default();
        change(&mut conditions);
        conditions.validate().unwrap();
    }
}
