//! The folder beside a document: its log, and the texts that loops began with.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use conclave::domain::time::Timestamp;
use conclave::records::refinements::{LockedRefinement, RefinementStore, RefinementStoreError};
use conclave::refinement::event::{LoopBegun, RefinementEventKind, StopCause, TextHash};
use conclave::stopping::convergence::Preset;
use tempfile::TempDir;

pub(super) const NOW: Timestamp = Timestamp(1_700_000_000_000);

pub(super) fn begun(document: &str) -> LoopBegun {
    LoopBegun {
        source: "SPEC.md".to_owned(),
        output: "SPEC.md".to_owned(),
        document: TextHash::of(document),
        criteria: Preset::Balanced.criteria(),
        tool_version: "0".to_owned(),
        fleet: None,
    }
}

/// A folder for the document `SPEC.md`.
struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn store(&self) -> RefinementStore {
        RefinementStore::beside(&self.path("SPEC.md"))
    }

    fn begin(&self, text: &str) -> LockedRefinement {
        self.store().begin(NOW, begun(text), text).unwrap()
    }

    fn append(&self, bytes: &[u8]) {
        let log = self.store().files.log.clone();
        let mut log = fs::File::options().append(true).open(log).unwrap();
        log.write_all(bytes).unwrap();
    }

    fn original(&self, text: &str) -> Option<String> {
        let original = self.store().original(&TextHash::of(text))?;
        assert_eq!(original.text, text);
        let name = original.path.file_name().unwrap();
        Some(name.to_str().unwrap().to_owned())
    }

    fn load_error(&self) -> RefinementStoreError {
        self.store().load().unwrap_err()
    }
}

fn iteration(text: &str) -> RefinementEventKind {
    RefinementEventKind::IterationStarted {
        iteration: 1,
        document: TextHash::of(text),
    }
}

fn stopped() -> RefinementEventKind {
    RefinementEventKind::Stopped {
        cause: StopCause::Interrupt,
        message: "stopped\nby a person".to_owned(),
    }
}

#[test]
fn folder_has_the_name_of_the_document() {
    for (document, folder) in [
        ("SPEC.md", "SPEC.refine"),
        ("d/a.b.markdown", "d/a.b.refine"),
        ("/x/SPEC", "/x/SPEC.refine"),
        (".md", ".md.refine"),
    ] {
        let store = RefinementStore::beside(Path::new(document));
        assert_eq!(store.files.folder, Path::new(folder));
    }
}

#[test]
fn loop_is_continued_from_its_log() {
    let home = Home::new();
    let mut refinement = home.begin("one");
    refinement.record(NOW, iteration("one")).unwrap();
    refinement.record(NOW, stopped()).unwrap();
    let state = refinement.state().clone();
    drop(refinement);
    assert_eq!(home.store().load().unwrap(), Some(state.clone()));
    let mut refinement = home.store().open(NOW).unwrap();
    assert_eq!(*refinement.state(), state);
    let criteria = Preset::Balanced.criteria();
    refinement
        .record(NOW, RefinementEventKind::Resumed { criteria })
        .unwrap();
    let loaded = home.store().load().unwrap();
    assert_eq!(loaded.as_ref(), Some(refinement.state()));
}

#[test]
fn second_holder_is_refused() {
    let home = Home::new();
    let refinement = home.begin("one");
    let error = home.store().open(NOW).unwrap_err();
    let document = home.path("SPEC.md").display().to_string();
    assert_eq!(
        error.to_string(),
        format!("`{document}` is being refined by another process")
    );
    drop(refinement);
    home.store().open(NOW).unwrap();
}

#[test]
fn loop_that_was_killed_before_its_first_event_begins_again() {
    let home = Home::new();
    let has_none = || {
        assert_eq!(home.store().load().unwrap(), None);
        let error = home.store().open(NOW).unwrap_err();
        let is_expected = matches!(error, RefinementStoreError::NotBegun(_));
        assert!(is_expected, "{error}");
    };
    has_none();
    assert!(!home.path("SPEC.refine").exists());
    drop(home.begin("one"));
    fs::write(&home.store().files.log, "{\"schema").unwrap();
    has_none();
    drop(home.begin("two"));
    let state = home.store().load().unwrap().unwrap();
    assert_eq!(state.loops().count(), 1);
}

#[test]
fn each_loop_keeps_the_text_that_it_began_with() {
    let home = Home::new();
    for text in ["one", "two", "one", "\u{feff}three\r\n"] {
        drop(home.begin(text));
    }
    let state = home.store().load().unwrap().unwrap();
    assert_eq!(state.loops().count(), 4);
    assert_eq!(home.original("one").unwrap(), "original.md");
    assert_eq!(home.original("two").unwrap(), "original-2.md");
    assert_eq!(home.original("\u{feff}three\r\n").unwrap(), "original-3.md");
    assert_eq!(home.original("four"), None);
}

#[test]
fn original_that_a_person_edited_is_not_overwritten() {
    let home = Home::new();
    drop(home.begin("one"));
    let path = home.path("SPEC.refine/original.md");
    fs::write(&path, "notes").unwrap();
    assert_eq!(home.original("one"), None);
    drop(home.begin("one"));
    assert_eq!(home.original("one").unwrap(), "original-2.md");
    assert_eq!(fs::read(&path).unwrap(), b"notes");
    // Without the log, the texts are still there.
    fs::remove_file(&home.store().files.log).unwrap();
    drop(home.begin("two"));
    assert_eq!(home.original("two").unwrap(), "original-3.md");
}

#[test]
fn unreadable_log_is_named_and_left_alone() {
    for line in ["notes\n", "{\"schema_version\":2}\n"] {
        let home = Home::new();
        drop(home.begin("one"));
        home.append(line.as_bytes());
        let log = fs::read(&home.store().files.log).unwrap();
        let error = home.load_error().to_string();
        assert!(error.starts_with("line 2 of `"), "{error}");
        home.store().open(NOW).unwrap_err();
        home.store().begin(NOW, begun("two"), "two").unwrap_err();
        assert_eq!(fs::read(&home.store().files.log).unwrap(), log);
        assert_eq!(home.original("two"), None);
    }
}

#[test]
fn folder_of_another_document_is_refused() {
    let home = Home::new();
    drop(home.begin("one"));
    let other = RefinementStore::beside(&home.path("SPEC.txt"));
    let mut begun = begun("two");
    begun.source = "SPEC.txt".to_owned();
    for error in [
        other.load().unwrap_err(),
        other.open(NOW).unwrap_err(),
        other.begin(NOW, begun, "two").unwrap_err(),
    ] {
        let message = error.to_string();
        assert!(
            message.ends_with("SPEC.refine` belongs to another document, `SPEC.md`"),
            "{message}"
        );
    }
    assert_eq!(home.original("two"), None);
}

#[test]
fn changes_for_people_are_replaced() {
    let home = Home::new();
    let refinement = home.begin("one");
    refinement.write_changes("first").unwrap();
    refinement.write_changes("second").unwrap();
    let path = &refinement.files.changes;
    assert_eq!(fs::read_to_string(path).unwrap(), "second");
}

#[test]
fn file_in_the_place_of_the_folder_is_an_error() {
    let home = Home::new();
    fs::write(home.path("SPEC.refine"), "notes").unwrap();
    home.load_error();
    home.store().begin(NOW, begun("one"), "one").unwrap_err();
    assert_eq!(fs::read(home.path("SPEC.refine")).unwrap(), b"notes");
}

mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn folder_belongs_to_its_owner_alone() {
        let home = Home::new();
        let refinement = home.begin("one");
        refinement.write_changes("text").unwrap();
        let mode = |name: &str| home.path(name).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode("SPEC.refine"), 0o700);
        for file in ["log.jsonl", "original.md", "changes.md"] {
            assert_eq!(mode(&format!("SPEC.refine/{file}")), 0o600, "{file}");
        }
    }

    #[test]
    fn links_in_the_place_of_folder_and_log_are_refused() {
        let home = Home::new();
        fs::create_dir(home.path("elsewhere")).unwrap();
        symlink("elsewhere", home.path("SPEC.refine")).unwrap();
        for error in [
            home.load_error(),
            home.store().open(NOW).unwrap_err(),
            home.store().begin(NOW, begun("one"), "one").unwrap_err(),
        ] {
            assert!(
                matches!(error, RefinementStoreError::FolderLink(_)),
                "{error}"
            );
        }
        fs::remove_file(home.path("SPEC.refine")).unwrap();
        drop(home.begin("one"));
        let log = home.store().files.log.clone();
        fs::rename(&log, home.path("elsewhere/log")).unwrap();
        symlink(home.path("elsewhere/log"), &log).unwrap();
        home.load_error();
        home.store().open(NOW).unwrap_err();
        home.store().begin(NOW, begun("one"), "one").unwrap_err();
    }

    #[test]
    fn link_in_the_place_of_changes_is_replaced() {
        let home = Home::new();
        let refinement = home.begin("one");
        fs::write(home.path("victim"), "old").unwrap();
        symlink(home.path("victim"), &refinement.files.changes).unwrap();
        refinement.write_changes("new").unwrap();
        assert_eq!(fs::read(home.path("victim")).unwrap(), b"old");
    }
}
