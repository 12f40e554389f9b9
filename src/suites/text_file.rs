//! Reads the files of a suite as text, and keeps what a suite names within its folder.
//!
//! Suites come from other people, and what they name is sent to models.

use std::io;

use crate::files::{SizeLimit, resolved};
use crate::text::node::table::{self, Separator};
use crate::text::node::{Node, SyntaxProblem, json, yaml};

use super::MOST_CASES;
use super::log::FileLog;
use super::raw_case::CaseFile;

/// A file's text, or why there is none.
pub(super) fn read(file: &CaseFile, log: &mut FileLog<'_>) -> io::Result<Option<String>> {
    let bytes = resolved::read(&file.path, SizeLimit::SUITE)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(match text.strip_prefix('\u{feff}') {
            Some(text) => text.to_owned(),
            None => text,
        })),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let before = error.as_bytes().get(..valid).unwrap_or_default();
            let line = memchr::memchr_iter(b'\n', before).count() + 1;
            log.add(line, "not UTF-8 text; save it as UTF-8");
            Ok(None)
        }
    }
}

/// What a file has, by the ending of its name.
pub(super) enum ParsedFile {
    /// The rows of a table.
    Rows(Vec<Node>),
    /// The values of lines.
    Values(Vec<Node>),
    /// The value of a whole file; `None` if it is empty.
    Document(Option<Node>),
    /// The ending is another one.
    Unknown,
}

/// Reads and parses a file. What cannot be parsed is left out, and its problems are in the log.
pub(super) fn content(file: &CaseFile, log: &mut FileLog<'_>) -> io::Result<ParsedFile> {
    let Some(text) = read(file, log)? else {
        return Ok(ParsedFile::Values(Vec::new()));
    };
    let rows = |separator| {
        let rows = table::parse(&text, separator, MOST_CASES + 1);
        rows.unwrap_or_else(|error| vec![Err(error)])
    };
    let document = |node: Result<Option<Node>, SyntaxProblem>| Vec::from_iter(node.transpose());
    Ok(match file.extension().as_str() {
        "jsonl" | "ndjson" => {
            // One too many shows that there are too many.
            let lines = json::parse_lines(&text).take(MOST_CASES + 1);
            ParsedFile::Values(whole(lines, log))
        }
        "csv" => ParsedFile::Rows(whole(rows(Separator::Comma), log)),
        "tsv" => ParsedFile::Rows(whole(rows(Separator::Tab), log)),
        "yaml" | "yml" => ParsedFile::Document(whole(document(yaml::parse(&text)), log).pop()),
        "json" => ParsedFile::Document(whole(document(json::parse(&text)), log).pop()),
        _ => ParsedFile::Unknown,
    })
}

/// Returns the values that could be parsed; the problems of the others are in the log.
fn whole(
    nodes: impl IntoIterator<Item = Result<Node, SyntaxProblem>>,
    log: &mut FileLog<'_>,
) -> Vec<Node> {
    let whole = |node: Result<Node, SyntaxProblem>| {
        node.map_err(|error| log.add(error.line, error.problem))
            .ok()
    };
    nodes.into_iter().filter_map(whole).collect()
}

/// Returns the end of a sentence that begins with a file that cannot be read.
pub(super) fn unusable(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::InvalidInput => "is not in the folder of the suite".to_owned(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => "does not exist".to_owned(),
        io::ErrorKind::IsADirectory => "is a folder".to_owned(),
        _ => format!("cannot be read: {error}"),
    }
}
