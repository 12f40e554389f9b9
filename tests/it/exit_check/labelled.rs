//! Labelled loops of agents as data: read from TOML, and run through the binary turn by turn.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde::Deserialize;
use serde_json::Value;

use super::Project;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    #[serde(rename = "agent")]
    _agent: String,
    case: Vec<Case>,
}

/// One loop, with the right decision for each turn. `corpus/README.md` explains the keys.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub(super) id: String,
    #[serde(default)]
    pub(super) kind: String,
    pub(super) why: String,
    #[serde(rename = "format")]
    _format: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    plan: Option<String>,
    prompt: Option<String>,
    config: Option<String>,
    #[serde(default)]
    setup: Vec<String>,
    git: Option<GitUse>,
    #[serde(default)]
    crlf: bool,
    #[serde(default)]
    turn: Vec<Turn>,
    /// The only turn, when there is no `turn`.
    response: Option<String>,
    expect: Option<Decisions>,
    strict: Option<Decisions>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    response: String,
    plan: Option<String>,
    /// The number of open boxes that the turn has checked.
    checked: Option<usize>,
    #[serde(default)]
    args: Vec<String>,
    expect: Decisions,
    strict: Option<Decisions>,
}

/// The decision of a turn, or of each turn that repeats it.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Decisions {
    One(String),
    Each(Vec<String>),
}

/// What happens in the repository before each turn.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum GitUse {
    Commit,
    Edit,
    Toggle,
    Unchanged,
}

/// Which rules decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuleSet {
    Corrected,
    StrictSeed,
}

/// What should have been decided after a turn, and what was.
#[derive(Debug)]
pub(super) struct DecidedTurn {
    /// From 1.
    pub(super) number: usize,
    pub(super) expected: String,
    pub(super) actual: String,
    /// The rule that stopped the loop, or the message of a usage error.
    pub(super) reason: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownMisses {
    miss: Vec<KnownMiss>,
}

/// A turn that the rules decide otherwise than labelled.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KnownMiss {
    pub(super) id: String,
    pub(super) turn: usize,
    got: String,
    pub(super) reason: String,
}

/// Returns the cases of a file in the folder of these tests.
pub(super) fn cases(file: &str) -> Vec<Case> {
    let path = folder().join(file);
    let text = fs::read_to_string(&path).unwrap();
    let parsed: CaseFile =
        toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    parsed.case
}

/// Returns the known misses of a file in the folder of these tests.
pub(super) fn known_misses(file: &str) -> Vec<KnownMiss> {
    let text = fs::read_to_string(folder().join(file)).unwrap();
    let parsed: KnownMisses = toml::from_str(&text).unwrap_or_else(|error| panic!("{error}"));
    parsed.miss
}

/// Checks that the wrong decisions are the known misses, and no others.
pub(super) fn assert_only_known_misses(
    cases: &[Case],
    decided: &[Vec<DecidedTurn>],
    rules: RuleSet,
    known: &[KnownMiss],
) {
    let known: BTreeSet<(&str, usize, &str)> = known
        .iter()
        .map(|miss| (miss.id.as_str(), miss.turn, miss.got.as_str()))
        .collect();
    let mut wrong = BTreeSet::new();
    let mut report = String::new();
    for (case, turns) in cases.iter().zip(decided) {
        for turn in turns.iter().filter(|turn| turn.actual != turn.expected) {
            let miss = (case.id.as_str(), turn.number, turn.actual.as_str());
            wrong.insert(miss);
            if !known.contains(&miss) {
                writeln!(report, "{}", turn.describe(case)).unwrap();
            }
        }
    }
    let figures = figures(cases, decided);
    assert!(
        report.is_empty(),
        "{rules:?}: wrong decisions:\n{report}\n{figures}"
    );
    let right_now: Vec<_> = known.difference(&wrong).collect();
    assert!(
        right_now.is_empty(),
        "{rules:?}: right by now, remove from the known misses: {right_now:?}"
    );
}

/// Returns the right cases and all cases of each kind.
fn figures(cases: &[Case], decided: &[Vec<DecidedTurn>]) -> String {
    let mut kinds: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (case, turns) in cases.iter().zip(decided) {
        let (right, all) = kinds.entry(&case.kind).or_default();
        *right += usize::from(turns.iter().all(|turn| turn.actual == turn.expected));
        *all += 1;
    }
    let lines = kinds
        .iter()
        .map(|(kind, (right, all))| format!("{right:>3} of {all:>3} {kind}\n"));
    lines.collect()
}

/// Returns the folder of these tests.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/exit_check")
}

/// Runs every case in a project of its own, several at once; returns the turns of each.
pub(super) fn run_all(cases: &[Case], rules: RuleSet) -> Vec<Vec<DecidedTurn>> {
    let next = AtomicUsize::new(0);
    let run_some = || {
        let mut decided = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(index) else {
                return decided;
            };
            decided.push((index, case.run(rules)));
        }
    };
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let mut decided = thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(run_some)).collect();
        let results = running.into_iter().map(|worker| worker.join().unwrap());
        results.flatten().collect::<Vec<_>>()
    });
    decided.sort_by_key(|(index, _)| *index);
    decided.into_iter().map(|(_, turns)| turns).collect()
}

impl DecidedTurn {
    fn describe(&self, case: &Case) -> String {
        let by = self.reason.as_ref().map(|rule| format!(" by {rule}"));
        format!(
            "{}, turn {}: expected {}, got {}{}\n    {}",
            case.id,
            self.number,
            self.expected,
            self.actual,
            by.unwrap_or_default(),
            case.why
        )
    }
}

impl Decisions {
    fn all(&self) -> Vec<String> {
        match self {
            Self::One(decision) => vec![decision.clone()],
            Self::Each(decisions) => decisions.clone(),
        }
    }
}

impl Turn {
    fn expected(&self, rules: RuleSet) -> Vec<String> {
        match (rules, &self.strict) {
            (RuleSet::Corrected, _) => self.expect.all(),
            (RuleSet::StrictSeed, Some(strict)) => strict.all(),
            (RuleSet::StrictSeed, None) => panic!("no decision of --strict-seed"),
        }
    }
}

impl Case {
    fn turns(&self) -> Vec<Turn> {
        let single = self.response.as_ref().zip(self.expect.as_ref());
        match (single, self.turn.is_empty()) {
            (None, false) => self.turn.clone(),
            (Some((response, expect)), true) => vec![Turn {
                response: response.clone(),
                plan: None,
                checked: None,
                args: Vec::new(),
                expect: expect.clone(),
                strict: self.strict.clone(),
            }],
            _ => panic!("{}: either turns, or a response and a decision", self.id),
        }
    }

    fn run(&self, rules: RuleSet) -> Vec<DecidedTurn> {
        let project = Project::new();
        self.prepare(&project);
        let mut decided: Vec<DecidedTurn> = Vec::new();
        for turn in self.turns() {
            for expected in turn.expected(rules) {
                let number = decided.len() + 1;
                self.write_turn(&project, &turn, number);
                let (actual, reason) = self.check(&project, &turn, rules);
                decided.push(DecidedTurn {
                    number,
                    expected,
                    actual,
                    reason,
                });
            }
        }
        decided
    }

    /// Writes what all turns have in common.
    fn prepare(&self, project: &Project) {
        if self.git.is_some() {
            project.git(&["init", "-q"]);
            // What the check reads and writes is no work of the agent.
            let ignored = "response.md\nPLAN.md\nprompt.md\n.conclave\n";
            project.write(".git/info/exclude", ignored);
            project.write("work.txt", "0\n");
            project.git(&["add", "work.txt"]);
            project.git(&["commit", "-qm", "Start"]);
        }
        if let Some(prompt) = &self.prompt {
            project.write("prompt.md", prompt);
        }
        if let Some(config) = &self.config {
            project.write(".bb3/config.yaml", config);
        }
        for command in &self.setup {
            let arguments: Vec<&str> = command.split(' ').collect();
            project.run(&arguments).ends_with(0);
        }
    }

    fn write_turn(&self, project: &Project, turn: &Turn, number: usize) {
        project.write("response.md", self.with_line_endings(&turn.response));
        if let Some(plan) = turn.plan.as_ref().or(self.plan.as_ref()) {
            let plan = plan.replacen("- [ ]", "- [x]", turn.checked.unwrap_or(0));
            project.write("PLAN.md", self.with_line_endings(&plan));
        }
        match self.git {
            None | Some(GitUse::Unchanged) => {}
            Some(GitUse::Toggle) => project.write("work.txt", format!("{}\n", number % 2)),
            Some(GitUse::Edit) => project.write("work.txt", format!("{number}\n")),
            Some(GitUse::Commit) => {
                project.write("work.txt", format!("{number}\n"));
                project.git(&["commit", "-qam", "Work"]);
            }
        }
    }

    fn with_line_endings(&self, text: &str) -> String {
        if self.crlf {
            text.replace('\n', "\r\n")
        } else {
            text.to_owned()
        }
    }

    /// Returns the decision, which the exit code agrees with, and its reason.
    fn check(&self, project: &Project, turn: &Turn, rules: RuleSet) -> (String, Option<String>) {
        let mut arguments = vec!["exit-check", "--json", "response.md"];
        let flags = [
            (project.path("PLAN.md").exists(), "PLAN.md"),
            (self.git.is_some(), "--git"),
            (self.prompt.is_some(), "--prompt=prompt.md"),
            (rules == RuleSet::StrictSeed, "--strict-seed"),
        ];
        arguments.extend(
            flags
                .iter()
                .filter(|(given, _)| *given)
                .map(|(_, flag)| flag),
        );
        arguments.extend(self.args.iter().chain(&turn.args).map(String::as_str));
        let output = project.run(&arguments);
        let decision = match output.code {
            Some(0) => "continue",
            Some(10) => "done",
            Some(11) => "needs_human",
            Some(12) => "halted",
            Some(13) => "stalled",
            Some(14) => "exhausted",
            Some(2) => return ("usage error".to_owned(), first_line(&output.stderr)),
            code => panic!("{}: exit code {code:?}: {}", self.id, output.stderr),
        };
        let json: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(json["decision"], decision, "{}", self.id);
        let rule = json["evaluation"]["decision"]["stop"]["rule"].as_str();
        (decision.to_owned(), rule.map(str::to_owned))
    }
}

fn first_line(text: &str) -> Option<String> {
    text.lines().next().map(str::to_owned)
}
