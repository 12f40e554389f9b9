//! Tables: CSV and its relatives, with a header.

use csv::{ReaderBuilder, StringRecord};

use super::{Member, Node, NodeMap, NodeValue, SyntaxProblem};

/// What stands between cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::suites) enum Separator {
    /// A comma, or a semicolon if the header has no comma, as spreadsheets of many countries write.
    Comma,
    Tab,
}

/// Parses a table into a map for each row that is not blank; blank cells are left out. Names of
/// columns are in lower case, and columns named with the letters of options are `options`.
pub(in crate::suites) fn parse(
    text: &str,
    separator: Separator,
) -> Result<Vec<Result<Node, SyntaxProblem>>, SyntaxProblem> {
    let header_line = text.lines().next().unwrap_or_default();
    let byte = match separator {
        Separator::Tab => b'\t',
        Separator::Comma if !header_line.contains(',') && header_line.contains(';') => b';',
        Separator::Comma => b',',
    };
    let mut reader = ReaderBuilder::new()
        .delimiter(byte)
        .flexible(true)
        .from_reader(text.as_bytes());
    let broken = |error: csv::Error| {
        let line = error.position().map_or(1, |place| line(place.line()));
        SyntaxProblem::new(line, format!("not a table: {error}"))
    };
    let columns = columns(reader.headers().map_err(broken)?)?;
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(broken)?;
        if record.iter().any(|cell| !cell.trim().is_empty()) {
            rows.push(row(&columns, &record));
        }
    }
    Ok(rows)
}

fn columns(header: &StringRecord) -> Result<Vec<String>, SyntaxProblem> {
    let mut columns: Vec<String> = Vec::new();
    for name in header {
        let name = name.trim();
        let name = if is_letter(name) {
            name.to_owned()
        } else {
            name.to_lowercase()
        };
        if !name.is_empty() && columns.contains(&name) {
            let problem = format!("two columns are named `{name}`");
            return Err(SyntaxProblem::new(1, problem));
        }
        columns.push(name);
    }
    Ok(columns)
}

/// Returns whether a column has the option with this letter.
fn is_letter(name: &str) -> bool {
    matches!(name.as_bytes(), [b'A'..=b'Z'])
}

fn row(columns: &[String], record: &StringRecord) -> Result<Node, SyntaxProblem> {
    let line = record.position().map_or(1, |place| line(place.line()));
    if record.len() > columns.len() {
        let problem = format!(
            "the row has {} cells, but the header {}; quote cells with separators",
            record.len(),
            columns.len()
        );
        return Err(SyntaxProblem::new(line, problem));
    }
    let mut map = NodeMap::new();
    let mut options = Vec::new();
    for (name, cell) in columns.iter().zip(record) {
        if cell.trim().is_empty() {
            continue;
        }
        let node = Node::text(line, cell);
        if is_letter(name) {
            options.push(node);
        } else {
            map.insert(name.clone(), Member { line, node });
        }
    }
    if !options.is_empty() {
        let node = Node {
            line,
            value: NodeValue::List(options),
        };
        map.insert("options".to_owned(), Member { line, node });
    }
    Ok(Node {
        line,
        value: NodeValue::Map(map),
    })
}

fn line(line: u64) -> usize {
    usize::try_from(line).unwrap_or(usize::MAX)
}
