//! `package.json`, and `deno.json` with its imports from npm and JSR.

use serde_json::Value;

use super::{Dependency, ManifestContent, Scope};

pub(super) fn package_json(text: &str) -> Option<ManifestContent> {
    let manifest: Value = serde_json::from_str(text).ok()?;
    let sections = [
        ("dependencies", Scope::Runtime),
        ("peerDependencies", Scope::Runtime),
        ("optionalDependencies", Scope::Runtime),
        ("devDependencies", Scope::Development),
    ];
    let mut dependencies = Vec::new();
    for (section, scope) in sections {
        let entries = manifest.get(section).and_then(Value::as_object);
        for (name, requirement) in entries.into_iter().flatten() {
            dependencies.push(dependency(name, requirement.as_str(), scope));
        }
    }
    let mut entry_points = Vec::new();
    for key in ["source", "module", "main", "bin"] {
        match manifest.get(key) {
            Some(Value::String(path)) => entry_points.push(path.clone()),
            Some(Value::Object(paths)) => {
                entry_points.extend(paths.values().filter_map(Value::as_str).map(str::to_owned));
            }
            _ => {}
        }
    }
    Some(ManifestContent {
        name: text_of(&manifest, "name"),
        description: text_of(&manifest, "description"),
        keywords: texts_of(&manifest, "keywords"),
        dependencies,
        entry_points,
        is_workspace: manifest.get("workspaces").is_some(),
        ..ManifestContent::default()
    })
}

/// Returns a dependency. `npm:name@version` is another name for a package, and other words before a
/// colon (`workspace:`, `catalog:`, `file:`, `git+ssh:`) are no versions.
fn dependency(name: &str, requirement: Option<&str>, scope: Scope) -> Dependency {
    match requirement.and_then(|text| text.split_once(':')) {
        Some(("npm", package)) => {
            let (name, version) = split_version(package);
            Dependency::new(name, version, scope)
        }
        Some(_) => Dependency::new(name, None, scope),
        None => Dependency::new(name, requirement, scope),
    }
}

/// Splits `@scope/name@version`.
pub(super) fn split_version(package: &str) -> (&str, Option<&str>) {
    match package.rsplit_once('@') {
        Some((name, version)) if !name.is_empty() => (name, Some(version)),
        _ => (package, None),
    }
}

pub(super) fn deno_json(text: &str) -> Option<ManifestContent> {
    let manifest = jsonc_parser::parse_to_value(text, &jsonc_parser::ParseOptions::default());
    let jsonc_parser::JsonValue::Object(manifest) = manifest.ok()?? else {
        return None;
    };
    let mut content = ManifestContent {
        name: manifest.get_string("name").map(ToString::to_string),
        is_workspace: manifest.get("workspace").is_some(),
        ..ManifestContent::default()
    };
    if let Some(imports) = manifest.get_object("imports") {
        for (_, target) in imports.clone() {
            let jsonc_parser::JsonValue::String(target) = target else {
                continue;
            };
            if let Some(("npm" | "jsr", package)) = target.split_once(':') {
                let (name, version) = split_version(package.trim_start_matches('/'));
                let name = name.to_owned();
                content
                    .dependencies
                    .push(Dependency::new(name, version, Scope::Runtime));
            }
        }
    }
    Some(content)
}

pub(super) fn text_of(manifest: &Value, key: &str) -> Option<String> {
    manifest.get(key)?.as_str().map(str::to_owned)
}

pub(super) fn texts_of(manifest: &Value, key: &str) -> Vec<String> {
    let texts = manifest.get(key).and_then(Value::as_array);
    let texts = texts.into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}
