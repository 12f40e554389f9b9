//! `--git`: commits and changed files are progress, claims are not.

use std::fs;

use serde_json::Value;

use super::{Project, WORKING};
use crate::support::binary::RunningProcess;

fn repository() -> Project {
    let project = Project::new();
    project.git(&["init", "--quiet"]);
    project.write(".gitignore", "*.log\n");
    project.write("a.rs", "1\n");
    commit(&project);
    project
}

fn commit(project: &Project) {
    project.git(&["add", "--all"]);
    project.git(&["commit", "--quiet", "--allow-empty", "-m", "more"]);
}

/// Checks a response that no other was like: it is no change of the working tree.
fn changed_files(project: &Project) -> Value {
    let response = format!("I did a lot in turn {}.\n", project.events().len());
    let json = project.decision(&response, &["--git", "--run", "1"]);
    json["evidence"]["git"]["changed_files"].clone()
}

#[test]
fn changed_files_are_counted_from_check_to_check() {
    let project = repository();
    assert_eq!(changed_files(&project), Value::Null, "the first check");
    assert_eq!(changed_files(&project), 0);
    project.write("a.rs", "2\n");
    project.write("new.rs", "1\n");
    assert_eq!(changed_files(&project), 2);
    commit(&project);
    assert_eq!(
        changed_files(&project),
        3,
        "committed, with what the last response left behind"
    );
    project.write("agent.log", "ignored\n");
    assert_eq!(changed_files(&project), 0);
    fs::remove_file(project.path("a.rs")).unwrap();
    assert_eq!(changed_files(&project), 1);
}

#[test]
fn what_a_check_writes_into_a_ralph_folder_is_no_change() {
    let project = repository();
    project.write(".ralph/PROMPT.md", "Work through the plan.\n");
    commit(&project);
    assert_eq!(changed_files(&project), Value::Null, "the first check");
    assert_eq!(changed_files(&project), 0);
    assert_eq!(changed_files(&project), 0);
    assert!(project.path(".ralph/git-snapshot.json").exists());
}

#[test]
fn project_without_a_repository_is_an_error_of_use() {
    let project = Project::new();
    let output = project.check(WORKING, &["--git"]).ends_with(2);
    output.assert_stderr_contains("error: the current folder is not in a Git working tree");
    output.assert_stderr_contains("leave out `--git`");
    assert!(project.events().is_empty());
}

#[test]
fn missing_git_is_an_error_of_use() {
    let project = Project::new();
    project.write("response.md", WORKING);
    let mut command = project.command(&["exit-check", "response.md", "--git"]);
    command.env("PATH", project.path("no-programs"));
    let output = RunningProcess::of(command.spawn().unwrap()).wait();
    output
        .ends_with(2)
        .assert_stderr_contains("error: `git` cannot be run");
}
