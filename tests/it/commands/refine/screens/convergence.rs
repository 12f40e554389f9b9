//! Loops from their beginning to their end.

use super::super::position;
use super::{Desk, SIX};
use crate::support::provider_server::On;

/// One question of each iteration is answered: 6, 5, 4 and 3 are open.
const ONE_ANSWER: &str = "Q1 ANSWERED: In the table `keys` of the ledger.";

#[test]
fn loop_converges_when_few_questions_are_open() {
    let desk = Desk::with(SIX).finds(ONE_ANSWER);
    let output = desk.run(&[]).ends_with(0);
    assert!(
        output
            .stdout
            .starts_with("Converged after 3 iterations: 3 questions are open (low_questions)\n"),
        "{}",
        output.stdout
    );
    assert!(output.stdout.contains("Answered (3)"), "{}", output.stdout);
    assert_eq!(desk.read("SPEC.md"), SIX);
    let refined = desk.read("SPEC.refined.md");
    assert!(refined.contains("last_decision: converged"), "{refined}");
    assert!(refined.contains("iteration: 3"), "{refined}");
    assert!(refined.contains("open_questions_count: 3"), "{refined}");
    assert!(
        refined.contains("Some words that stay as they are."),
        "{refined}"
    );
    let (answered, open) = refined.split_once("## Open Questions").unwrap();
    for question in ["idempotency keys", "stay pending", "Which currency"] {
        assert!(answered.contains(question), "{question}: {refined}");
        assert!(!open.contains(question), "{question}: {refined}");
    }
    assert!(answered.contains("In the table `keys`"), "{refined}");
    assert_eq!(desk.read("SPEC.refine/original.md"), SIX);
    let changes = desk.read("SPEC.refine/changes.md");
    assert!(
        changes.contains("Which currency is the ledger in?"),
        "{changes}"
    );
}

#[test]
fn committed_document_is_written_in_place() {
    let desk = Desk::with(SIX).finds(ONE_ANSWER);
    desk.commit();
    let output = desk.run(&[]).ends_with(0);
    output.assert_stderr_contains("Writes SPEC.md itself: the last Git commit has it as it is");
    assert!(desk.read("SPEC.md").contains("last_decision: converged"));
    assert!(!desk.path("SPEC.refined.md").exists());
    assert_eq!(desk.read("SPEC.refine/original.md"), SIX);
}

#[test]
fn loop_that_has_converged_is_not_repeated() {
    let desk = Desk::with(SIX).finds(ONE_ANSWER);
    desk.run(&[]).ends_with(0);
    let asked = desk.requests();
    let again = desk.run(&[]).ends_with(0);
    again.assert_stderr_contains("SPEC.refined.md has converged");
    again.assert_stderr_contains("--restart");
    assert_eq!(desk.requests(), asked);
    desk.run(&["--restart"]);
    assert!(desk.requests() > asked);
}

#[test]
fn log_for_people_that_is_lost_is_written_again() {
    let desk = Desk::with(SIX).finds(ONE_ANSWER);
    desk.run(&[]).ends_with(0);
    let changes = desk.read("SPEC.refine/changes.md");
    std::fs::remove_file(desk.path("SPEC.refine/changes.md")).unwrap();
    desk.run(&[]).ends_with(0);
    assert_eq!(desk.read("SPEC.refine/changes.md"), changes);
}

#[test]
fn answers_that_cannot_be_read_stop_the_loop_before_it_pays_again() {
    let desk = Desk::with(SIX).finds("I am sorry, I can not help with that.");
    let output = desk.run(&[]).ends_with(1);
    output.assert_stderr_contains("the loop is stopped: no answer of iteration 1 could be read");
    let log = desk.read("SPEC.refine/log.jsonl");
    assert_eq!(log.matches("\"batch_started\"").count(), 1, "{log}");
    // A person decides whether they are asked again.
    let desk = desk.finds(ONE_ANSWER);
    desk.run(&["--max-iterations", "2"]).ends_with(14);
    assert!(desk.read("SPEC.refined.md").contains("iteration: 2"));
}

#[test]
fn answers_that_cannot_be_read_do_not_keep_a_document_from_converging() {
    let two = "## High Confidence\n\n## Open Questions\n\n- Who signs?\n- Who pays?\n";
    let desk = Desk::with(two).finds("I am sorry, I can not help with that.");
    let output = desk.run(&["--min-iterations", "1"]).ends_with(0);
    assert!(
        output.stdout.contains("(low_questions)"),
        "{}",
        output.stdout
    );
}

#[test]
fn check_agrees_with_a_loop_by_the_strict_seed() {
    let blocked = "## Medium Confidence\n\n## Open Questions\n\n- [BLOCKER] Who signs?\n";
    let desk = Desk::with(blocked).finds("Q1 OPEN: nothing says it");
    let output = desk.run(&["--strict-seed"]).ends_with(0);
    assert!(
        output.stdout.contains("(low_questions)"),
        "{}",
        output.stdout
    );
    let check = ["refine", "check", "SPEC.refined.md"];
    desk.conclave.run(&check).ends_with(0);
}

#[test]
fn questions_left_open_are_stable_after_three_iterations() {
    let open: Vec<String> = (1..=6)
        .map(|number| format!("Q{number} OPEN: the code does not say"))
        .collect();
    let desk = Desk::with(SIX).finds(&open.join("\n"));
    let output = desk.run(&[]).ends_with(0);
    assert!(
        output.stdout.contains("(question_stability)"),
        "{}",
        output.stdout
    );
    assert!(desk.read("SPEC.refined.md").contains("iteration: 3"));
}

#[test]
fn iterations_that_are_used_up_have_an_exit_code_of_their_own() {
    let desk = Desk::with(SIX).finds(ONE_ANSWER);
    let output = desk.run(&["--max-iterations", "2"]).ends_with(14);
    assert!(
        output.stdout.starts_with("Exhausted after 2 iterations"),
        "{}",
        output.stdout
    );
    let more = "conclave refine SPEC.md --max-iterations 5";
    assert!(output.stdout.contains(more), "{}", output.stdout);
}

#[test]
fn ended_loop_rests_until_the_criteria_allow_more() {
    let desk = Desk::with(SIX).finds(ONE_ANSWER);
    let first = desk.run(&["--max-iterations", "1"]).ends_with(14);
    let asked = desk.requests();
    let again = desk.run(&["--max-iterations", "1"]).ends_with(14);
    assert_eq!(again.stdout, first.stdout);
    again.assert_stderr_contains("The loop over SPEC.md has ended, and nothing has changed since");
    let sent_nothing = desk
        .run(&["--max-iterations", "1", "--dry-run"])
        .ends_with(0);
    assert!(
        sent_nothing.stdout.contains("nothing is asked"),
        "{}",
        sent_nothing.stdout
    );
    assert_eq!(desk.requests(), asked);
    let next = desk
        .run(&["--max-iterations", "2", "--dry-run"])
        .ends_with(0);
    let changes = "Without a call, the document changes";
    assert!(
        !next.stdout.contains(changes),
        "nothing is known: {}",
        next.stdout
    );
    let more = desk.run(&["--max-iterations", "2"]).ends_with(14);
    more.assert_stderr_contains("Resuming the loop over SPEC.md: 1 iteration done");
    assert!(desk.requests() > asked);
    assert!(desk.read("SPEC.refined.md").contains("iteration: 2"));
}

#[test]
fn new_loop_over_an_edited_document_says_that_it_begins_with_that_text() {
    let desk = Desk::with(SIX).finds(ONE_ANSWER);
    let first = desk.run(&["--restart"]);
    let refining = |stderr: &str| stderr.contains("Refining SPEC.md\n");
    assert!(refining(&first.stderr), "{}", first.stderr);
    desk.write("SPEC.md", &SIX.replace("ledger", "journal"));
    let second = desk.run(&[]);
    second.assert_stderr_contains("Refining SPEC.md in a new loop: the last one has ended");
    second.assert_stderr_contains("`conclave refine SPEC.refined.md --in-place`");
    let third = desk.run(&["--restart"]);
    assert!(refining(&third.stderr), "{}", third.stderr);
}

#[test]
fn open_blocker_keeps_few_questions_from_being_a_success() {
    let document =
        "## High Confidence\n\n## Open Questions\n\n- [BLOCKER] Where are the keys kept?\n";
    let desk = Desk::with(document);
    let output = desk.run(&["--max-iterations", "2"]).ends_with(14);
    assert!(output.stdout.contains("Exhausted"), "{}", output.stdout);
}

#[test]
fn questions_that_wait_for_a_person_end_the_loop() {
    let document = "## High Confidence\n\n- A\n\n## Open Questions\n\n- Who pays?\n- Who decides?\n\
                    - Who signs?\n- Who is asked?\n";
    let findings: Vec<String> = (1..=4)
        .map(|number| format!("Q{number} DEFERRED: the owner decides"))
        .collect();
    let desk = Desk::with(document).finds(&findings.join("\n"));
    let output = desk.run(&[]).ends_with(11);
    assert!(
        output.stdout.contains("Deferred to you (4)"),
        "{}",
        output.stdout
    );
    assert_eq!(
        desk.read("SPEC.refined.md").matches("[DEFERRED]").count(),
        4
    );
}

#[test]
fn document_without_open_questions_costs_nothing() {
    let desk = Desk::with("## High Confidence\n\n- It is done.\n\n## Open Questions\n");
    desk.run(&[]).ends_with(0);
    assert_eq!(desk.requests(), 0);
}

#[test]
fn plain_document_gets_sections_first() {
    let plain = "# Notes\n\nWe keep keys in Redis, I think. Who is paged?\n";
    let desk = Desk::with(plain);
    let extraction = On::asking_for("position").and_containing("List what the document");
    desk.server.on(
        extraction,
        position("MEDIUM: Keys are kept in Redis.\nOPEN: Who is paged?"),
    );
    let output = desk.run(&[]).ends_with(0);
    output.assert_stderr_contains("1 claim and 1 open question");
    let refined = desk.read("SPEC.refined.md");
    assert!(refined.contains("# Notes\n\nWe keep keys in Redis, I think. Who is paged?\n"));
    assert!(refined.contains("## Medium Confidence"), "{refined}");
    assert!(refined.contains("- Keys are kept in Redis."), "{refined}");
    assert!(refined.contains("- Who is paged?"), "{refined}");
}

#[test]
fn line_endings_of_the_document_are_kept() {
    let desk = Desk::with(&SIX.replace('\n', "\r\n")).finds(ONE_ANSWER);
    desk.run(&[]).ends_with(0);
    let refined = desk.read("SPEC.refined.md");
    let lines = refined.matches('\n').count();
    assert_eq!(refined.matches("\r\n").count(), lines, "{refined:?}");
}
