//! Patterns of file names: a `*` stands for any characters; case does not matter.

use std::collections::BTreeSet;

/// A set of patterns. Most have no `*`, and are looked up.
#[derive(Clone, Debug, Default)]
pub(super) struct NamePatterns {
    exact: BTreeSet<String>,
    wildcards: Vec<(String, String)>,
}

impl NamePatterns {
    pub(super) fn new(patterns: &[String]) -> Self {
        let mut set = Self::default();
        for pattern in patterns {
            let pattern = pattern.to_ascii_lowercase();
            match pattern.split_once('*') {
                Some((start, end)) => set.wildcards.push((start.to_owned(), end.to_owned())),
                None => {
                    set.exact.insert(pattern);
                }
            }
        }
        set
    }

    /// Returns whether a name in lower case matches. A second `*` in a pattern matches as one.
    pub(super) fn matches(&self, name: &str) -> bool {
        self.exact.contains(name)
            || self.wildcards.iter().any(|(start, end)| {
                let rest = name.strip_prefix(start.as_str());
                rest.is_some_and(|rest| ends_as(rest, end))
            })
    }
}

/// Returns whether a text ends as the rest of a pattern says.
fn ends_as(text: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => text.ends_with(pattern),
        Some((middle, end)) => text
            .find(middle)
            .and_then(|at| text.get(at + middle.len()..))
            .is_some_and(|rest| ends_as(rest, end)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        let patterns = ["Cargo.toml", "*.csproj", "vite.config.*", "compose*.y*ml"];
        let patterns = NamePatterns::new(&patterns.map(str::to_owned));
        for name in [
            "cargo.toml",
            "app.csproj",
            "vite.config.ts",
            "compose.yaml",
            "compose.override.yml",
        ] {
            assert!(patterns.matches(name), "{name}");
        }
        for name in ["cargo.lock", "csproj", "vite.config", "compose.toml"] {
            assert!(!patterns.matches(name), "{name}");
        }
    }
}
