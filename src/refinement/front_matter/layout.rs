//! Where the section `convergence:` and its keys stand, or where they can be added.

use std::collections::BTreeMap;
use std::ops::Range;

use saphyr_parser::ScalarStyle;

use super::FrontMatterError;
use super::entry::{ConvergenceEntry, EntryKey};
use super::fence::Delimiters;
use super::yaml::{YamlKind, YamlNode};

pub(super) const SECTION: &str = "convergence";

/// The places of a front matter that edits need.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Layout {
    /// No section: it is added in this form.
    Absent(Addition),
    /// `convergence:` without a value, which this range holds if it is written out.
    Null { form: Addition, null: Range<usize> },
    Section {
        form: Addition,
        values: BTreeMap<EntryKey, OwnValue>,
    },
}

/// How keys are added.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Addition {
    /// Lines with this many spaces before them, at this byte.
    Lines { at: usize, indent: usize },
    /// Members in braces, at this byte.
    Members { at: usize, is_empty: bool },
}

/// The value of an own key.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OwnValue {
    /// Behind the colon if nothing is written.
    pub(super) range: Range<usize>,
    /// `None` for null.
    pub(super) text: Option<String>,
    pub(super) quote: Option<char>,
}

type LayoutAndEntry = (Layout, Option<ConvergenceEntry>);

/// Returns the layout; `None` if the root is no mapping.
pub(super) fn of(
    text: &str,
    fence: &Delimiters,
    root: Option<&YamlNode>,
) -> Result<Option<LayoutAndEntry>, FrontMatterError> {
    let closing = fence.yaml.end;
    let Some(root) = root else {
        let form = Addition::Lines {
            at: closing,
            indent: 0,
        };
        return Ok(Some((Layout::Absent(form), None)));
    };
    let YamlKind::Mapping { entries, is_flow } = &root.kind else {
        return Ok(None);
    };
    let mut members = entries.iter().filter(|(key, _)| is_named(key, SECTION));
    let member = members.next();
    if let Some((again, _)) = members.next() {
        return Err(problem(again, SECTION, "is set twice"));
    }
    let Some((key, value)) = member else {
        let form = match entries.first() {
            Some((first, _)) if !is_flow => Addition::Lines {
                at: closing,
                indent: indent_of(
                    text,
                    if root.is_marked {
                        first.start
                    } else {
                        root.start
                    },
                ),
            },
            Some(_) | None => braces(text, root, SECTION, entries.is_empty())?,
        };
        return Ok(Some((Layout::Absent(form), None)));
    };
    let YamlKind::Mapping {
        entries: own,
        is_flow: is_own_flow,
    } = &value.kind
    else {
        let null = value_of(text, key, value, SECTION)?;
        if null.text.is_some() || null.quote.is_some() {
            return Err(problem(value, SECTION, "must be a mapping"));
        }
        if !*is_flow {
            begins_line(text, key)?;
        }
        let form = if *is_flow {
            Addition::Members {
                at: null.range.start,
                is_empty: true,
            }
        } else {
            Addition::Lines {
                at: line_end(text, key.start),
                indent: indent_of(text, key.start) + 2,
            }
        };
        let null = null.range;
        return Ok(Some((Layout::Null { form, null }, None)));
    };
    let values = own_values(text, own)?;
    let form = match own.first() {
        Some((first, _)) if !is_own_flow => {
            begins_line(text, first)?;
            Addition::Lines {
                at: line_start(text, first.start),
                indent: indent_of(text, first.start),
            }
        }
        Some(_) | None => braces(text, value, SECTION, own.is_empty())?,
    };
    let entry = ConvergenceEntry::of(|key| values.get(&key)?.text.clone());
    Ok(Some((Layout::Section { form, values }, entry)))
}

fn own_values(
    text: &str,
    entries: &[(YamlNode, YamlNode)],
) -> Result<BTreeMap<EntryKey, OwnValue>, FrontMatterError> {
    let mut values = BTreeMap::new();
    for (key, value) in entries {
        let own = EntryKey::ALL
            .into_iter()
            .find(|own| is_named(key, own.name()));
        let Some(own) = own else {
            continue;
        };
        let read = value_of(text, key, value, own.name())?;
        if values.insert(own, read).is_some() {
            return Err(problem(key, own.name(), "is set twice"));
        }
    }
    Ok(values)
}

/// Returns the place of a value in one line.
fn value_of(
    text: &str,
    key: &YamlNode,
    value: &YamlNode,
    name: &str,
) -> Result<OwnValue, FrontMatterError> {
    let YamlKind::Scalar {
        text: content,
        style,
    } = &value.kind
    else {
        return Err(problem(
            value,
            name,
            "must not be a list, a mapping or an alias",
        ));
    };
    if value.is_marked || key.is_marked {
        return Err(problem(value, name, "must not have an anchor or a tag"));
    }
    let colon = behind_colon(text, key)
        .ok_or_else(|| problem(key, name, "must be a key with a colon in the same line"))?;
    if value.is_empty() {
        return Ok(OwnValue {
            range: colon..colon,
            text: None,
            quote: None,
        });
    }
    let (range, quote) = match style {
        ScalarStyle::Plain => (value.start..value.end, None),
        ScalarStyle::SingleQuoted => (quoted(text, value.start, '\''), Some('\'')),
        ScalarStyle::DoubleQuoted => (quoted(text, value.start, '"'), Some('"')),
        ScalarStyle::Literal | ScalarStyle::Folded => (0..0, None),
    };
    let written = text.get(range.clone()).unwrap_or_default();
    let is_plain = quote.is_none();
    if written.is_empty() || written.contains(['\n', '\r']) || (is_plain && written != content) {
        return Err(problem(value, name, "must have its value in one line"));
    }
    let is_null = is_plain && matches!(content.as_str(), "~" | "null" | "Null" | "NULL");
    Ok(OwnValue {
        range,
        text: (!is_null).then(|| content.clone()),
        quote,
    })
}

/// Returns the bytes of a quoted scalar that begins here.
fn quoted(text: &str, start: usize, quote: char) -> Range<usize> {
    let mut characters = text
        .get(start + 1..)
        .unwrap_or_default()
        .char_indices()
        .peekable();
    while let Some((at, c)) = characters.next() {
        if c == '\\' && quote == '"' {
            characters.next();
        } else if c == quote {
            let is_doubled = quote == '\'' && characters.next_if(|&(_, c)| c == quote).is_some();
            if !is_doubled {
                return start..start + 1 + at + 1;
            }
        }
    }
    start..start
}

/// Returns the byte behind the colon of a key.
fn behind_colon(text: &str, key: &YamlNode) -> Option<usize> {
    let end = match &key.kind {
        YamlKind::Scalar {
            style: ScalarStyle::SingleQuoted,
            ..
        } => quoted(text, key.start, '\'').end,
        YamlKind::Scalar {
            style: ScalarStyle::DoubleQuoted,
            ..
        } => quoted(text, key.start, '"').end,
        YamlKind::Scalar { .. } | YamlKind::Mapping { .. } | YamlKind::Other => key.end,
    };
    let rest = text.get(end..)?;
    let colon = rest.trim_start_matches([' ', '\t']);
    colon
        .starts_with(':')
        .then(|| end + (rest.len() - colon.len()) + 1)
}

fn braces(
    text: &str,
    mapping: &YamlNode,
    name: &str,
    is_empty: bool,
) -> Result<Addition, FrontMatterError> {
    let opening = text.get(mapping.start..).unwrap_or_default();
    if !opening.starts_with('{') {
        return Err(problem(mapping, name, "must not have an anchor or a tag"));
    }
    Ok(Addition::Members {
        at: mapping.start + 1,
        is_empty,
    })
}

/// Requires a key with nothing but spaces before it.
fn begins_line(text: &str, key: &YamlNode) -> Result<(), FrontMatterError> {
    if line_start(text, key.start) + indent_of(text, key.start) == key.start {
        Ok(())
    } else {
        Err(problem(
            key,
            SECTION,
            "must have its keys on lines of their own",
        ))
    }
}

fn is_named(key: &YamlNode, name: &str) -> bool {
    matches!(&key.kind, YamlKind::Scalar { text, .. } if text == name)
}

fn problem(node: &YamlNode, key: &str, problem: &'static str) -> FrontMatterError {
    FrontMatterError::Key {
        line: node.line,
        key: key.to_owned(),
        problem,
    }
}

fn line_start(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.rfind(['\n', '\r']).map_or(0, |end| end + 1)
}

/// Returns the end of the line without its line ending.
fn line_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.find(['\n', '\r']).unwrap_or(rest.len())
}

fn indent_of(text: &str, at: usize) -> usize {
    let line = text.get(line_start(text, at)..).unwrap_or_default();
    line.len() - line.trim_start_matches(' ').len()
}
