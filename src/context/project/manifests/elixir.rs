//! Elixir's `mix.exs`: the tuples of its function `deps`.

use super::code::{self, Comments, Piece};
use super::{Dependency, ManifestContent, Scope};

/// Reads `{:name, "version", only: :test}`.
pub(super) fn mix(text: &str) -> ManifestContent {
    let code = code::without_comments(text, Comments::Hash);
    let mut content = ManifestContent::default();
    let mut lines = code.lines();
    let function = lines
        .by_ref()
        .find(|line| line.trim().starts_with("defp deps") || line.trim().starts_with("def deps"));
    if let Some(function) = function {
        let indent = function.len() - function.trim_start().len();
        let body: Vec<&str> = lines
            .take_while(|line| {
                line.trim() != "end" || line.len() - line.trim_start().len() > indent
            })
            .collect();
        let body = body.join("\n");
        for tuple in body.split("{:").skip(1) {
            content.dependencies.extend(dependency(tuple));
        }
    }
    content.name = code
        .lines()
        .find_map(|line| line.trim().strip_prefix("app: :"))
        .map(|name| name.trim_end_matches(',').to_owned());
    content
}

fn dependency(tuple: &str) -> Option<Dependency> {
    let (name, rest) = tuple.split_once(',')?;
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return None;
    }
    let rest = rest.split('}').next()?;
    let version = match code::pieces(rest.trim_start()).first() {
        Some(Piece::Literal(version)) => Some(*version),
        _ => None,
    };
    let scope = if rest.contains("only:") && !rest.contains(":prod") {
        Scope::Development
    } else {
        Scope::Runtime
    };
    Some(Dependency::new(name, version, scope))
}
