//! Lock files in formats of their own, which programs write one package a line.

use super::Lock;

/// Reads Bundler's: `    rails (7.1.2)` below `specs:`; what a package needs is indented further.
pub(super) fn gemfile(text: &str, lock: &mut Lock) {
    let mut is_specs = false;
    for line in text.lines() {
        if !line.starts_with("    ") {
            is_specs = line.trim() == "specs:";
            continue;
        }
        let Some(package) = line.strip_prefix("    ").filter(|_| is_specs) else {
            continue;
        };
        if let Some((name, version)) = package.split_once(" (")
            && !name.starts_with(' ')
        {
            // `1.16.0-x86_64-linux` is a build for one platform.
            let version = version.trim_end_matches(')').split('-').next();
            lock.add(name, "", version.unwrap_or_default());
        }
    }
}

/// Reads Mix's: `"phoenix": {:hex, :phoenix, "1.7.10", …`.
pub(super) fn mix(text: &str, lock: &mut Lock) {
    for line in text.lines() {
        let mut literals = line.split('"').skip(1).step_by(2);
        if let (Some(name), Some(version)) = (literals.next(), literals.next())
            && line.contains("{:hex,")
        {
            lock.add(name, "", version);
        }
    }
}

/// Reads Gradle's: `group:name:version=configurations`.
pub(super) fn gradle(text: &str, lock: &mut Lock) {
    for line in text.lines() {
        if let Some((package, _)) = line.split_once('=')
            && let Some((name, version)) = package.rsplit_once(':')
        {
            lock.add(name, "", version);
        }
    }
}

/// Reads that of pub: packages with two spaces before them, their versions with four.
pub(super) fn pubspec(text: &str, lock: &mut Lock) {
    let mut name = "";
    for line in text.lines() {
        let trimmed = line.trim_start();
        match (line.len() - trimmed.len(), trimmed.split_once(':')) {
            (2, Some((package, _))) => name = package,
            (4, Some(("version", version))) => {
                lock.add(name, "", version.trim().trim_matches('"'));
            }
            _ => {}
        }
    }
}
