//! Python's `pyproject.toml` (PEP 621, dependency groups, Poetry, uv, PDM), `requirements*.txt`,
//! `Pipfile`, `setup.cfg` and `setup.py`.

use toml::{Table, Value};

use super::cargo::{table, text_of, texts_of};
use super::code::{self, Comments};
use super::{Dependency, ManifestContent, Scope};
use crate::context::project::paths::name_of;

pub(super) fn pyproject(text: &str) -> Option<ManifestContent> {
    let manifest: Table = toml::from_str(text).ok()?;
    let mut content = ManifestContent::default();
    if let Some(project) = table(&manifest, "project") {
        content.name = text_of(project, "name");
        content.description = text_of(project, "description");
        content.keywords = texts_of(project, "keywords");
        for requirement in texts_of(project, "dependencies") {
            content
                .dependencies
                .extend(pep508(&requirement, Scope::Runtime));
        }
        add_groups(table(project, "optional-dependencies"), &mut content);
    }
    add_groups(table(&manifest, "dependency-groups"), &mut content);
    let tool = table(&manifest, "tool");
    for other in ["uv", "pdm"] {
        match tool.and_then(|tool| tool.get(other)?.get("dev-dependencies")) {
            Some(Value::Table(groups)) => add_groups(Some(groups), &mut content),
            Some(Value::Array(requirements)) => add_texts(requirements, &mut content),
            _ => {}
        }
    }
    if let Some(poetry) = tool.and_then(|tool| table(tool, "poetry")) {
        content.name = content.name.or_else(|| text_of(poetry, "name"));
        content.description = content
            .description
            .or_else(|| text_of(poetry, "description"));
        content.keywords.extend(texts_of(poetry, "keywords"));
        let add = |all: &mut Vec<Dependency>, section: Option<&Table>, scope| {
            for (name, value) in section.into_iter().flatten() {
                all.push(versioned(name, value, scope));
            }
        };
        let all = &mut content.dependencies;
        add(all, table(poetry, "dependencies"), Scope::Runtime);
        add(all, table(poetry, "dev-dependencies"), Scope::Development);
        let groups = table(poetry, "group").into_iter().flat_map(Table::values);
        for group in groups.filter_map(Value::as_table) {
            add(all, table(group, "dependencies"), Scope::Development);
        }
    }
    content.is_workspace =
        tool.is_some_and(|tool| tool.get("uv").and_then(|uv| uv.get("workspace")).is_some());
    Some(content)
}

fn add_groups(groups: Option<&Table>, content: &mut ManifestContent) {
    for group in groups.into_iter().flat_map(Table::values) {
        if let Some(requirements) = group.as_array() {
            add_texts(requirements, content);
        }
    }
}

fn add_texts(requirements: &[Value], content: &mut ManifestContent) {
    for requirement in requirements.iter().filter_map(Value::as_str) {
        content
            .dependencies
            .extend(pep508(requirement, Scope::Development));
    }
}

/// Returns a dependency of Poetry or Pipenv: a version, or a table that has one.
fn versioned(name: &str, value: &Value, scope: Scope) -> Dependency {
    let version = match value {
        Value::Table(details) => details.get("version").and_then(Value::as_str),
        other => other.as_str(),
    };
    Dependency::new(normal_name(name), version, scope)
}

pub(super) fn pipfile(text: &str) -> Option<ManifestContent> {
    let manifest: Table = toml::from_str(text).ok()?;
    let mut content = ManifestContent::default();
    for (section, scope) in [
        ("packages", Scope::Runtime),
        ("dev-packages", Scope::Development),
    ] {
        for (name, value) in table(&manifest, section).into_iter().flatten() {
            content.dependencies.push(versioned(name, value, scope));
        }
    }
    Some(content)
}

/// Reads a list of requirements. Options, paths and addresses are passed over. The name of the file
/// says whether they are for development.
pub(super) fn requirements(text: &str, path: &str) -> ManifestContent {
    let name = name_of(path).to_ascii_lowercase();
    let is_tool = ["dev", "test", "lint", "doc", "build", "tool"]
        .iter()
        .any(|word| name.contains(word));
    let scope = if is_tool {
        Scope::Development
    } else {
        Scope::Runtime
    };
    let lines = text.lines().filter_map(|line| pep508(line, scope));
    ManifestContent {
        dependencies: lines.collect(),
        ..ManifestContent::default()
    }
}

/// Reads `name[extras] (>=1.0); marker  # comment`.
fn pep508(line: &str, scope: Scope) -> Option<Dependency> {
    let line = line.split(" #").next()?.split(';').next()?.trim();
    let line = line.trim_end_matches('\\').split(" --").next()?.trim();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let end = line.find(|c| !is_name(c)).unwrap_or(line.len());
    let (name, rest) = line.split_at_checked(end)?;
    if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) || rest.starts_with([':', '/']) {
        return None;
    }
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('[') {
        Some(extras) => extras.split_once(']')?.1.trim_start(),
        None => rest,
    };
    let version = match rest.chars().next() {
        Some('<' | '>' | '=' | '~' | '!' | '(') => rest.trim_matches(['(', ')', ' ']),
        Some('@') | None => "",
        Some(_) => return None,
    };
    Some(Dependency::new(normal_name(name), Some(version), scope))
}

/// Returns a name as the registry compares it.
pub(in crate::context::project) fn normal_name(name: &str) -> String {
    let mut normal = String::new();
    for part in name.split(['-', '_', '.']).filter(|part| !part.is_empty()) {
        if !normal.is_empty() {
            normal.push('-');
        }
        normal.push_str(&part.to_ascii_lowercase());
    }
    normal
}

/// Reads the lists of `setup.cfg`: a value goes on in lines that are indented.
pub(super) fn setup_cfg(text: &str) -> Option<ManifestContent> {
    let mut content = ManifestContent::default();
    let (mut section, mut key) = (String::new(), String::new());
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        let value = if line.starts_with([' ', '\t']) {
            trimmed
        } else if let Some(name) = trimmed.strip_prefix('[') {
            name.trim_end_matches(']').clone_into(&mut section);
            key.clear();
            continue;
        } else {
            let (name, value) = trimmed.split_once('=')?;
            name.trim().clone_into(&mut key);
            value.trim()
        };
        match (section.as_str(), key.as_str()) {
            ("metadata", "name") => content.name = Some(value.to_owned()),
            ("metadata", "description" | "summary") => {
                content.description = Some(value.to_owned());
            }
            ("options", "install_requires") => {
                content.dependencies.extend(pep508(value, Scope::Runtime));
            }
            ("options.extras_require", _) | ("options", "tests_require") => {
                content
                    .dependencies
                    .extend(pep508(value, Scope::Development));
            }
            _ => {}
        }
    }
    Some(content)
}

/// Reads the literals of `install_requires = […]` and the like.
pub(super) fn setup_py(text: &str) -> ManifestContent {
    let code = code::without_comments(text, Comments::Hash);
    let mut content = ManifestContent::default();
    for (argument, scope) in [
        ("install_requires", Scope::Runtime),
        ("tests_require", Scope::Development),
    ] {
        for (at, _) in code.match_indices(argument) {
            let rest = code.get(at + argument.len()..).unwrap_or_default();
            let Some(list) = rest.trim_start().strip_prefix('=') else {
                continue;
            };
            if !list.trim_start().starts_with(['[', '(']) {
                continue;
            }
            if let Some(list) = code::calls(rest, "=").first() {
                let literals = code::literals(list).into_iter();
                content
                    .dependencies
                    .extend(literals.filter_map(|literal| pep508(literal, scope)));
            }
        }
    }
    content.name = argument(&code, "name");
    content.description = argument(&code, "description");
    content
}

/// Returns the literal of an argument `name="…"`.
fn argument(code: &str, name: &str) -> Option<String> {
    for line in code.lines() {
        let Some(value) = line.trim_start().strip_prefix(name) else {
            continue;
        };
        if let Some(value) = value.trim_start().strip_prefix('=') {
            return code::literals(value).first().map(|&text| text.to_owned());
        }
    }
    None
}
