//! Runs: what begins one, what ends it, and what carries over.

use super::super::breaker::TurnProgress;
use super::super::event::{CircuitRecord, LoopEventKind};
use super::super::run::{RunOrigin, RunRef};
use super::*;

fn named(name: &str) -> RunRef {
    RunRef {
        id: LoopRunId(name.to_owned()),
        origin: RunOrigin::Named,
    }
}

#[test]
fn a_new_run_starts_fresh() {
    let mut agent_loop = AgentLoop::new();
    agent_loop.name = Some("first");
    assert_eq!(
        play(&mut agent_loop, (0..4).map(|_| plan(1, 4))),
        "- - - stagnation"
    );
    agent_loop.name = Some("second");
    assert_eq!(play(&mut agent_loop, (0..3).map(|_| plan(1, 4))), "- - -");
    assert_eq!(agent_loop.state.current().unwrap().turn, 3);
}

#[test]
fn a_named_run_keeps_its_open_circuit() {
    let mut agent_loop = AgentLoop::new();
    agent_loop.name = Some("first");
    let turns = (0..5).map(|_| plan(1, 4));
    assert_eq!(
        play(&mut agent_loop, turns),
        "- - - stagnation circuit_open"
    );
}

#[test]
fn a_stop_ends_an_implicit_run() {
    let mut agent_loop = AgentLoop::new();
    agent_loop.turn(plan(5, 0));
    assert!(agent_loop.state.current().unwrap().stopped);
    agent_loop.turn(plan(0, 5));
    assert_eq!(agent_loop.state.current().unwrap().turn, 1);
}

#[test]
fn claims_before_a_stop_do_not_arm_the_next_run() {
    let turns = [claim(quiet()), claim(quiet()), claim(quiet())];
    assert_eq!(played(turns), "- confirmed_completion -");
}

#[test]
fn an_open_circuit_outlasts_the_implicit_run_that_opened_it() {
    let mut agent_loop = AgentLoop::new();
    play(&mut agent_loop, (0..4).map(|_| plan(1, 4)));
    let open = [plan(2, 3), plan(3, 2)];
    assert_eq!(play(&mut agent_loop, open), "circuit_open circuit_open");
    agent_loop.pass(Duration::from_secs(30 * 60));
    let probe = [plan(3, 2), plan(4, 1), plan(4, 1)];
    assert_eq!(play(&mut agent_loop, probe), "- - -");
}

/// A loop of a plan and a commit that has opened its circuit, and the check some minutes later.
fn after_a_stop(minutes: u64, next: TurnEvidence) -> (String, Option<&'static str>) {
    let mut agent_loop = AgentLoop::new();
    let stuck = || committed(plan_of("a b", 1), "1");
    let turns = (0..4).map(|_| stuck());
    assert_eq!(play(&mut agent_loop, turns), "- - - stagnation");
    agent_loop.pass(Duration::from_secs(60 * minutes));
    let now = agent_loop.now.after(Duration::from_secs(60));
    let run = agent_loop.state.next_run(None, now);
    let reason = agent_loop.state.new_loop(&run, Some(&next), now);
    (play(&mut agent_loop, [next]), reason)
}

fn plan_of(tasks: &str, completed: u64) -> TurnEvidence {
    let mut evidence = plan(completed, 3);
    evidence.checklist.as_mut().unwrap().tasks = tasks.to_owned();
    evidence
}

fn committed(evidence: TurnEvidence, head: &str) -> TurnEvidence {
    let mut evidence = tree(evidence, 0);
    evidence.git.as_mut().unwrap().head = Some(head.to_owned());
    evidence
}

#[test]
fn the_circuit_of_a_loop_that_ended_does_not_stop_another_one() {
    let plan = Some("the plan has other tasks");
    let commit = Some("there is a new commit");
    let time = Some("the last one ended a while ago");
    for (minutes, next, reason) in [
        (0, committed(plan_of("a c", 1), "1"), plan),
        (0, committed(plan_of("c", 0), "1"), plan),
        (0, committed(plan_of("a b", 1), "2"), commit),
        (0, committed(quiet(), "2"), commit),
        (9, plan_of("c", 0), plan),
        (9, committed(plan_of("a b", 1), "1"), time),
        (60, quiet(), time),
        // The same loop goes on: with nothing new, another box ticked, or nothing to compare.
        (0, committed(plan_of("a b", 1), "1"), None),
        (0, committed(plan_of("a b", 2), "1"), None),
        (8, committed(plan_of("a b", 1), "1"), None),
        (8, plan_of("a b", 3), None),
        (0, plan_of("", 1), None),
        (0, quiet(), None),
        (8, quiet(), None),
    ] {
        let rule = if reason.is_some() {
            "-"
        } else {
            "circuit_open"
        };
        let case = format!("{minutes} minutes, {next:?}");
        assert_eq!(
            after_a_stop(minutes, next),
            (rule.to_owned(), reason),
            "{case}"
        );
    }
}

#[test]
fn a_running_loop_is_no_new_one_whatever_changes() {
    let mut agent_loop = AgentLoop::new();
    let turns = ["1", "2", "3"].map(|name| committed(plan_of(name, 0), name));
    for evidence in turns {
        agent_loop.turn(evidence);
        agent_loop.pass(Duration::from_secs(20 * 60));
    }
    assert_eq!(agent_loop.state.current().unwrap().turn, 3);
}

#[test]
fn an_implicit_run_expires_after_two_hours_without_a_check() {
    let mut agent_loop = AgentLoop::new();
    play(&mut agent_loop, (0..3).map(|_| plan(1, 4)));
    agent_loop.pass(Duration::from_secs(2 * 60 * 60));
    assert_eq!(play(&mut agent_loop, [plan(1, 4)]), "-");
    assert_eq!(agent_loop.state.current().unwrap().turn, 1);
}

#[test]
fn a_clock_that_goes_backwards_changes_no_run() {
    let mut agent_loop = AgentLoop::new();
    agent_loop.turn(plan(1, 4));
    agent_loop.now = Timestamp(agent_loop.now.0 - 10 * 60 * 60 * 1_000);
    agent_loop.turn(plan(1, 4));
    assert_eq!(agent_loop.state.current().unwrap().turn, 2);
}

#[test]
fn a_circuit_that_the_caller_opened_halts_the_run() {
    let mut agent_loop = AgentLoop::new();
    agent_loop.name = Some("loop");
    let record = |progress| {
        LoopEventKind::CircuitRecord(CircuitRecord {
            run: named("loop"),
            progress,
            errors: Vec::new(),
            settings: ExitSettings::default(),
        })
    };
    for _ in 0..3 {
        let event = LoopEvent::new(agent_loop.now, record(TurnProgress::None));
        agent_loop.state.apply(&event);
    }
    assert_eq!(play(&mut agent_loop, [plan(1, 4)]), "circuit_open");
    let reset = LoopEventKind::CircuitReset { run: named("loop") };
    agent_loop
        .state
        .apply(&LoopEvent::new(agent_loop.now, reset));
    assert_eq!(play(&mut agent_loop, [plan(1, 4)]), "-");
}

#[test]
fn a_reset_forgets_everything() {
    let mut agent_loop = AgentLoop::new();
    play(&mut agent_loop, (0..4).map(|_| plan(1, 4)));
    agent_loop
        .state
        .apply(&LoopEvent::new(agent_loop.now, LoopEventKind::Reset));
    assert_eq!(agent_loop.state, LoopState::default());
    assert_eq!(play(&mut agent_loop, [plan(1, 4)]), "-");
}

#[test]
fn old_runs_are_forgotten_in_the_end() {
    let mut state = LoopState::default();
    let now = Timestamp(0);
    for run in 0..20 {
        let run = named(&run.to_string());
        let event = state.check(run, now, quiet(), ExitSettings::default());
        state.apply(&event);
    }
    assert!(state.run(&LoopRunId("11".to_owned())).is_none());
    assert!(state.run(&LoopRunId("12".to_owned())).is_some());
}
