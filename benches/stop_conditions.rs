//! Where the stop conditions of `benchmark` stop simulated batches: how many healthy ones they
//! halt, and how soon they notice an outage or a late collapse. Nothing is timed.
//!
//! ```text
//! cargo bench --bench stop_conditions               20,000 batches of each kind; under a minute
//! cargo bench --bench stop_conditions -- 2000 7     2,000 of each, from seed 7
//! ```
//!
//! The bench fails if more than 2% of healthy batches are halted, if an outage passes its third
//! case, or if more than 3% of collapses are not noticed within 25 cases.

#![expect(clippy::print_stdout, reason = "a bench prints figures to be read")]
#![expect(clippy::panic, reason = "a bench fails by panicking")]

#[path = "../tests/it/support/samples/simulated_batches.rs"]
mod simulated_batches;

use conclave::stopping::batch::conditions::StopConditions;
use simulated_batches::{
    BROKEN, CASES, HEALTHS, HEALTHY, Health, SimulatedHalts, conditions, outage_halt, simulate,
};

/// The most healthy batches that may be halted.
const HEALTHY_GOAL: f64 = 0.02;

/// The cases within which an outage must be noticed.
const OUTAGE_GOAL: u64 = 3;

/// The cases within which a collapse must be noticed, and the share that may take longer.
const COLLAPSE_GOAL: (u64, f64) = (25, 0.03);

/// Every case is right at the first attempt.
const GOOD: Health = Health {
    name: "good",
    fails: 0,
    retries: 0,
};

/// Half of the cases fail.
const COLLAPSE: Health = Health {
    name: "collapse",
    fails: 50,
    retries: 15,
};

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .filter_map(|argument| argument.parse().ok());
    let batches = arguments.next().unwrap_or(20_000);
    let seed = arguments.next().unwrap_or(1);
    println!("{batches} batches of {CASES} cases of each kind, seed {seed}");
    by_minimum(batches, seed);
    let healthy = simulate(conditions(10), (0, GOOD), (CASES, HEALTHY), batches, seed);
    println!(
        "\nhealthy batches halted: {:.2}% ({} by consecutive fails, {} by reject rate, {} by retry \
         rate)",
        100.0 * healthy.share(),
        healthy.consecutive,
        healthy.reject_rate,
        healthy.retry_rate
    );
    let broken = simulate(conditions(10), (0, GOOD), (CASES, BROKEN), batches, seed);
    let outage = outage_halt(conditions(10));
    println!(
        "total outage: halted after case {} at the latest; if all of it is infrastructure, after case \
         {}",
        shown(broken.percentile(100)),
        shown(outage)
    );
    let windowed = collapse(conditions(10), batches, seed);
    print_collapse("window of 20", &windowed);
    let cumulative = StopConditions {
        window: StopConditions::MAX_WINDOW,
        max_consecutive_fails: None,
        ..conditions(10)
    };
    print_collapse(
        "all cases, no streaks",
        &collapse(cumulative, batches, seed),
    );
    check(&healthy, &broken, outage, &windowed);
}

/// Prints the share of halted batches by the minimum of a rate.
fn by_minimum(batches: u64, seed: u64) {
    const MINIMUMS: [u64; 4] = [1, 5, 10, 20];
    print!("\n{:<30}", "halted");
    for minimum in MINIMUMS {
        print!(" {:>18}", format!("min_items {minimum}"));
    }
    println!();
    for health in HEALTHS {
        let Health {
            name,
            fails,
            retries,
        } = health;
        print!("{:<30}", format!("{name}: {fails}% fail, {retries}% retry"));
        for minimum in MINIMUMS {
            let halts = simulate(
                conditions(minimum),
                (0, GOOD),
                (CASES, health),
                batches,
                seed,
            );
            let median = middle(&halts);
            print!(
                " {:>18}",
                format!("{:.1}% at {median}", 100.0 * halts.share())
            );
        }
        println!();
    }
}

/// Returns the case after which half of the halted batches had stopped.
fn middle(halts: &SimulatedHalts) -> String {
    shown(halts.cases.get(halts.cases.len() / 2).copied())
}

fn shown(case: Option<u64>) -> String {
    case.map_or_else(|| "-".to_owned(), |case| case.to_string())
}

/// Plays batches in which half of the cases fail after 100 good ones.
fn collapse(conditions: StopConditions, batches: u64, seed: u64) -> SimulatedHalts {
    simulate(conditions, (100, GOOD), (1_000, COLLAPSE), batches, seed)
}

fn print_collapse(name: &str, halts: &SimulatedHalts) {
    let within = |percent| shown(halts.percentile(percent));
    println!(
        "50% failures after 100 good cases, {name}: noticed after {} cases (median), {} (p90), {} \
         (p99); beyond {}: {:.2}%",
        within(50),
        within(90),
        within(99),
        COLLAPSE_GOAL.0,
        100.0 * halts.share_beyond(COLLAPSE_GOAL.0)
    );
}

/// Fails if a goal is missed.
fn check(
    healthy: &SimulatedHalts,
    broken: &SimulatedHalts,
    outage: Option<u64>,
    collapse: &SimulatedHalts,
) {
    assert!(
        healthy.share() < HEALTHY_GOAL,
        "too many healthy batches are halted"
    );
    assert_eq!(
        broken.percentile(100),
        Some(OUTAGE_GOAL),
        "an outage passes its third case"
    );
    assert_eq!(
        outage,
        Some(OUTAGE_GOAL),
        "an outage of a provider passes its third case"
    );
    let (within, most) = COLLAPSE_GOAL;
    assert!(
        collapse.share_beyond(within) < most,
        "a collapse is noticed too late"
    );
}
