//! TOML: tables.

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::document::{Entry, EntryValue, SyntaxError, add, line_at};

pub(super) fn parse(text: &str) -> Result<Vec<Entry>, SyntaxError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let message = error.message().lines().next().unwrap_or_default();
        SyntaxError {
            line: line_at(text, at),
            problem: format!("not TOML: {message}"),
        }
    })?;
    entries(text, table.into_inner())
}

fn entries(text: &str, table: DeTable<'_>) -> Result<Vec<Entry>, SyntaxError> {
    let mut entries = Vec::new();
    // The table is in the order of its keys; errors are for the first line.
    let mut rows: Vec<(Spanned<DeString<'_>>, Spanned<DeValue<'_>>)> = table.into_iter().collect();
    rows.sort_by_key(|(key, _)| key.span().start);
    for (key, value) in rows {
        let line = line_at(text, key.span().start);
        let key = key.into_inner().into_owned();
        let written = text.get(value.span()).unwrap_or_default();
        let value = match value.get_ref() {
            DeValue::Table(_) => {
                let DeValue::Table(table) = value.into_inner() else {
                    continue;
                };
                EntryValue::Section(self::entries(text, table)?)
            }
            DeValue::Integer(_) => EntryValue::of_word(&written.replace('_', "")),
            DeValue::String(string) => EntryValue::Other(format!("the text `{string}`")),
            DeValue::Array(_) => EntryValue::Other("a list".to_owned()),
            DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {
                EntryValue::Other(format!("`{written}`"))
            }
        };
        add(&mut entries, Entry { key, value, line })?;
    }
    Ok(entries)
}
