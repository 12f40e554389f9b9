//! Lock files: the versions of packages for which a manifest names none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::files::{SizeLimit, resolved};

use super::manifests::Manifest;
use super::patterns::Ecosystem;

/// The lock files of ecosystems whose manifests often name no version, and how the entry of a
/// package called `NAME` begins.
const FORMATS: [(Ecosystem, &str, &str); 6] = [
    (Ecosystem::Npm, "package-lock.json", JSON),
    (Ecosystem::Pypi, "uv.lock", TOML),
    (Ecosystem::Pypi, "poetry.lock", TOML),
    (Ecosystem::Pypi, "pdm.lock", TOML),
    (Ecosystem::Rubygems, "Gemfile.lock", GEMS),
    (Ecosystem::Cargo, "Cargo.lock", TOML),
];
const JSON: &str = r#""node_modules/NAME":\s*\{\s*"version":\s*"([^"]+)""#;
const GEMS: &str = r"(?m)^    NAME \((\d[^)]*)\)$";
const TOML: &str = r#"(?m)^name = "NAME"\r?\nversion = "([^"]+)""#;

/// The lock files of a project, read when they are wanted.
#[derive(Debug)]
pub(super) struct Locks {
    /// The highest folder with lock files of the project.
    top: PathBuf,
    texts: BTreeMap<PathBuf, String>,
}

impl Locks {
    pub(super) fn new(root: &Path, repository: Option<&Path>) -> Self {
        Self {
            top: repository.unwrap_or(root).to_owned(),
            texts: BTreeMap::new(),
        }
    }

    /// From the nearest lock file above it.
    pub(super) fn version(&mut self, manifest: &Manifest, package: &str) -> Option<String> {
        let Self { top, texts } = self;
        let folders = manifest.folder.ancestors();
        for folder in folders.take_while(|folder| folder.starts_with(&*top)) {
            for (ecosystem, file, entry) in FORMATS {
                if ecosystem != manifest.ecosystem {
                    continue;
                }
                let text = texts.entry(folder.join(file)).or_insert_with_key(|path| {
                    resolved::read_text(path, SizeLimit::LOCK_FILE).unwrap_or_default()
                });
                if let Some(version) = version_in(text, entry, package) {
                    return Some(version.to_owned());
                }
            }
        }
        None
    }
}

fn version_in<'a>(text: &'a str, entry: &str, package: &str) -> Option<&'a str> {
    // Registries of Python compare names without regard to case and these marks.
    let name = format!("(?i:{})", regex::escape(package).replace(r"\-", "[-_.]"));
    let entry = Regex::new(&entry.replace("NAME", &name)).ok()?;
    let last = entry.captures_iter(text).last()?;
    Some(last.get(1)?.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_version(file: &str, text: &str, package: &str, version: Option<&str>) {
        let mut formats = FORMATS.iter();
        let (_, _, entry) = formats.find(|(_, name, _)| *name == file).unwrap();
        assert_eq!(version_in(text, entry, package), version);
    }

    #[test]
    fn locks_have_a_version_for_each_package() {
        let npm = r#"{"packages": {"": {"name": "x", "version": "9.9.9"},
            "node_modules/next": {"version": "14.2.3"},
            "node_modules/other/node_modules/next": {"version": "1.0.0"}}}"#;
        assert_version("package-lock.json", npm, "next", Some("14.2.3"));
        let cargo = "version = 4\n\n[[package]]\nname = \"axum\"\nversion = \"0.6.20\"\n\n\
                     [[package]]\nname = \"axum\"\nversion = \"0.7.5\"\n";
        assert_version("Cargo.lock", cargo, "axum", Some("0.7.5"));
        let uv = "[[package]]\nname = \"Django_Ninja\"\nversion = \"1.1.0\"\n\n\
                  [[package]]\nname = \"own\"\n";
        assert_version("uv.lock", uv, "django-ninja", Some("1.1.0"));
        assert_version("uv.lock", uv, "own", None);
        let gems = "GEM\n  remote: https://rubygems.org/\n  specs:\n    rails (7.1.2)\n      \
                    actionpack (= 7.1.2)\n\nDEPENDENCIES\n  rails (~> 7.0)\n";
        assert_version("Gemfile.lock", gems, "rails", Some("7.1.2"));
        assert_version("Gemfile.lock", gems, "actionpack", None);
    }
}
