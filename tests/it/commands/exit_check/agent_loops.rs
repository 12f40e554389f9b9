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
fn corrected_rules_cut_off_no_loop_and_lose_the_fewest_turns() {
    let best = RuleSet::CorrectedWithGit;
    let [finishing, stuck] = sums(best);
    assert_eq!(finishing.cut_off, 0);
    assert_eq!(finishing.false_successes, 0);
    assert_eq!(stuck.cut_off, 0);
    assert_eq!(finishing.endless, 0);
    assert_eq!(stuck.endless, 0);
    let lost = finishing.turns_lost() + stuck.turns_lost();
    for rules in RULE_SETS.into_iter().filter(|rules| *rules != best) {
        let [finishing, stuck] = sums(rules);
        assert!(lost < finishing.turns_lost() + stuck.turns_lost());
    }
}

#[test]
fn the_same_seed_gives_the_same_loops() {
    let loops = || simulate(KINDS[0], RuleSet::Corrected, LOOPS, SEED);
    assert_eq!(loops(), loops());
}
