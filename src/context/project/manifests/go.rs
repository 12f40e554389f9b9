//! Go's `go.mod`, whose versions are exact.

use super::{Dependency, ManifestContent, Scope};

/// Reads the modules that are required directly.
pub(super) fn go_mod(text: &str) -> Option<ManifestContent> {
    let mut content = ManifestContent::default();
    let mut is_required = false;
    for line in text.lines() {
        let (code, comment) = line.split_once("//").unwrap_or((line, ""));
        let mut words = code.split_whitespace();
        let first = words.next();
        let (path, version) = match (first, words.next()) {
            (Some("module"), Some(name)) => {
                content.name = Some(name.trim_matches('"').to_owned());
                continue;
            }
            (Some("require"), Some("(")) => {
                is_required = true;
                continue;
            }
            (Some(_), Some("(")) | (Some(")"), _) => {
                is_required = false;
                continue;
            }
            (Some("require"), Some(path)) => (path, words.next()),
            (Some(path), version) if is_required => (path, version),
            _ => continue,
        };
        if comment.trim() != "indirect" {
            let path = path.trim_matches('"');
            content
                .dependencies
                .push(Dependency::new(path, version, Scope::Runtime));
        }
    }
    content.name.is_some().then_some(content)
}
