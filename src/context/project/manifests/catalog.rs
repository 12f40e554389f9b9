//! Gradle's catalog of versions, `gradle/libs.versions.toml`: its entries by the names that
//! programs have for them, such as `libs.spring.boot`.

use toml::{Table, Value};

use super::{Dependency, ManifestContent, Scope};

/// Reads libraries, plugins and bundles.
pub(super) fn gradle(text: &str) -> Option<ManifestContent> {
    let catalog: Table = toml::from_str(text).ok()?;
    let section = |name: &str| catalog.get(name).and_then(Value::as_table);
    let entries = |name: &str| section(name).into_iter().flatten();
    let accessor =
        |section: &str, alias: &str| format!("libs.{section}{}", alias.replace(['-', '_'], "."));
    let mut content = ManifestContent::default();
    for (name, prefix) in [("libraries", ""), ("plugins", "plugins.")] {
        for (alias, value) in entries(name) {
            let entry = entry(value, section("versions")).into_iter().collect();
            content.catalog.insert(accessor(prefix, alias), entry);
        }
    }
    for (alias, members) in entries("bundles") {
        let members = members
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        let members = members.filter_map(|member| content.catalog.get(&accessor("", member)));
        let members = members.flatten().cloned().collect();
        content.catalog.insert(accessor("bundles.", alias), members);
    }
    Some(content)
}

/// A text `name:version`, or a table.
fn entry(value: &Value, versions: Option<&Table>) -> Option<Dependency> {
    if let Some((name, version)) = value.as_str().and_then(|text| text.rsplit_once(':')) {
        return Some(Dependency::new(name, Some(version), Scope::Runtime));
    }
    let field = |key| value.get(key).and_then(Value::as_str);
    let name = field("module").or(field("id")).map(str::to_owned);
    let name = name.or_else(|| Some(format!("{}:{}", field("group")?, field("name")?)))?;
    let version = value.get("version");
    let version = match version.and_then(|version| version.get("ref")?.as_str()) {
        Some(name) => versions.and_then(|versions| versions.get(name)),
        None => version,
    };
    Some(Dependency::new(
        name,
        version.and_then(plain),
        Scope::Runtime,
    ))
}

fn plain(version: &Value) -> Option<&str> {
    let mut forms = ["strictly", "require", "prefer"].iter();
    let form = || forms.find_map(|key| version.get(key)?.as_str());
    version.as_str().or_else(form)
}
