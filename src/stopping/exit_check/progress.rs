//! Progress of a run: what the turns changed, never what they claim.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::breaker::TurnProgress;
use super::evidence::TurnEvidence;

/// The most states that are remembered. An agent that oscillates returns to one of the last few.
const MAX_REMEMBERED: usize = 16;

/// The states that a run has been in, and for how many turns it has reached no new one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProgressTrail {
    /// Turns in a row in which something was measured and no new state was reached.
    pub unchanged_turns: u64,
    /// The latest states, the last one at the end. What a turn does not measure is as before.
    states: VecDeque<MeasuredState>,
}

/// What is measured of the work, by its name: the set of completed tasks, commit and tree, and
/// whether the tests pass. What is not measured has no entry.
type MeasuredState = BTreeMap<String, Value>;

const COMPLETED_SET: &str = "completed_set";

impl ProgressTrail {
    /// Without, stagnation is unknown.
    pub fn is_measured(&self) -> bool {
        !self.states.is_empty()
    }

    /// Compares a turn with the states before it, and remembers its state. Returns the progress, and
    /// whether the set of completed tasks changed to one that the run has not had before.
    ///
    /// A return to an earlier state is no progress: an agent that undoes its own work would
    /// otherwise never stagnate.
    pub fn observe(&mut self, evidence: &TurnEvidence) -> (TurnProgress, bool) {
        let measured = measured(evidence);
        let comparable = |state: &&MeasuredState| comparison(state, &measured).next().is_some();
        let mut earlier = self.states.iter().filter(comparable).peekable();
        let progress = if earlier.peek().is_none() {
            TurnProgress::Unknown
        } else if earlier.any(|state| comparison(state, &measured).all(|is_equal| is_equal)) {
            TurnProgress::None
        } else {
            TurnProgress::Made
        };
        let completed_set = self.is_new_set(measured.get(COMPLETED_SET));
        match progress {
            TurnProgress::Made => self.unchanged_turns = 0,
            TurnProgress::None => self.unchanged_turns = self.unchanged_turns.saturating_add(1),
            TurnProgress::Unknown => {}
        }
        self.remember(measured);
        (progress, completed_set)
    }

    fn is_new_set(&self, set: Option<&Value>) -> bool {
        let sets = self.states.iter();
        let mut earlier = sets.filter_map(|state| state.get(COMPLETED_SET)).peekable();
        set.is_some_and(|set| earlier.peek().is_some() && earlier.all(|other| other != set))
    }

    fn remember(&mut self, mut state: MeasuredState) {
        if let Some(last) = self.states.back() {
            let knows_more = state.keys().any(|name| !last.contains_key(name));
            for (name, value) in last {
                state.entry(name.clone()).or_insert_with(|| value.clone());
            }
            if knows_more {
                // Earlier states would equal it in everything that they know.
                self.states.clear();
            }
        }
        self.states.retain(|earlier| *earlier != state);
        if !state.is_empty() {
            self.states.push_back(state);
        }
        while self.states.len() > MAX_REMEMBERED {
            self.states.pop_front();
        }
    }
}

fn measured(evidence: &TurnEvidence) -> MeasuredState {
    let checklist = evidence.checklist.as_ref();
    let completed = checklist.map(|checklist| checklist.completed_set.clone().into());
    let git = evidence.git.as_ref().map(|git| {
        let head = git.head.as_deref().unwrap_or("none");
        format!("{head} {}", git.tree).into()
    });
    let tests = evidence.tests.as_ref().map(|tests| tests.passed.into());
    let parts = [
        (COMPLETED_SET, completed),
        ("git", git),
        ("tests_passed", tests),
    ];
    let known = parts.into_iter();
    known
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

/// Returns for each part that both states know whether the two are equal.
fn comparison(one: &MeasuredState, other: &MeasuredState) -> impl Iterator<Item = bool> {
    let parts = one.iter();
    parts.filter_map(|(name, value)| Some(other.get(name)? == value))
}
#[cfg(test)]
mod tests {
    use super::super::evidence::{Checklist, GitState, TestResult};
    use super::*;

    fn tasks(set: &str) -> TurnEvidence {
        TurnEvidence {
            checklist: Some(Checklist {
                completed_set: set.to_owned(),
                ..Checklist::default()
            }),
            ..TurnEvidence::default()
        }
    }

    fn tree(set: &str, tree: &str) -> TurnEvidence {
        TurnEvidence {
            git: Some(GitState {
                head: None,
                tree: tree.to_owned(),
                changed_files: None,
            }),
            ..tasks(set)
        }
    }

    fn progress(turns: &[TurnEvidence]) -> Vec<TurnProgress> {
        let mut trail = ProgressTrail::default();
        turns.iter().map(|turn| trail.observe(turn).0).collect()
    }

    #[test]
    fn the_first_turn_has_nothing_to_compare_with() {
        assert_eq!(progress(&[tasks("a")]), [TurnProgress::Unknown]);
    }

    #[test]
    fn turns_without_a_measure_are_unknown() {
        let nothing = TurnEvidence::default;
        let mut trail = ProgressTrail::default();
        assert_eq!(trail.observe(&nothing()).0, TurnProgress::Unknown);
        assert_eq!(trail.observe(&nothing()).0, TurnProgress::Unknown);
        assert!(!trail.is_measured());
        assert_eq!(trail.unchanged_turns, 0);
    }

    #[test]
    fn a_change_in_any_measure_is_progress() {
        use TurnProgress::{Made, None, Unknown};
        let turns = [
            tree("a", "1"),
            tree("a", "2"),
            tree("b", "2"),
            tree("b", "2"),
        ];
        assert_eq!(progress(&turns), [Unknown, Made, Made, None]);
    }

    #[test]
    fn a_return_to_an_earlier_state_is_no_progress() {
        use TurnProgress::{Made, None, Unknown};
        let turns = [
            tree("a", "1"),
            tree("a", "2"),
            tree("a", "1"),
            tree("a", "2"),
        ];
        assert_eq!(progress(&turns), [Unknown, Made, None, None]);
    }

    #[test]
    fn a_measure_that_begins_later_is_compared_from_then_on() {
        use TurnProgress::{Made, None, Unknown};
        let turns = [
            tasks("a"),
            tree("a", "1"),
            tree("a", "2"),
            tasks("a"),
            tree("a", "3"),
        ];
        assert_eq!(progress(&turns), [Unknown, None, Made, None, Made]);
    }

    #[test]
    fn test_results_count_as_a_measure() {
        let tests = |passed| TurnEvidence {
            tests: Some(TestResult { passed, run: None }),
            ..TurnEvidence::default()
        };
        let mut trail = ProgressTrail::default();
        trail.observe(&tests(false));
        assert_eq!(trail.observe(&tests(false)).0, TurnProgress::None);
        assert_eq!(trail.observe(&tests(true)).0, TurnProgress::Made);
        assert_eq!(trail.observe(&tests(false)).0, TurnProgress::None);
    }

    #[test]
    fn only_a_new_set_of_completed_tasks_counts_as_one() {
        let mut trail = ProgressTrail::default();
        let sets: Vec<bool> = ["a", "b", "b", "a", "c"]
            .iter()
            .map(|set| trail.observe(&tasks(set)).1)
            .collect();
        assert_eq!(sets, [false, true, false, false, true]);
    }

    #[test]
    fn the_memory_is_bounded() {
        let mut trail = ProgressTrail::default();
        for turn in 0..100 {
            trail.observe(&tasks(&turn.to_string()));
        }
        assert_eq!(trail.states.len(), MAX_REMEMBERED);
    }
}
