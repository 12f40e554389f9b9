//! TOML: tables as maps, without what is in lists.

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::{Lines, Node, NodeMap, NodeValue, SyntaxProblem};

pub fn parse(text: &str) -> Result<Node, SyntaxProblem> {
    let lines = Lines::new(text, 1);
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let message = error.message().lines().next().unwrap_or_default();
        SyntaxProblem::new(lines.at(at), format!("not TOML: {message}"))
    })?;
    Ok(Node {
        line: 1,
        value: NodeValue::Map(map(text, table.into_inner(), &lines)),
    })
}

fn map(text: &str, table: DeTable<'_>, lines: &Lines) -> NodeMap {
    // The table is in the order of its keys; errors are for the first line.
    let mut rows: Vec<(Spanned<DeString<'_>>, Spanned<DeValue<'_>>)> = table.into_iter().collect();
    rows.sort_by_key(|(key, _)| key.span().start);
    let member = |(key, value): (Spanned<DeString<'_>>, Spanned<DeValue<'_>>)| {
        let line = lines.at(key.span().start);
        let written = text.get(value.span()).unwrap_or_default().replace('_', "");
        let value = match value.into_inner() {
            DeValue::Table(table) => NodeValue::Map(map(text, table, lines)),
            DeValue::Array(_) => NodeValue::List(Vec::new()),
            DeValue::String(string) => NodeValue::Text(string.into_owned()),
            DeValue::Boolean(value) => NodeValue::Bool(value),
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::Datetime(_) => {
                NodeValue::Number(written)
            }
        };
        (key.into_inner().into_owned(), Node { line, value })
    };
    rows.into_iter().map(member).collect()
}
