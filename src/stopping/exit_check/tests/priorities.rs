//! What decides where several rules fire together.

use crate::stopping::evaluation::Value;

use super::super::evidence::{Obstacle, ObstacleKind};
use super::*;

fn quota(evidence: TurnEvidence) -> TurnEvidence {
    TurnEvidence {
        obstacle: Some(Obstacle {
            kind: ObstacleKind::Quota,
            message: "limit".to_owned(),
        }),
        ..evidence
    }
}

/// A loop whose circuit was opened by a stall.
fn stalled_loop() -> AgentLoop {
    let mut agent_loop = AgentLoop::new();
    let turns = (0..4).map(|_| plan(4, 1));
    assert_eq!(play(&mut agent_loop, turns), "- - - stagnation");
    agent_loop
}

#[test]
fn an_obstacle_precedes_every_success() {
    assert_eq!(decided(quota(plan(5, 0))).as_deref(), Some("obstacle"));
}

#[test]
fn all_completed_tasks_beat_an_open_circuit() {
    let mut agent_loop = stalled_loop();
    let evaluation = agent_loop.turn(plan(5, 0));
    assert_eq!(evaluation.deciding_rule(), Some("all_tasks_done"));
}

#[test]
fn an_open_circuit_precedes_every_other_success() {
    let mut agent_loop = stalled_loop();
    let evaluation = agent_loop.turn(done(plan(4, 1)));
    assert_eq!(evaluation.deciding_rule(), Some("circuit_open"));
    assert_eq!(class(&evaluation), Some(Class::Halted));
}

#[test]
fn stagnation_names_the_reason_before_the_circuit_that_it_opens() {
    let mut agent_loop = stalled_loop();
    let last = agent_loop.log.last().unwrap().turn().unwrap();
    let opened = last.evaluation.rule("circuit_opened").unwrap();
    assert_eq!(opened.value, Some(Value::word("open")));
    let evaluation = agent_loop.turn(plan(4, 1));
    assert_eq!(evaluation.deciding_rule(), Some("circuit_open"));
}

#[test]
fn success_precedes_the_limits_after_it() {
    let confirmed = |thresholds| {
        let mut agent_loop = AgentLoop::with(thresholds);
        let first = confidence(errors(question(plan(4, 1)), &["a"]), 10);
        agent_loop.turn(claim(first));
        let six = ["a", "b", "c", "d", "e", "f"];
        let last = confidence(errors(plan(4, 1), &six), 10);
        agent_loop
            .turn(done(last))
            .deciding_rule()
            .map(str::to_owned)
    };
    let capped = ExitThresholds {
        max_turns: 2,
        stagnation_turns: 1,
        ..ExitThresholds::default()
    };
    assert_eq!(confirmed(capped).as_deref(), Some("completion"));
}

#[test]
fn the_last_allowed_turn_may_still_succeed() {
    let thresholds = ExitThresholds {
        max_turns: 1,
        ..ExitThresholds::default()
    };
    let decided = |evidence| {
        let evaluation = AgentLoop::with(thresholds).turn(evidence);
        evaluation.deciding_rule().map(str::to_owned)
    };
    assert_eq!(decided(plan(5, 0)).as_deref(), Some("all_tasks_done"));
    assert_eq!(decided(done(quiet())).as_deref(), Some("explicit_done"));
    assert_eq!(decided(plan(1, 4)).as_deref(), Some("turns"));
}

#[test]
fn limits_are_in_their_stated_order() {
    let names: Vec<String> = AgentLoop::new()
        .turn(quiet())
        .rules
        .into_iter()
        .map(|rule| rule.name)
        .collect();
    assert_eq!(
        names,
        [
            "obstacle",
            "all_tasks_done",
            "circuit_open",
            "completion",
            "confirmed_completion",
            "explicit_done",
            "done_signal",
            "enough_completed",
            "not_contradicted",
            "tests",
            "open_blockers",
            "blocked",
            "questions",
            "low_confidence",
            "distinct_errors",
            "same_error",
            "failed_turns",
            "stagnation",
            "circuit_opened",
            "turns",
        ]
    );
}

#[test]
fn a_circuit_with_lower_thresholds_halts_by_itself() {
    let mut agent_loop = AgentLoop::new();
    agent_loop.settings.circuit.no_progress_turns = 2;
    let turns = (0..3).map(|_| plan(4, 1));
    assert_eq!(play(&mut agent_loop, turns), "- - circuit_opened");
}
