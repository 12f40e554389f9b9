//! Dependencies as manifests declare them, which decide what a project uses.

use serde::Deserialize;

/// A dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dependency {
    pub(super) name: String,
    /// As written: `^14.2.0`.
    pub(super) requirement: Option<String>,
    pub(super) scope: Scope,
}

/// The use of a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Runtime,
    /// Tests, builds and other tools; optional parts of a library.
    Development,
}

impl Dependency {
    pub(super) fn new(name: impl Into<String>, requirement: Option<&str>, scope: Scope) -> Self {
        Self {
            name: name.into(),
            requirement: requirement
                .map(str::trim)
                .filter(|text| !text.is_empty())
                .map(str::to_owned),
            scope,
        }
    }
}

/// The registry that a manifest's packages are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ecosystem {
    Npm,
    Pypi,
    Rubygems,
    Cargo,
    Maven,
    Go,
    Composer,
    Nuget,
    Hex,
    Swift,
    Pub,
}
