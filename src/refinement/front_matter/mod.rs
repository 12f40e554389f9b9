//! The YAML front matter of a document, and the state of convergence in it.
//!
//! The program owns the block of `convergence:` and writes it as a whole. A parse before and after
//! proves that everything else means the same; front matter in which the block cannot be set, such
//! as a root in braces, is an error that names its line.

pub mod entry;

use std::ops::Range;

use self::entry::KEYS;
use crate::text::clean::one_line;
use crate::text::node::yaml::{self, Aliases};
use crate::text::node::{Node, NodeMap, NodeValue, SyntaxProblem};

pub use self::entry::ConvergenceEntry;

const SECTION: &str = "convergence";

/// The front matter of a document.
#[derive(Debug, PartialEq)]
pub struct FrontMatter {
    /// From its first line to its last, with both and the line ending of the last.
    pub range: Range<usize>,
    /// Between the enclosing lines; its end is the beginning of the closing line.
    yaml: Range<usize>,
    /// The line of the section in the document, from 1.
    section: Option<usize>,
    /// `None` if keys are missing or their values have no meaning.
    pub entry: Option<ConvergenceEntry>,
    /// All that is not ours.
    foreign: Node,
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
    #[error("line {line}: `{SECTION}` of the front matter {problem}")]
    Key { line: usize, problem: String },
}

/// Reads the front matter; `None` if there is none. Lines between two thematic breaks are none
/// unless they are a mapping.
///
/// Invariant: what is read can be edited.
pub fn read(text: &str) -> Result<Option<FrontMatter>, FrontMatterError> {
    let matter = parse(text)?;
    if let Some(matter) = &matter {
        edit(text, matter, &ConvergenceEntry::default())?;
    }
    Ok(matter)
}

/// Returns the text with this entry in its front matter; without one, it is added at the top.
///
/// # Errors
///
/// When the front matter cannot be read.
pub fn with_entry(text: &str, entry: &ConvergenceEntry) -> Result<String, FrontMatterError> {
    if let Some(matter) = parse(text)? {
        return edit(text, &matter, entry);
    }
    let (before, rest) = text.split_at(beginning(text));
    let line_ending = line_ending(text);
    let block = block(entry, "", line_ending);
    let is_apart = rest.is_empty() || rest.starts_with(['\n', '\r']);
    let blank = if is_apart { "" } else { line_ending };
    Ok(format!(
        "{before}---{line_ending}{block}---{line_ending}{blank}{rest}"
    ))
}

fn block(entry: &ConvergenceEntry, indent: &str, line_ending: &str) -> String {
    let line = |(key, value)| format!("{indent}  {key}: {value}{line_ending}");
    let lines: String = entry.members().into_iter().map(line).collect();
    format!("{indent}{SECTION}:{line_ending}{lines}")
}

/// Sets the entry, and refuses if that changes anything else.
fn edit(
    text: &str,
    matter: &FrontMatter,
    entry: &ConvergenceEntry,
) -> Result<String, FrontMatterError> {
    let yaml = text.get(matter.yaml.clone()).unwrap_or_default();
    let (before, after) = around_block(yaml, matter.section);
    let root = yaml.lines().find(|line| !is_apart(line));
    let indent = root.map_or(0, indent_of);
    let edited = format!(
        "{}{before}{}{after}{}",
        text.get(..matter.yaml.start).unwrap_or_default(),
        block(entry, &" ".repeat(indent), line_ending(text)),
        text.get(matter.yaml.end..).unwrap_or_default()
    );
    let read = parse(&edited).ok().flatten();
    let is_kept = read.is_some_and(|read| {
        let written = read.entry.map(|entry| entry.members());
        read.foreign == matter.foreign && written == Some(entry.members())
    });
    if is_kept {
        Ok(edited)
    } else {
        let first = yaml.lines().position(|line| !is_apart(line));
        let own = "on lines of their own, without braces and";
        Err(if let Some(line) = matter.section {
            key_error(line, format!("cannot be set: write its keys {own} anchors"))
        } else {
            let problem = format!("cannot be added: write the keys {own} tabs");
            key_error(first.map_or(1, |at| at + 2), problem)
        })
    }
}

/// Returns what stands before and after the lines of the block, or where it can be added.
fn around_block(yaml: &str, section: Option<usize>) -> (String, String) {
    let lines: Vec<&str> = yaml.split_inclusive('\n').collect();
    let start = section.map_or(lines.len(), |line| line.saturating_sub(2));
    let (before, rest) = lines.split_at(start.min(lines.len()));
    let outer = rest.first().map_or(0, |line| indent_of(line));
    let is_inside = |line: &&&str| line.trim().is_empty() || indent_of(line) > outer;
    let mut end = rest.len().min(1) + rest.iter().skip(1).take_while(is_inside).count();
    // Comments at its end belong to what follows.
    while end > 1 && rest.get(end - 1).is_some_and(|line| is_apart(line)) {
        end -= 1;
    }
    let after = rest.get(end..).unwrap_or_default();
    (before.concat(), after.concat())
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Whether a line is blank or a comment.
fn is_apart(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

/// `None` if there is none, or it is no mapping.
fn parse(text: &str) -> Result<Option<FrontMatter>, FrontMatterError> {
    let Some([range, yaml]) = find(text)? else {
        return Ok(None);
    };
    let source = text.get(yaml.clone()).unwrap_or_default();
    let mut lines = source.lines();
    // Before a blank line, the first one may be a thematic break.
    let begins_blank = lines.next().is_some_and(|line| line.trim().is_empty());
    // The YAML begins in the second line.
    let root = match yaml::parse_with(&format!("\n{source}"), Aliases::Ignored) {
        Err(_) if begins_blank => return Ok(None),
        root => root.map_err(
            |SyntaxProblem { line, problem }| FrontMatterError::NotYaml { line, problem },
        )?,
    };
    let mut root = match root.map(|root| root.value) {
        None => NodeMap::new(),
        Some(NodeValue::Map(root)) => root,
        Some(_) => return Ok(None),
    };
    let section = root.shift_remove(SECTION);
    let keys = match section
        .as_ref()
        .map(|section| (section.line, &section.value))
    {
        None | Some((_, NodeValue::Null)) => None,
        Some((_, NodeValue::Map(keys))) => Some(keys),
        Some((line, _)) => return Err(key_error(line, "must be a mapping")),
    };
    let mut members = keys.into_iter().flatten();
    if let Some((key, member)) = members.find(|(key, _)| !KEYS.contains(&key.as_str())) {
        let key = one_line(key);
        let problem = format!("has the key `{key}`, which is not its own: write it elsewhere");
        return Err(key_error(member.line, problem));
    }
    let foreign = Node {
        line: 0,
        value: NodeValue::Map(root),
    };
    Ok(Some(FrontMatter {
        range,
        yaml,
        entry: keys.and_then(ConvergenceEntry::of),
        section: section.map(|section| section.line),
        foreign: foreign.at_line(0),
    }))
}

fn key_error(line: usize, problem: impl Into<String>) -> FrontMatterError {
    let problem = problem.into();
    FrontMatterError::Key { line, problem }
}

fn line_ending(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text.get(..at).unwrap_or_default().ends_with('\r') => "\r\n",
        Some(_) | None => "\n",
    }
}

const BOM: char = '\u{feff}';

/// Returns where the text begins after a byte order mark.
pub(super) fn beginning(text: &str) -> usize {
    text.len() - text.strip_prefix(BOM).unwrap_or(text).len()
}

/// Returns the bytes of the front matter with its enclosing lines, and those between the lines.
fn find(text: &str) -> Result<Option<[Range<usize>; 2]>, FrontMatterError> {
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
            return Ok(Some([start..end + line.len(), yaml..end]));
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
