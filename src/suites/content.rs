//! The files of a suite as text, and as values with their lines.

use std::io;

use super::MAX_CASES;
use super::case_file::text_of;
use super::log::FileLog;
use super::shapes::columns_without_header;
use crate::files::{SizeLimit, resolved};
use crate::text::node::table::{self, Separator};
use crate::text::node::{Node, SyntaxProblem, json, yaml};

pub(super) fn read(log: &FileLog) -> io::Result<Option<String>> {
    let bytes = resolved::read(&log.file.path, SizeLimit::SUITE)?;
    let text = text_of(&bytes).map(|text| Some(text.to_owned()));
    Ok(text.unwrap_or_else(|line| log.refuse(line, "not UTF-8 text; save it as UTF-8")))
}

/// What a file has, by the ending of its name.
pub(super) enum ParsedFile {
    /// The rows of a table, or a value a line.
    List { nodes: Vec<Node>, is_table: bool },
    /// The value of a whole file; `None` if it is empty.
    Document(Option<Node>),
    /// The ending is another one.
    Unknown,
}

/// Leaves out what cannot be parsed, and logs its problems.
pub(super) fn parsed(log: &FileLog) -> io::Result<ParsedFile> {
    let ending = log.file.extension();
    let is_json = matches!(ending.as_str(), "jsonl" | "ndjson" | "json");
    // Before it is read: what else a file is, its bytes do not say.
    if !is_json && !matches!(ending.as_str(), "csv" | "tsv" | "yaml" | "yml") {
        return Ok(ParsedFile::Unknown);
    }
    let Some(text) = read(log)? else {
        return Ok(ParsedFile::Document(None));
    };
    // One too many shows that there are too many.
    let most = MAX_CASES + 1;
    let table = |separator| {
        let rows = table::parse(&text, separator, columns_without_header, most);
        rows.unwrap_or_else(|error| vec![Err(error)])
    };
    // Names are often wrong about whether each line is a value.
    let (first, rest) = text.trim_start().split_once('\n').unwrap_or_default();
    let is_of_lines = !rest.trim().is_empty() && json::parse(first).is_ok();
    let is_list = text.trim_start().starts_with('[');
    let (rows, is_table) = match ending.as_str() {
        _ if is_json && !is_list && (is_of_lines || ending != "json") => {
            (json::parse_lines(&text).take(most).collect(), false)
        }
        "csv" => (table(Separator::Comma), true),
        "tsv" => (table(Separator::Tab), true),
        "yaml" | "yml" => return Ok(ParsedFile::Document(logged(yaml::parse(&text), log))),
        _ => return Ok(ParsedFile::Document(logged(json::parse(&text), log))),
    };
    let nodes = rows
        .into_iter()
        .filter_map(|row| logged(row.map(Some), log));
    Ok(ParsedFile::List {
        nodes: nodes.collect(),
        is_table,
    })
}

fn logged<T>(parsed: Result<Option<T>, SyntaxProblem>, log: &FileLog) -> Option<T> {
    parsed.unwrap_or_else(|error| log.refuse(error.line, error.problem))
}
