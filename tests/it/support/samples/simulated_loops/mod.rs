//! Simulated loops of coding agents: what each turn leaves behind, and where sets of rules stop.
//!
//! An agent works through its tasks turn by turn and either finishes or gets stuck: it stalls,
//! undoes its own work, claims to be done, asks, fails, dies. A loop has a turn from which no more
//! turns are needed, so that it is known how many a stop wastes, or how many of work it cuts off.
//!
//! What a working agent does is bounded, and this bounds what the figures mean: at most two turns
//! in a row leave the working tree as it is, an error is past after two turns, and a low confidence
//! is stated once. On top of that comes noise of every kind that the rules read: hedges, questions,
//! premature claims, failures of the agent program.

mod agent;
mod rule_sets;
mod script;

pub(crate) use agent::{AgentKind, KINDS};
pub(crate) use rule_sets::{RULE_SETS, RuleSet};
pub(crate) use script::LoopScript;

/// How one loop ends under one set of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoopResult {
    /// Turns after the last one that was needed; of a loop that no rule stops, those up to the cap.
    pub(crate) wasted: u64,
    /// Turns of work that the stop cut off.
    pub(crate) cut_off: u64,
    /// Whether only the cap ends the loop.
    pub(crate) is_endless: bool,
    /// Whether an agent that is not done was stopped as done.
    pub(crate) is_false_success: bool,
}

/// Results of many loops under one set of rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LoopTotals {
    pub(crate) loops: u64,
    /// Loops that were stopped while the agent still worked.
    pub(crate) cut_off: u64,
    pub(crate) turns_cut_off: u64,
    pub(crate) false_successes: u64,
    pub(crate) endless: u64,
    pub(crate) turns_wasted: u64,
}

impl LoopTotals {
    pub(crate) fn add(&mut self, result: LoopResult) {
        self.loops += 1;
        self.cut_off += u64::from(result.cut_off > 0);
        self.turns_cut_off += result.cut_off;
        self.false_successes += u64::from(result.is_false_success);
        self.endless += u64::from(result.is_endless);
        self.turns_wasted += result.wasted;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.loops += other.loops;
        self.cut_off += other.cut_off;
        self.turns_cut_off += other.turns_cut_off;
        self.false_successes += other.false_successes;
        self.endless += other.endless;
        self.turns_wasted += other.turns_wasted;
    }

    /// Turns that were run for nothing, and turns of work that a person has to start again.
    pub(crate) fn turns_lost(&self) -> u64 {
        self.turns_wasted + self.turns_cut_off
    }
}

/// Plays loops of one kind under one set of rules. The same seed gives the same loops to every set.
pub(crate) fn simulate(kind: AgentKind, rules: RuleSet, loops: u64, seed: u64) -> LoopTotals {
    let mut totals = LoopTotals::default();
    for number in 0..loops {
        let script = LoopScript::new(kind, seed.wrapping_mul(1_000_003).wrapping_add(number));
        totals.add(rules.play(&script));
    }
    totals
}
