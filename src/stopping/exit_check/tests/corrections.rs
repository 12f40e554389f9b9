//! What the corrected rules do where the original script and similar loops went wrong.

use super::*;

fn not_done(evidence: TurnEvidence) -> TurnEvidence {
    TurnEvidence {
        status: Some(status(StatedState::NotDone)),
        ..evidence
    }
}

fn open_work(evidence: TurnEvidence) -> TurnEvidence {
    TurnEvidence {
        words: Some(Words {
            claims_completion: true,
            admits_open_work: true,
            ..Words::default()
        }),
        ..evidence
    }
}

#[test]
fn an_explicit_not_done_beats_every_success() {
    assert_eq!(decided(not_done(plan(5, 0))), None);
    let turns = [not_done(claim(plan(5, 0))), not_done(claim(plan(5, 0)))];
    assert_eq!(played(turns), "- -");
    let evaluation = AgentLoop::new().turn(not_done(plan(5, 0)));
    let unmet: Vec<&str> = evaluation
        .unmet_guards()
        .map(|rule| rule.name.as_str())
        .collect();
    assert!(unmet.contains(&"not_contradicted"), "{unmet:?}");
}

#[test]
fn a_blocked_agent_is_not_done() {
    let evaluation = AgentLoop::new().turn(TurnEvidence {
        status: Some(status(StatedState::Blocked)),
        ..plan(5, 0)
    });
    assert_eq!(evaluation.deciding_rule(), Some("blocked"));
}

#[test]
fn words_about_open_work_object_only_without_an_explicit_signal() {
    assert_eq!(decided(open_work(plan(5, 0))), None);
    assert_eq!(
        decided(done(open_work(plan(5, 0)))).as_deref(),
        Some("all_tasks_done")
    );
    let turns = [open_work(quiet()), open_work(quiet()), open_work(quiet())];
    assert_eq!(played(turns), "- - -");
}

#[test]
fn an_admitted_failure_holds_a_done_until_a_turn_says_it_without() {
    let admitted = |evidence: TurnEvidence| TurnEvidence {
        words: Some(Words {
            claims_completion: true,
            admits_open_work: true,
            admission: Some("one test fails".to_owned()),
            ..Words::default()
        }),
        ..evidence
    };
    let turns = [done(admitted(quiet())), done(quiet())];
    assert_eq!(played(turns), "- explicit_done");
    let turns = [done(admitted(plan(5, 0))), done(plan(5, 0))];
    assert_eq!(played(turns), "- all_tasks_done");
    let turns = [
        done(admitted(plan(9, 1))),
        admitted(plan(9, 1)),
        done(plan(9, 1)),
    ];
    assert_eq!(played(turns), "- - completion");
    let turns = [admitted(quiet()), claim(quiet()), claim(quiet())];
    assert_eq!(played(turns), "- - confirmed_completion");
}

#[test]
fn failed_tests_object_to_every_success() {
    assert_eq!(decided(tests(plan(5, 0), false)), None);
    assert_eq!(decided(tests(done(plan(4, 1)), false)), None);
    assert_eq!(decided(tests(done(quiet()), false)), None);
    let claims = (0..3).map(|_| tests(claim(quiet()), false));
    assert_eq!(played(claims), "- - -");
    assert_eq!(
        decided(tests(plan(5, 0), true)).as_deref(),
        Some("all_tasks_done")
    );
}

#[test]
fn an_open_blocker_objects_to_a_completion() {
    let mut blocked = done(plan(9, 1));
    if let Some(checklist) = &mut blocked.checklist {
        checklist.open_blockers = 1;
    }
    assert_eq!(decided(blocked.clone()), None);
    let claims = [claim(blocked.clone()), claim(blocked)];
    assert_eq!(played(claims), "- -");
}

#[test]
fn claims_are_no_progress() {
    let turns = (0..4).map(|_| claim(plan(1, 4)));
    assert_eq!(played(turns), "- - - stagnation");
    let turns = (0..4).map(|_| done(plan(1, 4)));
    assert_eq!(played(turns), "- - - stagnation");
}

#[test]
fn commits_are_progress_although_the_tree_is_clean() {
    let commits = (0..6).map(|commit| TurnEvidence {
        git: Some(GitState {
            head: Some(commit.to_string()),
            tree: "clean".to_owned(),
            changed_files: Some(1),
        }),
        ..plan(1, 4)
    });
    assert_eq!(played(commits), "- - - - - -");
}
