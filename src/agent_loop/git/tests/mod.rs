//! The working tree of real repositories.

mod cleanliness;
mod programs;

use std::ffi::OsStr;
use std::fs;
use std::process::{Command, Output};

use tempfile::TempDir;

use super::*;

/// A repository with a commit of the files `a` and `d/b`.
struct Repository {
    folder: TempDir,
}

fn not_interrupted() -> IsInterrupted<'static> {
    &|| false
}

impl Repository {
    fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let repository = Self { folder };
        repository.git(&["init", "--quiet"]);
        repository
    }

    fn new() -> Self {
        let repository = Self::empty();
        repository.write("a", "1\n");
        repository.write("d/b", "1\n");
        repository.commit();
        repository
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs Git as on a machine without any settings.
    fn try_git(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("git");
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(name);
        }
        command
            .args(["-c", "user.name=a", "-c", "user.email=a@localhost"])
            .args(arguments)
            .current_dir(self.path())
            .env("HOME", self.path())
            .env("LC_ALL", "C")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap()
    }

    fn git(&self, arguments: &[&str]) {
        let output = self.try_git(arguments);
        assert!(output.status.success(), "{output:?}");
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", "more"]);
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Sets when a file was last written, without a change of its content.
    fn set_modified(&self, name: &str, time: std::time::SystemTime) {
        let mut options = fs::File::options();
        let file = options.write(true).open(self.path().join(name)).unwrap();
        file.set_modified(time).unwrap();
    }

    fn tree(&self) -> WorkingTree {
        measure(self.path(), &[], not_interrupted()).unwrap()
    }

    fn changed_files_since(&self, earlier: &WorkingTree) -> Option<u64> {
        let state = self
            .tree()
            .state(self.path(), Some(earlier), not_interrupted());
        state.unwrap().changed_files
    }
}

#[test]
fn changed_files_are_counted_from_the_last_check() {
    let repository = Repository::new();
    let before = repository.tree();
    assert_eq!(repository.tree(), before);
    assert_eq!(repository.changed_files_since(&before), Some(0));
    let first = before.state(repository.path(), None, not_interrupted());
    assert_eq!(first.unwrap().changed_files, None, "the first check");
}

#[test]
fn every_change_of_a_content_is_another_tree() {
    let repository = Repository::new();
    let mut hashes = BTreeSet::from([repository.tree().hash()]);
    let change = |name: &str, text: &str| {
        let before = repository.tree();
        repository.write(name, text);
        assert_eq!(repository.changed_files_since(&before), Some(1), "{name}");
        repository.tree().hash()
    };
    for (name, text) in [("a", "2\n"), ("new", "1\n"), ("new", "2\n"), ("d/c d", "")] {
        assert!(hashes.insert(change(name, text)), "{name}: {text}");
    }
    fs::remove_file(repository.path().join("a")).unwrap();
    assert!(hashes.insert(repository.tree().hash()));
    std::os::unix::fs::symlink("d", repository.path().join("a")).unwrap();
    assert!(hashes.insert(repository.tree().hash()));
}

#[test]
fn staging_and_touching_change_nothing() {
    let repository = Repository::new();
    repository.write("a", "2\n");
    repository.write("new", "1\n");
    let before = repository.tree();
    repository.git(&["add", "--all"]);
    assert_eq!(repository.tree(), before);
    repository.set_modified("d/b", std::time::UNIX_EPOCH);
    assert_eq!(repository.tree(), before);
}

#[test]
fn commit_is_another_head_and_counts_its_files() {
    let repository = Repository::empty();
    let mut before = repository.tree();
    assert_eq!(before.head, None);
    let mut commit = |files: &[&str]| {
        for file in files {
            repository.write(file, &format!("{:?}\n", before.head));
        }
        repository.commit();
        let after = repository.tree();
        assert_ne!(after.head, before.head);
        assert_eq!(after.hash(), before.hash(), "nothing differs from it");
        let changed = repository.changed_files_since(&before);
        before = after;
        changed
    };
    assert_eq!(commit(&["a"]), Some(1));
    assert_eq!(commit(&["a", "new"]), Some(2));
    assert_eq!(commit(&[]), Some(0));
    before.head = Some("0123456789012345678901234567890123456789".to_owned());
    assert_eq!(
        repository.changed_files_since(&before),
        Some(2),
        "it is gone"
    );
}

#[test]
fn ignored_files_and_those_of_the_loop_do_not_count() {
    let repository = Repository::new();
    repository.write(".gitignore", "*.log\n");
    let ignored = [".state", "d/response.md"].map(|name| repository.path().join(name));
    let tree = || measure(repository.path(), &ignored, not_interrupted()).unwrap();
    let before = tree();
    for name in ["agent.log", ".state/log", "d/response.md"] {
        repository.write(name, "1\n");
    }
    assert_eq!(tree(), before);
    repository.write(".state2", "1\n");
    assert_ne!(tree(), before);
}

#[test]
fn folder_beneath_the_top_sees_the_whole_tree() {
    let repository = Repository::new();
    let below = repository.path().join("d");
    let before = measure(&below, &[], not_interrupted()).unwrap();
    repository.write("a", "2\n");
    assert_ne!(measure(&below, &[], not_interrupted()).unwrap(), before);
}

#[test]
fn commit_of_an_inner_repository_counts() {
    let repository = Repository::new();
    repository.git(&["init", "--quiet", "inner"]);
    let before = repository.tree();
    repository.write("inner/file", "1\n");
    assert_eq!(repository.tree(), before);
    repository.git(&[
        "-C",
        "inner",
        "commit",
        "--quiet",
        "--allow-empty",
        "-m",
        "one",
    ]);
    assert_ne!(repository.tree(), before);
}

#[test]
fn measuring_writes_nothing_and_does_not_wait_for_a_pipe() {
    let names = |folder: PathBuf| -> BTreeSet<_> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    };
    let repository = Repository::new();
    // The index no longer knows the times of the file, and would be refreshed.
    repository.set_modified("d/b", std::time::UNIX_EPOCH);
    let pipe = repository.path().join("a");
    fs::remove_file(&pipe).unwrap();
    let mode = 0o600.into();
    rustix::fs::mknodat(rustix::fs::CWD, pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let files = || {
        let git = repository.path().join(".git");
        (fs::read(git.join("index")).unwrap(), names(git))
    };
    let before = files();
    assert_eq!(repository.tree(), repository.tree());
    assert_eq!(files(), before);
}

#[test]
fn errors_name_their_reason() {
    let repository = Repository::new();
    let error = |folder: &Path| measure(folder, &[], not_interrupted()).unwrap_err();
    let outside = tempfile::tempdir().unwrap();
    for folder in [outside.path(), &repository.path().join(".git")] {
        let expected = "the current folder is not in a Git working tree";
        assert_eq!(error(folder).to_string(), expected);
    }
    fs::write(repository.path().join(".git/index"), "no index").unwrap();
    let failed = error(repository.path()).to_string();
    assert!(failed.starts_with("`git status` failed: "), "{failed}");
}

fn snapshot() -> GitSnapshot {
    GitSnapshot {
        check: "run 1, turn 3".to_owned(),
        tree: WorkingTree {
            head: Some("12ab".to_owned()),
            files: [("a\n b", "1"), ("c", "2")]
                .map(|(path, hash)| (path.to_owned(), hash.to_owned()))
                .into(),
        },
    }
}

#[test]
fn snapshot_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(GitSnapshot::read(folder.path()), None);
    let mut without_commit = snapshot();
    without_commit.tree.head = None;
    for snapshot in [snapshot(), without_commit] {
        snapshot.write(folder.path()).unwrap();
        assert_eq!(GitSnapshot::read(folder.path()), Some(snapshot));
    }
}

#[test]
fn snapshot_that_is_cut_is_none() {
    let folder = tempfile::tempdir().unwrap();
    snapshot().write(folder.path()).unwrap();
    let path = folder.path().join(FILE_NAME);
    let whole = fs::read(&path).unwrap();
    for length in [0, 1, whole.len() / 2, whole.len() - 2] {
        fs::write(&path, &whole[..length]).unwrap();
        assert_eq!(GitSnapshot::read(folder.path()), None, "{length}");
    }
}
