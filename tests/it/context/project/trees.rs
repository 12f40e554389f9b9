//! Trees of files for the tests.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use conclave::context::project::{ProjectDescription, describe};
use conclave::domain::context::ProjectContext;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The usual budget of a description, in tokens.
pub(super) const TOKENS: u64 = 4_000;

/// A project in a folder of its own.
pub(super) struct Project(TempDir);

impl Project {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            write(&folder.path().join(path), text);
        }
        Self(folder)
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Adds source files, one for each number, in a folder.
    pub(super) fn with_sources(self, folder: &str, extension: &str, number: usize) -> Self {
        for index in 0..number {
            let name = format!("file{index}.{extension}");
            write(&self.path().join(folder).join(name), "x\n");
        }
        self
    }

    /// Adds a repository whose log has so many commits.
    pub(super) fn with_commits(self, number: usize) -> Self {
        write(&self.path().join(".git/HEAD"), "ref: refs/heads/main\n");
        let mut log = String::new();
        for index in 0..number {
            writeln!(log, "0 1 A <a@b> {index} +0000\tcommit: step {index}").unwrap();
        }
        write(&self.path().join(".git/logs/HEAD"), &log);
        self
    }

    pub(super) fn describe(&self) -> ProjectDescription {
        describe(self.path(), TOKENS).unwrap()
    }

    /// Returns framework, version and architecture.
    pub(super) fn framework(&self) -> String {
        framework(&self.describe().context)
    }
}

pub(super) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Returns the framework, its version and the architecture of a project, as far as they are known.
pub(super) fn framework(context: &ProjectContext) -> String {
    let parts = [
        &context.framework_detected,
        &context.framework_version,
        &context.architecture_pattern,
    ];
    let known: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
    known.join(" ")
}

/// Checks framework, version and architecture of a tree.
#[track_caller]
pub(super) fn assert_framework(files: &[(&str, &str)], expected: &str) {
    let context = Project::new(files).describe().context;
    assert_eq!(framework(&context), expected);
}

/// Checks framework, version and architecture of a tree, and the rest of its stack.
#[track_caller]
pub(super) fn assert_stack(files: &[(&str, &str)], expected: &str, stack: &Value) {
    let context = Project::new(files).describe().context;
    assert_eq!(framework(&context), expected);
    assert_eq!(json!(context.tech_stack), *stack);
}
