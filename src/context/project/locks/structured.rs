//! Lock files in TOML and JSON.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Lock;
use crate::context::project::manifests::{normal_name, repository};

#[derive(Deserialize)]
struct TomlLock {
    #[serde(default)]
    package: Vec<TomlPackage>,
}

#[derive(Deserialize)]
struct TomlPackage {
    name: String,
    version: Option<String>,
}

/// Reads Cargo's.
pub(super) fn toml_packages(text: &str, lock: &mut Lock) {
    add_packages(text, lock, str::to_owned);
}

/// Reads those of Poetry, uv and PDM.
pub(super) fn toml_python(text: &str, lock: &mut Lock) {
    add_packages(text, lock, normal_name);
}

fn add_packages(text: &str, lock: &mut Lock, name: fn(&str) -> String) {
    let Ok(parsed) = toml::from_str::<TomlLock>(text) else {
        return;
    };
    for package in parsed.package {
        if let Some(version) = &package.version {
            lock.add(&name(&package.name), "", version);
        }
    }
}

/// A section of a lock file: details by package.
type LockSection<T> = BTreeMap<String, T>;

#[derive(Deserialize)]
struct PipfileLock {
    #[serde(default)]
    default: LockSection<PipfilePackage>,
    #[serde(default)]
    develop: LockSection<PipfilePackage>,
}

#[derive(Deserialize)]
struct PipfilePackage {
    version: Option<String>,
}

pub(super) fn pipfile(text: &str, lock: &mut Lock) {
    let Ok(parsed) = serde_json::from_str::<PipfileLock>(text) else {
        return;
    };
    for (name, package) in parsed.default.into_iter().chain(parsed.develop) {
        if let Some(version) = package.version {
            lock.add(&normal_name(&name), "", version.trim_start_matches('='));
        }
    }
}

#[derive(Deserialize)]
struct ComposerLock {
    #[serde(default)]
    packages: Vec<ComposerPackage>,
    #[serde(default, rename = "packages-dev")]
    packages_dev: Vec<ComposerPackage>,
}

#[derive(Deserialize)]
struct ComposerPackage {
    name: String,
    version: String,
}

pub(super) fn composer(text: &str, lock: &mut Lock) {
    let Ok(parsed) = serde_json::from_str::<ComposerLock>(text) else {
        return;
    };
    for package in parsed.packages.iter().chain(&parsed.packages_dev) {
        lock.add(&package.name, "", &package.version);
    }
}

#[derive(Deserialize)]
struct NugetLock {
    /// By target framework.
    dependencies: LockSection<LockSection<NugetPackage>>,
}

#[derive(Deserialize)]
struct NugetPackage {
    resolved: Option<String>,
}

pub(super) fn nuget(text: &str, lock: &mut Lock) {
    let Ok(parsed) = serde_json::from_str::<NugetLock>(text) else {
        return;
    };
    for (name, package) in parsed.dependencies.into_values().flatten() {
        if let Some(version) = package.resolved {
            lock.add(&name, "", &version);
        }
    }
}

#[derive(Deserialize)]
struct SwiftLock {
    #[serde(default)]
    pins: Vec<SwiftPin>,
    /// Of the first format.
    object: Option<SwiftPins>,
}

#[derive(Deserialize)]
struct SwiftPins {
    pins: Vec<SwiftPin>,
}

#[derive(Deserialize)]
struct SwiftPin {
    #[serde(alias = "repositoryURL")]
    location: Option<String>,
    identity: Option<String>,
    state: SwiftState,
}

#[derive(Deserialize)]
struct SwiftState {
    version: Option<String>,
}

pub(super) fn swift(text: &str, lock: &mut Lock) {
    let Ok(parsed) = serde_json::from_str::<SwiftLock>(text) else {
        return;
    };
    let pins = parsed.pins.into_iter();
    for pin in pins.chain(parsed.object.into_iter().flat_map(|object| object.pins)) {
        let location = pin.location.as_deref().and_then(repository);
        let identity = || pin.identity.as_deref().and_then(repository);
        if let (Some(name), Some(version)) = (location.or_else(identity), pin.state.version) {
            lock.add(&name, "", &version);
        }
    }
}
