//! The YAML front matter of a document, and the state of convergence in it.
//!
//! Only the lines of the keys of [`ConvergenceEntry`] inside `convergence:` are written. A parse
//! before and after proves that everything else means the same; front matter in which such lines
//! cannot be set, such as a root in braces, is an error that names its line.

pub mod entry;

use std::collections::BTreeMap;
use std::ops::Range;

use self::entry::KEYS;
use crate::text::node::yaml::{self, Aliases};
use crate::text::node::{Node, NodeMap, NodeValue, SyntaxProblem};

pub use self::entry::ConvergenceEntry;

const SECTION: &str = "convergence";

/// The front matter of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontMatter {
    /// From its first line to its last, with both and the line ending of the last.
    pub range: Range<usize>,
    /// `None` if keys are missing or their values have no meaning.
    pub entry: Option<ConvergenceEntry>,
}

/// Front matter that cannot be read or edited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrontMatterError {
    #[error("the front matter is TOML (`+++`); only YAML (`---`) can be edited")]
    Toml,
    #[error("the front matter is JSON (`{{`); only YAML (`---`) can be edited")]
    Json,
    #[error("the front matter that begins in line 1 has no closing `---`")]
    Unclosed,
    #[error("line {line}: the front matter cannot be read: {problem}")]
    NotYaml { line: usize, problem: String },
    #[error("line {line}: `{key}` of the front matter {problem}")]
    Key {
        line: usize,
        key: String,
        problem: &'static str,
    },
}

/// What the front matter says.
#[derive(Debug, Default, PartialEq)]
struct Matter {
    /// The spaces before the keys of the root.
    indent: usize,
    /// The line of the section in the document, from 1.
    section: Option<usize>,
    /// The values of the own keys; `None` for null.
    own: BTreeMap<String, Option<String>>,
    /// All that is not ours: inside the section, and outside.
    foreign: [NodeMap; 2],
}

/// Reads the front matter; `None` if there is none. Lines between two thematic breaks are none
/// unless they are a mapping.
///
/// Invariant: what is read can be edited.
pub fn read(text: &str) -> Result<Option<FrontMatter>, FrontMatterError> {
    let Some((fence, matter)) = parse(text)? else {
        return Ok(None);
    };
    edit(text, &fence, &matter, &ConvergenceEntry::default())?;
    Ok(Some(FrontMatter {
        range: fence.range,
        entry: ConvergenceEntry::of(&matter.own),
    }))
}

/// Returns the text with this entry in its front matter; without one, it is added at the top.
///
/// # Errors
///
/// When the front matter cannot be read.
pub fn with_entry(text: &str, entry: &ConvergenceEntry) -> Result<String, FrontMatterError> {
    if let Some((fence, matter)) = parse(text)? {
        return edit(text, &fence, &matter, entry);
    }
    let (before, rest) = text.split_at(beginning(text));
    let line_ending = line_ending(text);
    let section = section(entry, line_ending);
    let is_apart = rest.is_empty() || rest.starts_with(['\n', '\r']);
    let blank = if is_apart { "" } else { line_ending };
    Ok(format!(
        "{before}---{line_ending}{section}---{line_ending}{blank}{rest}"
    ))
}

fn section(entry: &ConvergenceEntry, line_ending: &str) -> String {
    format!("{SECTION}:{line_ending}{}", lines(entry, "  ", line_ending))
}

fn lines(entry: &ConvergenceEntry, indent: &str, line_ending: &str) -> String {
    let line = |(key, value)| format!("{indent}{key}: {value}{line_ending}");
    entry.members().into_iter().map(line).collect()
}

/// Sets the entry, and refuses if that changes anything else.
fn edit(
    text: &str,
    fence: &Delimiters,
    matter: &Matter,
    entry: &ConvergenceEntry,
) -> Result<String, FrontMatterError> {
    let yaml = text.get(fence.yaml.clone()).unwrap_or_default();
    let edited = format!(
        "{}{}{}",
        text.get(..fence.yaml.start).unwrap_or_default(),
        edited_yaml(yaml, matter, entry, line_ending(text)),
        text.get(fence.yaml.end..).unwrap_or_default()
    );
    let after = parse(&edited).ok().flatten();
    let is_kept = after.is_some_and(|(_, after)| {
        let written = ConvergenceEntry::of(&after.own).map(|entry| entry.members());
        after.foreign == matter.foreign && written == Some(entry.members())
    });
    if is_kept {
        Ok(edited)
    } else {
        let cannot = "cannot be set: write its keys on lines of their own, without braces and \
                      anchors";
        Err(key_error(matter.section.unwrap_or(1), SECTION, cannot))
    }
}

fn edited_yaml(yaml: &str, matter: &Matter, entry: &ConvergenceEntry, line_ending: &str) -> String {
    let indent_of = |line: &str| line.len() - line.trim_start_matches(' ').len();
    // The opening line is the first of the document.
    let Some(head) = matter.section.map(|line| line.saturating_sub(2)) else {
        let indent = " ".repeat(matter.indent);
        let section = section(entry, line_ending);
        let section = section
            .split_inclusive('\n')
            .map(|line| format!("{indent}{line}"));
        return yaml.to_owned() + &section.collect::<String>();
    };
    let all: Vec<&str> = yaml.split_inclusive('\n').collect();
    let (before, rest) = all.split_at(head.min(all.len()));
    let is_inside = |line: &&&str| line.trim().is_empty() || indent_of(line) > matter.indent;
    let inside = rest.iter().skip(1).take_while(is_inside).count();
    let inside = rest.get(1..=inside).unwrap_or_default();
    let first = inside
        .iter()
        .find(|line| !line.trim().is_empty() && !line.trim().starts_with('#'));
    let indent = first.map_or(matter.indent + 2, |line| indent_of(line));
    let mut foreign = String::new();
    let mut is_own = false;
    for line in inside {
        if indent_of(line) <= indent && !line.trim().is_empty() {
            let key = line.split(':').next().unwrap_or_default();
            is_own = KEYS.contains(&key.trim().trim_matches(['"', '\'']));
        }
        if !is_own || line.trim().is_empty() {
            foreign.push_str(line);
        }
    }
    let head = rest.first().copied().unwrap_or_default();
    let value = head.split_once(':').unwrap_or_default().1.trim();
    let head = if value.is_empty() || value.starts_with('#') {
        head.to_owned()
    } else {
        format!("{}{SECTION}:{line_ending}", " ".repeat(matter.indent))
    };
    let own = lines(entry, &" ".repeat(indent), line_ending);
    let after = rest.get(1 + inside.len()..).unwrap_or_default().concat();
    format!("{}{head}{own}{foreign}{after}", before.concat())
}

fn parse(text: &str) -> Result<Option<(Delimiters, Matter)>, FrontMatterError> {
    let Some(fence) = find(text)? else {
        return Ok(None);
    };
    let found = match matter(text.get(fence.yaml.clone()).unwrap_or_default()) {
        Err(FrontMatterError::NotYaml { .. }) if fence.begins_blank => None,
        matter => matter?,
    };
    Ok(found.map(|matter| (fence, matter)))
}

/// Reads the front matter; `None` if it is no mapping.
fn matter(yaml: &str) -> Result<Option<Matter>, FrontMatterError> {
    // The line before it counts too.
    let yaml = format!("\n{yaml}");
    let root = yaml::parse_with(&yaml, Aliases::Ignored);
    let root = root
        .map_err(|SyntaxProblem { line, problem }| FrontMatterError::NotYaml { line, problem })?;
    let Some(root) = root else {
        return Ok(Some(Matter::default()));
    };
    let NodeValue::Map(mut root) = root.value else {
        return Ok(None);
    };
    let mut matter = Matter::default();
    if let Some((key, first)) = root.first() {
        let line = yaml
            .lines()
            .nth(first.line.saturating_sub(1))
            .unwrap_or_default();
        let begin = line.trim_start_matches(' ');
        if !begin
            .trim_start_matches(['"', '\''])
            .starts_with(key.as_str())
        {
            let problem = "must begin its line, so that `convergence` can be set beside it";
            return Err(key_error(first.line, key, problem));
        }
        matter.indent = line.len() - begin.len();
    }
    let mut inside = NodeMap::new();
    if let Some(section) = root.shift_remove(SECTION) {
        matter.section = Some(section.line);
        let line = yaml
            .lines()
            .nth(section.line.saturating_sub(1))
            .unwrap_or_default();
        let written = line.split_once(':').unwrap_or_default().1.trim_start();
        if written.starts_with(['*', '&', '!']) {
            return Err(key_error(section.line, SECTION, "must be a mapping"));
        }
        let mut keys = match section.value {
            NodeValue::Null => NodeMap::new(),
            NodeValue::Map(keys) => keys,
            _ => return Err(key_error(section.line, SECTION, "must be a mapping")),
        };
        for key in KEYS {
            let value = match keys.shift_remove(key).map(|member| member.value) {
                None => continue,
                Some(NodeValue::Text(text) | NodeValue::Number(text)) => Some(text),
                Some(NodeValue::Bool(value)) => Some(value.to_string()),
                Some(NodeValue::Null | NodeValue::List(_) | NodeValue::Map(_)) => None,
            };
            matter.own.insert(key.to_owned(), value);
        }
        inside = keys;
    }
    matter.foreign = [inside, root].map(without_lines);
    Ok(Some(matter))
}

fn without_lines(map: NodeMap) -> NodeMap {
    match (Node {
        line: 0,
        value: NodeValue::Map(map),
    })
    .at_line(0)
    .value
    {
        NodeValue::Map(map) => map,
        _ => NodeMap::new(),
    }
}

fn key_error(line: usize, key: &str, problem: &'static str) -> FrontMatterError {
    FrontMatterError::Key {
        line,
        key: key.to_owned(),
        problem,
    }
}

fn line_ending(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text.get(..at).unwrap_or_default().ends_with('\r') => "\r\n",
        Some(_) | None => "\n",
    }
}

const BOM: char = '\u{feff}';

/// The bytes of the front matter.
#[derive(Debug)]
struct Delimiters {
    /// With the enclosing lines.
    range: Range<usize>,
    /// Between the enclosing lines; its end is the beginning of the closing line.
    yaml: Range<usize>,
    /// Whether a blank line follows the first: then it may be a thematic break.
    begins_blank: bool,
}

/// Returns where the text begins after a byte order mark.
fn beginning(text: &str) -> usize {
    if text.starts_with(BOM) {
        BOM.len_utf8()
    } else {
        0
    }
}

fn find(text: &str) -> Result<Option<Delimiters>, FrontMatterError> {
    let start = beginning(text);
    let mut lines = text.get(start..).unwrap_or_default().split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    match first.trim_end() {
        "---" => {}
        "+++" => return Err(FrontMatterError::Toml),
        "{" => return Err(FrontMatterError::Json),
        _ => return Ok(None),
    }
    let yaml = start + first.len();
    let mut end = yaml;
    let mut second = None;
    for line in lines {
        if matches!(line.trim_end(), "---" | "...") {
            return Ok(Some(Delimiters {
                range: start..end + line.len(),
                yaml: yaml..end,
                begins_blank: second.is_some_and(|line: &str| line.trim().is_empty()),
            }));
        }
        second = second.or(Some(line));
        end += line.len();
    }
    if second.is_some_and(is_key) {
        return Err(FrontMatterError::Unclosed);
    }
    Ok(None)
}

/// Returns whether a line looks like a key with its value rather than like prose.
fn is_key(line: &str) -> bool {
    let Some((key, value)) = line.split_once(':') else {
        return false;
    };
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '"' | '\'');
    !key.is_empty() && key.chars().all(is_word) && value.starts_with(char::is_whitespace)
}

#[cfg(test)]
mod tests;
