//! The rules of the scan as data: what is looked for, from `rules.toml`, the known frameworks and
//! other parts of a stack, from `technologies.toml`, and how manifests are read, from
//! `manifests.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::manifests::Format;
use super::patterns::{Dependency, Ecosystem, NamePatterns, Scope};

/// All rules.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rules {
    /// The extensions of each language.
    languages: BTreeMap<String, Vec<String>>,
    pub(super) files: FileNames,
    pub(super) documents: DocumentNames,
    pub(super) skipped: SkippedFolders,
    /// What folders are for, by their names in lower case.
    pub(super) folders: BTreeMap<String, String>,
    pub(super) frameworks: BTreeMap<Ecosystem, Vec<Framework>>,
    pub(super) stack: BTreeMap<Ecosystem, Vec<Part>>,
    signs: BTreeMap<String, Vec<Part>>,
    databases: BTreeMap<String, Database>,
    labels: BTreeMap<String, Vec<(String, String)>>,
    #[serde(rename = "format")]
    pub(super) formats: Vec<Format>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileNames {
    pub(super) manifests: NamePatterns,
    pub(super) configuration: NamePatterns,
    pub(super) documentation: NamePatterns,
    pub(super) databases: NamePatterns,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DocumentNames {
    pub(super) folders: NamePatterns,
    pub(super) extensions: Vec<String>,
    pub(super) templates: NamePatterns,
    pub(super) readmes: NamePatterns,
    pub(super) architecture: NamePatterns,
    pub(super) rules: NamePatterns,
    pub(super) decisions: NamePatterns,
}

/// The folders that are not read.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SkippedFolders {
    pub(super) anywhere: NamePatterns,
    secondary: NamePatterns,
    /// Files that mark the folder that holds them.
    pub(super) marks: Vec<String>,
    /// The files beside which a folder of this name is generated.
    pub(super) beside: BTreeMap<String, NamePatterns>,
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

/// Another part of a stack, which packages show, or files.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    pub(super) kind: String,
    pub(super) id: String,
    pub(super) name: String,
    #[serde(default)]
    packages: Vec<String>,
    #[serde(default)]
    pub(super) paths: NamePatterns,
    #[serde(default)]
    pub(super) unversioned: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Database {
    name: String,
    words: Vec<String>,
}

impl Rules {
    /// Returns the rules of this program.
    ///
    /// # Errors
    ///
    /// Never in a tested build: the files are part of the program.
    pub(super) fn builtin() -> Result<Self, toml::de::Error> {
        toml::from_str(concat!(
            include_str!("rules.toml"),
            include_str!("technologies.toml"),
            include_str!("manifests.toml")
        ))
    }

    pub(super) fn language(&self, extension: &str) -> Option<&str> {
        let mut languages = self.languages.iter();
        let (language, _) = languages.find(|(_, all)| all.iter().any(|one| one == extension))?;
        Some(language)
    }

    pub(super) fn signs(&self) -> impl Iterator<Item = &Part> {
        self.signs.values().flatten()
    }

    pub(super) fn database(&self, word: &str) -> Option<(&str, &str)> {
        let word = word.to_ascii_lowercase();
        let mut databases = self.databases.iter();
        let (id, database) = databases.find(|(_, database)| database.words.contains(&word))?;
        Some((id, &database.name))
    }

    /// In the order of the text.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &(String, String)> {
        self.labels.values().flatten()
    }

    pub(super) fn is_secondary(&self, path: &str) -> bool {
        let mut folders = path.rsplit('/').skip(1);
        folders.any(|folder| self.skipped.secondary.matches(folder))
    }
}

impl Framework {
    pub(super) fn is_shown_by(&self, dependency: &Dependency) -> bool {
        (self.counts_in_development || dependency.scope == Scope::Runtime)
            && matches_any(&self.packages, &dependency.name)
    }

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

/// A `*` at the end stands for any characters.
fn matches_any(packages: &[String], name: &str) -> bool {
    packages
        .iter()
        .any(|package| match package.strip_suffix('*') {
            Some(start) => name
                .get(..start.len())
                .is_some_and(|beginning| beginning.eq_ignore_ascii_case(start)),
            None => package.eq_ignore_ascii_case(name),
        })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_kind_has_a_label_and_ids_are_words() {
        let rules = Rules::builtin().unwrap();
        let labels: BTreeSet<&str> = rules.kinds().map(|(kind, _)| kind.as_str()).collect();
        let parts = rules.stack.values().flatten();
        let kinds = parts.map(|part| (&part.kind, &part.id));
        for (kind, id) in kinds.chain(rules.signs().map(|sign| (&sign.kind, &sign.id))) {
            assert!(labels.contains(kind.as_str()), "{kind}");
            assert!(is_id(id), "{id}");
        }
        for framework in rules.frameworks.values().flatten() {
            assert!(is_id(&framework.id), "{}", framework.id);
        }
    }

    fn is_id(text: &str) -> bool {
        text.chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    }
}
