//! A person who edits the document while the panel works, and between two runs.

use super::{Refinement, answer_to, answered};
use crate::support::provider_server::Hold;

#[test]
fn edit_stops_the_loop_and_loses_no_finding() {
    let refinement = Refinement::of(3);
    let hold = Hold::new();
    refinement.on(2, answered(2).held_by(&hold));
    let running = refinement.start(&[]);
    refinement.wait_for_requests(2);
    let text = refinement.document();
    let text = text.replace("By hand.", "By hand, and changed.");
    refinement.write(&text);
    hold.release();
    let output = running.wait().ends_with(1);
    output.assert_stderr_contains("was changed while the panel worked");
    assert_eq!(refinement.document(), text, "it is as the person saved it");
    assert_eq!(refinement.server.requests().len(), 2, "no more is asked");

    refinement.run(&[]).ends_with(0);
    let document = refinement.document();
    assert!(document.contains("By hand, and changed."), "{document}");
    for number in 1..=3 {
        assert!(document.contains(&answer_to(number)), "{document}");
    }
    assert_eq!(refinement.server.requests().len(), 3);
}

#[test]
fn document_is_not_written_once_its_log_is_deleted() {
    let refinement = Refinement::of(1);
    let before = refinement.document();
    let hold = Hold::new();
    refinement.on(1, answered(1).held_by(&hold));
    let running = refinement.start(&[]);
    refinement.wait_for_requests(1);
    let folder = refinement.conclave.folder().join("SPEC.refine");
    std::fs::remove_dir_all(&folder).unwrap();
    hold.release();
    let output = running.wait().ends_with(1);
    output.assert_stderr_contains("log.jsonl` is not there any more");
    output.assert_stderr_contains("conclave history");
    assert_eq!(refinement.document(), before);
}

#[test]
fn edit_during_the_last_consultation_is_not_overwritten() {
    let refinement = Refinement::of(1);
    let hold = Hold::new();
    refinement.on(1, answered(1).held_by(&hold));
    let running = refinement.start(&[]);
    refinement.wait_for_requests(1);
    let text = refinement.document() + "\nA last word.\n";
    refinement.write(&text);
    hold.release();
    running.wait().ends_with(1);
    assert_eq!(refinement.document(), text);
    assert!(!refinement.events().contains(&"integrated".to_owned()));
    refinement.run(&[]).ends_with(0);
    assert!(refinement.document().contains("A last word."));
    assert_eq!(refinement.server.requests().len(), 1);
}

#[test]
fn document_that_cannot_be_read_stops_the_loop_and_wastes_no_call() {
    let removed: fn(&Refinement) = |refinement| std::fs::remove_file(refinement.path()).unwrap();
    let emptied: fn(&Refinement) = |refinement| refinement.write("");
    let in_latin_1: fn(&Refinement) =
        |refinement| std::fs::write(refinement.path(), b"caf\xe9").unwrap();
    for edit in [removed, emptied, in_latin_1] {
        let refinement = Refinement::of(3);
        let text = refinement.document();
        let holds = [Hold::new(), Hold::new()];
        refinement.on(1, answered(1).held_by(&holds[0]));
        refinement.on(2, answered(2).held_by(&holds[1]));
        let running = refinement.start(&["--jobs", "2"]);
        refinement.wait_for_requests(2);
        edit(&refinement);
        for hold in holds {
            hold.release();
        }
        running.wait().ends_with(1);
        assert_eq!(refinement.events().last().unwrap(), "stopped");
        refinement.write(&text);
        refinement.run(&[]).ends_with(0);
        assert_eq!(refinement.server.requests().len(), 3);
    }
}
