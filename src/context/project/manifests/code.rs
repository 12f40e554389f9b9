//! Manifests that are programs or loose text, by regular expressions: what a program computes is
//! not known.

use std::borrow::Cow;

use regex::{Captures, Regex};
use serde::Deserialize;

use super::data::requirement;
use super::{Dependency, ManifestContent, Scope};
use crate::text::pattern::Pattern;

/// How a format is read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CodePatterns {
    comments: Option<Comments>,
    packages: Vec<CodePattern>,
    /// The sections with packages; the text without those for development if there is none.
    runtime: Option<CodePattern>,
    development: Option<CodePattern>,
    catalog: Option<CodePattern>,
    workspace: Option<CodePattern>,
    name: Option<CodePattern>,
    description: Option<CodePattern>,
    properties: Option<CodePattern>,
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct CodePattern(Regex);

/// The comments of a language.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Comments {
    /// `#` to the end of the line.
    Hash,
    /// `//` to the end of the line, and `/* … */`.
    Slashes,
    /// `<!-- … -->`.
    Markup,
}

impl CodePatterns {
    pub(super) fn read(&self, text: &str) -> ManifestContent {
        let text = format!("{text}\n");
        let code = without_comments(&text, self.comments);
        let (rest, catalog) = split(&code, self.catalog.as_ref());
        let (rest, development) = split(&rest, self.development.as_ref());
        let runtime = match &self.runtime {
            Some(sections) => sections.groups(&rest),
            None => rest,
        };
        let mut content = ManifestContent {
            name: first(self.name.as_ref(), &code),
            description: first(self.description.as_ref(), &code),
            is_workspace: first(self.workspace.as_ref(), &code).is_some(),
            ..ManifestContent::default()
        };
        let parts = [
            (runtime, Some(Scope::Runtime)),
            (development, Some(Scope::Development)),
            (catalog, None),
        ];
        for (part, scope) in &parts {
            for captures in all(&self.packages, part) {
                let Some(dependency) = package(&captures, scope.unwrap_or(Scope::Runtime)) else {
                    continue;
                };
                if scope.is_some() || captures.name("import").is_some() {
                    content.dependencies.push(dependency);
                } else {
                    let name = dependency.name.clone();
                    content.catalog.insert(name, vec![dependency]);
                }
            }
        }
        for captures in all(&self.properties, &code) {
            let [name, value] = ["name", "value"].map(|group| {
                let group = captures.name(group);
                group.map_or("", |group| group.as_str()).to_owned()
            });
            content.properties.insert(name, value);
        }
        content
    }
}

impl TryFrom<String> for CodePattern {
    type Error = regex::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Regex::new(&text).map(Self)
    }
}

impl CodePattern {
    /// In lines of their own.
    fn groups(&self, code: &str) -> String {
        let groups = self.0.captures_iter(code).flat_map(|captures| {
            let groups: Vec<_> = captures.iter().skip(1).flatten().collect();
            groups
                .into_iter()
                .map(|group| format!("{}\n", group.as_str()))
        });
        groups.collect()
    }
}

fn split(text: &str, sections: Option<&CodePattern>) -> (String, String) {
    let Some(sections) = sections else {
        return (text.to_owned(), String::new());
    };
    let rest = sections.0.replace_all(text, "").into_owned();
    (rest, sections.groups(text))
}

fn all<'a>(
    patterns: impl IntoIterator<Item = &'a CodePattern>,
    text: &'a str,
) -> impl Iterator<Item = Captures<'a>> {
    let patterns = patterns.into_iter();
    patterns.flat_map(|CodePattern(pattern)| pattern.captures_iter(text))
}

fn first(pattern: Option<&CodePattern>, code: &str) -> Option<String> {
    let captures = pattern?.0.captures(code)?;
    let group = captures.iter().flatten().take(2).last()?;
    Some(group.as_str().trim().to_owned())
}

fn package(captures: &Captures<'_>, scope: Scope) -> Option<Dependency> {
    let group = |name| captures.name(name).map(|group| group.as_str());
    if let Some(text) = group("requirement") {
        return requirement(text, scope);
    }
    let name = match (group("group"), group("name")?) {
        (Some(group), name) => format!("{group}:{name}"),
        (None, name) => name.to_owned(),
    };
    let scope = match group("dev") {
        Some(_) => Scope::Development,
        None => scope,
    };
    // Several versions are a list of literals.
    let version = group("version").map(|version| version.replace(['"', '\''], ""));
    let version = version
        .as_deref()
        .map(|version| version.trim_matches([',', ' ']));
    Some(Dependency::new(name, version, scope))
}

/// Marks within a literal begin none.
fn without_comments(code: &str, comments: Option<Comments>) -> Cow<'_, str> {
    match comments {
        None => code.into(),
        Some(Comments::Hash) => HASH.replace_in(code, "$1"),
        Some(Comments::Slashes) => SLASHES.replace_in(code, "$1"),
        Some(Comments::Markup) => MARKUP.replace_in(code, "$1"),
    }
}

static HASH: Pattern = Pattern::prepared(r"#[^\n]*", after_literals);
static SLASHES: Pattern = Pattern::prepared(r"//[^\n]*|/\*(?s:.*?)(?:\*/|$)", after_literals);
static MARKUP: Pattern = Pattern::prepared("<!--(?s:.*?)(?:-->|$)", after_literals);

fn after_literals(comment: &str) -> String {
    format!(r#"("(?:[^"\\\n]|\\.)*["\n]?|'(?:[^'\\\n]|\\.)*['\n]?)|{comment}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_and_literals_stay() {
        let code = "a('x # y') # z\nb \"it's\" // no\n";
        assert_eq!(
            without_comments(code, Some(Comments::Hash)),
            "a('x # y') \nb \"it's\" // no\n"
        );
        let code = "a(\"http://x\") /* b\nc */ d // e";
        assert_eq!(
            without_comments(code, Some(Comments::Slashes)),
            "a(\"http://x\")  d "
        );
    }
}
