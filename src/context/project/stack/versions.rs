//! The version of a dependency: what its requirement holds fixed, else that of a lock file.

use crate::context::project::locks::Locks;
use crate::context::project::manifests::Manifest;
use crate::context::project::patterns::Dependency;

/// Returns the version that the requirement holds fixed; if it names none, that of a lock file.
pub(super) fn version_of(
    manifest: &Manifest,
    dependency: &Dependency,
    locks: &mut Locks,
) -> Option<String> {
    let requirement = dependency.requirement.as_deref();
    requirement
        .and_then(fixed_version)
        .or_else(|| locks.version(manifest, &dependency.name))
}

/// Returns the first number of a requirement.
fn major(requirement: &str) -> Option<u64> {
    let mut numbers = requirement.split(|c: char| !c.is_ascii_digit());
    numbers.find(|digits| !digits.is_empty())?.parse().ok()
}

/// Returns what a requirement holds fixed: `14` for `^14.2.0`, `14.2` for `~14.2.0`, `4.2.1` for
/// `==4.2.1`; of alternatives the highest, `18` for `^17.0.0 || ^18.0.0`; a range as it is written.
fn fixed_version(requirement: &str) -> Option<String> {
    const LONGEST: usize = 40;
    let alternatives = requirement.split("||");
    let requirement = alternatives.max_by_key(|range| major(range))?.trim();
    let digits = requirement.find(|c: char| c.is_ascii_digit())?;
    let (operator, version) = requirement.split_at(digits);
    let is_version = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
    let is_single = version.chars().all(is_version);
    if !is_single || requirement.len() > LONGEST {
        let is_plain = |c: char| is_version(c) || " <>=~^!|,*()[]".contains(c);
        let is_short = requirement.len() <= LONGEST && requirement.chars().all(is_plain);
        return is_short.then(|| requirement.to_owned());
    }
    let parts: Vec<&str> = version.split('.').collect();
    let fixed = match operator.trim() {
        "^" if parts.first() == Some(&"0") => 2,
        "^" => 1,
        "~" => 2,
        "~>" | "~=" => parts.len().saturating_sub(1).clamp(1, 2),
        "" | "=" | "==" | "===" | "v" => parts.len(),
        _ => return Some(requirement.to_owned()),
    };
    let fixed = parts.get(..fixed.min(parts.len()))?;
    Some(fixed.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_show_what_they_hold_fixed() {
        for (requirement, fixed) in [
            ("^14.2.0", Some("14")),
            ("^0.3.1", Some("0.3")),
            ("~14.2.0", Some("14.2")),
            ("~> 7.1", Some("7")),
            ("~> 7.1.2", Some("7.1")),
            ("~=4.2.1", Some("4.2")),
            ("==4.2.1", Some("4.2.1")),
            ("0.8", Some("0.8")),
            ("v1.9.1", Some("1.9.1")),
            (">=4.2,<5", Some(">=4.2,<5")),
            ("14.x", Some("14.x")),
            ("^17.0.0 || ^18.0.0", Some("18")),
            ("^18.2.0||^9.1.0", Some("18")),
            ("^16 || >=17", Some(">=17")),
            ("latest", None),
            ("*", None),
            ("1.0 <script>alert(\"x\")</script>", None),
        ] {
            assert_eq!(
                fixed_version(requirement).as_deref(),
                fixed,
                "{requirement}"
            );
        }
    }
}
