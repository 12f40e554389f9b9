//! The YAML front matter of a document, and the state of convergence in it.
//!
//! Only the keys of [`ConvergenceEntry`] inside `convergence:` are set. The front matter is edited
//! by byte ranges: other keys, comments, order, quotes, anchors and line endings stay as they are.
//! What cannot be edited in this way, such as a value over several lines, is an error that names
//! its line.

use std::ops::Range;

use self::edit::edit;
use super::byte_edit::apply;

mod fence;
mod yaml;
mod layout;
pub mod entry;
mod edit;
#[cfg(test)]
mod tests;

pub use self::entry::ConvergenceEntry;
use self::layout::Layout;

/// The front matter of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontMatter {
    /// From its first line to its last, with both and the line ending of the last.
    pub range: Range<usize>,
    /// `None` if keys are missing or their values have no meaning.
    pub entry: Option<ConvergenceEntry>,
    layout: Layout,
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
    #[error("line {line}: the front matter is no YAML: {problem}")]
    NotYaml { line: usize, problem: String },
    #[error("line {line}: `{key}` of the front matter {problem}")]
    Key {
        line: usize,
        key: String,
        problem: &'static str,
    },
}

/// Reads the front matter; `None` if there is none. Lines between two thematic breaks are none
/// unless they are a mapping.
///
/// Invariant: what is read can be edited. The parser accepts some texts that are no YAML, such as
/// keys behind tabs, and no key can be added to those.
pub fn read(text: &str) -> Result<Option<FrontMatter>, FrontMatterError> {
    let front_matter = parse(text)?;
    if let Some(front_matter) = &front_matter {
        let entry = ConvergenceEntry::default();
        let edited = apply(text, edit(text, Some(front_matter), &entry));
        let repeated = parse(&edited).ok().flatten();
        if repeated.and_then(|repeated| repeated.entry) != Some(entry) {
            return Err(FrontMatterError::Key {
                line: 1,
                key: layout::SECTION.to_owned(),
                problem: "cannot be set: another key is written in an unusual form",
            });
        }
    }
    Ok(front_matter)
}

/// Returns the text with this entry in its front matter; without one, it is added at the top.
///
/// # Errors
///
/// When the front matter cannot be read.
pub fn with_entry(text: &str, entry: &ConvergenceEntry) -> Result<String, FrontMatterError> {
    let front_matter = read(text)?;
    Ok(apply(text, edit(text, front_matter.as_ref(), entry)))
}

fn parse(text: &str) -> Result<Option<FrontMatter>, FrontMatterError> {
    let Some(fence) = fence::find(text)? else {
        return Ok(None);
    };
    let root = match yaml::parse(text, &fence.yaml) {
        Ok(root) => root,
        Err(_) if fence.begins_blank => return Ok(None),
        Err(error) => return Err(error),
    };
    let Some((layout, entry)) = layout::of(text, &fence, root.as_ref())? else {
        return Ok(None);
    };
    Ok(Some(FrontMatter {
        range: fence.range,
        entry,
        layout,
    }))
}
