//! Trees of files for the tests.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use conclave::context::project::{ProjectDescription, describe};
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

    /// Returns what is detected, as the record has it, without indicators and documents.
    pub(super) fn detected(&self) -> Value {
        let context = self.describe().context;
        json!({
            "framework": context.framework_detected,
            "version": context.framework_version,
            "architecture": context.architecture_pattern,
            "stack": context.tech_stack,
        })
    }
}

pub(super) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Checks framework, version and architecture of a tree.
#[track_caller]
pub(super) fn assert_framework(
    files: &[(&str, &str)],
    id: &str,
    version: Option<&str>,
    architecture: Option<&str>,
) {
    let context = Project::new(files).describe().context;
    assert_eq!(context.framework_detected.as_deref(), Some(id));
    assert_eq!(context.framework_version.as_deref(), version, "{id}");
    assert_eq!(
        context.architecture_pattern.as_deref(),
        architecture,
        "{id}"
    );
}
