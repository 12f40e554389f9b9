//! Simulated loops of coding agents, and where four sets of rules stop them: how often work is cut
//! off, how many turns are wasted, and how many loops never stop. Nothing is timed.
//!
//! ```text
//! cargo bench --bench agent_loops               1,000 loops of each of 17 kinds; about a minute
//! cargo bench --bench agent_loops -- 200 7      200 of each, from seed 7
//! ```
//!
//! What agents do is drawn from a seed; the rules are those of `exit-check`. Turns are lost if they
//! run for nothing, or if they are work that a stop cut off. The bench fails if the corrected rules
//! with `--git` cut off any work of an agent that finishes, or lose more turns than another set.

#![expect(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a bench prints figures to be read"
)]

#[path = "../tests/it/support/samples/simulated_loops/mod.rs"]
mod simulated_loops;

use simulated_loops::{KINDS, LoopTotals, RULE_SETS, RuleSet, simulate};

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .filter_map(|argument| argument.parse().ok());
    let loops = arguments.next().unwrap_or(1_000);
    let seed = arguments.next().unwrap_or(1);
    println!("{loops} loops of each kind, seed {seed}");
    let mut all = Vec::new();
    for rules in RULE_SETS {
        all.push((rules, table(rules, loops, seed)));
    }
    check(&all);
}

/// Prints the table of one set of rules and returns its sums: of agents that finish, and of those
/// that get stuck.
fn table(rules: RuleSet, loops: u64, seed: u64) -> [LoopTotals; 2] {
    println!(
        "\n{:<24} {:>8} {:>9} {:>7} {:>8} {:>7} {:>11}",
        name(rules),
        "cut off",
        "turns cut",
        "false",
        "endless",
        "wasted",
        "wasted/loop"
    );
    let mut sums = [LoopTotals::default(); 2];
    for kind in KINDS {
        let totals = simulate(kind, rules, loops, seed);
        let [finishing, stuck] = &mut sums;
        if kind.finishes() { finishing } else { stuck }.merge(&totals);
        line(&format!("  {kind:?}"), &totals);
    }
    let [finishing, stuck] = &sums;
    line("agents that finish", finishing);
    line("agents that get stuck", stuck);
    let lost = finishing.turns_lost() + stuck.turns_lost();
    println!("turns lost: {lost}");
    sums
}

fn name(rules: RuleSet) -> &'static str {
    match rules {
        RuleSet::CorrectedWithGit => "corrected, with --git",
        RuleSet::Corrected => "corrected",
        RuleSet::StrictSeed => "strict seed",
        RuleSet::FirstDone => "first \"done\"",
    }
}

fn line(name: &str, totals: &LoopTotals) {
    println!(
        "{name:<24} {:>8} {:>9} {:>7} {:>8} {:>7} {:>11.2}",
        totals.cut_off,
        totals.turns_cut_off,
        totals.false_successes,
        totals.endless,
        totals.turns_wasted,
        totals.turns_wasted as f64 / totals.loops as f64,
    );
}

/// Fails if the corrected rules with `--git` cut off an agent that finishes, or if another set
/// loses fewer turns.
fn check(all: &[(RuleSet, [LoopTotals; 2])]) {
    let lost = |[finishing, stuck]: &[LoopTotals; 2]| finishing.turns_lost() + stuck.turns_lost();
    let best = all.iter().map(|(_, sums)| lost(sums)).min();
    for (rules, sums) in all {
        if *rules == RuleSet::CorrectedWithGit {
            let [finishing, _] = sums;
            assert_eq!(
                finishing.cut_off, 0,
                "work of agents that finish is cut off"
            );
            assert_eq!(
                Some(lost(sums)),
                best,
                "another set of rules loses fewer turns"
            );
        }
    }
}
