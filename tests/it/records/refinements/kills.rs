//! Processes that are killed while they write a document and its log.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use conclave::records::refinements::{RefinementStore, SpecFile};
use conclave::refinement::event::TextHash;

use super::store::{NOW, begun};
use crate::support::timeout::until;

const FOLDER: &str = "REFINEMENT_TEST_FOLDER";

/// What every loop begins with.
const ORIGINAL: &str = "the original\n";

/// A text of which every part shows its number.
fn text(number: u64) -> String {
    format!("text {number}\n").repeat(5_000)
}

/// Returns the number of a text that is whole.
fn number_of(text_read: &str) -> u64 {
    let line = text_read.lines().next().unwrap();
    let number = line.strip_prefix("text ").unwrap().parse().unwrap();
    assert!(text_read == text(number), "text {number} is not whole");
    number
}

fn document(folder: &Path) -> PathBuf {
    folder.join("SPEC.md")
}

/// Runs as a process of its own: begins loops and replaces the document, until it is killed.
#[test]
#[ignore = "started by the other tests"]
#[expect(
    clippy::disallowed_methods,
    reason = "the process gets its folder from the environment"
)]
fn process_that_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let document = document(Path::new(&folder));
    let (store, file) = (RefinementStore::beside(&document), SpecFile::at(&document));
    loop {
        let refinement = store.begin(NOW, begun(ORIGINAL), ORIGINAL).unwrap();
        let read = file.read().unwrap();
        let next = text(number_of(&read) + 1);
        file.replace_if_unchanged(&TextHash::of(&read), &next)
            .unwrap();
        refinement.write_changes(&next).unwrap();
    }
}

fn start(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "records::refinements::kills::process_that_is_killed",
        ])
        .args(["--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn kill_at_any_moment_leaves_document_and_log_whole() {
    let times = std::env::vars()
        .find(|(name, _)| name == "CONCLAVE_TEST_KILLS")
        .map_or(5, |(_, value)| value.parse().unwrap());
    let mut random = fastrand::Rng::with_seed(6);
    let folder = tempfile::tempdir().unwrap();
    let document = document(folder.path());
    std::fs::write(&document, text(1)).unwrap();
    let store = RefinementStore::beside(&document);
    // A kill may come before the first process has written its changes, but never finds none.
    let first = store.begin(NOW, begun(ORIGINAL), ORIGINAL).unwrap();
    first.write_changes(&text(1)).unwrap();
    drop(first);
    let mut loops = 1;
    for kill in 0..times {
        let read = || number_of(&SpecFile::at(&document).read().unwrap());
        let before = read();
        let mut child = start(folder.path());
        until("the document is replaced", || {
            assert_eq!(child.try_wait().unwrap(), None, "the process ended early");
            read() > before
        });
        for _ in 0..random.u32(0..4_000) {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(read() > before, "kill {kill}");
        let state = store.load().unwrap().unwrap();
        let loops_now = state.loops().count();
        assert!(loops_now > loops, "kill {kill}");
        loops = loops_now;
        let original = store.original(&TextHash::of(ORIGINAL)).unwrap();
        assert_eq!(original.text, ORIGINAL);
        assert_eq!(original.path, store.files.folder.join("original.md"));
        number_of(&std::fs::read_to_string(&store.files.changes).unwrap());
    }
}

/// Runs as a process of its own, under a limit on the size of files: replaces the document by a
/// text that is larger.
#[test]
#[ignore = "started by the other tests"]
#[expect(
    clippy::disallowed_methods,
    reason = "the process gets its folder from the environment"
)]
fn process_without_space() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let document = document(Path::new(&folder));
    let expected = TextHash::of(&text(1));
    let error = SpecFile::at(&document)
        .replace_if_unchanged(&expected, &text(1).repeat(8))
        .unwrap_err();
    std::fs::write(document.with_extension("error"), error.to_string()).unwrap();
}

#[test]
fn document_that_finds_no_space_stays_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let document = document(folder.path());
    std::fs::write(&document, text(1)).unwrap();
    let script = "trap '' XFSZ; ulimit -f 256; exec \"$0\" --exact \
                  records::refinements::kills::process_without_space --ignored";
    let output = Command::new("/bin/sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let error = std::fs::read_to_string(document.with_extension("error")).unwrap();
    assert!(error.starts_with("cannot write `"), "{error}");
    assert_eq!(std::fs::read_to_string(&document).unwrap(), text(1));
    // The document and the error, and no temporary file.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}
