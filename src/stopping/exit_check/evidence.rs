//! Evidence of one turn. What was not measured is absent: it is unknown, never 0 and never half.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Everything that is known of one turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct TurnEvidence {
    /// The last status block or tag of the last message.
    pub status: Option<StatusSignal>,
    /// The confidence that the agent states as a number, in percent.
    #[cfg_attr(test, schemars(range(max = 100)))]
    pub stated_confidence: Option<u8>,
    /// What the words of the last message say; `None` without a message.
    pub words: Option<Words>,
    /// The words that the original rules count; `None` without a message.
    pub seed_words: Option<SeedWords>,
    /// The tasks of the plan; `None` without tasks.
    pub checklist: Option<Checklist>,
    /// The boxes of the plan as the original script counts them; `None` without a plan.
    pub seed_tasks: Option<SeedTasks>,
    /// `None` without `--git`.
    pub git: Option<GitState>,
    /// `None` without `--tests`.
    pub tests: Option<TestResult>,
    /// The exit status of the agent program; `None` without `--agent-exit`.
    pub agent_exit: Option<i32>,
    /// The distinct errors of the turn, by signature, sorted; empty if there was none.
    pub errors: Vec<ErrorSignature>,
    /// A reason why the agent could not work at all.
    pub obstacle: Option<Obstacle>,
}

impl TurnEvidence {
    /// The most distinct errors that are recorded of one turn.
    pub const MAX_ERRORS: usize = 50;

    /// The longest text that is recorded of a status or an obstacle, in characters.
    pub const LONGEST_TEXT: usize = 200;

    /// In percent, rounded down; `None` without tasks.
    pub fn completion_percent(&self) -> Option<u64> {
        let checklist = self.checklist.as_ref()?;
        let percent = u128::from(checklist.completed) * 100;
        u64::try_from(percent.checked_div(checklist.total().into())?).ok()
    }
}

/// What an agent states in a status block or a tag, such as `EXIT_SIGNAL: false`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatusSignal {
    pub state: StatedState,
    /// The line or the tag that states it, for people.
    pub source: String,
}

/// In the order of their weight: of statements that belong together, the greatest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StatedState {
    /// All work is done. A statement in the same block that it is not wins.
    Done,
    NotDone,
    /// The agent waits for a person.
    Blocked,
}

/// What the prose of the last message says, outside code, quotes and the echoed prompt. Weak
/// evidence: alone it stops nothing at once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Words {
    /// It claims that the whole work is done, not only a part of it.
    pub claims_completion: bool,
    /// It says that work remains.
    pub admits_open_work: bool,
    /// Where it says that tests, a build or another run fails, that a part is missing, or that it
    /// could not be tried. It holds back an explicit "done" as well. Where only the kinds of its
    /// words give that away, `admits_open_work` need not be set.
    pub admission: Option<String>,
    /// It ends with a question to the person, or says that it waits for an answer.
    pub asks_person: bool,
}

/// The words that the original rules count, anywhere in the last message, as whole words in any
/// case. Only `--strict-seed` uses them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SeedWords {
    /// Whether `confident`, `certainly` or `absolutely` occurs.
    pub certain: bool,
    /// Whether `likely` or `probably` occurs.
    pub likely: bool,
    /// How many of `maybe`, `might`, `could` and `approximately` occur, at most 4.
    pub hedges: u8,
    /// How many of `definitely`, `assured` and `guaranteed` occur, at most 3.
    pub assurances: u8,
    /// How many of `error`, `exception`, `failed`, `bug`, `issue`, `problem` and `mistake` occur,
    /// plurals included, at most 7.
    pub error_words: u8,
}

/// The task items of a plan. Optional sections do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Checklist {
    pub completed: u64,
    pub open: u64,
    /// Cancelled items count neither as completed nor as open.
    pub cancelled: u64,
    /// Open items that are marked as blockers; part of `open`.
    pub open_blockers: u64,
    /// A hash of the completed items' texts, in hexadecimal digits: it changes when an item is
    /// completed, and not when items are reworded or moved that are still open.
    pub completed_set: String,
    /// A hash of all items' texts, in hexadecimal digits: it stays when items are completed or
    /// moved, and differs for another plan.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "String"))]
    pub tasks: String,
}

/// The lines of a plan with `- [x]` and with `- [ ]`, wherever they are: in optional sections and
/// in code too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SeedTasks {
    pub completed: u64,
    pub open: u64,
}

impl SeedTasks {
    pub fn count(plan: &str) -> Self {
        let lines_with = |mark| plan.lines().filter(|line| line.contains(mark)).count() as u64;
        Self {
            completed: lines_with("- [x]"),
            open: lines_with("- [ ]"),
        }
    }

    pub fn total(self) -> u64 {
        self.completed.saturating_add(self.open)
    }
}

impl Checklist {
    pub fn total(&self) -> u64 {
        self.completed.saturating_add(self.open)
    }
}

/// The state of a Git working tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GitState {
    /// The commit; `None` before the first.
    pub head: Option<String>,
    /// A hash of everything that differs from the commit, in hexadecimal digits.
    pub tree: String,
    /// The number of files that changed since the last check; `None` on the first check.
    pub changed_files: Option<u64>,
}

/// The result of the tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TestResult {
    pub passed: bool,
    /// The command; absent if another program ran it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "TestRun"))]
    pub run: Option<TestRun>,
}

/// A test command that ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TestRun {
    pub command: String,
    /// `None` if a signal ended it or it ran too long.
    pub exit_status: Option<i32>,
    pub duration_ms: u64,
    /// The last lines of its output, scrubbed of secrets.
    pub last_lines: Vec<String>,
}

/// An error without what differs from one occurrence to the next: numbers, paths, addresses, times.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct ErrorSignature(pub String);

/// Errors, each with the number of turns in a row, up to the last one, that it occurred in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ErrorStreaks(pub(super) BTreeMap<ErrorSignature, u32>);

impl ErrorStreaks {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a turn with these errors.
    pub(super) fn observe(&mut self, errors: &[ErrorSignature]) {
        let before = std::mem::take(&mut self.0);
        for error in errors {
            let turns = before.get(error).copied().unwrap_or(0).saturating_add(1);
            self.0.insert(error.clone(), turns);
        }
    }

    pub fn longest(&self) -> Option<(&ErrorSignature, u32)> {
        let (error, turns) = self.0.iter().max_by_key(|(_, turns)| **turns)?;
        Some((error, *turns))
    }
}

/// The reason why an agent could not work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Obstacle {
    pub kind: ObstacleKind,
    /// The agent program's own words.
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ObstacleKind {
    /// A tool was denied that the agent needs.
    Permission,
    /// The agent program is not signed in, or its key is refused.
    Authentication,
    /// A quota or a limit of use is reached; it lasts for hours.
    Quota,
}
