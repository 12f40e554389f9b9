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
fn tree_without_changes_is_the_same_twice() {
    let repository = Repository::new();
    let before = repository.tree();
    assert_eq!(repository.tree(), before);
    assert_eq!(repository.changed_files_since(&before), Some(0));
}

#[test]
fn first_check_does_not_count_changed_files() {
    let repository = Repository::new();
    let state = repository
        .tree()
        .state(repository.path(), None, not_interrupted());
    assert_eq!(state.unwrap().changed_files, None);
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
    for (name, text) in [
        ("a", "2\n"),
        ("a", "3\n"),
        ("new", "1\n"),
        ("new", "2\n"),
        ("d/c d", ""),
    ] {
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
    let repository = Repository::new();
    let before = repository.tree();
    repository.write("a", "2\n");
    repository.write("new", "1\n");
    repository.commit();
    let after = repository.tree();
    assert_ne!(after.head, before.head);
    assert_eq!(
        after.hash(),
        before.hash(),
        "nothing differs from the commit"
    );
    assert_eq!(repository.changed_files_since(&before), Some(2));
}

#[test]
fn commit_without_files_is_another_head() {
    let repository = Repository::new();
    let before = repository.tree();
    repository.commit();
    assert_ne!(repository.tree().head, before.head);
    assert_eq!(repository.changed_files_since(&before), Some(0));
}

#[test]
fn first_commit_counts_its_files() {
    let repository = Repository::empty();
    let before = repository.tree();
    assert_eq!(before.head, None);
    repository.write("a", "1\n");
    repository.commit();
    assert_eq!(repository.changed_files_since(&before), Some(1));
}

#[test]
fn commit_that_is_gone_counts_all_files() {
    let repository = Repository::new();
    let mut before = repository.tree();
    before.head = Some("0123456789012345678901234567890123456789".to_owned());
    assert_eq!(repository.changed_files_since(&before), Some(2));
}

#[test]
fn ignored_files_do_not_count() {
    let repository = Repository::new();
    repository.write(".gitignore", "*.log\n");
    let before = repository.tree();
    repository.write("agent.log", "1\n");
    assert_eq!(repository.tree(), before);
}

#[test]
fn files_of_the_loop_do_not_count() {
    let repository = Repository::new();
    let ignored = [".state", "d/response.md"].map(|name| repository.path().join(name));
    let tree = || measure(repository.path(), &ignored, not_interrupted()).unwrap();
    let before = tree();
    repository.write(".state/log", "1\n");
    repository.write("d/response.md", "1\n");
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
fn measuring_writes_nothing_to_the_repository() {
    let repository = Repository::new();
    // The index no longer knows the times of the file, and would be refreshed.
    repository.set_modified("a", std::time::UNIX_EPOCH);
    let index = repository.path().join(".git/index");
    let (content, names) = (
        fs::read(&index).unwrap(),
        names(&repository.path().join(".git")),
    );
    repository.tree();
    assert_eq!(fs::read(&index).unwrap(), content);
    assert_eq!(self::names(&repository.path().join(".git")), names);
}

fn names(folder: &Path) -> BTreeSet<std::ffi::OsString> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name()).collect()
}

#[test]
fn pipes_and_folders_in_place_of_files_do_not_block() {
    let repository = Repository::new();
    fs::remove_file(repository.path().join("a")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        repository.path().join("a"),
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    assert_eq!(repository.tree(), repository.tree());
}

#[test]
fn folder_outside_of_a_repository_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let error = measure(folder.path(), &[], not_interrupted()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the current folder is not in a Git working tree"
    );
}

#[test]
fn inside_of_the_git_folder_is_an_error() {
    let repository = Repository::new();
    let error = measure(&repository.path().join(".git"), &[], not_interrupted()).unwrap_err();
    assert!(matches!(error, GitError::NotARepository));
}

#[test]
fn message_of_git_is_the_reason() {
    let repository = Repository::new();
    fs::write(repository.path().join(".git/index"), "no index").unwrap();
    let error = measure(repository.path(), &[], not_interrupted()).unwrap_err();
    assert!(
        error.to_string().starts_with("`git status` failed: "),
        "{error}"
    );
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
    let whole = std::fs::read(&path).unwrap();
    for length in 0..whole.len() {
        std::fs::write(&path, &whole[..length]).unwrap();
        assert_eq!(GitSnapshot::read(folder.path()), None);
    }
}
