//! The file that is written: which one, and when it is refused.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::{Desk, ONE_ANSWER, SIX};

#[test]
fn edited_document_of_a_repository_is_left_alone() {
    let desk = Desk::with(SIX).finds(ONE_ANSWER);
    desk.commit();
    let edited = SIX.replace("three times", "four times");
    desk.write("SPEC.md", &edited);
    let output = desk.run(&[]).ends_with(0);
    output.assert_stderr_contains(
        "Writes SPEC.refined.md, and leaves SPEC.md as it is: the last Git commit does not have it",
    );
    assert_eq!(desk.read("SPEC.md"), edited);
}

#[test]
fn flags_decide_before_git_does() {
    let desk = Desk::with(SIX).finds(ONE_ANSWER);
    desk.run(&["--in-place"]).ends_with(0);
    assert!(desk.read("SPEC.md").contains("last_decision: converged"));

    let desk = Desk::with(SIX).finds(ONE_ANSWER);
    desk.commit();
    desk.run(&["-o", "out.md"]).ends_with(0);
    assert_eq!(desk.read("SPEC.md"), SIX);
    assert!(desk.read("out.md").contains("last_decision: converged"));
}

#[test]
fn file_of_a_person_is_never_overwritten() {
    let desk = Desk::with(SIX);
    desk.write("SPEC.refined.md", "mine\n");
    let output = desk.run(&[]).ends_with(2);
    output.assert_stderr_contains("`SPEC.refined.md` is there already");
    output.assert_stderr_contains("conclave refine SPEC.refined.md --in-place");
    assert_eq!(desk.read("SPEC.refined.md"), "mine\n");
    assert_eq!(desk.requests(), 0);
}

#[test]
fn edit_of_the_refined_document_is_not_overwritten_by_a_new_loop() {
    let desk = Desk::with(SIX).finds(ONE_ANSWER);
    desk.run(&[]).ends_with(0);
    let edited = desk.read("SPEC.refined.md") + "- Mine?\n";
    desk.write("SPEC.refined.md", &edited);
    desk.run(&[]).ends_with(2);
    assert_eq!(desk.read("SPEC.refined.md"), edited);
}

#[test]
fn document_itself_is_no_other_file() {
    let desk = Desk::with(SIX);
    let output = desk.run(&["-o", "./SPEC.md"]).ends_with(2);
    output.assert_stderr_contains("`./SPEC.md` is the document itself");
    output.assert_stderr_contains("--in-place");
}

#[test]
fn output_that_cannot_be_written_is_noticed_before_anything_is_asked() {
    let desk = Desk::with(SIX);
    let output = desk.run(&["-o", "-"]).ends_with(2);
    output.assert_stderr_contains("`-` is not the name of a file");
    let output = desk.run(&["-o", "missing/out.md"]).ends_with(2);
    output.assert_stderr_contains("the folder of `missing/out.md` does not exist");
    assert_eq!(desk.requests(), 0);
}

#[test]
fn loop_goes_to_the_file_that_it_began_with() {
    let desk = Desk::with(SIX).finds(ONE_ANSWER);
    desk.commit();
    desk.run(&["--max-iterations", "1", "--min-iterations", "1"])
        .ends_with(14);
    // The document now has changes that are not committed: they are the loop's.
    desk.run(&[]).ends_with(0);
    assert!(!desk.path("SPEC.refined.md").exists());
}

#[test]
fn document_beside_which_no_log_can_stand_is_refused() {
    let desk = Desk::with(SIX);
    let folder = desk.path("locked");
    fs::create_dir(&folder).unwrap();
    desk.write("locked/SPEC.md", SIX);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    // The administrator may write everywhere.
    if fs::write(folder.join("probe"), "").is_err() {
        let arguments = ["refine", "locked/SPEC.md", "--yes", "-o", "out.md"];
        let output = desk.conclave.run(&arguments).ends_with(2);
        output.assert_stderr_contains("kept beside the document");
        assert_eq!(desk.requests(), 0);
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
}
