//! Loops that leave their document as it is, and write another file.

use rustix::process::Signal;

use super::{Refinement, answer_to, answered, arguments, asking, open};
use crate::support::provider_server::Hold;

/// Returns the arguments of a loop that writes `SPEC.refined.md`, for people.
fn beside<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut all = arguments(more);
    all.retain(|argument| !["--in-place", "--json"].contains(argument));
    all
}

/// Starts a loop, edits its document while the first question is answered, and waits for the end.
fn edited(questions: usize) -> Refinement {
    let refinement = Refinement::of(questions);
    let hold = Hold::new();
    refinement.on(1, answered(1).held_by(&hold));
    let running = refinement.conclave.start(&beside(&[]));
    refinement.wait_for_requests(1);
    let text = refinement.document();
    refinement.write(&text.replace("By hand.", "By hand, and changed."));
    hold.release();
    let output = running.wait().ends_with(1);
    output.assert_stderr_contains("`SPEC.md` is as you saved it");
    refinement
}

fn refined(refinement: &Refinement) -> String {
    std::fs::read_to_string(refinement.conclave.folder().join("SPEC.refined.md")).unwrap()
}

#[test]
fn file_that_appears_while_the_panel_works_can_be_moved_away() {
    let refinement = Refinement::of(1);
    let hold = Hold::new();
    refinement.on(1, answered(1).held_by(&hold));
    let running = refinement.conclave.start(&beside(&[]));
    refinement.wait_for_requests(1);
    let path = refinement.conclave.folder().join("SPEC.refined.md");
    std::fs::write(&path, "mine\n").unwrap();
    hold.release();
    let output = running.wait().ends_with(1);
    output.assert_stderr_contains("move `SPEC.refined.md` away");
    let output = refinement.conclave.run(&beside(&[])).ends_with(2);
    output.assert_stderr_contains("move `SPEC.refined.md` away");
    assert_eq!(refined(&refinement), "mine\n");
    std::fs::remove_file(&path).unwrap();
    refinement.conclave.run(&beside(&[])).ends_with(0);
    assert!(refined(&refinement).contains(&answer_to(1)));
    assert_eq!(refinement.server.requests().len(), 1);
}

#[test]
fn loop_over_an_edited_document_is_resumed_after_a_kill_and_another_edit_refused() {
    let refinement = edited(3);
    // It is killed in its second iteration.
    refinement.on(2, open());
    let hold = Hold::new();
    let second = asking(2).nth(2);
    refinement.server.on(second, open().held_by(&hold));
    let running = refinement.conclave.start(&beside(&[]));
    refinement.wait_for_requests(4);
    running.signal(Signal::KILL);
    running.wait();
    hold.release();
    assert!(refined(&refinement).contains(&answer_to(3)));
    let text = refinement.document();
    refinement.write(&format!("{text}\nOne more word.\n"));
    let output = refinement.conclave.run(&beside(&[])).ends_with(2);
    output.assert_stderr_contains("`SPEC.refine/original-2.md` has that text");
    assert_eq!(refinement.server.requests().len(), 4);
    refinement.write(&text);
    refinement.conclave.run(&beside(&[])).ends_with(0);
    assert!(refined(&refinement).contains("By hand, and changed."));
}

#[test]
fn converged_loop_over_an_edited_document_is_not_repeated_and_its_diff_has_no_edit() {
    let refinement = edited(1);
    let output = refinement.conclave.run(&beside(&["--diff"])).ends_with(0);
    let diff = &output.stdout;
    assert!(diff.contains(&answer_to(1)), "{diff}");
    assert!(!diff.contains("-By hand."), "{diff}");
    let requests = refinement.server.requests().len();
    let output = refinement.conclave.run(&beside(&[])).ends_with(0);
    output.assert_stderr_contains("SPEC.refined.md has converged");
    assert_eq!(refinement.server.requests().len(), requests);
}
