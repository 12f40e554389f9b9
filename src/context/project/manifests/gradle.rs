//! Gradle's `build.gradle` and `build.gradle.kts`, line by line, and its catalog of versions.

use toml::{Table, Value};

use super::cargo::{table, text_of, texts_of};
use super::code::{self, Comments, Piece};
use super::{Dependency, ManifestContent, Scope};

/// The path of the catalog, below the folder that it is for.
pub(super) const CATALOG: &str = "gradle/libs.versions.toml";

/// Reads dependencies, as `group:name`, and plugins, by their ids. An entry of the catalog is named
/// as the program names it: `libs.spring.boot`.
pub(super) fn build(text: &str) -> ManifestContent {
    let code = code::without_comments(text, Comments::Slashes);
    let mut content = ManifestContent::default();
    for line in code.lines() {
        let statement = line.trim();
        let scope = if statement.starts_with("test") || statement.starts_with("androidTest") {
            Scope::Development
        } else {
            Scope::Runtime
        };
        let literals = code::literals(statement);
        let head = match code::pieces(statement).first() {
            Some(Piece::Code(head)) => head.trim_end_matches(['(', ' ']).trim(),
            _ => "",
        };
        if let Some(name) = catalog_name(statement) {
            content
                .dependencies
                .push(Dependency::new(name, None, scope));
        } else if head == "id" || head.ends_with("apply plugin:") {
            let mut literals = literals.into_iter();
            let version = |literals: &mut std::vec::IntoIter<&str>| {
                statement
                    .contains("version")
                    .then(|| literals.next().map(str::to_owned))
            };
            if let Some(id) = literals.next() {
                let version = version(&mut literals).flatten();
                content
                    .dependencies
                    .push(Dependency::new(id, version.as_deref(), scope));
            }
        } else if let Some((name, value)) = assignment(statement) {
            content.properties.insert(name.to_owned(), value.to_owned());
        } else if statement.contains("group:") && statement.contains("name:") {
            if let [group, name, rest @ ..] = literals.as_slice() {
                let dependency = Dependency::new(
                    format!("{group}:{name}"),
                    rest.first()
                        .copied()
                        .filter(|_| statement.contains("version:")),
                    scope,
                );
                content.dependencies.push(dependency);
            }
        } else if is_configuration(head) {
            content
                .dependencies
                .extend(literals.first().and_then(|text| coordinates(text, scope)));
        }
    }
    content
}

/// Returns the name of an entry of the catalog that a statement refers to.
fn catalog_name(statement: &str) -> Option<String> {
    let code = match code::pieces(statement).first() {
        Some(Piece::Code(code)) => *code,
        _ => return None,
    };
    let (before, rest) = code.split_once("libs.")?;
    if !before.ends_with(['(', ' ']) {
        return None;
    }
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_');
    let name = rest.get(..end.unwrap_or(rest.len()))?;
    let name = name.trim_end_matches(".get").trim_end_matches('.');
    (!name.starts_with("versions.")).then(|| format!("libs.{name}"))
}

/// Returns whether a statement with this head declares a dependency.
fn is_configuration(head: &str) -> bool {
    const ENDINGS: [&str; 9] = [
        "implementation",
        "Implementation",
        "api",
        "Api",
        "compileOnly",
        "runtimeOnly",
        "RuntimeOnly",
        "classpath",
        "kapt",
    ];
    let configuration = head.split(['(', ' ']).next().unwrap_or_default();
    ENDINGS.iter().any(|ending| configuration.ends_with(ending))
        || [
            "ksp",
            "annotationProcessor",
            "mavenBom",
            "testCompileOnly",
            "compile",
            "testCompile",
        ]
        .contains(&configuration)
}

/// Reads `group:name:version`.
fn coordinates(text: &str, scope: Scope) -> Option<Dependency> {
    let mut parts = text.split(':');
    let (group, name) = (parts.next()?, parts.next()?);
    if group.is_empty() || name.is_empty() {
        return None;
    }
    let version = parts.next().map(|version| match version.strip_prefix('$') {
        Some(name) if !name.starts_with('{') => format!("${{{name}}}"),
        _ => version.to_owned(),
    });
    let name = format!("{group}:{name}");
    Some(Dependency::new(name, version.as_deref(), scope))
}

/// Reads `ext.name = "value"`, `val name = "value"` and `name = "value"`.
fn assignment(statement: &str) -> Option<(&str, &str)> {
    let (name, value) = statement.split_once('=')?;
    let name = name.trim();
    let name = ["ext.", "val ", "def ", "const val ", "set(", "extra[\""]
        .iter()
        .find_map(|start| name.strip_prefix(start))
        .unwrap_or(name)
        .trim_end_matches("\"]");
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match code::pieces(value.trim()).as_slice() {
        [Piece::Literal(value)] if is_name => Some((name, value)),
        _ => None,
    }
}

/// Reads libraries, plugins and bundles.
pub(super) fn catalog(text: &str) -> Option<ManifestContent> {
    let catalog: Table = toml::from_str(text).ok()?;
    let mut content = ManifestContent::default();
    let versions = table(&catalog, "versions");
    for (alias, library) in table(&catalog, "libraries").into_iter().flatten() {
        if let Some(library) = entry(library, "module", versions) {
            content.catalog.insert(accessor(alias), vec![library]);
        }
    }
    for (alias, plugin) in table(&catalog, "plugins").into_iter().flatten() {
        if let Some(plugin) = entry(plugin, "id", versions) {
            content
                .catalog
                .insert(accessor(&format!("plugins.{alias}")), vec![plugin]);
        }
    }
    if let Some(bundles) = table(&catalog, "bundles") {
        for alias in bundles.keys() {
            let members = texts_of(bundles, alias);
            let members = members
                .iter()
                .filter_map(|member| content.catalog.get(&accessor(member)));
            let bundle = members.flatten().cloned().collect();
            content
                .catalog
                .insert(accessor(&format!("bundles.{alias}")), bundle);
        }
    }
    Some(content)
}

/// Returns the name by which programs refer to an entry.
fn accessor(alias: &str) -> String {
    format!("libs.{}", alias.replace(['-', '_'], "."))
}

/// Reads an entry: a text `name:version`, or a table.
fn entry(value: &Value, key: &str, versions: Option<&Table>) -> Option<Dependency> {
    let details = match value {
        Value::String(text) => {
            let (name, version) = text.rsplit_once(':')?;
            return Some(Dependency::new(name, Some(version), Scope::Runtime));
        }
        other => other.as_table()?,
    };
    let name = text_of(details, key).or_else(|| {
        let (group, name) = (text_of(details, "group")?, text_of(details, "name")?);
        Some(format!("{group}:{name}"))
    })?;
    let version = match details.get("version") {
        Some(Value::Table(version)) => match text_of(version, "ref") {
            Some(name) => versions.and_then(|versions| text_of(versions, &name)),
            None => ["strictly", "require", "prefer"]
                .iter()
                .find_map(|key| text_of(version, key)),
        },
        Some(version) => version.as_str().map(str::to_owned),
        None => None,
    };
    Some(Dependency::new(name, version.as_deref(), Scope::Runtime))
}
