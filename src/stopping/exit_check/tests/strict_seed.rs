//! The original script's tests, under the rules to its letter.

use super::*;

/// A turn in which these of the original's words occur.
fn words(evidence: TurnEvidence, words: SeedWords) -> TurnEvidence {
    TurnEvidence {
        seed_words: Some(words),
        ..evidence
    }
}

fn confident(evidence: TurnEvidence) -> TurnEvidence {
    let certain = SeedWords {
        certain: true,
        ..SeedWords::default()
    };
    words(evidence, certain)
}

fn decided(evidence: TurnEvidence) -> Option<String> {
    AgentLoop::strict_seed()
        .turn(evidence)
        .deciding_rule()
        .map(str::to_owned)
}

fn shown(evidence: TurnEvidence, rule: &str) -> String {
    let evaluation = AgentLoop::strict_seed().turn(evidence);
    evaluation.rule(rule).unwrap().measure_in_words()
}

#[test]
fn confidence_adds_explicit_and_implicit_words() {
    let seed = |certain, likely, hedges, assurances| {
        let found = SeedWords {
            certain,
            likely,
            hedges,
            assurances,
            error_words: 0,
        };
        shown(words(quiet(), found), "low_confidence")
    };
    assert_eq!(seed(false, false, 0, 0), "50% (at least 70%)");
    assert_eq!(seed(true, true, 0, 0), "100% (at least 70%)");
    assert_eq!(seed(false, true, 4, 0), "70% (at least 70%)");
    assert_eq!(seed(false, false, 4, 0), "10% (at least 70%)");
    assert_eq!(seed(false, false, 1, 3), "70% (at least 70%)");
}

#[test]
fn errors_are_the_words_that_occur() {
    let seed = |error_words| {
        let found = SeedWords {
            certain: true,
            error_words,
            ..SeedWords::default()
        };
        words(plan(1, 2), found)
    };
    assert_eq!(decided(seed(0)), None);
    assert_eq!(decided(seed(5)), None);
    assert_eq!(decided(seed(6)).as_deref(), Some("too_many_errors"));
}

#[test]
fn completion_is_the_share_of_completed_tasks() {
    assert_eq!(shown(plan(1, 1), "high_completion"), "50% (at least 80%)");
    assert_eq!(shown(plan(2, 1), "high_completion"), "66% (at least 80%)");
    assert_eq!(shown(plan(0, 0), "high_completion"), "0% (at least 80%)");
    assert_eq!(shown(quiet(), "high_completion"), "50% (at least 80%)");
}

#[test]
fn three_decisions_without_another_task_stagnate() {
    let mut agent_loop = AgentLoop::strict_seed();
    let turns = (0..4).map(|_| confident(plan(1, 2)));
    assert_eq!(play(&mut agent_loop, turns), "- - - stagnation");
    let mut agent_loop = AgentLoop::strict_seed();
    let turns = [1, 1, 1, 2, 2, 2].map(|completed| confident(plan(completed, 7)));
    assert_eq!(play(&mut agent_loop, turns), "- - - - - -");
}

#[test]
fn the_state_persists_across_decisions() {
    let mut agent_loop = AgentLoop::strict_seed();
    agent_loop.turn(confident(plan(1, 2)));
    agent_loop.turn(quiet());
    let stored = serde_json::to_string(&agent_loop.state).unwrap();
    agent_loop.state = serde_json::from_str(&stored).unwrap();
    let totals = &agent_loop.state.totals;
    assert_eq!(totals.total_decisions, 2);
    assert_eq!(totals.continue_count, 1);
    assert_eq!(totals.exit_count, 1);
    assert_eq!(totals.confidence_history, [Some(100), Some(50)]);
    assert_eq!(totals.completion_history, [Some(33), Some(50)]);
    assert_eq!(totals.error_history, [Some(0), Some(0)]);
    assert_eq!(totals.decision_reason, "AI confidence 50% < threshold 70%");
    let stored: serde_json::Value = serde_json::from_str(&stored).unwrap();
    assert_eq!(stored["decision"], "EXIT");
}

#[test]
fn even_these_rules_have_a_cap() {
    let mut agent_loop = AgentLoop::strict_seed();
    let turns = (0..120).map(|_| confident(quiet()));
    let decisions = agent_loop.turns(turns);
    assert!(decisions.iter().take(99).all(Option::is_none));
    assert_eq!(decisions[99].as_deref(), Some("turns"));
    assert_eq!(agent_loop.state.totals.completion_history.len(), 100);
}
