use proptest::prelude::*;

use super::*;

fn outcomes() -> impl Strategy<Value = Vec<(CaseOutcome, u32)>> {
    let outcome = prop_oneof![3 => Just(Approved), 1 => Just(Rejected), 1 => Just(Failed)];
    proptest::collection::vec((outcome, 1..=2_u32), 0..80)
}

/// Returns the number of items after which a batch stops, if it does.
fn stops_after(conditions: StopConditions, items: &[(CaseOutcome, u32)]) -> Option<usize> {
    let mut batch = BatchState::new(conditions);
    for (at, (outcome, attempts)) in items.iter().enumerate() {
        add(&mut batch, *outcome, *attempts);
        if reason(&batch).is_some() {
            return Some(at + 1);
        }
    }
    None
}

proptest! {
    #[test]
    fn more_failures_never_delay_a_halt(
        items in outcomes(),
        worse in proptest::collection::vec(any::<bool>(), 80),
    ) {
        let worsened: Vec<(CaseOutcome, u32)> = items
            .iter()
            .zip(&worse)
            .map(|((outcome, attempts), worse)| {
                (if *worse { Failed } else { *outcome }, *attempts)
            })
            .collect();
        let conditions = StopConditions::default();
        let (before, after) = (stops_after(conditions, &items), stops_after(conditions, &worsened));
        if let Some(before) = before {
            prop_assert!(after.is_some_and(|after| after <= before), "{before} and {after:?}");
        }
    }

    #[test]
    fn a_batch_without_failures_and_retries_never_stops(items in 0..200_usize) {
        let conditions = StopConditions { max_attempts: None, ..StopConditions::default() };
        let batch = after(conditions, &vec![Approved; items]);
        prop_assert_eq!(reason(&batch), None);
    }

    #[test]
    fn a_halted_batch_stays_halted_while_failures_arrive(items in outcomes(), more in 1..40_usize) {
        let conditions = StopConditions::default();
        let Some(stop) = stops_after(conditions, &items) else { return Ok(()) };
        let mut batch = BatchState::new(conditions);
        for (outcome, attempts) in &items[..stop] {
            add(&mut batch, *outcome, *attempts);
        }
        for _ in 0..more {
            add(&mut batch, Failed, 2);
            prop_assert!(reason(&batch).is_some());
        }
    }

    #[test]
    fn the_values_of_an_evaluation_are_those_of_the_items(items in outcomes()) {
        let mut batch = BatchState::new(StopConditions { max_attempts: None, ..StopConditions::default() });
        for (outcome, attempts) in &items {
            add(&mut batch, *outcome, *attempts);
        }
        let last: Vec<_> = items.iter().rev().take(20).collect();
        let rejects = last.iter().filter(|(outcome, _)| *outcome != Approved).count();
        let expected = (items.len() >= 10).then(|| Value::share(rejects, last.len()));
        let evaluation = batch.evaluate(BUSY);
        prop_assert_eq!(&evaluation.rule("reject_rate").unwrap().value, &expected);
        let streak = items.iter().rev().take_while(|(outcome, _)| *outcome != Approved).count();
        let rule = evaluation.rule("consecutive_fails").unwrap();
        prop_assert_eq!(&rule.value, &Some(Value::count(streak)));
        prop_assert_eq!(batch.totals.subject.finished(), items.len() as u64);
    }
}
