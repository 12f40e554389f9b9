//! Rust's `Cargo.toml`.

use toml::{Table, Value};

use super::{Dependency, ManifestContent, Scope};

pub(super) fn manifest(text: &str) -> Option<ManifestContent> {
    let manifest: Table = toml::from_str(text).ok()?;
    let mut content = ManifestContent::default();
    if let Some(package) = table(&manifest, "package") {
        content.name = text_of(package, "name");
        content.description = text_of(package, "description");
        content.keywords = texts_of(package, "keywords");
    }
    add_sections(&manifest, &mut content.dependencies);
    for target in table(&manifest, "target")
        .into_iter()
        .flat_map(Table::values)
    {
        if let Some(target) = target.as_table() {
            add_sections(target, &mut content.dependencies);
        }
    }
    if let Some(workspace) = table(&manifest, "workspace") {
        content.is_workspace = true;
        for (name, value) in table(workspace, "dependencies").into_iter().flatten() {
            let entries = dependencies(name, value, Scope::Runtime);
            content.catalog.insert(name.clone(), entries);
        }
    }
    let library = table(&manifest, "lib").and_then(|library| text_of(library, "path"));
    content.entry_points.extend(library);
    let binaries = manifest.get("bin").and_then(Value::as_array);
    for binary in binaries.into_iter().flatten().filter_map(Value::as_table) {
        content.entry_points.extend(text_of(binary, "path"));
    }
    Some(content)
}

fn add_sections(manifest: &Table, all: &mut Vec<Dependency>) {
    for (section, scope) in [
        ("dependencies", Scope::Runtime),
        ("dev-dependencies", Scope::Development),
        ("build-dependencies", Scope::Development),
    ] {
        for (name, value) in table(manifest, section).into_iter().flatten() {
            all.extend(dependencies(name, value, scope));
        }
    }
}

/// Returns a dependency, and one more for each feature that it asks for: `sqlx/postgres`.
fn dependencies(name: &str, value: &Value, scope: Scope) -> Vec<Dependency> {
    let Some(details) = value.as_table() else {
        return vec![Dependency::new(name, value.as_str(), scope)];
    };
    let package = details
        .get("package")
        .and_then(Value::as_str)
        .unwrap_or(name);
    let version = details.get("version").and_then(Value::as_str);
    let mut all = vec![Dependency::new(package, version, scope)];
    for feature in texts_of(details, "features") {
        all.push(Dependency::new(format!("{package}/{feature}"), None, scope));
    }
    all
}

pub(super) fn table<'a>(table: &'a Table, key: &str) -> Option<&'a Table> {
    table.get(key)?.as_table()
}

pub(super) fn text_of(table: &Table, key: &str) -> Option<String> {
    table.get(key)?.as_str().map(str::to_owned)
}

pub(super) fn texts_of(table: &Table, key: &str) -> Vec<String> {
    let texts = table.get(key).and_then(Value::as_array);
    let texts = texts.into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}
