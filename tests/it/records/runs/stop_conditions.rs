//! Simulated batches: the goals of the defaults, in small. The bench of the same name plays more.

use crate::support::simulated_batches::{
    BROKEN, CASES, HEALTHS, HEALTHY, Health, conditions, outage_halt, simulate,
};

const GOOD: Health = Health {
    name: "good",
    fails: 0,
    retries: 0,
};

const NONE: (u64, Health) = (0, GOOD);

#[test]
fn healthy_batches_are_rarely_halted() {
    let halts = simulate(conditions(10), NONE, (CASES, HEALTHY), 500, 1);
    assert!(halts.share() < 0.03, "{}", halts.share());
}

#[test]
fn without_a_minimum_a_healthy_batch_halts_often() {
    let halts = simulate(conditions(1), NONE, (CASES, HEALTHY), 500, 1);
    assert!(halts.share() > 0.2, "{}", halts.share());
}

#[test]
fn a_total_outage_halts_at_the_third_case() {
    let halts = simulate(conditions(10), NONE, (CASES, BROKEN), 50, 1);
    assert_eq!(halts.percentile(1), Some(3));
    assert_eq!(halts.percentile(100), Some(3));
    assert_eq!(halts.consecutive, 50);
    assert_eq!(outage_halt(conditions(10)), Some(3));
}

#[test]
fn a_collapse_after_a_hundred_good_cases_is_noticed_within_25() {
    let collapse = Health {
        name: "collapse",
        fails: 50,
        retries: 15,
    };
    let halts = simulate(conditions(10), (100, GOOD), (200, collapse), 200, 1);
    assert!(halts.percentile(90).unwrap() <= 25);
    assert!(halts.share_beyond(25) < 0.05);
}

#[test]
fn worse_batches_are_halted_more_often() {
    let mut last = 0.0;
    for health in HEALTHS {
        let share = simulate(conditions(10), NONE, (CASES, health), 100, 1).share();
        assert!(share >= last, "{}: {share} after {last}", health.name);
        last = share;
    }
    assert!(last > 0.99);
}
