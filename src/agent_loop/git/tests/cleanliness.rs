//! Whether Git has a file as it is.

use super::*;

impl Repository {
    fn cleanliness(&self, name: &str) -> String {
        of(&self.path().join(name))
    }
}

fn of(path: &Path) -> String {
    is_clean_in_git(path, not_interrupted()).to_string()
}

const CLEAN: &str = "the last Git commit has it as it is";
const CHANGED: &str = "it has changes that are not committed";
const STAGED: &str = "it has staged changes that are not committed";
const UNTRACKED: &str = "Git does not track it";
const NOT_COMPARED: &str =
    "Git does not look for changes of it (`assume-unchanged` or `skip-worktree`)";
const NO_REPOSITORY: &str = "its folder is not in a Git working tree";

#[test]
fn committed_file_is_clean_whatever_else_has_changed() {
    let repository = Repository::new();
    repository.write("a", "2\n");
    assert_eq!(repository.cleanliness("d/b"), CLEAN);
    assert!(is_clean_in_git(&repository.path().join("d/b"), not_interrupted()).is_clean());
}

#[test]
fn edited_file_is_changed() {
    let repository = Repository::new();
    repository.write("a", "2\n");
    assert_eq!(repository.cleanliness("a"), CHANGED);
    // The length and the time of the committed file do not hide it.
    let index = repository.path().join(".git/index").metadata().unwrap();
    repository.set_modified("a", index.modified().unwrap());
    assert_eq!(repository.cleanliness("a"), CHANGED);
}

#[test]
fn touched_file_is_clean() {
    let repository = Repository::new();
    repository.set_modified("a", std::time::UNIX_EPOCH);
    assert_eq!(repository.cleanliness("a"), CLEAN);
}

#[test]
fn changed_mode_is_a_change() {
    use std::os::unix::fs::PermissionsExt;
    let repository = Repository::new();
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(repository.path().join("a"), executable).unwrap();
    assert_eq!(repository.cleanliness("a"), CHANGED);
}

#[test]
fn staged_edit_is_not_clean_even_if_it_is_undone_in_the_file() {
    let repository = Repository::new();
    repository.write("a", "2\n");
    repository.git(&["add", "a"]);
    assert_eq!(repository.cleanliness("a"), STAGED);
    repository.write("a", "1\n");
    assert_eq!(repository.cleanliness("a"), STAGED);
}

#[test]
fn staged_file_without_a_commit_is_staged() {
    let repository = Repository::empty();
    repository.write("a", "1\n");
    assert_eq!(repository.cleanliness("a"), UNTRACKED);
    repository.git(&["add", "a"]);
    assert_eq!(repository.cleanliness("a"), STAGED);
}

#[test]
fn file_that_the_index_lost_is_untracked() {
    let repository = Repository::new();
    repository.git(&["rm", "--quiet", "--cached", "a"]);
    assert_eq!(repository.cleanliness("a"), UNTRACKED);
    repository.git(&["add", "--intent-to-add", "a"]);
    assert!(!is_clean_in_git(&repository.path().join("a"), not_interrupted()).is_clean());
}

#[test]
fn new_file_with_an_intent_to_add_is_untracked() {
    let repository = Repository::new();
    repository.write("new", "1\n");
    repository.git(&["add", "--intent-to-add", "new"]);
    assert_eq!(repository.cleanliness("new"), UNTRACKED);
}

#[test]
fn untracked_and_ignored_files_are_distinguished() {
    let repository = Repository::new();
    repository.write(".gitignore", "*.log\n/out/\n");
    for (name, expected) in [
        ("new", UNTRACKED),
        ("d/e/new", UNTRACKED),
        ("x.log", "Git ignores it"),
        ("out/new", "Git ignores it"),
    ] {
        repository.write(name, "1\n");
        assert_eq!(repository.cleanliness(name), expected, "{name}");
    }
}

#[test]
fn tracked_file_that_is_ignored_as_well_is_clean() {
    let repository = Repository::new();
    repository.write(".gitignore", "a\n");
    assert_eq!(repository.cleanliness("a"), CLEAN);
}

#[test]
fn file_whose_changes_do_not_count_is_not_clean() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let repository = Repository::new();
        repository.git(&["update-index", flag, "a"]);
        assert_eq!(repository.cleanliness("a"), NOT_COMPARED, "{flag}");
        repository.write("a", "2\n");
        assert_eq!(repository.cleanliness("a"), NOT_COMPARED, "{flag}");
        assert_eq!(repository.cleanliness("d/b"), CLEAN, "{flag}");
    }
}

#[test]
fn file_in_conflict_is_not_clean() {
    let repository = Repository::new();
    repository.git(&["checkout", "--quiet", "-b", "other"]);
    repository.write("a", "2\n");
    repository.commit();
    repository.git(&["checkout", "--quiet", "-"]);
    repository.write("a", "3\n");
    repository.commit();
    let merge = repository.try_git(&["merge", "--quiet", "other"]);
    assert!(!merge.status.success());
    assert_eq!(
        repository.cleanliness("a"),
        "it is in conflict after a merge"
    );
}

#[test]
fn names_are_never_patterns_or_options() {
    use std::os::unix::ffi::OsStrExt;
    let repository = Repository::new();
    let names: [&[u8]; 6] = [
        b"new\nline",
        b"*",
        b":(glob)x",
        b"--help",
        b" space ",
        b"\xff\xfe",
    ];
    let paths = names.map(|name| repository.path().join(OsStr::from_bytes(name)));
    for path in &paths {
        fs::write(path, "1\n").unwrap();
    }
    for path in &paths {
        assert_eq!(of(path), UNTRACKED, "{path:?}");
    }
    repository.commit();
    for path in &paths {
        assert_eq!(of(path), CLEAN, "{path:?}");
        fs::write(path, "2\n").unwrap();
        assert_eq!(of(path), CHANGED, "{path:?}");
    }
}

#[test]
fn file_in_the_place_of_a_tracked_folder_is_untracked() {
    let repository = Repository::new();
    fs::remove_dir_all(repository.path().join("d")).unwrap();
    repository.write("d", "1\n");
    assert_eq!(repository.cleanliness("d"), UNTRACKED);
}

#[test]
fn link_is_not_clean_wherever_it_leads() {
    let (here, elsewhere) = (Repository::new(), Repository::new());
    let link = here.path().join("link");
    for target in [here.path().join("a"), elsewhere.path().join("a")] {
        std::os::unix::fs::symlink(&target, &link).unwrap();
        here.commit();
        assert_eq!(of(&link), "it is a symbolic link");
        fs::remove_file(&link).unwrap();
    }
    assert_eq!(of(&link), "it cannot be found");
}

#[test]
fn file_behind_a_linked_folder_is_judged() {
    let repository = Repository::new();
    std::os::unix::fs::symlink("d", repository.path().join("link")).unwrap();
    assert_eq!(repository.cleanliness("link/b"), CLEAN);
}

#[test]
fn file_of_an_inner_repository_is_judged_by_that_one() {
    let repository = Repository::new();
    repository.git(&["init", "--quiet", "inner"]);
    repository.write("inner/c", "1\n");
    assert_eq!(repository.cleanliness("inner/c"), UNTRACKED);
    let inner = |arguments: &[&str]| repository.git(&[&["-C", "inner"], arguments].concat());
    inner(&["add", "--all"]);
    inner(&["commit", "--quiet", "-m", "one"]);
    assert_eq!(repository.cleanliness("inner/c"), CLEAN);
    // As a submodule, with its commit in the index of the outer one.
    repository.git(&["add", "inner"]);
    repository.write("inner/c", "2\n");
    assert_eq!(repository.cleanliness("inner/c"), CHANGED);
}

#[test]
fn file_outside_of_a_repository_is_not_clean() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), "1\n").unwrap();
    assert_eq!(of(&folder.path().join("a")), NO_REPOSITORY);
    let repository = Repository::new();
    assert_eq!(repository.cleanliness(".git/config"), NO_REPOSITORY);
}

#[test]
fn damaged_repository_gives_the_reason_of_git() {
    let repository = Repository::new();
    fs::write(repository.path().join(".git/index"), "no index").unwrap();
    let reason = repository.cleanliness("a");
    assert!(
        reason.starts_with("Git cannot tell: `git ls-files` failed: "),
        "{reason}"
    );
}

#[test]
fn the_question_runs_no_program_of_the_repository() {
    let repository = Repository::new();
    repository.write(".gitattributes", "* filter=evil\n");
    repository.commit();
    let evil = "touch \"$(git rev-parse --show-toplevel)/evil\"; cat";
    for key in ["core.fsmonitor", "filter.evil.clean", "filter.evil.process"] {
        repository.git(&["config", key, evil]);
    }
    repository.write("a", "2\n");
    assert_eq!(repository.cleanliness("a"), CHANGED);
    assert!(!repository.path().join("evil").exists());
}

#[test]
fn the_question_writes_nothing_to_the_repository() {
    let repository = Repository::new();
    repository.set_modified("a", std::time::UNIX_EPOCH);
    let index = fs::read(repository.path().join(".git/index")).unwrap();
    repository.cleanliness("a");
    assert_eq!(
        fs::read(repository.path().join(".git/index")).unwrap(),
        index
    );
}
