//! The comments at the head of a project's main source files: `//!`, `/** … */`, docstrings,
//! package comments, `@moduledoc`.

use std::path::Path;

use crate::context::project::dependency::Ecosystem;
use crate::context::project::manifests::{Manifest, Manifests};
use crate::context::project::paths::is_secondary;
use crate::files::{self, SizeLimit};

/// So many files are read at most.
const MOST_FILES: usize = 12;
/// Shorter comments say nothing, in bytes.
const SHORTEST: usize = 40;

/// Returns paths and comments.
pub(super) fn of_entry_points(root: &Path, manifests: &Manifests) -> Vec<(String, String)> {
    let mut comments: Vec<(String, String)> = Vec::new();
    for manifest in &manifests.own {
        if is_secondary(&manifest.path) {
            continue;
        }
        let folder = manifest.path.rsplit_once('/').map(|(folder, _)| folder);
        for name in candidates(manifest) {
            let name = name.trim_start_matches("./");
            // A path that leads out of the project is not its own, and what is built is no source.
            let is_built = ["dist/", "build/", "out/"]
                .iter()
                .any(|built| name.starts_with(built));
            if name.starts_with('/') || name.contains("..") || is_built {
                continue;
            }
            let path = match folder {
                Some(folder) => format!("{folder}/{name}"),
                None => name.to_owned(),
            };
            if comments.iter().any(|(other, _)| *other == path) || is_link(root, &path) {
                continue;
            }
            let Ok(text) = files::read_text(&root.join(&path), SizeLimit::SMALL) else {
                continue;
            };
            if let Some(comment) = comment(&path, &text).filter(|text| text.len() >= SHORTEST) {
                comments.push((path, comment));
            }
            if comments.len() == MOST_FILES {
                return comments;
            }
        }
    }
    comments
}

/// Returns whether a part of a path is a link, which may lead out of the project.
fn is_link(root: &Path, path: &str) -> bool {
    let parts = path.match_indices('/').map(|(end, _)| end);
    let mut parts = parts.chain([path.len()]);
    parts.any(|end| {
        path.get(..end)
            .is_some_and(|part| root.join(part).is_symlink())
    })
}

/// Returns the files that may be a package's main ones, relative to its manifest.
fn candidates(manifest: &Manifest) -> Vec<String> {
    let mut names = manifest.content.entry_points.clone();
    let name = manifest.content.name.as_deref().unwrap_or_default();
    let last = name.rsplit('/').next().unwrap_or_default();
    let module = last.replace('-', "_");
    let usual: Vec<String> = match manifest.ecosystem {
        Ecosystem::Cargo => ["src/lib.rs", "src/main.rs"].map(str::to_owned).into(),
        Ecosystem::Npm => [
            "src/index.ts",
            "src/index.tsx",
            "src/index.js",
            "src/main.ts",
            "src/main.tsx",
            "src/main.js",
            "src/server.ts",
            "src/app.ts",
            "index.ts",
            "index.js",
            "server.js",
            "app.js",
            "lib/index.js",
            "mod.ts",
            "main.ts",
        ]
        .map(str::to_owned)
        .into(),
        Ecosystem::Pypi => vec![
            format!("src/{module}/__init__.py"),
            format!("{module}/__init__.py"),
            format!("{module}.py"),
            "app/main.py".to_owned(),
            "main.py".to_owned(),
            "app.py".to_owned(),
        ],
        Ecosystem::Go => vec![
            "doc.go".to_owned(),
            format!("{last}.go"),
            "main.go".to_owned(),
        ],
        Ecosystem::Rubygems => vec![format!("lib/{last}.rb")],
        Ecosystem::Hex => vec![format!("lib/{last}.ex")],
        Ecosystem::Pub => vec!["lib/main.dart".to_owned(), format!("lib/{last}.dart")],
        Ecosystem::Maven | Ecosystem::Composer | Ecosystem::Nuget | Ecosystem::Swift => Vec::new(),
    };
    names.extend(usual);
    names
}

/// Returns the comment at the head of a source file.
fn comment(path: &str, text: &str) -> Option<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match path.rsplit_once('.')?.1 {
        "rs" => inner_comment(text),
        "dart" => lines_with(text, "///", &["library", "import"]),
        "rb" => lines_with(
            text,
            "#",
            &["# frozen", "#!", "# encoding", "# -*-", "# typed:"],
        ),
        "py" => docstring(text),
        "go" => package_comment(text),
        "ex" | "exs" => {
            let (_, rest) = text.split_once("@moduledoc \"\"\"")?;
            Some(outdented(rest.split_once("\"\"\"")?.0))
        }
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" => jsdoc(text),
        _ => None,
    }
}

/// Returns the lines with `//!`: before them may stand attributes and other comments, no items.
fn inner_comment(text: &str) -> Option<String> {
    const ITEMS: [&str; 8] = [
        "use ", "pub ", "mod ", "fn ", "struct ", "extern ", "macro_", "impl",
    ];
    let mut lines = text.lines().map(str::trim);
    let is_before =
        |line: &&str| !line.starts_with("//!") && !ITEMS.iter().any(|item| line.starts_with(item));
    let rest: Vec<&str> = lines.by_ref().skip_while(is_before).collect();
    lines_with(&rest.join("\n"), "//!", &[])
}

/// Returns the first lines with a mark, without it; blank ones and those with other marks may stand
/// before them.
fn lines_with(text: &str, mark: &str, passed_over: &[&str]) -> Option<String> {
    let is_other = |line: &str| {
        line.is_empty()
            || passed_over
                .iter()
                .any(|other| line.starts_with(other) && (*other != "//" || !line.starts_with(mark)))
    };
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .skip_while(|line| is_other(line))
        .take_while(|line| line.starts_with(mark))
        .filter_map(|line| line.strip_prefix(mark))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n").trim().to_owned())
}

fn docstring(text: &str) -> Option<String> {
    let mut rest = text;
    while rest.trim_start().starts_with('#') {
        rest = rest.trim_start().split_once('\n')?.1;
    }
    let rest = rest.trim_start().trim_start_matches(['r', 'R', 'u', 'U']);
    let quotes = ["\"\"\"", "'''"];
    let quote = quotes.iter().find(|quote| rest.starts_with(**quote))?;
    let (inside, _) = rest.strip_prefix(*quote)?.split_once(quote)?;
    Some(outdented(inside))
}

/// Returns the comment right before `package`.
fn package_comment(text: &str) -> Option<String> {
    let (before, _) = text.split_once("\npackage ")?;
    let block = before.trim_end().rsplit("\n\n").next()?;
    if let Some(inside) = block.trim().strip_prefix("/*") {
        return Some(outdented(inside.trim_end_matches("*/")));
    }
    lines_with(block, "//", &["//go:", "// +build"])
}

/// Returns the first `/** … */`, unless it is a license.
fn jsdoc(text: &str) -> Option<String> {
    const LINES_BEFORE: usize = 40;
    let (before, rest) = text.split_once("/**")?;
    if before.matches('\n').count() > LINES_BEFORE {
        return None;
    }
    let (inside, _) = rest.split_once("*/")?;
    let lines: Vec<&str> = inside
        .lines()
        .map(|line| {
            let line = line.trim();
            line.strip_prefix('*').unwrap_or(line).trim()
        })
        .collect();
    let text = lines.join("\n").trim().to_owned();
    let is_license = ["license", "copyright"]
        .iter()
        .any(|word| text.to_ascii_lowercase().contains(word));
    (!is_license).then_some(text)
}

/// Returns a text without the indentation of its second line.
fn outdented(text: &str) -> String {
    let lines = || text.lines();
    let indent = lines()
        .skip(1)
        .find(|line| !line.trim().is_empty())
        .map_or(0, |line| line.len() - line.trim_start().len());
    let lines: Vec<&str> = lines()
        .map(|line| {
            line.get(indent..)
                .filter(|_| line.starts_with(' '))
                .unwrap_or(line.trim())
        })
        .collect();
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_at_the_head_of_files_are_read() {
        for (path, text, expected) in [
            (
                "a.rs",
                "// x\n#![a]\n\n//! One.\n//!\n//! Two.\n\nuse b;\n",
                "One.\n\nTwo.",
            ),
            (
                "a.py",
                "#!/usr/bin/env python\n# -*- x\n\"\"\"One.\n\n    Two.\n    \"\"\"\nimport b\n",
                "One.\n\nTwo.",
            ),
            ("a.py", "r'''One.'''\n", "One."),
            (
                "a.go",
                "// Copyright x\n\n// Package a does.\n// More.\npackage a\n",
                "Package a does.\nMore.",
            ),
            (
                "a.go",
                "/*\nPackage a does.\n*/\npackage a\n",
                "Package a does.",
            ),
            (
                "a.ts",
                "import x from 'y';\n\n/**\n * One.\n * Two.\n */\nexport default 1;\n",
                "One.\nTwo.",
            ),
            (
                "a.rb",
                "# frozen_string_literal: true\n\n# One.\nmodule A\n",
                "One.",
            ),
            (
                "a.ex",
                "defmodule A do\n  @moduledoc \"\"\"\n  One.\n    two\n  \"\"\"\nend\n",
                "One.\n  two",
            ),
        ] {
            assert_eq!(comment(path, text).as_deref(), Some(expected), "{path}");
        }
    }

    #[test]
    fn files_without_one_have_none() {
        for (path, text) in [
            ("a.rs", "fn main() {}\n//! no\n"),
            ("a.py", "import a\n\"\"\"no\"\"\"\n"),
            ("a.go", "package a\n"),
            ("a.js", "/** @license MIT */\n"),
            ("a.txt", "/** no */"),
        ] {
            assert_eq!(comment(path, text), None, "{path}");
        }
    }
}
