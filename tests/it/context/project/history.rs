//! The commits of a repository.

use std::path::Path;

use super::trees::{Project, write};
use crate::support::git::git;

fn has_history(root: &Path) -> bool {
    let description = conclave::context::project::describe(root, 1_000).unwrap();
    let indicators = description.context.indicators_found;
    indicators.contains(&"git".to_owned())
}

fn repository() -> Project {
    Project::new(&[(".git/HEAD", "ref: refs/heads/main\n")])
}

#[test]
fn ten_logged_commits_are_a_history() {
    assert!(has_history(Project::new(&[]).with_commits(10).path()));
    assert!(!has_history(Project::new(&[]).with_commits(9).path()));
}

#[test]
fn amended_commits_and_checkouts_do_not_count() {
    let log = "0 1 A <a@b> 1 +0000\tcommit (amend): x\n0 1 A <a@b> 1 +0000\tcheckout: moving\n";
    let project = repository();
    write(&project.path().join(".git/logs/HEAD"), &log.repeat(20));
    assert!(!has_history(project.path()));
}

#[test]
fn commits_of_clones_and_linked_working_trees_count() {
    let (main, others) = (Project::new(&[]), Project::new(&[]));
    git(main.path(), &["init", "--quiet"]);
    for _ in 0..10 {
        git(
            main.path(),
            &["commit", "--quiet", "--allow-empty", "-m", "x"],
        );
    }
    let [clone, linked, young] = ["clone", "linked", "young"].map(|name| others.path().join(name));
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let add = ["worktree", "add", "--quiet", "--detach", &path(&linked)];
    git(main.path(), &add);
    git(
        others.path(),
        &["clone", "--quiet", &path(main.path()), &path(&clone)],
    );
    git(
        others.path(),
        &["clone", "--quiet", &path(main.path()), &path(&young)],
    );
    git(&young, &["reset", "--quiet", "--hard", "HEAD~1"]);
    assert!(has_history(&clone));
    assert!(has_history(&linked));
    assert!(!has_history(&young));
}

#[test]
fn shallow_clone_has_a_history() {
    let project = repository();
    write(&project.path().join(".git/shallow"), "0123\n");
    assert!(has_history(project.path()));
}

#[test]
fn submodule_has_its_own_history() {
    let parent = Project::new(&[("lib/.git", "gitdir: ../.git/modules/lib\n")]).with_commits(20);
    write(&parent.path().join(".git/modules/lib/HEAD"), "x");
    assert!(!has_history(&parent.path().join("lib")));
    assert!(has_history(parent.path()));
}

#[test]
fn folder_in_a_repository_has_its_history() {
    let project = Project::new(&[("apps/web/package.json", "{}")]).with_commits(10);
    assert!(has_history(&project.path().join("apps/web")));
}

#[test]
fn broken_repositories_have_no_history() {
    for text in ["", "\0", "x\n"] {
        let project = repository();
        write(&project.path().join(".git/logs/HEAD"), text);
        assert!(!has_history(project.path()));
    }
    assert!(!has_history(
        Project::new(&[(".git", "gitdir: /nowhere\n")]).path()
    ));
    assert!(!has_history(Project::new(&[(".git", "\u{0}")]).path()));
}
