//! Loops played turn by turn against the rules.

use std::time::Duration;

use super::event::{ExitPolicy, ExitSettings, LoopEvent};

use super::run::LoopRunId;

use super::evidence::{
    Checklist, ErrorSignature, GitState, SeedTasks, SeedWords, StatedState, StatusSignal,
    TestResult, TurnEvidence, Words,
};
use super::state::LoopState;
use super::thresholds::ExitThresholds;
use crate::domain::time::Timestamp;
use crate::stopping::evaluation::{Class, Evaluation};

mod thresholds;
mod rules;
mod priorities;
mod corrections;
mod strict_seed;
mod runs;
mod properties;

/// A loop of one agent; a turn takes a minute.
#[derive(Debug)]
struct AgentLoop {
    state: LoopState,
    settings: ExitSettings,
    name: Option<&'static str>,
    now: Timestamp,
    log: Vec<LoopEvent>,
}

impl AgentLoop {
    fn new() -> Self {
        Self {
            state: LoopState::default(),
            settings: ExitSettings::default(),
            name: None,
            now: Timestamp(1_800_000_000_000),
            log: Vec::new(),
        }
    }

    fn strict_seed() -> Self {
        let mut agent_loop = Self::new();
        agent_loop.settings.policy = ExitPolicy::StrictSeed;
        agent_loop
    }

    fn with(thresholds: ExitThresholds) -> Self {
        let mut agent_loop = Self::new();
        agent_loop.settings.thresholds = thresholds;
        agent_loop
    }

    fn turn(&mut self, evidence: TurnEvidence) -> Evaluation {
        self.pass(Duration::from_secs(60));
        let run = self.state.next_run(self.name, self.now);
        let event = self.state.check(run, self.now, evidence, self.settings);
        self.state.apply(&event);
        let evaluation = event.turn().unwrap().evaluation.clone();
        self.log.push(event);
        evaluation
    }

    fn turns(&mut self, turns: impl IntoIterator<Item = TurnEvidence>) -> Vec<Option<String>> {
        turns
            .into_iter()
            .map(|evidence| self.turn(evidence).deciding_rule().map(str::to_owned))
            .collect()
    }

    fn pass(&mut self, time: Duration) {
        self.now = self.now.after(time);
    }
}

/// A turn with a message that says nothing of note.
fn quiet() -> TurnEvidence {
    TurnEvidence {
        words: Some(Words::default()),
        seed_words: Some(SeedWords::default()),
        ..TurnEvidence::default()
    }
}

/// A plan in which the first tasks are completed.
fn plan(completed: u64, open: u64) -> TurnEvidence {
    TurnEvidence {
        checklist: Some(Checklist {
            completed,
            open,
            completed_set: format!("first {completed}"),
            ..Checklist::default()
        }),
        seed_tasks: Some(SeedTasks { completed, open }),
        ..quiet()
    }
}

fn status(state: StatedState) -> StatusSignal {
    StatusSignal {
        state,
        source: format!("STATUS: {state:?}"),
    }
}

fn done(evidence: TurnEvidence) -> TurnEvidence {
    TurnEvidence {
        status: Some(status(StatedState::Done)),
        ..evidence
    }
}

/// A turn whose words claim that everything is done.
fn claim(evidence: TurnEvidence) -> TurnEvidence {
    TurnEvidence {
        words: Some(Words {
            claims_completion: true,
            ..Words::default()
        }),
        ..evidence
    }
}

fn question(evidence: TurnEvidence) -> TurnEvidence {
    TurnEvidence {
        words: Some(Words {
            asks_person: true,
            ..Words::default()
        }),
        ..evidence
    }
}

fn tree(evidence: TurnEvidence, tree: u8) -> TurnEvidence {
    TurnEvidence {
        git: Some(GitState {
            head: Some("0000".to_owned()),
            tree: tree.to_string(),
            changed_files: None,
        }),
        ..evidence
    }
}

fn tests(evidence: TurnEvidence, passed: bool) -> TurnEvidence {
    TurnEvidence {
        tests: Some(TestResult { passed, run: None }),
        ..evidence
    }
}

fn errors(evidence: TurnEvidence, errors: &[&str]) -> TurnEvidence {
    let errors = errors
        .iter()
        .map(|error| ErrorSignature((*error).to_owned()));
    TurnEvidence {
        errors: errors.collect(),
        ..evidence
    }
}

fn confidence(evidence: TurnEvidence, stated: u8) -> TurnEvidence {
    TurnEvidence {
        stated_confidence: Some(stated),
        ..evidence
    }
}

/// The rule that decides on a single turn.
fn decided(evidence: TurnEvidence) -> Option<String> {
    AgentLoop::new()
        .turn(evidence)
        .deciding_rule()
        .map(str::to_owned)
}

/// The rules that decide on the turns, as names; `-` to continue.
fn play(agent_loop: &mut AgentLoop, turns: impl IntoIterator<Item = TurnEvidence>) -> String {
    let decisions = agent_loop.turns(turns).into_iter();
    let names: Vec<String> = decisions
        .map(|rule| rule.unwrap_or_else(|| "-".to_owned()))
        .collect();
    names.join(" ")
}

fn class(evaluation: &Evaluation) -> Option<Class> {
    evaluation.class()
}

/// The rules that decide on the turns of a new loop.
fn played(turns: impl IntoIterator<Item = TurnEvidence>) -> String {
    play(&mut AgentLoop::new(), turns)
}
