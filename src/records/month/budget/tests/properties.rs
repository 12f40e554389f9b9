//! Random processes that open, reserve, settle, close and are killed never exceed the budget.

use std::sync::atomic::Ordering;

use proptest::prelude::*;

use super::{Home, kill, reserve, settle, spent};
use crate::domain::cost::money::MicroUsd;
use crate::records::month::budget::{BudgetCheck::Allowed, MonthBudget};

#[derive(Clone, Debug)]
enum Op {
    Open(usize),
    Reserve(usize, u64),
    /// Reserves, and writes the worst case to a journal.
    Begin(usize, u64),
    /// Settles the oldest reservation at so many thirds of it.
    Settle(usize, u64),
    /// Writes what is settled to the journal.
    Journal(usize),
    /// Declares what is in the journal.
    Declare(usize),
    Close(usize),
    Kill(usize),
}

fn op() -> impl Strategy<Value = Op> {
    let slot = 0..4_usize;
    prop_oneof![
        2 => slot.clone().prop_map(Op::Open),
        3 => (slot.clone(), 0..40_u64).prop_map(|(slot, amount)| Op::Reserve(slot, amount)),
        4 => (slot.clone(), 0..40_u64).prop_map(|(slot, amount)| Op::Begin(slot, amount)),
        5 => (slot.clone(), 0..4_u64).prop_map(|(slot, thirds)| Op::Settle(slot, thirds)),
        4 => slot.clone().prop_map(Op::Journal),
        4 => slot.clone().prop_map(Op::Declare),
        1 => slot.clone().prop_map(Op::Close),
        1 => slot.prop_map(Op::Kill),
    ]
}

struct Process {
    budget: MonthBudget,
    /// Each with whether it is in a journal.
    reserved: Vec<(u64, bool)>,
    settled: u64,
    journalled: u64,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn spending_and_reservations_never_exceed_the_limit(
        ops in proptest::collection::vec(op(), 1..60),
    ) {
        const LIMIT: u64 = 100;
        let home = Home::new();
        let mut processes: [Option<Process>; 4] = [const { None }; 4];
        // What was spent, and what killed processes may have spent.
        let (mut spent_in_all, mut lost) = (0, 0);
        let mut is_exact = true;
        for op in ops {
            match op {
                Op::Open(slot) => {
                    processes[slot].get_or_insert_with(|| Process {
                        budget: home.open(LIMIT),
                        reserved: Vec::new(),
                        settled: 0,
                        journalled: 0,
                    });
                }
                Op::Reserve(slot, amount) | Op::Begin(slot, amount) => {
                    if let Some(process) = &mut processes[slot]
                        && reserve(&process.budget, amount) == Allowed
                    {
                        let is_journalled = matches!(op, Op::Begin(..));
                        if is_journalled {
                            home.record(&process.budget, amount);
                        }
                        process.reserved.push((amount, is_journalled));
                    }
                }
                Op::Settle(slot, thirds) => {
                    if let Some(process) = &mut processes[slot]
                        && !process.reserved.is_empty()
                    {
                        let (reserved, is_journalled) = process.reserved.remove(0);
                        let cost = reserved * thirds / 3;
                        if is_journalled {
                            home.end(&process.budget, reserved, cost);
                        } else {
                            settle(&process.budget, reserved, cost);
                            process.settled += cost;
                        }
                        spent_in_all += cost;
                    }
                }
                Op::Journal(slot) => {
                    if let Some(process) = &mut processes[slot] {
                        home.journals.fetch_add(process.settled, Ordering::SeqCst);
                        process.journalled += std::mem::take(&mut process.settled);
                    }
                }
                Op::Declare(slot) => {
                    if let Some(process) = &mut processes[slot] {
                        process
                            .budget
                            .recorded(MicroUsd(std::mem::take(&mut process.journalled)))
                            .unwrap();
                    }
                }
                Op::Close(slot) | Op::Kill(slot) => {
                    if let Some(process) = processes[slot].take() {
                        lost += process.reserved.iter().map(|(amount, _)| amount).sum::<u64>();
                        is_exact &= process.journalled == 0;
                        if matches!(op, Op::Kill(_)) {
                            kill(process.budget);
                        } else {
                            drop(process.budget);
                        }
                    }
                }
            }
            let open: u64 = processes
                .iter()
                .flatten()
                .flat_map(|process| &process.reserved)
                .map(|(amount, _)| amount)
                .sum();
            prop_assert!(spent_in_all + lost + open <= LIMIT);
            for process in processes.iter().flatten() {
                prop_assert!(spent(&process.budget) >= spent_in_all + lost);
            }
        }
        let all_declared = processes
            .iter()
            .flatten()
            .all(|process| process.journalled == 0);
        if is_exact && all_declared {
            prop_assert_eq!(spent(&home.open(LIMIT)), spent_in_all + lost);
        }
    }
}
