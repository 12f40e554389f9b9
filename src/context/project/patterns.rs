//! Patterns of file names: a `*` stands for any characters; case does not matter.

use std::collections::BTreeSet;

use serde::Deserialize;

/// A set of patterns. One with a `/` is of a whole path, others are of names in any folder. Most
/// have no `*`, and are looked up.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Vec<String>")]
pub(super) struct NamePatterns {
    exact: BTreeSet<String>,
    wildcards: Vec<(String, String)>,
}

impl From<Vec<String>> for NamePatterns {
    fn from(patterns: Vec<String>) -> Self {
        let mut set = Self::default();
        for pattern in patterns {
            let pattern = pattern.to_ascii_lowercase();
            match pattern.split_once('*') {
                Some((start, end)) => set.wildcards.push((start.to_owned(), end.to_owned())),
                None => {
                    set.exact.insert(pattern);
                }
            }
        }
        set
    }
}

impl NamePatterns {
    pub(super) fn union<'a>(sets: impl Iterator<Item = &'a Self>) -> Self {
        let mut all = Self::default();
        for set in sets {
            all.exact.extend(set.exact.iter().cloned());
            all.wildcards.extend(set.wildcards.iter().cloned());
        }
        all
    }

    /// A second `*` in a pattern matches as one.
    pub(super) fn matches(&self, path: &str) -> bool {
        let path = path.to_ascii_lowercase();
        let name = name_of(&path);
        self.exact.contains(name)
            || self.exact.contains(&path)
            || self.wildcards.iter().any(|(start, end)| {
                let is_path = start.contains('/') || end.contains('/');
                let text = if is_path { &path } else { name };
                let rest = text.strip_prefix(start.as_str());
                rest.is_some_and(|rest| ends_as(rest, end))
            })
    }
}

fn ends_as(text: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => text.ends_with(pattern),
        Some((middle, end)) => text
            .find(middle)
            .and_then(|at| text.get(at + middle.len()..))
            .is_some_and(|rest| ends_as(rest, end)),
    }
}

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

pub(super) fn name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// `""` at the top.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

pub(super) fn depth_of(path: &str) -> usize {
    path.matches('/').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        let patterns = [
            "Cargo.toml",
            "*.csproj",
            "vite.config.*",
            "compose*.y*ml",
            ".github/workflows/*.yml",
        ];
        let patterns = NamePatterns::from(patterns.map(str::to_owned).to_vec());
        for name in [
            "cargo.toml",
            "crates/a/Cargo.toml",
            "app.csproj",
            "vite.config.ts",
            "compose.override.yml",
            ".github/workflows/ci.yml",
        ] {
            assert!(patterns.matches(name), "{name}");
        }
        for name in [
            "cargo.lock",
            "csproj",
            "vite.config",
            "compose.toml",
            "a/.github/workflows/ci.yml",
        ] {
            assert!(!patterns.matches(name), "{name}");
        }
    }
}
