//! Manifests that are programs or loose text, by regular expressions: what a program computes is not
//! known.

use std::borrow::Cow;

use regex::{Captures, Regex};
use serde::Deserialize;

use super::data::requirement;
use super::{Dependency, ManifestContent, Scope};

/// How a format is read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CodePatterns {
    comments: Option<Comments>,
    packages: Vec<Pattern>,
    /// The sections with packages; the text without those for development if there is none.
    runtime: Option<Pattern>,
    development: Option<Pattern>,
    name: Option<Pattern>,
    description: Option<Pattern>,
    properties: Option<Pattern>,
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct Pattern(Regex);

/// The comments of a language.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Comments {
    /// `#` to the end of the line.
    Hash,
    /// `//` to the end of the line, and `/* … */`.
    Slashes,
}

impl CodePatterns {
    pub(super) fn read(&self, text: &str) -> ManifestContent {
        let text = format!("{text}\n");
        let code = match self.comments {
            Some(comments) => without_comments(&text, comments),
            None => text,
        };
        let development = self.development.as_ref();
        let runtime = match (&self.runtime, development) {
            (Some(sections), _) => Cow::from(sections.groups(&code)),
            (None, Some(sections)) => sections.0.replace_all(&code, ""),
            (None, None) => Cow::from(&code),
        };
        let development = development.map(|sections| sections.groups(&code));
        let mut content = ManifestContent {
            name: first(self.name.as_ref(), &code),
            description: first(self.description.as_ref(), &code),
            ..ManifestContent::default()
        };
        for Pattern(pattern) in &self.packages {
            for (part, scope) in [
                (&*runtime, Scope::Runtime),
                (
                    development.as_deref().unwrap_or_default(),
                    Scope::Development,
                ),
            ] {
                let packages = pattern.captures_iter(part);
                content
                    .dependencies
                    .extend(packages.filter_map(|captures| package(&captures, scope)));
            }
        }
        for captures in self
            .properties
            .iter()
            .flat_map(|it| it.0.captures_iter(&code))
        {
            let [name, value] = ["name", "value"].map(|group| captures.name(group));
            if let (Some(name), Some(value)) = (name, value) {
                let (name, value) = (name.as_str().to_owned(), value.as_str().to_owned());
                content.properties.insert(name, value);
            }
        }
        content
    }
}

impl TryFrom<String> for Pattern {
    type Error = regex::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Regex::new(&text).map(Self)
    }
}

impl Pattern {
    /// Returns what the groups of all matches hold, in lines of their own.
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

/// Returns what the first match of a pattern has in a group.
fn first(pattern: Option<&Pattern>, code: &str) -> Option<String> {
    let captures = pattern?.0.captures(code)?;
    let group = captures.iter().skip(1).flatten().next()?;
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

/// Returns a program without its comments. String literals stay, and so do the lines.
fn without_comments(code: &str, comments: Comments) -> String {
    let mut bare = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let line_end = rest.find('\n').unwrap_or(rest.len());
        let (kept, passed) = match (first, comments) {
            ('"' | '\'', _) => {
                let end = literal_end(rest, first);
                (end, end)
            }
            ('#', Comments::Hash) => (0, line_end),
            ('/', Comments::Slashes) if rest.starts_with("//") => (0, line_end),
            ('/', Comments::Slashes) if rest.starts_with("/*") => {
                (0, rest.find("*/").map_or(rest.len(), |at| at + 2))
            }
            (other, _) => (other.len_utf8(), other.len_utf8()),
        };
        bare.push_str(rest.get(..kept).unwrap_or_default());
        rest = rest.get(passed..).unwrap_or_default();
    }
    bare
}

/// Returns the length of the literal that a text begins with: up to its closing quote, or up to the
/// end of the line if it has none.
fn literal_end(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            '\n' => return at,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if character == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_and_literals_stay() {
        let code = "a('x # y') # z\nb \"it's\" // no\n";
        assert_eq!(
            without_comments(code, Comments::Hash),
            "a('x # y') \nb \"it's\" // no\n"
        );
        let code = "a(\"http://x\") /* b\nc */ d // e";
        assert_eq!(
            without_comments(code, Comments::Slashes),
            "a(\"http://x\")  d "
        );
    }
}
