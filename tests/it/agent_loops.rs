//! The exit rules on simulated loops: a small version of the bench `agent_loops`.

use crate::support::simulated_loops::{KINDS, LoopTotals, RULE_SETS, RuleSet, simulate};

const LOOPS: u64 = 25;
const SEED: u64 = 11;

fn sums(rules: RuleSet) -> [LoopTotals; 2] {
    let mut sums = [LoopTotals::default(); 2];
    for kind in KINDS {
        let totals = simulate(kind, rules, LOOPS, SEED);
        let [finishing, stuck] = &mut sums;
        if kind.finishes() { finishing } else { stuck }.merge(&totals);
    }
    sums
}

#[test]
fn corrected_rules_never_cut_off_an_agent_that_finishes() {
    let [finishing, stuck] = sums(RuleSet::CorrectedWithGit);
    assert_eq!(finishing.cut_off, 0);
    assert_eq!(finishing.false_successes, 0);
    assert_eq!(stuck.cut_off, 0);
}

#[test]
fn corrected_rules_end_every_loop_before_its_cap() {
    let [finishing, stuck] = sums(RuleSet::CorrectedWithGit);
    assert_eq!(finishing.endless, 0);
    assert_eq!(stuck.endless, 0);
}

#[test]
fn corrected_rules_lose_the_fewest_turns() {
    let lost = |rules| {
        let [finishing, stuck] = sums(rules);
        finishing.turns_lost() + stuck.turns_lost()
    };
    let best = RULE_SETS.into_iter().min_by_key(|rules| lost(*rules));
    assert_eq!(best, Some(RuleSet::CorrectedWithGit));
}

#[test]
fn the_same_seed_gives_the_same_loops() {
    assert_eq!(sums(RuleSet::Corrected), sums(RuleSet::Corrected));
}
