//! Ruby's `Gemfile` and `*.gemspec`, statement by statement.

use super::code::{self, Comments, Piece};
use super::{Dependency, ManifestContent, Scope};

/// Reads `gem "name", "version"`, in groups or with one.
pub(super) fn gemfile(text: &str) -> ManifestContent {
    let code = code::without_comments(text, Comments::Hash);
    let mut content = ManifestContent::default();
    // Whether each open block is a group for development.
    let mut blocks: Vec<bool> = Vec::new();
    for line in code.lines() {
        let statement = line.trim();
        if let Some(arguments) = statement
            .strip_prefix("gem ")
            .or(statement.strip_prefix("gem("))
        {
            let is_tool = blocks.contains(&true) || is_for_tools(named_group(arguments));
            let scope = scope(is_tool);
            content.dependencies.extend(gem(arguments, scope));
        } else if statement == "end" {
            blocks.pop();
        } else if statement.ends_with(" do") || statement.contains(" do |") {
            let groups = statement.strip_prefix("group").unwrap_or_default();
            blocks.push(is_for_tools(groups));
        } else if ["if ", "unless ", "case "]
            .iter()
            .any(|word| statement.starts_with(word))
        {
            blocks.push(false);
        }
    }
    content
}

pub(super) fn gemspec(text: &str) -> ManifestContent {
    let code = code::without_comments(text, Comments::Hash);
    let mut content = ManifestContent::default();
    for line in code.lines() {
        let Some((_, statement)) = line.trim().split_once('.') else {
            continue;
        };
        if let Some(arguments) = statement.strip_prefix("add_development_dependency") {
            content
                .dependencies
                .extend(gem(arguments, Scope::Development));
        } else if let Some(arguments) = statement
            .strip_prefix("add_runtime_dependency")
            .or(statement.strip_prefix("add_dependency"))
        {
            content.dependencies.extend(gem(arguments, Scope::Runtime));
        } else if let Some((key, value)) = statement.split_once('=') {
            let text = code::literals(value).first().map(|&text| text.to_owned());
            match key.trim() {
                "name" => content.name = text,
                "summary" => content.description = text,
                _ => {}
            }
        }
    }
    content
}

/// Reads the name and the version of a gem: the literals before the first named argument.
fn gem(arguments: &str, scope: Scope) -> Option<Dependency> {
    let mut texts = Vec::new();
    for piece in code::pieces(arguments) {
        match piece {
            Piece::Literal(text) => texts.push(text),
            Piece::Code(code) if code.contains(':') || code.contains("=>") => break,
            Piece::Code(_) => {}
        }
    }
    let (name, versions) = texts.split_first()?;
    let version = (!versions.is_empty()).then(|| versions.join(", "));
    Some(Dependency::new(*name, version.as_deref(), scope))
}

/// Returns what stands behind `group:` among the arguments of a gem.
fn named_group(arguments: &str) -> &str {
    let group = arguments
        .split_once("group:")
        .or_else(|| arguments.split_once("groups:"))
        .or_else(|| arguments.split_once(":group =>"));
    group.map_or("", |(_, group)| group)
}

fn is_for_tools(groups: &str) -> bool {
    groups.contains(":development") || groups.contains(":test")
}

fn scope(is_tool: bool) -> Scope {
    if is_tool {
        Scope::Development
    } else {
        Scope::Runtime
    }
}
