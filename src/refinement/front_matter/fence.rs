//! Finds the lines that enclose the front matter.

use std::ops::Range;

use super::FrontMatterError;

const BOM: char = '\u{feff}';

/// The bytes of the front matter.
#[derive(Debug)]
pub(super) struct Delimiters {
    /// With the enclosing lines.
    pub(super) range: Range<usize>,
    /// Between the enclosing lines; its end is the beginning of the closing line.
    pub(super) yaml: Range<usize>,
    /// Whether a blank line follows the first: then it may be a thematic break.
    pub(super) begins_blank: bool,
}

/// Returns where the text begins after a byte order mark.
pub(super) fn beginning(text: &str) -> usize {
    if text.starts_with(BOM) {
        BOM.len_utf8()
    } else {
        0
    }
}

pub(super) fn find(text: &str) -> Result<Option<Delimiters>, FrontMatterError> {
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
