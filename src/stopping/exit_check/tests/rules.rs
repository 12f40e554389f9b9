//! Each rule fires at its threshold and not below.

use crate::stopping::evaluation::RuleOutcome;

use super::super::evidence::{Obstacle, ObstacleKind};
use super::*;

#[test]
fn a_quiet_turn_continues() {
    assert_eq!(decided(quiet()), None);
    assert_eq!(decided(plan(1, 2)), None);
}

#[test]
fn an_obstacle_halts_at_once() {
    for kind in [
        ObstacleKind::Permission,
        ObstacleKind::Authentication,
        ObstacleKind::Quota,
    ] {
        let evaluation = AgentLoop::new().turn(TurnEvidence {
            obstacle: Some(Obstacle {
                kind,
                message: "usage limit reached".to_owned(),
            }),
            ..quiet()
        });
        assert_eq!(evaluation.deciding_rule(), Some("obstacle"));
        assert_eq!(class(&evaluation), Some(Class::Halted));
    }
}

#[test]
fn all_tasks_done_needs_every_task() {
    let evaluation = AgentLoop::new().turn(plan(5, 0));
    assert_eq!(evaluation.deciding_rule(), Some("all_tasks_done"));
    assert_eq!(class(&evaluation), Some(Class::Done));
    assert_eq!(decided(plan(99, 1)), None);
    assert_eq!(decided(plan(0, 0)), None, "it is empty, and not finished");
}

#[test]
fn completion_fires_from_its_threshold_with_an_explicit_signal() {
    assert_eq!(decided(done(plan(4, 1))).as_deref(), Some("completion"));
    assert_eq!(decided(done(plan(79, 21))), None);
    assert_eq!(decided(done(plan(7_999, 2_001))), None);
    assert_eq!(decided(plan(4, 1)), None, "without a signal");
}

#[test]
fn a_claim_in_words_needs_the_next_turn_to_repeat_it() {
    assert_eq!(
        played([claim(plan(4, 1)), claim(plan(4, 1))]),
        "- confirmed_completion"
    );
    let interrupted = [claim(plan(4, 1)), plan(4, 1), claim(plan(4, 1))];
    assert_eq!(played(interrupted), "- - -");
}

#[test]
fn a_claim_after_another_completed_task_is_a_first_one() {
    let turns = [claim(plan(8, 2)), claim(plan(9, 1)), claim(plan(9, 1))];
    assert_eq!(played(turns), "- - confirmed_completion");
}

#[test]
fn claims_of_a_turn_that_changes_the_work_need_twice_as_many() {
    let polishing = (0..5).map(|turn| claim(tree(quiet(), turn)));
    assert_eq!(played(polishing), "- - - confirmed_completion -");
    let turns = [claim(tree(quiet(), 1)), claim(tree(quiet(), 1))];
    assert_eq!(played(turns), "- confirmed_completion");
}

#[test]
fn an_explicit_signal_is_enough_without_a_checklist() {
    assert_eq!(decided(done(quiet())).as_deref(), Some("explicit_done"));
    let outcome = |evidence| {
        let evaluation = AgentLoop::new().turn(evidence);
        evaluation.rule("explicit_done").unwrap().outcome
    };
    assert_eq!(outcome(done(plan(1, 4))), RuleOutcome::NotApplicable);
    assert_eq!(outcome(quiet()), RuleOutcome::Held);
}

#[test]
fn a_blocked_agent_needs_a_person() {
    let evaluation = AgentLoop::new().turn(TurnEvidence {
        status: Some(status(StatedState::Blocked)),
        ..plan(1, 2)
    });
    assert_eq!(evaluation.deciding_rule(), Some("blocked"));
    assert_eq!(class(&evaluation), Some(Class::NeedsHuman));
}

#[test]
fn two_questions_in_a_row_need_a_person() {
    let turns = [question(quiet()), question(quiet())];
    assert_eq!(played(turns), "- questions");
    let turns = [question(quiet()), quiet(), question(quiet())];
    assert_eq!(played(turns), "- - -");
}

#[test]
fn a_question_of_a_turn_that_made_progress_does_not_count() {
    let turns = [
        question(plan(1, 9)),
        question(plan(2, 8)),
        question(plan(3, 7)),
    ];
    assert_eq!(played(turns), "- - -");
}

#[test]
fn low_confidence_counts_twice_in_a_row_and_as_a_number() {
    let turns = [confidence(quiet(), 69), confidence(quiet(), 69)];
    assert_eq!(played(turns), "- low_confidence");
    let turns = [confidence(quiet(), 70), confidence(quiet(), 70)];
    assert_eq!(played(turns), "- -");
    let turns = [confidence(quiet(), 50), quiet(), confidence(quiet(), 50)];
    assert_eq!(played(turns), "- - -");
}

#[test]
fn a_sixth_different_error_halts() {
    let five = ["a", "b", "c", "d", "e"];
    let six = ["a", "b", "c", "d", "e", "f"];
    assert_eq!(decided(errors(quiet(), &five)), None);
    assert_eq!(
        decided(errors(quiet(), &six)).as_deref(),
        Some("distinct_errors")
    );
}

#[test]
fn the_same_error_in_three_turns_halts() {
    let turns = [
        errors(quiet(), &["a"]),
        errors(quiet(), &["a", "b"]),
        errors(quiet(), &["a"]),
    ];
    assert_eq!(played(turns), "- - same_error");
    let turns = ["a", "b", "a", "b"].map(|error| errors(quiet(), &[error]));
    assert_eq!(played(turns), "- - - -");
}

#[test]
fn an_error_is_past_when_another_task_is_completed() {
    let turns = (1..8).map(|completed| errors(plan(completed, 9), &["flaky test"]));
    assert_eq!(played(turns), "- - - - - - -");
}

#[test]
fn edits_do_not_excuse_the_same_error() {
    let turns = (0..3).map(|turn| errors(tree(quiet(), turn), &["a"]));
    assert_eq!(played(turns), "- - same_error");
}

#[test]
fn three_turns_without_a_message_halt() {
    let silent = (0..3).map(|_| TurnEvidence::default());
    assert_eq!(played(silent), "- - failed_turns");
    let failed = || TurnEvidence {
        agent_exit: Some(1),
        ..quiet()
    };
    let turns = [failed(), failed(), failed()];
    assert_eq!(played(turns), "- - failed_turns");
}

#[test]
fn a_turn_cut_short_that_changed_something_has_not_failed() {
    let cut = (0..6).map(|turn| TurnEvidence {
        agent_exit: Some(124),
        ..tree(quiet(), turn)
    });
    assert_eq!(played(cut), "- - - - - -");
}

#[test]
fn three_turns_without_a_change_are_stalled() {
    let mut agent_loop = AgentLoop::new();
    let turns = (0..4).map(|_| plan(1, 2));
    assert_eq!(play(&mut agent_loop, turns), "- - - stagnation");
    let last = agent_loop.log.last().unwrap().turn().unwrap();
    assert_eq!(last.evaluation.class(), Some(Class::Stalled));
}

#[test]
fn stagnation_is_unknown_where_nothing_is_measured() {
    let mut agent_loop = AgentLoop::new();
    for _ in 0..20 {
        let evaluation = agent_loop.turn(quiet());
        let stagnation = evaluation.rule("stagnation").unwrap();
        assert_eq!(stagnation.outcome, RuleOutcome::Unknown);
    }
}

#[test]
fn work_that_goes_back_and_forth_is_stalled() {
    let turns = [0, 1, 0, 1, 0].map(|state| tree(plan(1, 2), state));
    assert_eq!(played(turns), "- - - - stagnation");
}

#[test]
fn the_last_allowed_turn_exhausts_the_run() {
    let mut agent_loop = AgentLoop::new();
    agent_loop.settings.thresholds.max_turns = 7;
    let turns = (0..7).map(|turn| tree(quiet(), turn));
    assert_eq!(play(&mut agent_loop, turns), "- - - - - - turns");
}

#[test]
fn claims_below_the_completion_threshold_confirm_nothing() {
    let turns = (0..3).map(|_| claim(plan(3, 2)));
    assert_eq!(played(turns), "- - -");
}

#[test]
fn many_errors_are_past_when_another_task_is_completed() {
    let six = ["a", "b", "c", "d", "e", "f"];
    let turns = [1, 2, 2].map(|completed| errors(plan(completed, 8), &six));
    let turns = [plan(0, 9)].into_iter().chain(turns);
    assert_eq!(played(turns), "- - - distinct_errors");
}

#[test]
fn questions_do_not_suppress_stagnation() {
    let mut agent_loop = AgentLoop::new();
    agent_loop.settings.thresholds.question_turns = 50;
    let turns = (0..4).map(|_| question(plan(1, 9)));
    assert_eq!(play(&mut agent_loop, turns), "- - - stagnation");
}
