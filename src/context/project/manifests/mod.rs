//! Package manifests: what a project says of itself and depends on.
//!
//! Manifests in JSON and TOML are parsed. Those that are programs or markup (Gemfile,
//! `build.gradle`, `mix.exs`, `setup.py`, `pom.xml`) are read by regular expressions that pass over
//! comments. Which file is read in which way is data: `manifests.toml`. A manifest that cannot be
//! parsed has nothing to say.

mod data;
mod code;
mod catalog;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use regex::Captures;
use serde::Deserialize;

use crate::files::{SizeLimit, resolved};
use crate::text::pattern::Pattern;

use self::code::CodePatterns;
use self::data::DataPaths;
use super::patterns::NamePatterns;
use super::patterns::{Dependency, Ecosystem, Scope};

/// So many manifests are read, those nearest to the top first.
const MAX_MANIFESTS: usize = 1_000;

/// A manifest that was read.
#[derive(Debug)]
pub(super) struct Manifest {
    pub(super) ecosystem: Ecosystem,
    /// Relative to the project.
    pub(super) path: String,
    pub(super) folder: PathBuf,
    pub(super) content: ManifestContent,
    /// The dependencies and the versions that it has from manifests above it.
    pub(super) inherited: Vec<Dependency>,
}

/// What a manifest says.
#[derive(Debug, Default)]
pub(super) struct ManifestContent {
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    pub(super) keywords: Vec<String>,
    /// With the versions that manifests above have.
    pub(super) dependencies: Vec<Dependency>,
    /// The versions of dependencies of manifests below this one, or of names for them.
    catalog: BTreeMap<String, Vec<Dependency>>,
    /// Values that versions refer to as `${name}`.
    properties: BTreeMap<String, String>,
    /// Whether it lists other packages of the project.
    pub(super) is_workspace: bool,
}

/// A kind of manifest.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Format {
    files: NamePatterns,
    ecosystem: Ecosystem,
    syntax: Syntax,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Syntax {
    Data(DataPaths),
    Code(CodePatterns),
    GradleCatalog,
}

/// `files` are nearest to the top first.
pub(super) fn read_all<'a>(
    root: &Path,
    files: impl Iterator<Item = &'a String>,
    repository: Option<&Path>,
    formats: &[Format],
) -> Vec<Manifest> {
    let mut own: Vec<Manifest> = files
        .filter_map(|path| read(root, path, formats))
        .take(MAX_MANIFESTS)
        .collect();
    let above = repository.map_or_else(Vec::new, |repository| above(root, repository, formats));
    let resolved: Vec<_> = own
        .iter()
        .map(|manifest| resolved(manifest, own.iter().chain(&above)))
        .collect();
    for (manifest, (dependencies, inherited)) in own.iter_mut().zip(resolved) {
        manifest.content.dependencies = dependencies;
        manifest.inherited = inherited;
    }
    own
}

fn resolved<'a>(
    manifest: &Manifest,
    all: impl Iterator<Item = &'a Manifest>,
) -> (Vec<Dependency>, Vec<Dependency>) {
    let is_above = |other: &&Manifest| {
        other.ecosystem == manifest.ecosystem && manifest.folder.starts_with(&other.folder)
    };
    let mut above: Vec<&Manifest> = all.filter(is_above).collect();
    above.sort_by_key(|other| Reverse(other.folder.components().count()));
    let filled_in = |dependency: &Dependency| Dependency {
        requirement: dependency
            .requirement
            .as_deref()
            .and_then(|text| filled_in(text, &above)),
        ..dependency.clone()
    };
    let mut dependencies = Vec::new();
    for dependency in &manifest.content.dependencies {
        let entries = above
            .iter()
            .find_map(|other| other.content.catalog.get(&dependency.name));
        match (&dependency.requirement, entries) {
            (None, Some(entries)) => dependencies.extend(entries.iter().map(|entry| Dependency {
                scope: dependency.scope,
                ..filled_in(entry)
            })),
            _ => dependencies.push(filled_in(dependency)),
        }
    }
    let inherited = above.iter().flat_map(|other| {
        let versions = other.content.catalog.values().flatten();
        other.content.dependencies.iter().chain(versions)
    });
    (dependencies, inherited.map(filled_in).collect())
}

/// Fills in the `${name}`, `$(name)` and `$name` of a version; `None` if one is not known.
fn filled_in(version: &str, above: &[&Manifest]) -> Option<String> {
    static REFERENCE: Pattern = Pattern::new(r"\$(?:\{([^}]*)\}|\(([^)]*)\)|(\w+))");
    const NESTED: usize = 4;
    let mut version = version.to_owned();
    for _ in 0..NESTED {
        if !version.contains('$') {
            return Some(version);
        }
        let value = |captures: &Captures<'_>| {
            let name = captures.iter().skip(1).flatten().next();
            let mut others = above.iter();
            let value = others.find_map(|other| other.content.properties.get(name?.as_str()));
            // What is not known stays a reference.
            value.map_or_else(|| "$".to_owned(), String::clone)
        };
        version = REFERENCE.replace_in(&version, value).into_owned();
    }
    None
}

fn above(root: &Path, repository: &Path, formats: &[Format]) -> Vec<Manifest> {
    const NAMES: [&str; 7] = [
        "Cargo.toml",
        "package.json",
        "pom.xml",
        "build.gradle.kts",
        "gradle/libs.versions.toml",
        "Directory.Packages.props",
        "Directory.Build.props",
    ];
    let folders = root
        .ancestors()
        .skip(1)
        .take_while(|folder| folder.starts_with(repository));
    folders
        .flat_map(|folder| NAMES.iter().filter_map(|name| read(folder, name, formats)))
        .collect()
}

/// `None` if it is none of the known ones, or broken.
fn read(root: &Path, path: &str, formats: &[Format]) -> Option<Manifest> {
    let format = formats.iter().find(|format| format.files.matches(path))?;
    let text = resolved::read_text(&root.join(path), SizeLimit::MANIFEST).ok()?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut content = match &format.syntax {
        Syntax::Data(paths) => paths.read(text)?,
        Syntax::Code(patterns) => patterns.read(text),
        Syntax::GradleCatalog => catalog::gradle(text)?,
    };
    if format.ecosystem == Ecosystem::Pypi {
        for dependency in &mut content.dependencies {
            // As the registry compares names.
            dependency.name = dependency
                .name
                .to_ascii_lowercase()
                .replace(['_', '.'], "-");
        }
    }
    let mut folder = root.join(path).parent()?.to_path_buf();
    if matches!(format.syntax, Syntax::GradleCatalog) && folder.ends_with("gradle") {
        folder.pop();
    }
    Some(Manifest {
        ecosystem: format.ecosystem,
        path: path.to_owned(),
        folder,
        content,
        inherited: Vec::new(),
    })
}
