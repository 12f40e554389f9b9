//! Tables: CSV and its relatives.

use csv::{Position, ReaderBuilder, StringRecord};

use super::{Lines, Node, SyntaxProblem};

const MAX_COLUMNS: usize = 1000;

/// What stands between cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// A comma; a semicolon or a tab if the first line has no comma, as spreadsheets of many
    /// countries write.
    Comma,
    Tab,
}

/// Parses at most so many rows of a table; blank cells are left out of them. `columns_of` names the
/// columns of a table whose first row is no header.
pub fn parse(
    text: &str,
    separator: Separator,
    columns_of: impl Fn(&StringRecord) -> Option<&'static str>,
    most_rows: usize,
) -> Result<Vec<Result<Node, SyntaxProblem>>, SyntaxProblem> {
    let mut reader = ReaderBuilder::new()
        .delimiter(separator.byte(text.lines().next().unwrap_or_default()))
        .flexible(true)
        .has_headers(false)
        .from_reader(text.as_bytes());
    let lines = Lines::new(text, 1);
    let place_of =
        |place: Option<&Position>| place.map_or(1, |place| first_line(place, text, &lines));
    let mut records: Vec<StringRecord> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| {
            let line = place_of(error.position());
            SyntaxProblem::new(line, format!("not a table: {error}"))
        })?;
        // The header comes on top.
        if records.len() > most_rows {
            break;
        }
        if records.is_empty() || record.iter().any(|cell| !cell.trim().is_empty()) {
            records.push(record);
        }
    }
    let columns = match records.first().and_then(columns_of) {
        Some(names) => names.split(',').map(str::to_owned).collect(),
        None if records.is_empty() => Vec::new(),
        None => columns(&records.remove(0))?,
    };
    let rows = records.iter();
    let rows = rows.map(|record| row(&columns, record, place_of(record.position())));
    Ok(rows.collect())
}

impl Separator {
    fn byte(self, first_line: &str) -> u8 {
        // What quotes enclose separates nothing.
        let plain: String = first_line.split('"').step_by(2).collect();
        match self {
            Self::Tab => b'\t',
            Self::Comma if plain.contains(',') => b',',
            Self::Comma if plain.contains(';') => b';',
            Self::Comma if plain.contains('\t') => b'\t',
            Self::Comma if plain.contains('|') => b'|',
            Self::Comma => b',',
        }
    }
}

/// Returns the names of a header, which differ in more than case.
pub fn columns(header: &StringRecord) -> Result<Vec<String>, SyntaxProblem> {
    if header.len() > MAX_COLUMNS {
        let problem = format!("the header has more than {MAX_COLUMNS} columns");
        return Err(SyntaxProblem::new(1, problem));
    }
    let mut columns: Vec<String> = Vec::new();
    for name in header.iter().map(str::trim) {
        // `a` and `A` may be two options.
        let is_same = |other: &String| {
            if name.len() == 1 {
                other == name
            } else {
                other.eq_ignore_ascii_case(name)
            }
        };
        if !name.is_empty() && columns.iter().any(is_same) {
            let problem = format!("two columns are named `{}`", name.to_lowercase());
            return Err(SyntaxProblem::new(1, problem));
        }
        columns.push(name.to_owned());
    }
    Ok(columns)
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
    let cells = columns.iter().zip(record);
    // A column without a name numbers the rows.
    let cells = cells.filter(|(name, cell)| !name.is_empty() && !cell.trim().is_empty());
    let map = cells.map(|(name, cell)| (name.clone(), Node::text(line, cell)));
    Ok(Node::map(line, map.collect()))
}

/// The row's own position is before the blank lines above it.
fn first_line(place: &Position, text: &str, lines: &Lines) -> usize {
    let start = usize::try_from(place.byte()).unwrap_or(usize::MAX);
    let rest = text.as_bytes().get(start..).unwrap_or_default();
    let blank = rest.iter().take_while(|byte| b"\r\n".contains(byte));
    lines.at(start.saturating_add(blank.count()))
}
