//! Documents with a log that another person made, as a clone of a project brings it: it chooses no
//! file that is written, and none that is read.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use conclave::refinement::event::TextHash;
use rustix::process::Signal;
use serde_json::json;

use super::{Refinement, answered, arguments, asking, open};
use crate::support::binary::RunOutput;
use crate::support::provider_server::Hold;

/// The last events of forged logs: findings wait for their merge, the merge waits to be written,
/// the file has been written, the loop has ended.
const LAST_EVENTS: [&str; 4] = ["batch_finished", "integrated", "document_written", "ended"];

/// What nobody but the user knows.
const SECRET: &str = "words that are nobody's business";

/// A document with the log of a loop of one iteration, which wrote `SPEC.refined.md`.
struct ForeignProject {
    refinement: Refinement,
    log: String,
}

impl ForeignProject {
    fn new() -> Self {
        let refinement = Refinement::of(4);
        refinement
            .conclave
            .run(&unnamed(&["--max-iterations", "1"]));
        let log = fs::read_to_string(refinement.folder().join("log.jsonl")).unwrap();
        let refined = refinement.conclave.folder().join("SPEC.refined.md");
        fs::remove_file(refined).unwrap();
        // The home of the person who clones it.
        fs::remove_dir_all(refinement.conclave.home()).unwrap();
        let mut permissions = fs::metadata(refinement.path()).unwrap().permissions();
        permissions.set_mode(0o755);
        fs::set_permissions(refinement.path(), permissions).unwrap();
        Self { refinement, log }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.refinement.conclave.folder().join(name)
    }

    /// Writes a log that ends with this event and names this output, as if that had this text.
    fn forge(&self, last: &str, output: &str, text: Option<&str>) {
        let mut lines = Vec::new();
        for line in self.log.lines() {
            let mut event: serde_json::Value = serde_json::from_str(line).unwrap();
            let kind = event["event"].as_str().unwrap().to_owned();
            let known = text.map(|text| json!(TextHash::of(text)));
            match (kind.as_str(), known) {
                ("begun", _) => {
                    event["output"] = output.into();
                    event["criteria"]["max_iterations"] = 5.into();
                }
                ("integrated", Some(known)) => event["after"] = known,
                ("document_written", Some(known)) => event["document"] = known,
                _ => {}
            }
            lines.push(format!("{event}\n"));
            if kind == last && lines.len() > 4 {
                break;
            }
        }
        fs::write(self.refinement.folder().join("log.jsonl"), lines.concat()).unwrap();
    }

    fn run(&self, more: &[&str]) -> RunOutput {
        self.refinement.conclave.run(&unnamed(more))
    }

    fn was_sent(&self, words: &str) -> bool {
        let requests = self.refinement.server.requests();
        let mut bodies = requests.iter().map(|request| request.body.to_string());
        bodies.any(|body| body.contains(words))
    }
}

/// Returns the arguments of a loop that names no output.
fn unnamed<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut all = arguments(&[]);
    all.retain(|word| !["--in-place", "--json"].contains(word));
    all.extend(more);
    all
}

fn text_of(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

#[test]
fn output_that_is_not_beside_the_document_is_neither_read_nor_written() {
    let project = ForeignProject::new();
    fs::create_dir_all(project.path(".git/hooks")).unwrap();
    fs::create_dir_all(project.path("sub")).unwrap();
    let outside = project.path("user.md");
    let names = [
        ".git/hooks/pre-commit",
        "sub/NEW.md",
        "./sub/../sub/NEW.md",
        "../NEW.md",
        outside.to_str().unwrap(),
        ".envrc",
        ".hidden.md",
        "Makefile",
        "build.rs",
    ];
    // Each name after one event, and one of them after all.
    let each = names.into_iter().zip(LAST_EVENTS.into_iter().cycle());
    for (name, last) in each.chain(LAST_EVENTS.map(|last| (names[0], last))) {
        let path = project.path(name);
        for text in [None, Some(SECRET)] {
            let _ = fs::remove_file(&path);
            if let Some(text) = text {
                fs::write(&path, text).unwrap();
            }
            project.forge(last, name, text);
            let output = project.run(&[]).ends_with(2);
            output.assert_stderr_contains("hint: if you began the loop, give the same `-o FILE`");
            assert_eq!(text_of(&path).as_deref(), text, "{name}, {last}");
        }
    }
    assert!(!project.was_sent(SECRET));
}

#[test]
fn document_that_no_loop_of_this_home_writes_is_neither_read_nor_written() {
    let project = ForeignProject::new();
    let text =
        format!("# Notes\n\n{SECRET}\n\n## Open Questions\n\n- Who?\n- What?\n- Why?\n- When?\n");
    let usual = LAST_EVENTS.map(|last| ("SPEC.refined.md", last));
    for (name, last) in usual.into_iter().chain([("NOTES.md", "document_written")]) {
        let path = project.path(name);
        // A person who names the file, and whose text the log has, is believed.
        for (known, more) in [
            (None, &[][..]),
            (None, &["-o", name]),
            (Some(text.as_str()), &[]),
        ] {
            fs::write(&path, &text).unwrap();
            project.forge(last, name, known);
            project.run(more);
            assert_eq!(text_of(&path).as_ref(), Some(&text), "{name}, {last}");
        }
        fs::remove_file(path).unwrap();
    }
    assert!(!project.was_sent(SECRET));
}

#[test]
fn link_beside_the_document_is_not_followed_unless_it_is_named() {
    let project = ForeignProject::new();
    let target = project.path("elsewhere");
    let text = project.refinement.document();
    let usual = LAST_EVENTS.map(|last| ("SPEC.refined.md", last));
    for (name, last) in usual.into_iter().chain([("OUT.md", "document_written")]) {
        let _ = symlink(&target, project.path(name));
        fs::write(&target, &text).unwrap();
        project.forge(last, name, Some(&text));
        let output = project.run(&[]).ends_with(2);
        output.assert_stderr_contains("is a symbolic link\nhint: if you want it written, name it");
        assert_eq!(text_of(&target).as_ref(), Some(&text), "{name}, {last}");
    }
}

#[test]
fn document_that_is_a_link_is_not_written_unless_that_is_named() {
    let project = ForeignProject::new();
    let (document, target) = (project.refinement.path(), project.path("elsewhere.md"));
    fs::rename(&document, &target).unwrap();
    symlink(&target, &document).unwrap();
    let text = project.refinement.document();
    for last in LAST_EVENTS {
        project.forge(last, "SPEC.md", Some(&text));
        let output = project.run(&[]).ends_with(2);
        output.assert_stderr_contains("`SPEC.md` is a symbolic link");
        output.assert_stderr_contains("name it: `--in-place`");
        assert_eq!(text_of(&target).as_ref(), Some(&text), "{last}");
    }
    project.run(&["--in-place", "--restart"]).ends_with(0);
    assert!(document.is_symlink());
    assert_ne!(text_of(&target).as_ref(), Some(&text));
}

#[test]
fn document_is_not_changed_in_place_because_a_log_says_so() {
    let project = ForeignProject::new();
    let text = project.refinement.document();
    for last in LAST_EVENTS {
        project.forge(last, "SPEC.md", None);
        let output = project.run(&[]);
        let document = project.refinement.document();
        assert_eq!(document, text, "{last}: {}", output.stderr);
    }
}

#[test]
fn original_that_is_a_link_keeps_no_text() {
    let refinement = Refinement::of(1);
    let text = refinement.document();
    fs::create_dir(refinement.folder()).unwrap();
    symlink("../SPEC.md", refinement.folder().join("original.md")).unwrap();
    refinement.run(&[]).ends_with(0);
    let kept = fs::read_to_string(refinement.folder().join("original-2.md")).unwrap();
    assert_eq!(kept, text);
}

#[test]
fn changes_that_are_a_link_are_not_read_and_written_again() {
    let refinement = Refinement::of(1);
    refinement.run(&[]).ends_with(0);
    let changes = refinement.folder().join("changes.md");
    let text = fs::read_to_string(&changes).unwrap();
    fs::remove_file(&changes).unwrap();
    symlink("/dev/zero", &changes).unwrap();
    refinement.run(&[]).ends_with(0);
    assert!(changes.symlink_metadata().unwrap().is_file());
    assert_eq!(fs::read_to_string(&changes).unwrap(), text);
}

/// Starts a loop that writes this file, and kills it while the question of this number is answered.
fn killed(output: &str, in_second_iteration: bool) -> Refinement {
    let refinement = Refinement::of(4);
    fs::create_dir(refinement.conclave.folder().join("sub")).unwrap();
    let hold = Hold::new();
    for number in 1..=4 {
        refinement.on(number, open());
    }
    let last = asking(4).nth(if in_second_iteration { 2 } else { 1 });
    refinement.server.on(last, open().held_by(&hold));
    let running = refinement.conclave.start(&unnamed(&["-o", output]));
    refinement.wait_for_requests(if in_second_iteration { 8 } else { 4 });
    running.signal(Signal::KILL);
    running.wait();
    hold.release();
    for number in 1..=4 {
        refinement.on(number, answered(number));
    }
    refinement
}

#[test]
fn loop_that_writes_a_file_beside_its_document_is_resumed_without_naming_it() {
    for in_second_iteration in [false, true] {
        let refinement = killed("OUT.md", in_second_iteration);
        let path = refinement.conclave.folder().join("OUT.md");
        if in_second_iteration {
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, text.replace("By hand.", "By hand, and edited.")).unwrap();
        }
        refinement.conclave.run(&unnamed(&[])).ends_with(0);
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.contains("and edited"), in_second_iteration, "{text}");
        refinement.conclave.run(&unnamed(&["--diff"])).ends_with(0);
    }
}

#[test]
fn loop_that_writes_a_file_elsewhere_is_resumed_by_naming_it_again() {
    let refinement = killed("sub/OUT.md", true);
    let requests = refinement.server.requests().len();
    let output = refinement.conclave.run(&unnamed(&[])).ends_with(2);
    output.assert_stderr_contains("sub/OUT.md`, and a log can come from anyone");
    output.assert_stderr_contains("give the same `-o FILE`");
    assert_eq!(refinement.server.requests().len(), requests);
    let named = refinement.conclave.run(&unnamed(&["-o", "sub/OUT.md"]));
    let named = named.ends_with(0).stdout;
    let next = "conclave refine SPEC.md -o sub/OUT.md --diff";
    assert!(named.contains(next), "{named}");
    assert!(refinement.conclave.folder().join("sub/OUT.md").exists());
    let again = refinement.server.requests().len();
    refinement
        .conclave
        .run(&unnamed(&["-o", "sub/OUT.md"]))
        .ends_with(0);
    assert_eq!(refinement.server.requests().len(), again, "it has ended");
}
