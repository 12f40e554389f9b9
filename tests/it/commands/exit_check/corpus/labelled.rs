//! Labelled loops of agents as data: read from TOML, and decided turn by turn. What only the
//! command reads, such as thresholds and configuration files, is decided by the binary.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use conclave::agent_loop::signals::{self, SignalOptions};
use conclave::agent_loop::{checklist, response};
use conclave::domain::time::Timestamp;
use conclave::stopping::exit_check::event::{ExitPolicy, ExitSettings};
use conclave::stopping::exit_check::evidence::{GitState, SeedTasks, TestResult, TurnEvidence};
use conclave::stopping::exit_check::state::LoopState;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::super::Project;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    #[serde(rename = "agent")]
    _agent: String,
    case: Vec<Case>,
}

/// One loop, with the right decision for each turn. `README.md` explains the keys.
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

/// The arguments of a turn that the decision itself takes.
#[derive(Debug, Default)]
struct Arguments<'a> {
    run: Option<&'a str>,
    promise: Option<&'a str>,
    agent_exit: Option<i32>,
    tests: Option<bool>,
}

/// What should have been decided after a turn, and what was.
#[derive(Debug)]
pub(super) struct DecidedTurn {
    /// From 1.
    pub(super) number: usize,
    pub(super) expected: String,
    pub(super) actual: String,
    /// The rule that stopped the loop.
    pub(super) rule: Option<String>,
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

/// Returns the cases of a file of the corpus.
pub(super) fn cases(file: &str) -> Vec<Case> {
    read::<CaseFile>(file).case
}

/// Returns the known misses of a file of the corpus.
pub(super) fn known_misses(file: &str) -> Vec<KnownMiss> {
    read::<KnownMisses>(file).miss
}

fn read<T: DeserializeOwned>(file: &str) -> T {
    let folder = "tests/it/commands/exit_check/corpus";
    let path = PathBuf::from_iter([env!("CARGO_MANIFEST_DIR"), folder, file]);
    let text = fs::read_to_string(&path).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Decides every case; checks that the wrong decisions are the known misses, and no others.
pub(super) fn decide_all(
    cases: &[Case],
    policy: ExitPolicy,
    known: &[KnownMiss],
) -> Vec<Vec<DecidedTurn>> {
    let known = known.iter();
    let known = known.map(|miss| (miss.id.clone(), miss.turn, miss.got.clone()));
    let mut known: BTreeSet<_> = known.collect();
    let mut report = String::new();
    let mut decided = Vec::new();
    for case in cases {
        let turns = case.decide(policy);
        for turn in turns.iter().filter(|turn| turn.actual != turn.expected) {
            if !known.remove(&(case.id.clone(), turn.number, turn.actual.clone())) {
                let (id, why) = (&case.id, &case.why);
                writeln!(report, "{id}: {turn:?}\n    {why}").unwrap();
            }
        }
        decided.push(turns);
    }
    assert!(report.is_empty(), "{policy:?}: wrong decisions:\n{report}");
    assert!(known.is_empty(), "{policy:?}: right by now: {known:?}");
    decided
}

impl<'a> Arguments<'a> {
    /// `None` if there are others, which only the command reads.
    fn parse(arguments: &[&'a str]) -> Option<Self> {
        let mut parsed = Self::default();
        for pair in arguments.chunks(2) {
            match *pair {
                ["--run", name] => parsed.run = Some(name),
                ["--promise", text] => parsed.promise = Some(text),
                ["--agent-exit", code] => parsed.agent_exit = Some(code.parse().unwrap()),
                ["--tests", "passed"] => parsed.tests = Some(true),
                ["--tests", "failed"] => parsed.tests = Some(false),
                _ => return None,
            }
        }
        Some(parsed)
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

impl GitUse {
    /// Returns what is measured after this many turns.
    fn state(self, turn: usize) -> GitState {
        let (commits, content) = match self {
            Self::Commit => (turn, 0),
            Self::Edit => (0, turn),
            Self::Toggle => (0, turn % 2),
            Self::Unchanged => (0, 0),
        };
        GitState {
            head: Some(commits.to_string()),
            tree: content.to_string(),
            changed_files: (turn > 1).then_some(u64::from(self != Self::Unchanged)),
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

    fn decide(&self, policy: ExitPolicy) -> Vec<DecidedTurn> {
        let mut decided: Vec<DecidedTurn> = Vec::new();
        let (turns, mut state) = (self.turns(), LoopState::default());
        let needs_command = |turn: &Turn| Arguments::parse(&self.arguments(turn)).is_none();
        let needs_command =
            self.config.is_some() || !self.setup.is_empty() || turns.iter().any(needs_command);
        let project = needs_command.then(|| self.project());
        for turn in &turns {
            let expected = match policy {
                ExitPolicy::Corrected => &turn.expect,
                ExitPolicy::StrictSeed => turn.strict.as_ref().expect("a strict decision"),
            };
            for expected in expected.all() {
                let number = decided.len() + 1;
                let (actual, rule) = match &project {
                    Some(project) => self.check(project, turn, policy),
                    None => self.decide_turn(&mut state, turn, number, policy),
                };
                decided.push(DecidedTurn {
                    number,
                    expected,
                    actual,
                    rule,
                });
            }
        }
        decided
    }

    fn arguments<'a>(&'a self, turn: &'a Turn) -> Vec<&'a str> {
        let arguments = self.args.iter().chain(&turn.args);
        arguments.map(String::as_str).collect()
    }

    fn plan_after(&self, turn: &Turn) -> Option<String> {
        let plan = turn.plan.as_ref().or(self.plan.as_ref())?;
        let plan = plan.replacen("- [ ]", "- [x]", turn.checked.unwrap_or(0));
        Some(self.with_line_endings(&plan))
    }

    fn with_line_endings(&self, text: &str) -> String {
        text.replace('\n', if self.crlf { "\r\n" } else { "\n" })
    }

    /// Decides a turn as the command does, without its files; returns the rule that stops.
    fn decide_turn(
        &self,
        state: &mut LoopState,
        turn: &Turn,
        number: usize,
        policy: ExitPolicy,
    ) -> (String, Option<String>) {
        let arguments = Arguments::parse(&self.arguments(turn)).unwrap();
        let response = self.with_line_endings(&turn.response);
        let response = response::read(response.as_bytes(), None).unwrap();
        let options = SignalOptions {
            prompt: self.prompt.as_deref(),
            promise: arguments.promise,
        };
        let (of_texts, errors) = signals::read(&response, &options);
        let plan = self.plan_after(turn);
        let tests = arguments.tests;
        let mut evidence = TurnEvidence {
            checklist: plan.as_deref().and_then(checklist::read),
            seed_tasks: plan.as_deref().map(SeedTasks::count),
            git: self.git.map(|git| git.state(number)),
            tests: tests.map(|passed| TestResult { passed, run: None }),
            agent_exit: arguments.agent_exit,
            ..of_texts
        };
        let errors = errors.iter().map(|line| signals::signature(line));
        evidence.errors.extend(errors);
        evidence.errors.sort();
        evidence.errors.dedup();
        let settings = ExitSettings {
            policy,
            ..ExitSettings::default()
        };
        let now = Timestamp(i64::try_from(number).unwrap() * 1_000);
        let run = state.next_run(arguments.run, now);
        let event = state.check(run, now, evidence, settings);
        state.apply(&event);
        let evaluation = &event.turn().unwrap().evaluation;
        let rule = evaluation.deciding_rule().map(str::to_owned);
        (evaluation.decision_name(), rule)
    }

    /// Returns a project for the binary.
    fn project(&self) -> Project {
        let project = Project::new();
        assert!(self.git.is_none() && self.prompt.is_none(), "{}", self.id);
        if let Some(config) = &self.config {
            project.write(".bb3/config.yaml", config);
        }
        for command in &self.setup {
            let arguments: Vec<&str> = command.split(' ').collect();
            project.run(&arguments).ends_with(0);
        }
        project
    }

    /// Decides a turn by the binary, with the rule that stops.
    fn check(
        &self,
        project: &Project,
        turn: &Turn,
        policy: ExitPolicy,
    ) -> (String, Option<String>) {
        if let Some(plan) = self.plan_after(turn) {
            project.write("PLAN.md", plan);
        }
        let mut flags = self.arguments(turn);
        flags.push("--json");
        if policy == ExitPolicy::StrictSeed {
            flags.push("--strict-seed");
        }
        let output = project.check(&self.with_line_endings(&turn.response), &flags);
        if output.code == Some(2) {
            return ("usage error".to_owned(), None);
        }
        let json = output.json();
        let rule = json["evaluation"]["decision"]["stop"]["rule"].as_str();
        let decision = json["decision"].as_str().unwrap();
        (decision.to_owned(), rule.map(str::to_owned))
    }
}
