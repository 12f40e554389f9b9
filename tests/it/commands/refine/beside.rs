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

/// Resumes a loop over three questions, and kills it in its second iteration.
fn killed_after_the_first_merge(refinement: &Refinement) {
    refinement.on(2, open());
    let hold = Hold::new();
    refinement
        .server
        .on(asking(2).nth(2), open().held_by(&hold));
    let running = refinement.conclave.start(&beside(&[]));
    refinement.wait_for_requests(4);
    running.signal(Signal::KILL);
    running.wait();
    hold.release();
    assert!(refined(refinement).contains(&answer_to(3)));
}

#[test]
fn loop_over_an_edited_document_is_resumed_after_a_kill() {
    let refinement = edited(3);
    killed_after_the_first_merge(&refinement);
    refinement.conclave.run(&beside(&[])).ends_with(0);
    assert!(refined(&refinement).contains("By hand, and changed."));
}

#[test]
fn edit_after_the_first_merge_is_refused_with_the_place_of_the_text() {
    let refinement = edited(3);
    killed_after_the_first_merge(&refinement);
    refinement.write(&(refinement.document() + "\nOne more word.\n"));
    let output = refinement.conclave.run(&beside(&[])).ends_with(2);
    output.assert_stderr_contains("`SPEC.refine/original-2.md` has that text");
    assert_eq!(refinement.server.requests().len(), 4);
}

#[test]
fn converged_loop_over_an_edited_document_is_not_repeated() {
    let refinement = edited(1);
    refinement.conclave.run(&beside(&[])).ends_with(0);
    let requests = refinement.server.requests().len();
    let output = refinement.conclave.run(&beside(&[])).ends_with(0);
    output.assert_stderr_contains("SPEC.refined.md has converged");
    assert_eq!(refinement.server.requests().len(), requests);
}

#[test]
fn diff_has_no_edit_that_a_person_made_before_the_first_merge() {
    let refinement = edited(1);
    let output = refinement.conclave.run(&beside(&["--diff"])).ends_with(0);
    let diff = &output.stdout;
    assert!(diff.contains(&answer_to(1)), "{diff}");
    assert!(!diff.contains("-By hand."), "{diff}");
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
fn merge_that_was_written_before_a_kill_is_recorded() {
    let refinement = Refinement::of(1);
    let once = beside(&["--max-iterations", "1"]);
    refinement.conclave.run(&once).ends_with(0);
    let written = refined(&refinement);
    refinement.cut_log_after("integrated");
    refinement.conclave.run(&once).ends_with(0);
    assert_eq!(refined(&refinement), written);
    assert_eq!(refinement.server.requests().len(), 1);
}
