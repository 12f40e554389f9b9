//! The lock files of npm, pnpm, Yarn, Bun and Deno.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Lock;

#[derive(Deserialize)]
struct PackageLock {
    #[serde(default)]
    packages: BTreeMap<String, PackageVersion>,
    #[serde(default)]
    dependencies: BTreeMap<String, PackageVersion>,
}

#[derive(Deserialize)]
struct PackageVersion {
    version: Option<String>,
}

/// Reads npm's: paths of installed packages, or names in its first format.
pub(super) fn package_lock(text: &str, lock: &mut Lock) {
    let Ok(parsed) = serde_json::from_str::<PackageLock>(text) else {
        return;
    };
    for (path, package) in &parsed.packages {
        let Some((folder, name)) = path.split_once("node_modules/") else {
            continue;
        };
        if let Some(version) = &package.version
            && !name.contains("/node_modules/")
        {
            lock.add(name, folder.trim_end_matches('/'), version);
        }
    }
    for (name, package) in &parsed.dependencies {
        if let Some(version) = &package.version
            && parsed.packages.is_empty()
        {
            lock.add(name, "", version);
        }
    }
}

/// Reads pnpm's, by its indentation: `importers`, their folders, sections, packages; or sections at
/// the margin in its earlier formats.
pub(super) fn pnpm(text: &str, lock: &mut Lock) {
    const SECTIONS: [&str; 3] = ["dependencies", "devDependencies", "optionalDependencies"];
    let mut path: Vec<(usize, &str)> = Vec::new();
    for line in text.lines() {
        let trimmed = line.trim_start();
        let Some((key, value)) = key_and_value(trimmed) else {
            continue;
        };
        let indent = line.len() - trimmed.len();
        while path.last().is_some_and(|(depth, _)| *depth >= indent) {
            path.pop();
        }
        if indent == 0 && key == "packages" {
            break;
        }
        path.push((indent, key));
        let keys: Vec<&str> = path.iter().map(|(_, key)| *key).collect();
        let (folder, section, rest) = match keys.as_slice() {
            ["importers", folder, section, rest @ ..] => (*folder, *section, rest),
            [section, rest @ ..] => ("", *section, rest),
            [] => continue,
        };
        let folder = folder.trim_start_matches('.');
        match rest {
            [name] | [name, "version"] if SECTIONS.contains(&section) => {
                lock.add(name, folder, value);
            }
            _ => {}
        }
    }
}

/// Splits a line of YAML; `None` if it has no key.
fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(": ").or(line.rsplit_once(':'))?;
    let unquoted = |text| str::trim_matches(text, ['\'', '"']);
    Some((unquoted(key.trim()), unquoted(value.trim())))
}

/// Reads Yarn's, of both formats: the requirements of a package at the margin, its version below.
pub(super) fn yarn(text: &str, lock: &mut Lock) {
    let mut requirements: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        if line.starts_with(['#', ' ']) || line.is_empty() {
            let Some(version) = line.strip_prefix("  version") else {
                continue;
            };
            let version = version.trim_matches([':', ' ', '"']);
            for (name, requirement) in requirements.drain(..) {
                lock.add(&name, &requirement, version);
            }
            continue;
        }
        requirements.clear();
        for descriptor in line.trim_end_matches(':').split(',') {
            let descriptor = descriptor.trim().trim_matches('"');
            let at = descriptor.get(1..).and_then(|rest| rest.find('@'));
            let Some((name, requirement)) = at.and_then(|at| descriptor.split_at_checked(at + 1))
            else {
                continue;
            };
            let requirement = requirement.trim_start_matches('@');
            let requirement = requirement.strip_prefix("npm:").unwrap_or(requirement);
            requirements.push((name.to_owned(), requirement.to_owned()));
        }
    }
}

/// Reads Bun's text format: JSON with comments and trailing commas.
pub(super) fn bun(text: &str, lock: &mut Lock) {
    use jsonc_parser::JsonValue;
    let parsed = jsonc_parser::parse_to_value(text, &jsonc_parser::ParseOptions::default());
    let Ok(Some(JsonValue::Object(parsed))) = parsed else {
        return;
    };
    let packages = parsed.get_object("packages").cloned();
    for (name, package) in packages.into_iter().flatten() {
        let JsonValue::Array(package) = package else {
            continue;
        };
        if let Some(JsonValue::String(resolved)) = package.get(0)
            && let Some((resolved_name, version)) = resolved.rsplit_once('@')
            && resolved_name == name
        {
            lock.add(&name, "", version);
        }
    }
}

#[derive(Deserialize)]
struct DenoLock {
    specifiers: BTreeMap<String, String>,
}

/// Reads Deno's.
pub(super) fn deno(text: &str, lock: &mut Lock) {
    let Ok(parsed) = serde_json::from_str::<DenoLock>(text) else {
        return;
    };
    for (specifier, version) in &parsed.specifiers {
        if let Some((_, package)) = specifier.split_once(':')
            && let Some((name, requirement)) = package.rsplit_once('@')
        {
            lock.add(name, requirement, version);
        }
    }
}
