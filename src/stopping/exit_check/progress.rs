//! Progress of a run: what the turns changed, never what they claim.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::breaker::TurnProgress;
use super::evidence::TurnEvidence;

/// The most states that are remembered. An agent that oscillates returns to one of the last few.
const MOST_REMEMBERED: usize = 16;

/// The states that a run has been in, and for how many turns it has reached no new one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProgressTrail {
    /// Turns in a row in which something was measured and no new state was reached.
    pub unchanged_turns: u64,
    /// The latest states, the last one at the end. What a turn does not measure is as before.
    states: VecDeque<MeasuredState>,
}

/// What is measured of the work: each part only if it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct MeasuredState {
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_set: Option<String>,
    /// Commit and tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    git: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tests_passed: Option<bool>,
}

/// The change that one turn brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnChange {
    pub progress: TurnProgress,
    /// Whether the set of completed tasks changed to one that the run has not had before.
    pub completed_set: bool,
}

impl ProgressTrail {
    /// Returns whether anything is measured; without, stagnation is unknown.
    pub fn is_measured(&self) -> bool {
        !self.states.is_empty()
    }

    /// Compares a turn with the states before it, and remembers its state.
    ///
    /// A return to an earlier state is no progress: an agent that undoes its own work would
    /// otherwise never stagnate.
    pub fn observe(&mut self, evidence: &TurnEvidence) -> TurnChange {
        let measured = MeasuredState::of(evidence);
        let comparable = |state: &&MeasuredState| state.has_in_common(&measured);
        let mut earlier = self.states.iter().filter(comparable).peekable();
        let progress = if earlier.peek().is_none() {
            TurnProgress::Unknown
        } else if earlier.any(|state| state.agrees_with(&measured)) {
            TurnProgress::None
        } else {
            TurnProgress::Made
        };
        let completed_set = self.is_new_set(measured.completed_set.as_ref());
        match progress {
            TurnProgress::Made => self.unchanged_turns = 0,
            TurnProgress::None => self.unchanged_turns = self.unchanged_turns.saturating_add(1),
            TurnProgress::Unknown => {}
        }
        self.remember(measured);
        TurnChange {
            progress,
            completed_set,
        }
    }

    fn is_new_set(&self, set: Option<&String>) -> bool {
        let earlier = || {
            self.states
                .iter()
                .filter_map(|state| state.completed_set.as_ref())
        };
        set.is_some_and(|set| earlier().next().is_some() && earlier().all(|other| other != set))
    }

    fn remember(&mut self, measured: MeasuredState) {
        let Some(last) = self.states.back() else {
            if measured != MeasuredState::default() {
                self.states.push_back(measured);
            }
            return;
        };
        let state = measured.or(last);
        if state.knows_more_than(last) {
            // Earlier states would equal it in everything that they know.
            self.states.clear();
        }
        self.states.retain(|earlier| *earlier != state);
        self.states.push_back(state);
        while self.states.len() > MOST_REMEMBERED {
            self.states.pop_front();
        }
    }
}

impl MeasuredState {
    fn of(evidence: &TurnEvidence) -> Self {
        let git = evidence.git.as_ref().map(|git| {
            let head = git.head.as_deref().unwrap_or("none");
            format!("{head} {}", git.tree)
        });
        let checklist = evidence.checklist.as_ref();
        Self {
            completed_set: checklist.map(|checklist| checklist.completed_set.clone()),
            git,
            tests_passed: evidence.tests.as_ref().map(|tests| tests.passed),
        }
    }

    /// Returns this state, with what it does not know from another one.
    fn or(self, other: &Self) -> Self {
        Self {
            completed_set: self.completed_set.or_else(|| other.completed_set.clone()),
            git: self.git.or_else(|| other.git.clone()),
            tests_passed: self.tests_passed.or(other.tests_passed),
        }
    }

    fn knows_more_than(&self, other: &Self) -> bool {
        (self.completed_set.is_some() && other.completed_set.is_none())
            || (self.git.is_some() && other.git.is_none())
            || (self.tests_passed.is_some() && other.tests_passed.is_none())
    }

    fn has_in_common(&self, other: &Self) -> bool {
        self.parts(other).iter().any(Option::is_some)
    }

    /// Returns whether everything is equal that both states know.
    fn agrees_with(&self, other: &Self) -> bool {
        self.parts(other).iter().all(|part| *part != Some(false))
    }

    /// Returns for each part whether the two are equal; `None` where one does not know it.
    fn parts(&self, other: &Self) -> [Option<bool>; 3] {
        let equal = |one: &Option<String>, other: &Option<String>| {
            Some(one.as_deref()? == other.as_deref()?)
        };
        let tests = self.tests_passed.zip(other.tests_passed);
        [
            equal(&self.completed_set, &other.completed_set),
            equal(&self.git, &other.git),
            tests.map(|(one, other)| one == other),
        ]
    }
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
        turns
            .iter()
            .map(|turn| trail.observe(turn).progress)
            .collect()
    }

    #[test]
    fn the_first_turn_has_nothing_to_compare_with() {
        assert_eq!(progress(&[tasks("a")]), [TurnProgress::Unknown]);
    }

    #[test]
    fn turns_without_a_measure_are_unknown() {
        let nothing = TurnEvidence::default;
        let mut trail = ProgressTrail::default();
        assert_eq!(trail.observe(&nothing()).progress, TurnProgress::Unknown);
        assert_eq!(trail.observe(&nothing()).progress, TurnProgress::Unknown);
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
        assert_eq!(trail.observe(&tests(false)).progress, TurnProgress::None);
        assert_eq!(trail.observe(&tests(true)).progress, TurnProgress::Made);
        assert_eq!(trail.observe(&tests(false)).progress, TurnProgress::None);
    }

    #[test]
    fn only_a_new_set_of_completed_tasks_counts_as_one() {
        let mut trail = ProgressTrail::default();
        let sets: Vec<bool> = ["a", "b", "b", "a", "c"]
            .iter()
            .map(|set| trail.observe(&tasks(set)).completed_set)
            .collect();
        assert_eq!(sets, [false, true, false, false, true]);
    }

    #[test]
    fn the_memory_is_bounded() {
        let mut trail = ProgressTrail::default();
        for turn in 0..100 {
            trail.observe(&tasks(&turn.to_string()));
        }
        assert_eq!(trail.states.len(), MOST_REMEMBERED);
    }
}
