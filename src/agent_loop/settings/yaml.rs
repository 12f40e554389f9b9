//! YAML: one document with a mapping.
//!
//! Anchors and aliases are not followed: a few lines of them can stand for gigabytes.

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::document::{Entry, EntryValue, SyntaxError, add};

/// A mapping that is being read, or another value with parts.
enum Open {
    Mapping {
        entries: Vec<Entry>,
        /// A key that waits for its value, and its line.
        key: Option<(String, usize)>,
    },
    List,
}

pub(super) fn parse(text: &str) -> Result<Vec<Entry>, SyntaxError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut open: Vec<Open> = Vec::new();
    let mut root = None;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| SyntaxError {
            line: error.marker().line(),
            problem: format!("not YAML: {}", error.info()),
        })?;
        let line = span.start.line();
        let value = match event {
            Event::MappingStart(..) => {
                open.push(Open::Mapping {
                    entries: Vec::new(),
                    key: None,
                });
                continue;
            }
            Event::SequenceStart(..) => {
                open.push(Open::List);
                continue;
            }
            Event::MappingEnd | Event::SequenceEnd => match open.pop() {
                Some(Open::Mapping { entries, .. }) => EntryValue::Section(entries),
                Some(Open::List) | None => EntryValue::Other("a list".to_owned()),
            },
            Event::Scalar(text, style, ..) => scalar(&text, style),
            Event::Alias(_) => EntryValue::Other("an alias".to_owned()),
            Event::DocumentStart(_) if root.is_some() => {
                return Err(SyntaxError {
                    line,
                    problem: "a second document begins here".to_owned(),
                });
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => continue,
        };
        match open.last_mut() {
            None => root = Some((value, line)),
            Some(Open::List) => {}
            Some(Open::Mapping { entries, key }) => match key.take() {
                Some((key, line)) => add(entries, Entry { key, value, line })?,
                None => *key = Some((key_text(value), line)),
            },
        }
    }
    match root {
        None | Some((EntryValue::Null, _)) => Ok(Vec::new()),
        Some((EntryValue::Section(entries), _)) => Ok(entries),
        Some((EntryValue::Number(_) | EntryValue::Other(_), line)) => Err(SyntaxError {
            line,
            problem: "expected keys with values, such as `exit_decision:`".to_owned(),
        }),
    }
}

fn scalar(text: &str, style: ScalarStyle) -> EntryValue {
    match (style, text) {
        (ScalarStyle::Plain, "" | "~" | "null" | "Null" | "NULL") => EntryValue::Null,
        (ScalarStyle::Plain, text) => EntryValue::of_word(text),
        (_, text) => EntryValue::Other(format!("the text `{text}`")),
    }
}

/// Returns a key as text; those of other kinds are no settings.
fn key_text(value: EntryValue) -> String {
    match value {
        EntryValue::Number(number) => number.to_string(),
        EntryValue::Null => "~".to_owned(),
        EntryValue::Section(_) => "{…}".to_owned(),
        EntryValue::Other(text) => {
            let text = text.trim_start_matches("the text ");
            text.trim_matches('`').to_owned()
        }
    }
}
