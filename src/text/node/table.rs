//! Tables: CSV and its relatives, with a header.

use csv::{Position, ReaderBuilder, StringRecord};

use super::{Lines, Node, NodeMap, NodeValue, SyntaxProblem};

const MAX_COLUMNS: usize = 1000;

/// What stands between cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// A comma, or a semicolon if the header has no comma, as spreadsheets of many countries write.
    Comma,
    Tab,
}

/// Parses at most so many rows of a table that are not blank into a map each; blank cells are left
/// out. Names of columns are in lower case, and columns named with the letters of options are
/// `options`.
pub fn parse(
    text: &str,
    separator: Separator,
    most_rows: usize,
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
    let lines = Lines::new(text, 1);
    let broken = |error: csv::Error| {
        let line = error
            .position()
            .map_or(1, |place| first_line(place, text, &lines));
        SyntaxProblem::new(line, format!("not a table: {error}"))
    };
    let columns = columns(reader.headers().map_err(broken)?)?;
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(broken)?;
        if rows.len() == most_rows {
            break;
        }
        if record.iter().any(|cell| !cell.trim().is_empty()) {
            let line = record.position();
            let line = line.map_or(1, |place| first_line(place, text, &lines));
            rows.push(row(&columns, &record, line));
        }
    }
    Ok(rows)
}

fn columns(header: &StringRecord) -> Result<Vec<String>, SyntaxProblem> {
    if header.len() > MAX_COLUMNS {
        let problem = format!("the header has more than {MAX_COLUMNS} columns");
        return Err(SyntaxProblem::new(1, problem));
    }
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

fn is_letter(name: &str) -> bool {
    matches!(name.as_bytes(), [b'A'..=b'Z'])
}

fn row(columns: &[String], record: &StringRecord, line: usize) -> Result<Node, SyntaxProblem> {
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
            map.insert(name.clone(), node);
        }
    }
    if !options.is_empty() {
        let value = NodeValue::List(options);
        map.insert("options".to_owned(), Node { line, value });
    }
    Ok(Node {
        line,
        value: NodeValue::Map(map),
    })
}

/// The row's own position is before the blank lines above it.
fn first_line(place: &Position, text: &str, lines: &Lines) -> usize {
    let start = usize::try_from(place.byte()).unwrap_or(usize::MAX);
    let rest = text.as_bytes().get(start..).unwrap_or_default();
    let blank = rest.iter().take_while(|byte| b"\r\n".contains(byte));
    lines.at(start.saturating_add(blank.count()))
}
