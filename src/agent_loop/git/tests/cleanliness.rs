//! Whether Git has a file as it is.

use std::os::unix::fs::symlink;

use super::*;

impl Repository {
    fn cleanliness(&self, name: &str) -> String {
        of(&self.path().join(name))
    }
}

fn of(path: &Path) -> String {
    let clean = check_clean(path, not_interrupted());
    clean.map_or_else(|reason| reason, |()| CLEAN.to_owned())
}

const CLEAN: &str = "the last Git commit has it as it is";
const CHANGED: &str = "the last Git commit does not have it as it is";
const NO_REPOSITORY: &str = "its folder is not in a Git working tree";

#[test]
fn edited_file_is_changed_and_others_are_clean() {
    let repository = Repository::new();
    repository.write(".gitignore", "b\n");
    symlink("d", repository.path().join("link")).unwrap();
    repository.write("a", "2\n");
    repository.set_modified("d/b", std::time::UNIX_EPOCH);
    let index = repository.path().join(".git/index");
    let before = fs::read(&index).unwrap();
    assert_eq!(repository.cleanliness("a"), CHANGED);
    // Touched, ignored as well, and behind a link.
    assert_eq!(repository.cleanliness("d/b"), CLEAN);
    assert_eq!(repository.cleanliness("link/b"), CLEAN);
    assert_eq!(fs::read(&index).unwrap(), before, "nothing is written");
    // The length and the time of the committed file do not hide it.
    let modified = index.metadata().unwrap().modified().unwrap();
    repository.set_modified("a", modified);
    assert_eq!(repository.cleanliness("a"), CHANGED);
    fs::remove_dir_all(repository.path().join("d")).unwrap();
    repository.write("d", "1\n");
    assert_eq!(repository.cleanliness("d"), CHANGED, "in place of a folder");
}

#[test]
fn file_without_a_commit_is_not_clean_and_what_the_index_says_does_not_count() {
    let repository = Repository::empty();
    repository.write("a", "1\n");
    assert_eq!(repository.cleanliness("a"), CHANGED);
    repository.git(&["add", "a"]);
    assert_eq!(repository.cleanliness("a"), CHANGED);
    repository.commit();
    assert_eq!(repository.cleanliness("a"), CLEAN);
    repository.git(&["update-index", "--assume-unchanged", "a"]);
    repository.write("a", "2\n");
    assert_eq!(repository.cleanliness("a"), CHANGED);
}

#[test]
fn names_are_never_patterns_or_options() {
    use std::os::unix::ffi::OsStrExt;
    let repository = Repository::new();
    let names: [&[u8]; 4] = [b"new\nline", b":(glob)*", b"--help", b" \xff\xfe "];
    let paths = names.map(|name| repository.path().join(OsStr::from_bytes(name)));
    for path in &paths {
        fs::write(path, "1\n").unwrap();
    }
    for path in &paths {
        assert_eq!(of(path), CHANGED, "{path:?}");
    }
    repository.commit();
    for path in &paths {
        assert_eq!(of(path), CLEAN, "{path:?}");
        fs::write(path, "2\n").unwrap();
        assert_eq!(of(path), CHANGED, "{path:?}");
    }
}

#[test]
fn file_with_another_content_in_the_index_is_not_clean() {
    let repository = Repository::new();
    let committed = fs::read(repository.path().join("a")).unwrap();
    repository.write("a", "staged\n");
    repository.git(&["add", "a"]);
    fs::write(repository.path().join("a"), committed).unwrap();
    assert_eq!(repository.cleanliness("a"), CHANGED);
    repository.git(&["rm", "--quiet", "--cached", "--force", "a"]);
    assert_eq!(repository.cleanliness("a"), CHANGED);
}

#[test]
fn link_is_not_clean_wherever_it_leads() {
    let here = Repository::new();
    let link = here.path().join("link");
    for target in [here.path().join("a"), PathBuf::from("/dev/null")] {
        symlink(&target, &link).unwrap();
        here.commit();
        assert_eq!(of(&link), "it is a symbolic link");
        fs::remove_file(&link).unwrap();
    }
    assert_eq!(of(&link), "it cannot be found");
}

#[test]
fn file_of_an_inner_repository_is_judged_by_that_one() {
    let repository = Repository::new();
    repository.git(&["init", "--quiet", "inner"]);
    repository.write("inner/c", "1\n");
    assert_eq!(repository.cleanliness("inner/c"), CHANGED);
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
