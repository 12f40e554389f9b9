//! Edits that set the keys of an entry and nothing else.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::refinement::byte_edit::ByteEdit;

use super::entry::{ConvergenceEntry, EntryKey};
use super::layout::{Addition, Layout, OwnValue, SECTION};
use super::{FrontMatter, fence};

/// Returns the edits that write the entry into the front matter of this text; without one, it is
/// added at the top.
pub(super) fn edit(
    text: &str,
    front_matter: Option<&FrontMatter>,
    entry: &ConvergenceEntry,
) -> Vec<ByteEdit> {
    let line_ending = line_ending(text);
    let Some(front_matter) = front_matter else {
        return vec![new_front_matter(text, entry, line_ending)];
    };
    let values: Vec<(EntryKey, String)> = EntryKey::ALL
        .into_iter()
        .filter_map(|key| Some((key, key.text(entry)?)))
        .collect();
    match &front_matter.layout {
        Layout::Absent(form) => vec![section(form, &values, line_ending)],
        Layout::Null { form, null } => of_null(text, form, null.clone(), &values, line_ending),
        Layout::Section { form, values: own } => {
            let missing = |(key, _): &(EntryKey, String)| !own.contains_key(key);
            let missing: Vec<_> = values.into_iter().filter(missing).collect();
            let mut edits = changed(text, own, entry);
            edits.extend(completed(text, form, own, missing, line_ending));
            edits
        }
    }
}

fn new_front_matter(text: &str, entry: &ConvergenceEntry, line_ending: &str) -> ByteEdit {
    let at = fence::beginning(text);
    let values = EntryKey::ALL
        .into_iter()
        .filter_map(|key| Some((key, key.text(entry)?)));
    let values: Vec<_> = values.collect();
    let form = Addition::Lines { at, indent: 0 };
    let section = section(&form, &values, line_ending).text;
    let rest = text.get(at..).unwrap_or_default();
    let blank = if rest.is_empty() || rest.starts_with(['\n', '\r']) {
        ""
    } else {
        line_ending
    };
    let text = format!("---{line_ending}{section}---{line_ending}{blank}");
    ByteEdit::insertion(at, text)
}

/// Adds the whole section.
fn section(form: &Addition, values: &[(EntryKey, String)], line_ending: &str) -> ByteEdit {
    match *form {
        Addition::Lines { at, indent } => {
            let head = format!("{}{SECTION}:{line_ending}", " ".repeat(indent));
            let form = Addition::Lines {
                at,
                indent: indent + 2,
            };
            let keys = added(&form, values, line_ending);
            ByteEdit::insertion(at, head + &keys.text)
        }
        Addition::Members { at, is_empty } => {
            let separator = if is_empty { "" } else { ", " };
            let members = members(values);
            ByteEdit::insertion(at, format!("\"{SECTION}\": {{{members}}}{separator}"))
        }
    }
}

/// Gives `convergence:` its keys instead of null.
fn of_null(
    text: &str,
    form: &Addition,
    null: Range<usize>,
    values: &[(EntryKey, String)],
    line_ending: &str,
) -> Vec<ByteEdit> {
    match *form {
        Addition::Members { .. } => vec![ByteEdit {
            text: format!("{}{{{}}}", space_before(text, null.start), members(values)),
            range: null,
        }],
        Addition::Lines { at, indent } => {
            let before = text.get(..null.start).unwrap_or_default();
            let start = before.trim_end_matches([' ', '\t']).len();
            let lines = values.iter().map(|(key, value)| {
                format!("{line_ending}{}{}", " ".repeat(indent), line(*key, value))
            });
            let lines = ByteEdit::insertion(at, lines.collect());
            if null.is_empty() {
                return vec![lines];
            }
            let removed = ByteEdit {
                range: start..null.end,
                text: String::new(),
            };
            vec![removed, lines]
        }
    }
}

/// Sets the values of keys that are there. One that is written otherwise but means the same stays.
fn changed(
    text: &str,
    own: &BTreeMap<EntryKey, OwnValue>,
    entry: &ConvergenceEntry,
) -> Vec<ByteEdit> {
    let mut edits = Vec::new();
    for (key, value) in own {
        let new = key.text(entry);
        if new == value.text {
            continue;
        }
        let written = match (&new, value.quote) {
            (None, _) => "null".to_owned(),
            (Some(new), Some(quote)) if is_word(new) => format!("{quote}{new}{quote}"),
            (Some(new), _) => scalar(*key, new),
        };
        edits.push(ByteEdit {
            text: if value.range.is_empty() {
                format!("{}{written}", space_before(text, value.range.start))
            } else {
                written
            },
            range: value.range.clone(),
        });
    }
    edits
}

/// Adds the keys that the section does not have, each behind the one that comes before it.
fn completed(
    text: &str,
    form: &Addition,
    own: &BTreeMap<EntryKey, OwnValue>,
    missing: Vec<(EntryKey, String)>,
    line_ending: &str,
) -> Vec<ByteEdit> {
    if missing.is_empty() {
        return Vec::new();
    }
    match *form {
        Addition::Members { .. } => vec![added(form, &missing, line_ending)],
        Addition::Lines { at: first, indent } => {
            let edits = missing.into_iter().map(|value| {
                let before = own.range(..value.0).next_back();
                let at = before.map_or(first, |(_, before)| next_line(text, before.range.end));
                added(&Addition::Lines { at, indent }, &[value], line_ending)
            });
            edits.collect()
        }
    }
}

/// Adds keys in one place.
fn added(form: &Addition, values: &[(EntryKey, String)], line_ending: &str) -> ByteEdit {
    match *form {
        Addition::Lines { at, indent } => {
            let lines = values.iter().map(|(key, value)| {
                format!("{}{}{line_ending}", " ".repeat(indent), line(*key, value))
            });
            ByteEdit::insertion(at, lines.collect())
        }
        Addition::Members { at, is_empty } => {
            let separator = if is_empty { "" } else { ", " };
            ByteEdit::insertion(at, members(values) + separator)
        }
    }
}

fn line(key: EntryKey, value: &str) -> String {
    format!("{}: {}", key.name(), scalar(key, value))
}

/// Returns members of braces in the form of JSON, which is YAML too.
fn members(values: &[(EntryKey, String)]) -> String {
    let member = |(key, value): &(EntryKey, String)| {
        let value = if key.is_number() {
            value.clone()
        } else {
            quoted(value)
        };
        format!("\"{}\": {value}", key.name())
    };
    let members: Vec<String> = values.iter().map(member).collect();
    members.join(", ")
}

/// Writes a value: numbers and words as they are, anything else in quotes. A fingerprint can look
/// like a number.
fn scalar(key: EntryKey, value: &str) -> String {
    let begins_as_word = value.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_plain = key != EntryKey::Questions && begins_as_word && is_word(value);
    if key.is_number() || is_plain {
        value.to_owned()
    } else {
        quoted(value)
    }
}

/// Returns whether a text needs no escapes in quotes and is no other kind of value without them.
fn is_word(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let is_other = matches!(
        text.to_ascii_lowercase().as_str(),
        "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
    );
    !is_other && !text.is_empty() && text.chars().all(is_plain)
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns the blank that a value needs behind a colon.
fn space_before(text: &str, at: usize) -> &'static str {
    let before = text.get(..at).unwrap_or_default();
    if before.ends_with(':') { " " } else { "" }
}

/// Returns where the line after a position begins.
fn next_line(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
    let ending = rest.get(end..).unwrap_or_default();
    let length = if ending.starts_with("\r\n") { 2 } else { 1 };
    text.len().min(at + end + length)
}

fn line_ending(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text.get(..at).unwrap_or_default().ends_with('\r') => "\r\n",
        Some(_) | None => "\n",
    }
}
