//! Package manifests: what a project says of itself and depends on.
//!
//! Manifests in JSON, TOML and XML are parsed. Those that are programs (Gemfile, `build.gradle`,
//! `mix.exs`, `Package.swift`, `setup.py`) are read by a small grammar of statements and string
//! literals that passes over comments: what they compute is not known. A manifest that cannot be
//! parsed has nothing to say.

mod code;
mod npm;
mod python;
mod ruby;
mod cargo;
mod maven;
mod gradle;
mod go;
mod composer;
mod dotnet;
mod elixir;
mod swift;
mod dart;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::files::{self, SizeLimit};

use super::dependency::{Dependency, Ecosystem, Scope};
use super::paths::name_of;
use super::tree::Tree;

/// So many manifests are read, those nearest to the top first.
const MOST_MANIFESTS: usize = 1_000;

/// A manifest that was read.
#[derive(Debug)]
pub(super) struct Manifest {
    pub(super) ecosystem: Ecosystem,
    /// Relative to the project.
    pub(super) path: String,
    pub(super) folder: PathBuf,
    pub(super) content: ManifestContent,
}

/// What a manifest says.
#[derive(Debug, Default)]
pub(super) struct ManifestContent {
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    pub(super) keywords: Vec<String>,
    pub(super) dependencies: Vec<Dependency>,
    /// The versions of dependencies of manifests below this one, or of names for them.
    pub(super) catalog: BTreeMap<String, Vec<Dependency>>,
    /// Values that versions refer to as `${name}`.
    pub(super) properties: BTreeMap<String, String>,
    /// Source files, relative to the manifest.
    pub(super) entry_points: Vec<String>,
    /// Whether it lists other packages of the project.
    pub(super) is_workspace: bool,
}

/// The manifests of a project.
#[derive(Debug, Default)]
pub(super) struct Manifests {
    /// Those of the project, nearest to the top first.
    pub(super) own: Vec<Manifest>,
    /// Those of folders between the repository and the project.
    above: Vec<Manifest>,
}

impl Manifests {
    pub(super) fn read(root: &Path, tree: &Tree, repository: Option<&Path>) -> Self {
        let paths = tree.manifests.iter().chain(&tree.configuration);
        let own: Vec<Manifest> = paths
            .filter_map(|path| read(root, path))
            .take(MOST_MANIFESTS)
            .collect();
        Self {
            own,
            above: repository.map_or_else(Vec::new, |repository| above(root, repository)),
        }
    }

    /// Returns the dependencies of a manifest, with the versions that manifests above it have.
    pub(super) fn dependencies(&self, manifest: &Manifest) -> Vec<Dependency> {
        let above = self.above(manifest);
        let mut resolved = Vec::new();
        for dependency in &manifest.content.dependencies {
            let entries = above
                .iter()
                .find_map(|other| other.content.catalog.get(&dependency.name));
            match (&dependency.requirement, entries) {
                (None, Some(entries)) => {
                    resolved.extend(entries.iter().map(|entry| Dependency {
                        scope: dependency.scope,
                        ..entry.clone()
                    }));
                }
                _ => resolved.push(dependency.clone()),
            }
        }
        for dependency in &mut resolved {
            if let Some(requirement) = dependency.requirement.take() {
                dependency.requirement = interpolated(requirement, &above);
            }
        }
        resolved
    }

    /// Returns the dependencies and the versions that a manifest has from those above it.
    pub(super) fn inherited(&self, manifest: &Manifest) -> Vec<Dependency> {
        let above = self.above(manifest);
        let mut inherited = Vec::new();
        for other in &above {
            let entries = other.content.catalog.values().flatten();
            for dependency in other.content.dependencies.iter().chain(entries) {
                let requirement = dependency.requirement.clone();
                inherited.push(Dependency {
                    requirement: requirement.and_then(|text| interpolated(text, &above)),
                    ..dependency.clone()
                });
            }
        }
        inherited
    }

    /// Returns a manifest and those in folders above it, nearest first.
    fn above<'a>(&'a self, manifest: &'a Manifest) -> Vec<&'a Manifest> {
        let mut manifests: Vec<&Manifest> = self
            .own
            .iter()
            .chain(&self.above)
            .filter(|other| {
                other.ecosystem == manifest.ecosystem && manifest.folder.starts_with(&other.folder)
            })
            .collect();
        manifests.sort_by_key(|other| std::cmp::Reverse(other.folder.components().count()));
        manifests
    }
}

/// Fills in the `${name}` of a version; `None` if one is not known.
fn interpolated(mut text: String, above: &[&Manifest]) -> Option<String> {
    const NESTED: usize = 4;
    for _ in 0..NESTED {
        let Some((before, rest)) = text.split_once("${") else {
            return Some(text);
        };
        let (name, after) = rest.split_once('}')?;
        let value = above
            .iter()
            .find_map(|other| other.content.properties.get(name))?;
        text = format!("{before}{value}{after}");
    }
    None
}

/// Reads the manifests of the folders above the project, up to the repository's.
fn above(root: &Path, repository: &Path) -> Vec<Manifest> {
    const NAMES: [&str; 7] = [
        "Cargo.toml",
        "package.json",
        "pom.xml",
        "build.gradle.kts",
        "gradle/libs.versions.toml",
        "Directory.Packages.props",
        "Directory.Build.props",
    ];
    let Ok(root) = root.canonicalize() else {
        return Vec::new();
    };
    let folders = root
        .ancestors()
        .skip(1)
        .take_while(|folder| folder.starts_with(repository));
    folders
        .flat_map(|folder| NAMES.iter().filter_map(|name| read(folder, name)))
        .collect()
}

/// Reads a manifest; `None` if it is none of the known ones, or broken.
fn read(root: &Path, path: &str) -> Option<Manifest> {
    let (ecosystem, parse) = parser(path)?;
    let file = root.join(path);
    let text = files::read_text(&file, SizeLimit::MANIFEST).ok()?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let root = root.canonicalize().ok()?;
    let mut folder = root.join(path).parent()?.to_path_buf();
    if path == gradle::CATALOG || path.ends_with(&format!("/{}", gradle::CATALOG)) {
        folder.pop();
    }
    Some(Manifest {
        ecosystem,
        path: path.to_owned(),
        folder,
        content: parse(text, path)?,
    })
}

/// Reads the text of a manifest at a path; `None` if it is broken.
type ManifestParser = fn(&str, &str) -> Option<ManifestContent>;

/// Returns how a file is read, from its name.
fn parser(path: &str) -> Option<(Ecosystem, ManifestParser)> {
    let name = name_of(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let parser: (Ecosystem, ManifestParser) = match name {
        "package.json" => (Ecosystem::Npm, |text, _| npm::package_json(text)),
        "deno.json" | "deno.jsonc" => (Ecosystem::Npm, |text, _| npm::deno_json(text)),
        "pyproject.toml" => (Ecosystem::Pypi, |text, _| python::pyproject(text)),
        "Pipfile" => (Ecosystem::Pypi, |text, _| python::pipfile(text)),
        "setup.cfg" => (Ecosystem::Pypi, |text, _| python::setup_cfg(text)),
        "setup.py" => (Ecosystem::Pypi, |text, _| Some(python::setup_py(text))),
        "Cargo.toml" => (Ecosystem::Cargo, |text, _| cargo::manifest(text)),
        "go.mod" => (Ecosystem::Go, |text, _| go::go_mod(text)),
        "Gemfile" => (Ecosystem::Rubygems, |text, _| Some(ruby::gemfile(text))),
        "composer.json" => (Ecosystem::Composer, |text, _| composer::manifest(text)),
        "pom.xml" => (Ecosystem::Maven, |text, _| maven::pom(text)),
        "build.gradle" | "build.gradle.kts" => {
            (Ecosystem::Maven, |text, _| Some(gradle::build(text)))
        }
        "libs.versions.toml" => (Ecosystem::Maven, |text, _| gradle::catalog(text)),
        "mix.exs" => (Ecosystem::Hex, |text, _| Some(elixir::mix(text))),
        "Package.swift" => (Ecosystem::Swift, |text, _| Some(swift::package(text))),
        "pubspec.yaml" => (Ecosystem::Pub, |text, _| dart::pubspec(text)),
        "Directory.Packages.props" | "Directory.Build.props" => {
            (Ecosystem::Nuget, |text, _| dotnet::props(text))
        }
        _ if extension == "gemspec" => (Ecosystem::Rubygems, |text, _| Some(ruby::gemspec(text))),
        _ if ["csproj", "fsproj", "vbproj"].contains(&extension) => {
            (Ecosystem::Nuget, dotnet::project)
        }
        _ if extension == "txt" => (Ecosystem::Pypi, |text, path| {
            Some(python::requirements(text, path))
        }),
        _ => return None,
    };
    Some(parser)
}
