//! Loops from their beginning to their end.

use super::{Desk, ONE_ANSWER, SIX};

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
    let expected = "Some words that stay as they are.";
    assert!(refined.contains(expected), "{refined}");
    let (answered, open) = refined.split_once("## Open Questions").unwrap();
    for question in ["idempotency keys", "stay pending", "Which currency"] {
        assert!(answered.contains(question), "{question}: {refined}");
        assert!(!open.contains(question), "{question}: {refined}");
    }
    assert!(answered.contains("In the table `keys`"), "{refined}");
    assert_eq!(desk.read("SPEC.refine/original.md"), SIX);
    let changes = desk.read("SPEC.refine/changes.md");
    let expected = "Which currency is the ledger in?";
    assert!(changes.contains(expected), "{changes}");
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
    desk.run(&["--restart", "--max-iterations", "1"]);
    assert!(desk.requests() > asked);
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
fn check_agrees_with_a_loop_by_the_strict_seed() {
    let blocked = "## Medium Confidence\n\n## Open Questions\n\n- [BLOCKER] Who signs?\n";
    let desk = Desk::with(blocked).finds("Q1 OPEN: nothing says it");
    let output = desk.run(&["--strict-seed"]).ends_with(0);
    let stdout = &output.stdout;
    assert!(stdout.contains("(low_questions)"), "{stdout}");
    let check = ["refine", "check", "SPEC.refined.md"];
    desk.conclave.run(&check).ends_with(0);
}

#[test]
fn ended_loop_rests_until_the_criteria_allow_more() {
    let desk = Desk::with(SIX).finds(ONE_ANSWER);
    let first = desk.run(&["--max-iterations", "1"]).ends_with(14);
    assert!(
        first.stdout.starts_with("Exhausted after 1 iteration"),
        "{}",
        first.stdout
    );
    let more = "conclave refine SPEC.md --max-iterations 4";
    assert!(first.stdout.contains(more), "{}", first.stdout);
    let asked = desk.requests();
    let again = desk.run(&["--max-iterations", "1"]).ends_with(14);
    assert_eq!(again.stdout, first.stdout);
    again.assert_stderr_contains("The loop over SPEC.md has ended, and nothing has changed since");
    let sent_nothing = desk
        .run(&["--max-iterations", "1", "--dry-run"])
        .ends_with(0);
    let stdout = &sent_nothing.stdout;
    assert!(stdout.contains("nothing is asked"), "{stdout}");
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
    let restart = ["--restart", "--max-iterations", "1"];
    let first = desk.run(&restart);
    let refining = |stderr: &str| stderr.contains("Refining SPEC.md\n");
    assert!(refining(&first.stderr), "{}", first.stderr);
    desk.write("SPEC.md", &SIX.replace("ledger", "journal"));
    let second = desk.run(&restart[1..]);
    second.assert_stderr_contains("Refining SPEC.md in a new loop: the last one has ended");
    second.assert_stderr_contains("`conclave refine SPEC.refined.md --in-place`");
    let third = desk.run(&restart);
    assert!(refining(&third.stderr), "{}", third.stderr);
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
    let stdout = &output.stdout;
    assert!(stdout.contains("Deferred to you (4)"), "{stdout}");
    let count = desk.read("SPEC.refined.md").matches("[DEFERRED]").count();
    assert_eq!(count, 4);
}

#[test]
fn document_without_open_questions_costs_nothing() {
    let desk = Desk::with("## High Confidence\n\n- It is done.\n\n## Open Questions\n");
    desk.run(&[]).ends_with(0);
    assert_eq!(desk.requests(), 0);
}

#[test]
fn line_endings_of_the_document_are_kept() {
    let desk = Desk::with(&SIX.replace('\n', "\r\n")).finds(ONE_ANSWER);
    desk.run(&[]).ends_with(0);
    let refined = desk.read("SPEC.refined.md");
    let lines = refined.matches('\n').count();
    assert_eq!(refined.matches("\r\n").count(), lines, "{refined:?}");
}
