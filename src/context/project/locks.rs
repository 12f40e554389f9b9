//! Lock files: the versions of packages for which a manifest names none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::files::{self, SizeLimit};

use super::dependency::Ecosystem;
use super::manifests::Manifest;

/// The versions in a lock file, by package; the last of several.
type Lock = BTreeMap<String, String>;

/// The lock files of a project, read when they are wanted.
#[derive(Debug)]
pub(super) struct Locks {
    /// The highest folder with lock files of the project.
    top: PathBuf,
    read: BTreeMap<PathBuf, Lock>,
}

impl Locks {
    pub(super) fn new(root: &Path, repository: Option<&Path>) -> Self {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        Self {
            top: repository.map_or(root, Path::to_path_buf),
            read: BTreeMap::new(),
        }
    }

    /// Returns the version of a manifest's package, from the nearest lock file above it.
    pub(super) fn version(&mut self, manifest: &Manifest, package: &str) -> Option<String> {
        let top = self.top.clone();
        let folders = manifest
            .folder
            .ancestors()
            .take_while(|folder| folder.starts_with(&top));
        for folder in folders {
            for (file, parse) in formats(manifest.ecosystem) {
                let path = folder.join(file);
                let lock = self.read.entry(path).or_insert_with_key(|path| {
                    let text = files::read_text(path, SizeLimit::LOCK_FILE).unwrap_or_default();
                    parse(&text).unwrap_or_default()
                });
                if let Some(version) = lock.get(package) {
                    return Some(version.clone());
                }
            }
        }
        None
    }
}

/// Reads the versions in the text of a lock file; `None` if it is broken.
type LockParser = fn(&str) -> Option<Lock>;

/// Returns the lock files of an ecosystem whose manifests often name no version.
fn formats(ecosystem: Ecosystem) -> &'static [(&'static str, LockParser)] {
    match ecosystem {
        Ecosystem::Npm => &[("package-lock.json", package_lock)],
        Ecosystem::Pypi => &[
            ("uv.lock", python_packages),
            ("poetry.lock", python_packages),
            ("pdm.lock", python_packages),
        ],
        Ecosystem::Rubygems => &[("Gemfile.lock", gemfile)],
        Ecosystem::Cargo => &[("Cargo.lock", toml_packages)],
        Ecosystem::Maven
        | Ecosystem::Go
        | Ecosystem::Composer
        | Ecosystem::Nuget
        | Ecosystem::Hex
        | Ecosystem::Swift
        | Ecosystem::Pub => &[],
    }
}

#[derive(Deserialize)]
struct Package {
    #[serde(default)]
    name: String,
    version: Option<String>,
}

fn package_lock(text: &str) -> Option<Lock> {
    #[derive(Deserialize)]
    struct File {
        packages: BTreeMap<String, Package>,
    }
    let file: File = serde_json::from_str(text).ok()?;
    let packages = file.packages.into_iter();
    let installed = packages.filter_map(|(path, package)| {
        Some((
            path.strip_prefix("node_modules/")?.to_owned(),
            package.version?,
        ))
    });
    Some(installed.collect())
}

fn toml_packages(text: &str) -> Option<Lock> {
    #[derive(Deserialize)]
    struct File {
        package: Vec<Package>,
    }
    let file: File = toml::from_str(text).ok()?;
    let packages = file.package.into_iter();
    Some(
        packages
            .filter_map(|package| Some((package.name, package.version?)))
            .collect(),
    )
}

/// Reads packages under their names as the registry compares them.
fn python_packages(text: &str) -> Option<Lock> {
    let packages = toml_packages(text)?.into_iter();
    let normal = |name: String| name.to_ascii_lowercase().replace(['_', '.'], "-");
    Some(
        packages
            .map(|(name, version)| (normal(name), version))
            .collect(),
    )
}

/// Reads the lines of installed gems: four spaces, the name, the version in parentheses.
#[expect(
    clippy::unnecessary_wraps,
    reason = "a reader like those of other formats, which can fail"
)]
fn gemfile(text: &str) -> Option<Lock> {
    let gems = text.lines().filter_map(|line| {
        let gem = line
            .strip_prefix("    ")
            .filter(|gem| !gem.starts_with(' '))?;
        let (name, version) = gem.strip_suffix(')')?.split_once(" (")?;
        let is_version = version.starts_with(|c: char| c.is_ascii_digit());
        is_version.then(|| (name.to_owned(), version.to_owned()))
    });
    Some(gems.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_have_a_version_for_each_package() {
        let npm = r#"{"packages": {"": {"name": "x", "version": "9.9.9"},
            "node_modules/next": {"version": "14.2.3"},
            "node_modules/other/node_modules/next": {"version": "1.0.0"}}}"#;
        let cargo = "version = 4\n\n[[package]]\nname = \"axum\"\nversion = \"0.6.20\"\n\n\
                     [[package]]\nname = \"axum\"\nversion = \"0.7.5\"\n";
        let uv = "[[package]]\nname = \"Django_Ninja\"\nversion = \"1.1.0\"\n\n\
                  [[package]]\nname = \"own\"\n";
        let gems = "GEM\n  remote: https://rubygems.org/\n  specs:\n    rails (7.1.2)\n      \
                    actionpack (= 7.1.2)\n\nDEPENDENCIES\n  rails (~> 7.0)\n";
        for (ecosystem, file, text, package, version) in [
            (
                Ecosystem::Npm,
                "package-lock.json",
                npm,
                "next",
                Some("14.2.3"),
            ),
            (Ecosystem::Cargo, "Cargo.lock", cargo, "axum", Some("0.7.5")),
            (
                Ecosystem::Pypi,
                "uv.lock",
                uv,
                "django-ninja",
                Some("1.1.0"),
            ),
            (Ecosystem::Pypi, "uv.lock", uv, "own", None),
            (
                Ecosystem::Rubygems,
                "Gemfile.lock",
                gems,
                "rails",
                Some("7.1.2"),
            ),
            (
                Ecosystem::Rubygems,
                "Gemfile.lock",
                gems,
                "actionpack",
                None,
            ),
        ] {
            let (_, parse) = formats(ecosystem)
                .iter()
                .find(|(name, _)| *name == file)
                .unwrap();
            let lock = parse(text).unwrap();
            assert_eq!(lock.get(package).map(String::as_str), version, "{file}");
        }
    }

    #[test]
    fn broken_locks_have_no_versions() {
        for parse in [package_lock, python_packages, toml_packages, gemfile] {
            for text in ["", "{", "[[package]\n", "\u{0}", "a:\n b:\n  c"] {
                assert!(parse(text).unwrap_or_default().is_empty(), "{text}");
            }
        }
    }
}
