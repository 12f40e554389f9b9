//! The rules of the scan, from `rules.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::patterns::NamePatterns;
use super::technologies::{SignPatterns, Technologies};

/// The rules as the file has them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    languages: BTreeMap<String, Vec<String>>,
    files: FileNames,
    documents: DocumentNames,
    skipped: SkippedNames,
    folders: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileNames {
    manifests: Vec<String>,
    configuration: Vec<String>,
    documentation: Vec<String>,
    databases: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DocumentNames {
    folders: Vec<String>,
    extensions: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SkippedNames {
    anywhere: Vec<String>,
    marks: Vec<String>,
    beside: BTreeMap<String, Vec<String>>,
}

/// All rules, ready to be looked up.
#[derive(Debug)]
pub(super) struct Rules {
    /// The language of each extension.
    pub(super) languages: BTreeMap<String, String>,
    pub(super) manifests: NamePatterns,
    pub(super) configuration: NamePatterns,
    pub(super) documentation: NamePatterns,
    pub(super) databases: NamePatterns,
    pub(super) signs: SignPatterns,
    pub(super) technologies: Technologies,
    pub(super) document_folders: NamePatterns,
    pub(super) document_extensions: Vec<String>,
    pub(super) skipped: SkippedFolders,
    /// What folders are for, by their names in lower case.
    pub(super) folders: BTreeMap<String, String>,
}

/// The folders that are not read.
#[derive(Clone, Debug)]
pub(super) struct SkippedFolders {
    pub(super) anywhere: NamePatterns,
    /// Files that mark the folder that holds them.
    pub(super) marks: Vec<String>,
    /// The files beside which a folder of this name is generated.
    pub(super) beside: BTreeMap<String, NamePatterns>,
}

impl Rules {
    /// Returns the rules of this program.
    ///
    /// # Errors
    ///
    /// Never in a tested build: the file is part of the program.
    pub(super) fn builtin() -> Result<Self, toml::de::Error> {
        let file: RulesFile = toml::from_str(include_str!("rules.toml"))?;
        let technologies = Technologies::builtin()?;
        let mut languages = BTreeMap::new();
        for (language, extensions) in file.languages {
            for extension in extensions {
                languages.insert(extension, language.clone());
            }
        }
        let beside = file.skipped.beside.iter();
        Ok(Self {
            languages,
            manifests: NamePatterns::new(&file.files.manifests),
            configuration: NamePatterns::new(&file.files.configuration),
            documentation: NamePatterns::new(&file.files.documentation),
            databases: NamePatterns::new(&file.files.databases),
            signs: technologies.sign_patterns(),
            technologies,
            document_folders: NamePatterns::new(&file.documents.folders),
            document_extensions: file.documents.extensions,
            folders: file.folders,
            skipped: SkippedFolders {
                anywhere: NamePatterns::new(&file.skipped.anywhere),
                marks: file.skipped.marks,
                beside: beside
                    .map(|(name, patterns)| (name.clone(), NamePatterns::new(patterns)))
                    .collect(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_rules_can_be_read() {
        Rules::builtin().unwrap();
    }
}
