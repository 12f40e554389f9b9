//! Properties of any loop.

use proptest::prelude::*;

use super::super::evidence::{Obstacle, ObstacleKind};
use super::*;

fn any_status() -> impl Strategy<Value = Option<StatusSignal>> {
    prop_oneof![
        6 => Just(None),
        1 => Just(Some(status(StatedState::Done))),
        1 => Just(Some(status(StatedState::NotDone))),
        1 => Just(Some(status(StatedState::Blocked))),
    ]
}

fn any_words() -> impl Strategy<Value = Option<Words>> {
    let words = any::<[bool; 4]>().prop_map(|[claims, open, fails, asks]| Words {
        claims_completion: claims,
        admits_open_work: open,
        admission: fails.then(|| "one test fails".to_owned()),
        asks_person: asks,
    });
    prop::option::weighted(0.9, words)
}

fn any_seed_words() -> impl Strategy<Value = Option<SeedWords>> {
    let words = (any::<bool>(), any::<bool>(), 0..5_u8, 0..4_u8, 0..8_u8).prop_map(
        |(certain, likely, hedges, assurances, error_words)| SeedWords {
            certain,
            likely,
            hedges,
            assurances,
            error_words,
        },
    );
    prop::option::of(words)
}

fn any_facts() -> impl Strategy<Value = TurnEvidence> {
    let checklist =
        (0..6_u64, 0..4_u64, 0..2_u64).prop_map(|(completed, open, blockers)| Checklist {
            completed,
            open,
            open_blockers: blockers.min(open),
            completed_set: completed.to_string(),
            ..Checklist::default()
        });
    let git = (0..3_u8, 0..3_u8).prop_map(|(head, tree)| GitState {
        head: Some(head.to_string()),
        tree: tree.to_string(),
        changed_files: None,
    });
    let checklist = prop::option::of(checklist);
    let git = prop::option::of(git);
    let passed = prop::option::of(any::<bool>());
    let agent_exit = prop::option::weighted(0.3, 0..2_i32);
    (checklist, git, passed, agent_exit).prop_map(|(checklist, git, passed, agent_exit)| {
        TurnEvidence {
            seed_tasks: checklist.as_ref().map(|tasks: &Checklist| SeedTasks {
                completed: tasks.completed,
                open: tasks.open,
            }),
            checklist,
            git,
            tests: passed.map(|passed| TestResult { passed, run: None }),
            agent_exit,
            ..TurnEvidence::default()
        }
    })
}

fn any_turn() -> impl Strategy<Value = TurnEvidence> {
    let errors = prop::collection::btree_set(0..9_u8, 0..8);
    let obstacle = prop::bool::weighted(0.03);
    let stated = prop::option::weighted(0.3, 0..=100_u8);
    let signals = (any_status(), any_words(), any_seed_words(), stated);
    (any_facts(), signals, errors, obstacle).prop_map(
        |(facts, (status, words, seed_words, stated_confidence), errors, obstacle)| TurnEvidence {
            status,
            stated_confidence,
            words,
            seed_words,
            errors: errors
                .into_iter()
                .map(|error| ErrorSignature(error.to_string()))
                .collect(),
            obstacle: obstacle.then(|| Obstacle {
                kind: ObstacleKind::Quota,
                message: String::new(),
            }),
            ..facts
        },
    )
}

fn any_loop() -> impl Strategy<Value = AgentLoop> {
    (any::<bool>(), any::<bool>()).prop_map(|(is_strict, is_named)| {
        let mut agent_loop = if is_strict {
            AgentLoop::strict_seed()
        } else {
            AgentLoop::new()
        };
        agent_loop.name = is_named.then_some("loop");
        agent_loop
    })
}

fn any_turns() -> impl Strategy<Value = Vec<TurnEvidence>> {
    prop::collection::vec(any_turn(), 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn turns_without_evidence_fire_nothing_but_failed_turns_and_the_cap(
        mut agent_loop in any_loop(),
    ) {
        agent_loop.settings.policy = ExitPolicy::Corrected;
        agent_loop.settings.thresholds.failed_turns = 90;
        for turn in 1..=89 {
            prop_assert!(!agent_loop.turn(TurnEvidence::default()).stops(), "turn {turn}");
        }
        let evaluation = agent_loop.turn(TurnEvidence::default());
        prop_assert_eq!(evaluation.deciding_rule(), Some("failed_turns"));
    }

    #[test]
    fn a_rule_without_a_value_never_decides(mut agent_loop in any_loop(), turns in any_turns()) {
        for evidence in turns {
            let evaluation = agent_loop.turn(evidence);
            let decided = evaluation.deciding_rule().and_then(|name| evaluation.rule(name));
            prop_assert!(decided.is_none_or(|rule| rule.value.is_some()));
        }
    }

    #[test]
    fn more_failures_never_resume_a_halted_loop(turns in any_turns(), last in any_turn()) {
        let mut agent_loop = AgentLoop::new();
        agent_loop.turns(turns);
        let mut worse = last.clone();
        worse.errors.extend((10..20).map(|error| ErrorSignature(error.to_string())));
        worse.agent_exit = Some(1);
        let run = agent_loop.state.next_run(None, agent_loop.now);
        let class = |evidence| {
            let settings = agent_loop.settings;
            let event = agent_loop.state.check(run.clone(), agent_loop.now, evidence, settings);
            event.turn().unwrap().evaluation.class()
        };
        let (before, after) = (class(last), class(worse));
        prop_assert!(before.is_none() || after.is_some(), "{before:?} {after:?}");
    }

    #[test]
    fn every_loop_ends_within_its_cap(
        mut agent_loop in any_loop(),
        turns in prop::collection::vec(any_turn(), 12),
    ) {
        agent_loop.settings.thresholds.max_turns = 12;
        prop_assert!(turns.into_iter().any(|evidence| agent_loop.turn(evidence).stops()));
    }

    #[test]
    fn a_replay_of_the_log_gives_the_live_state_and_decisions(
        mut agent_loop in any_loop(),
        turns in any_turns(),
    ) {
        agent_loop.turns(turns);
        let mut replayed = LoopState::default();
        for event in &agent_loop.log {
            let line = serde_json::to_string(event).unwrap();
            let event: LoopEvent = serde_json::from_str(&line).unwrap();
            let record = event.turn().unwrap();
            let repeated = replayed.check(
                record.run.clone(),
                event.time,
                record.evidence.clone(),
                record.settings,
            );
            prop_assert_eq!(&repeated, &event);
            replayed.apply(&event);
            let stored = serde_json::to_string(&replayed).unwrap();
            let read: LoopState = serde_json::from_str(&stored).unwrap();
            prop_assert_eq!(&read, &replayed);
        }
        prop_assert_eq!(replayed, agent_loop.state);
    }
}
