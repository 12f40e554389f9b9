//! The folder of a loop's state: what survives crashes, other processes and hostile files.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use conclave::agent_loop::store::{Store, StoreError};
use conclave::domain::time::Timestamp;
use conclave::files::log::LogError;
use conclave::stopping::exit_check::breaker::TurnProgress;
use conclave::stopping::exit_check::event::{
    CircuitRecord, ExitSettings, LoopEvent, LoopEventKind,
};
use conclave::stopping::exit_check::evidence::{ErrorSignature, TurnEvidence};
use conclave::stopping::exit_check::run::{LoopRunId, RunOrigin, RunRef};
use conclave::stopping::exit_check::state::LoopState;
use serde_json::Value;
use tempfile::TempDir;

fn run(name: &str) -> RunRef {
    RunRef {
        id: LoopRunId(name.to_owned()),
        origin: RunOrigin::Named,
    }
}

/// Returns the event of a turn without progress, with an error of this length.
fn event(minute: i64, error: usize) -> LoopEvent {
    let record = CircuitRecord {
        run: run("a"),
        progress: TurnProgress::None,
        errors: vec![ErrorSignature("x".repeat(error))],
        settings: ExitSettings::default(),
    };
    LoopEvent::new(
        Timestamp(minute * 60_000),
        LoopEventKind::CircuitRecord(record),
    )
}

/// A folder with a store.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Returns a folder in which these many turns were recorded, one a minute.
    fn after(turns: i64) -> Self {
        let folder = Self::new();
        for minute in 1..=turns {
            folder.store().update(|_| event(minute, 10)).unwrap();
        }
        folder
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("loop")
    }

    fn store(&self) -> Store {
        Store::named(&self.path()).unwrap()
    }

    fn log(&self) -> PathBuf {
        self.path().join("exit-log.jsonl")
    }

    fn state(&self) -> PathBuf {
        self.path().join("exit-state.json")
    }

    fn load(&self) -> LoopState {
        self.store().load().unwrap()
    }

    /// Returns the error of loading. An update fails too, and neither changes a file.
    fn error(&self) -> StoreError {
        let before = contents(&self.path());
        let error = self.store().load().unwrap_err();
        self.store().update(|_| event(100, 0)).unwrap_err();
        assert_eq!(contents(&self.path()), before, "nothing is overwritten");
        error
    }
}

/// Returns the files of a folder with their content; of a link its target.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut contents = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let content = match fs::read_link(&path) {
            Ok(target) => target.into_os_string().into_encoded_bytes(),
            Err(_) => fs::read(&path).unwrap_or_default(),
        };
        contents.push((path, content));
    }
    contents.sort();
    contents
}

#[test]
fn files_belong_to_their_owner_alone_and_git_ignores_all_but_the_configuration() {
    let folder = Folder::after(1);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder.path()), 0o700);
    assert_eq!(
        [&folder.log(), &folder.state()].map(|file| mode(file)),
        [0o600; 2]
    );
    let path = folder.path().join(".gitignore");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.ends_with("\n*\n!config.*\n"), "{text}");
    fs::write(&path, "own\n").unwrap();
    folder.store().update(|_| event(2, 0)).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "own\n");
}

#[test]
fn reading_creates_nothing() {
    let folder = Folder::new();
    assert_eq!(folder.load(), LoopState::default());
    assert!(folder.store().history().unwrap().is_empty());
    assert!(folder.store().reset(Timestamp(0)).unwrap().is_none());
    assert!(!folder.path().exists());
}

#[test]
fn the_state_is_the_fold_of_the_log() {
    let folder = Folder::after(4);
    let older = fs::read(folder.state()).unwrap();
    folder.store().update(|_| event(5, 10)).unwrap();
    let live = folder.load();
    fs::write(folder.state(), older).unwrap();
    assert_eq!(folder.load(), live);
    fs::remove_file(folder.state()).unwrap();
    assert_eq!(folder.load(), live);
    let mut replayed = LoopState::default();
    for event in folder.store().history().unwrap() {
        replayed.apply(&event.unwrap());
    }
    assert_eq!(replayed, live);
}

#[test]
fn a_damaged_state_is_rebuilt_from_the_log() {
    let folder = Folder::after(3);
    let (live, whole) = (folder.load(), fs::read(folder.state()).unwrap());
    let beyond_the_log = fs::read(Folder::after(5).state()).unwrap();
    for damage in [
        b"".as_slice(),
        b"\0\0\0\0",
        b"[]",
        b"{\"schema_version\":1}",
        &whole[..whole.len() / 2],
        &beyond_the_log,
    ] {
        fs::write(folder.state(), damage).unwrap();
        assert_eq!(folder.load(), live, "{damage:?}");
    }
    let after = Folder::after(4);
    folder.store().update(|_| event(4, 0)).unwrap();
    let written = |folder: &Folder| fs::read_to_string(folder.state()).unwrap();
    assert_eq!(written(&folder), written(&after));
}

#[test]
fn what_is_no_state_is_not_overwritten_without_a_log() {
    let folder = Folder::new();
    fs::create_dir(folder.path()).unwrap();
    for content in ["", "my notes", "[1, 2]", "\0"] {
        fs::write(folder.state(), content).unwrap();
        // An update creates the log before it reads the state.
        let error = folder.store().update(|_| event(1, 0)).unwrap_err();
        assert!(matches!(error, StoreError::DamagedState { .. }), "{error}");
        assert_eq!(fs::read_to_string(folder.state()).unwrap(), content);
        assert_eq!(fs::read(folder.log()).unwrap(), b"");
    }
}

#[test]
fn newer_files_and_a_damaged_log_are_errors_with_their_place() {
    type Change = fn(String) -> String;
    let state: Change = |text| text.replace("_version\": 1", "_version\": 2");
    let event: Change = |text| text.clone() + &text.replace("_version\":1", "_version\":2");
    let log: Change = |text| text + "not json\n";
    for (file, change, message) in [
        (
            "exit-state.json",
            state,
            "exit-state.json` has version 2; this program reads 1",
        ),
        (
            "exit-log.jsonl",
            event,
            "exit-log.jsonl` has version `2`; this program reads `1`",
        ),
        ("exit-log.jsonl", log, "exit-log.jsonl` is not an event"),
    ] {
        let folder = Folder::after(2);
        let path = folder.path().join(file);
        fs::write(&path, change(fs::read_to_string(&path).unwrap())).unwrap();
        let error = folder.error().to_string();
        assert!(error.ends_with(message), "{error}");
    }
}

#[test]
fn history_goes_on_after_a_damaged_line() {
    let folder = Folder::after(2);
    let log = fs::read_to_string(folder.log()).unwrap();
    fs::write(folder.log(), log.clone() + "not json\n" + &log).unwrap();
    let error = folder.error().to_string();
    assert!(error.starts_with("line 3 of `"), "{error}");
    let events = folder.store().history().unwrap();
    let damaged: Vec<_> = events.iter().map(Result::is_err).collect();
    assert_eq!(damaged, [false, false, true, false, false]);
}

#[test]
fn a_line_without_an_end_does_not_fill_the_memory() {
    let folder = Folder::after(1);
    let log = fs::File::options().write(true).open(folder.log()).unwrap();
    log.set_len(1 << 40).unwrap();
    let error = folder.store().load().unwrap_err();
    assert!(
        matches!(error, StoreError::Log(LogError::Io { .. })),
        "{error}"
    );
    folder.store().history().unwrap_err();
}

#[test]
fn links_and_folders_in_place_of_files_are_refused() {
    for name in ["exit-state.json", "exit-log.jsonl"] {
        let folder = Folder::after(1);
        let (path, other) = (folder.path().join(name), folder.0.path().join("other"));
        fs::rename(&path, &other).unwrap();
        symlink(&other, &path).unwrap();
        let error = folder.error();
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        let expected = Some("it is a symbolic link");
        assert_eq!(cause.as_deref(), expected, "{name}: {error}");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        folder.error();
    }
}

#[test]
fn a_link_as_a_default_folder_is_refused_unless_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["elsewhere", ".ralph"] {
        fs::create_dir(path(name)).unwrap();
    }
    symlink(path("elsewhere"), path(".ralph/logs")).unwrap();
    let error = Store::find(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::LogsLink(_)), "{error}");
    symlink(path("elsewhere"), path(".conclave")).unwrap();
    let error = Store::find(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::FolderLink(_)), "{error}");
    assert_eq!(fs::read_dir(path("elsewhere")).unwrap().count(), 0);
    let named = Store::named(&path(".conclave")).unwrap();
    named.update(|_| event(1, 0)).unwrap();
    assert!(path("elsewhere/exit-log.jsonl").exists());
}

#[test]
fn reset_forgets_everything_but_the_log() {
    let folder = Folder::after(3);
    folder.store().reset(Timestamp(0)).unwrap().unwrap();
    assert_eq!(folder.load(), LoopState::default());
    assert_eq!(folder.store().history().unwrap().len(), 4);
    fs::remove_file(folder.state()).unwrap();
    assert_eq!(folder.load(), LoopState::default());
}

#[test]
fn state_of_the_original_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let ralph = folder.path().join(".ralph");
    fs::create_dir(&ralph).unwrap();
    let state = ralph.join("exit-state.json");
    fs::write(
        &state,
        r#"{"decision": "CONTINUE", "total_decisions": "7"}"#,
    )
    .unwrap();
    let store = Store::find(folder.path()).unwrap();
    assert_eq!(store.load().unwrap(), LoopState::default());
    let update = store
        .update(|state| {
            let (now, settings) = (Timestamp(0), ExitSettings::default());
            state.check(run("a"), now, TurnEvidence::default(), settings)
        })
        .unwrap();
    let written: Value = serde_json::from_slice(&fs::read(state).unwrap()).unwrap();
    assert_eq!(written["schema_version"], 1);
    assert_eq!(written["total_decisions"], 1);
    assert_eq!(store.load().unwrap(), update.state);
    assert!(ralph.join("logs/exit-decisions_conclave.log").exists());
    assert!(
        !ralph.join(".gitignore").exists(),
        "the folder is the user's"
    );
}

#[test]
fn a_ralph_folder_is_used_where_it_alone_exists() {
    let folder = tempfile::tempdir().unwrap();
    let found = || Store::find(folder.path()).unwrap();
    assert_eq!(found().path, folder.path().join(".conclave"));
    fs::create_dir(folder.path().join(".ralph")).unwrap();
    assert_eq!(found().path, folder.path().join(".ralph"));
    let response = folder.path().join(".ralph/last-response.md");
    assert_eq!(found().default_response(), Some(response));
    fs::create_dir(folder.path().join(".conclave")).unwrap();
    assert_eq!(found().path, folder.path().join(".conclave"));
    assert_eq!(found().default_response(), None);
}

#[test]
fn the_first_form_of_the_files_is_read() {
    let folder = Folder::new();
    fs::create_dir(folder.path()).unwrap();
    let log = include_str!("../../data/agent_loop/version_1/exit-log.jsonl");
    let state = include_str!("../../data/agent_loop/version_1/exit-state.json");
    fs::write(folder.log(), log).unwrap();
    let replayed = folder.load();
    fs::write(folder.state(), state).unwrap();
    assert_eq!(folder.load(), replayed);
    let written: Value = serde_json::from_str(state).unwrap();
    assert_eq!(written["decision"], "CONTINUE");
    let current = replayed.current().unwrap();
    assert_eq!(current.run.id.0, "build");
    assert_eq!(current.turn, 3);
}
