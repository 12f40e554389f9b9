//! Manifests in JSON and TOML: values at the paths that a format names.

use jsonc_parser::ParseOptions;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Dependency, ManifestContent, Scope};
use crate::text::pattern::Pattern;

/// Where a format has its values. In a dotted path, `*` stands for any key.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct DataPaths {
    name: Vec<String>,
    description: Vec<String>,
    keywords: Vec<String>,
    runtime: Vec<String>,
    development: Vec<String>,
    catalog: Vec<String>,
    workspace: Vec<String>,
}

impl DataPaths {
    pub(super) fn read(&self, text: &str) -> Option<ManifestContent> {
        let root: Value = toml::from_str(text)
            .or_else(|_| jsonc_parser::parse_to_serde_value(text, &ParseOptions::default()))
            .ok()
            .filter(Value::is_object)?;
        let first = |paths| {
            values(&root, paths)
                .find_map(Value::as_str)
                .map(str::to_owned)
        };
        let scopes = [
            (&self.runtime, Scope::Runtime),
            (&self.development, Scope::Development),
        ];
        let dependencies = scopes.into_iter().flat_map(|(paths, scope)| {
            values(&root, paths).flat_map(move |value| packages(value, scope))
        });
        let catalog = values(&root, &self.catalog)
            .filter_map(Value::as_object)
            .flatten();
        let keywords = values(&root, &self.keywords).flat_map(texts);
        Some(ManifestContent {
            name: first(&self.name),
            description: first(&self.description),
            keywords: keywords.map(str::to_owned).collect(),
            dependencies: dependencies.collect(),
            catalog: catalog
                .map(|(name, value)| (name.clone(), package(name, value, Scope::Runtime)))
                .collect(),
            is_workspace: values(&root, &self.workspace).next().is_some(),
            ..ManifestContent::default()
        })
    }
}

fn values<'a>(root: &'a Value, paths: &[String]) -> impl Iterator<Item = &'a Value> {
    let at = |path: &String| {
        path.split('.').fold(vec![root], |values, key| {
            let inside = values.into_iter().filter_map(Value::as_object);
            match key {
                "*" => inside.flat_map(Map::values).collect(),
                key => inside.filter_map(|fields| fields.get(key)).collect(),
            }
        })
    };
    paths.iter().flat_map(at).collect::<Vec<_>>().into_iter()
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(Value::as_str)
}

/// Reads a list of requirements, or a table of packages.
fn packages(value: &Value, scope: Scope) -> Vec<Dependency> {
    let listed = texts(value).filter_map(|text| requirement(text, scope));
    let tabled = value.as_object().into_iter().flatten();
    listed
        .chain(tabled.flat_map(|(name, value)| package(name, value, scope)))
        .collect()
}

/// Reads an entry of a table of packages: a version, or a table that may have one. Each feature
/// that it asks for is one more dependency: `sqlx/postgres`.
///
/// `npm:name@version` is another name for a package, and other words before a colon (`workspace:`,
/// `catalog:`, `file:`, `git+ssh:`) are no versions. A path of the project is no package.
fn package(name: &str, value: &Value, scope: Scope) -> Vec<Dependency> {
    let field = |key| value.get(key).and_then(Value::as_str);
    let name = field("package").unwrap_or(name);
    let version = value.as_str().or_else(|| field("version"));
    let (name, version) = match version.and_then(|version| version.split_once(':')) {
        Some(("npm" | "jsr", package)) => match package.rsplit_once('@') {
            Some((name, version)) if !name.is_empty() => (name, Some(version)),
            _ => (package, None),
        },
        Some(_) => (name, None),
        None if version.is_some_and(|version| version.starts_with(['.', '/'])) => {
            return Vec::new();
        }
        None => (name, version),
    };
    let features = value.get("features").into_iter().flat_map(texts);
    let features =
        features.map(|feature| Dependency::new(format!("{name}/{feature}"), None, scope));
    std::iter::once(Dependency::new(name, version, scope))
        .chain(features)
        .collect()
}

/// Reads Python's `name[extras] (>=1.0); marker  # comment`. Options, paths and addresses are none.
pub(super) fn requirement(text: &str, scope: Scope) -> Option<Dependency> {
    static REQUIREMENT: Pattern = Pattern::prepared("", |_| {
        let name = r"^\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*";
        let version = r"(?:\(?((?:[<>=!~]=|[<>])[^;)\\]*?))?\)?";
        format!(r"{name}{version}(?:\s--|\s*[;\\@]|\s+#|\s*$)")
    });
    let captures = REQUIREMENT.all(text).next()?;
    let name = captures.get(1)?.as_str();
    let version = captures.get(2).map(|version| version.as_str());
    Some(Dependency::new(name, version, scope))
}
