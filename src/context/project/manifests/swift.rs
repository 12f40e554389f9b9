//! Swift's `Package.swift`: the calls of `.package`.

use super::code::{self, Comments};
use super::{Dependency, ManifestContent, Scope};

/// Reads `.package(url: "https://github.com/vapor/vapor.git", from: "4.89.0")` as `vapor/vapor`.
pub(super) fn package(text: &str) -> ManifestContent {
    let code = code::without_comments(text, Comments::Slashes);
    let mut content = ManifestContent::default();
    for arguments in code::calls(&code, ".package") {
        let literals = code::literals(arguments);
        let Some(name) = literals.iter().find_map(|text| repository(text)) else {
            continue;
        };
        let version = literals
            .iter()
            .find(|text| text.starts_with(|c: char| c.is_ascii_digit()));
        let dependency = Dependency::new(name, version.copied(), Scope::Runtime);
        content.dependencies.push(dependency);
    }
    let package = code::calls(&code, "Package(").into_iter().next();
    let name = package.or_else(|| code.split_once("name:").map(|(_, rest)| rest));
    content.name = name
        .and_then(|code| code::literals(code).first().copied())
        .map(str::to_owned);
    content
}

/// Returns owner and name of a repository from its address, or from its id in a registry.
pub(in crate::context::project) fn repository(address: &str) -> Option<String> {
    if !address.contains("://") && !address.starts_with("git@") {
        let (owner, name) = address.split_once('.')?;
        let is_id = |part: &str| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        };
        let starts_as_name = owner.starts_with(|c: char| c.is_ascii_alphabetic());
        return (is_id(owner) && is_id(name) && starts_as_name).then(|| format!("{owner}/{name}"));
    }
    let address = address.trim_end_matches('/').trim_end_matches(".git");
    let mut parts = address.rsplit(['/', ':']);
    let name = parts.next()?;
    let owner = parts.next()?;
    Some(format!("{owner}/{name}"))
}
