//! The known frameworks and other parts of a stack, from `technologies.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::dependency::{Dependency, Ecosystem, Scope};
use super::patterns::NamePatterns;

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Technologies {
    pub(super) frameworks: BTreeMap<Ecosystem, Vec<Framework>>,
    pub(super) stack: BTreeMap<Ecosystem, Vec<Part>>,
    files: SignRules,
    databases: BTreeMap<String, Database>,
    labels: KindLabels,
}

/// A framework.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Framework {
    pub(super) id: String,
    pub(super) name: String,
    packages: Vec<String>,
    version: Option<Vec<String>>,
    #[serde(default)]
    pub(super) tier: Tier,
    #[serde(default, rename = "dev")]
    counts_in_development: bool,
}

/// The weight of a framework where a project has several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Tier {
    #[default]
    Framework,
    Library,
    Tool,
}

/// Another part of a stack.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    pub(super) kind: String,
    pub(super) id: String,
    pub(super) name: String,
    packages: Vec<String>,
    #[serde(default)]
    pub(super) unversioned: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignRules {
    rules: Vec<SignRule>,
}

/// A part of a stack that a file shows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SignRule {
    pub(super) kind: String,
    pub(super) id: String,
    pub(super) name: String,
    paths: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Database {
    name: String,
    words: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KindLabels {
    kinds: Vec<(String, String)>,
}

/// The patterns of files that show a part of a stack: whole paths, and names in any folder.
#[derive(Debug)]
pub(super) struct SignPatterns {
    paths: NamePatterns,
    names: NamePatterns,
}

impl SignPatterns {
    fn new(patterns: &[String]) -> Self {
        let (paths, names): (Vec<String>, Vec<String>) = patterns
            .iter()
            .cloned()
            .partition(|pattern| pattern.contains('/'));
        Self {
            paths: NamePatterns::new(&paths),
            names: NamePatterns::new(&names),
        }
    }

    /// Returns whether a path matches, or its name in lower case.
    pub(super) fn matches(&self, path: &str, name: &str) -> bool {
        self.names.matches(name) || self.paths.matches(&path.to_ascii_lowercase())
    }
}

impl Technologies {
    pub(super) fn builtin() -> Result<Self, toml::de::Error> {
        toml::from_str(include_str!("technologies.toml"))
    }

    pub(super) fn file_rules(&self) -> &[SignRule] {
        &self.files.rules
    }

    pub(super) fn sign_patterns(&self) -> SignPatterns {
        let rules = self.files.rules.iter();
        let patterns: Vec<String> = rules.flat_map(|rule| rule.paths.clone()).collect();
        SignPatterns::new(&patterns)
    }

    /// Returns the id and the name of the database that a word in configuration means.
    pub(super) fn database(&self, word: &str) -> Option<(&str, &str)> {
        let word = word.to_ascii_lowercase();
        let mut databases = self.databases.iter();
        let (id, database) = databases.find(|(_, database)| database.words.contains(&word))?;
        Some((id, &database.name))
    }

    /// Returns each kind with its name for people, in the order of the text.
    pub(super) fn kinds(&self) -> impl Iterator<Item = (&str, &str)> {
        let kinds = self.labels.kinds.iter();
        kinds.map(|(kind, label)| (kind.as_str(), label.as_str()))
    }
}

impl Framework {
    /// Returns whether a dependency shows that a project uses it.
    pub(super) fn is_shown_by(&self, dependency: &Dependency) -> bool {
        (self.counts_in_development || dependency.scope == Scope::Runtime)
            && matches_any(&self.packages, &dependency.name)
    }

    /// Returns whether its version is that of a dependency.
    pub(super) fn has_version_of(&self, dependency: &Dependency) -> bool {
        let packages = self.version.as_ref().unwrap_or(&self.packages);
        matches_any(packages, &dependency.name)
    }
}

impl Part {
    pub(super) fn is_shown_by(&self, dependency: &Dependency) -> bool {
        matches_any(&self.packages, &dependency.name)
    }
}

impl SignRule {
    pub(super) fn is_shown_by(&self, path: &str, name: &str) -> bool {
        SignPatterns::new(&self.paths).matches(path, name)
    }
}

/// Returns whether one of these packages has a name; a `*` at the end stands for any characters.
fn matches_any(packages: &[String], name: &str) -> bool {
    packages
        .iter()
        .any(|package| match package.strip_suffix('*') {
            Some(start) => starts_with(name, start),
            None => package.eq_ignore_ascii_case(name),
        })
}

fn starts_with(name: &str, start: &str) -> bool {
    name.get(..start.len())
        .is_some_and(|beginning| beginning.eq_ignore_ascii_case(start))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_kind_has_a_label_and_ids_are_words() {
        let technologies = Technologies::builtin().unwrap();
        let labels: BTreeSet<&str> = technologies.kinds().map(|(kind, _)| kind).collect();
        let parts = technologies.stack.values().flatten();
        let kinds = parts.map(|part| (&part.kind, &part.id));
        let files = technologies.file_rules().iter();
        for (kind, id) in kinds.chain(files.map(|rule| (&rule.kind, &rule.id))) {
            assert!(labels.contains(kind.as_str()), "{kind}");
            assert!(is_id(id), "{id}");
        }
        for framework in technologies.frameworks.values().flatten() {
            assert!(is_id(&framework.id), "{}", framework.id);
        }
    }

    fn is_id(text: &str) -> bool {
        text.chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    }
}
