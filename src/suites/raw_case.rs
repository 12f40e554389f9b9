//! The files of a suite as text, and a case as a format has it, before its fields are read.
//!
//! Suites come from other people, and what they name is sent to models: it is kept within the
//! folder of the suite.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use super::MAX_CASES;
use super::log::FileLog;
use super::shapes::columns_without_header;
use crate::files::write::folder_of;
use crate::files::{SizeLimit, resolved};
use crate::text::node::table::{self, Separator};
use crate::text::node::{Node, NodeMap, NodeValue, SyntaxProblem, json, yaml};

#[derive(Clone, Debug)]
pub(super) struct RawCase {
    pub(super) node: Node,
    /// The id if it has none of its own; `None` for one with its number.
    pub(super) id: Option<String>,
    /// The file's path, as it is shown.
    pub(super) file: Arc<str>,
    /// The folder of its files; absolute.
    pub(super) folder: Arc<Path>,
    /// Cells of a table are texts, also those of lists.
    pub(super) is_table: bool,
    /// How answers of its shape are compared; blank if the answer decides.
    pub(super) matcher: String,
}

/// A file with cases, or a folder.
#[derive(Clone, Debug)]
pub(super) struct CaseFile {
    /// Its path, as it is shown.
    pub(super) shown: Arc<str>,
    /// Its path; resolved.
    pub(super) path: Arc<Path>,
    /// The folder that holds what it names; resolved.
    pub(super) folder: Arc<Path>,
}

impl CaseFile {
    /// A link is followed.
    pub(super) fn named(path: &Path) -> io::Result<Self> {
        Ok(Self {
            shown: path.to_string_lossy().into(),
            path: fs::canonicalize(path)?.into(),
            folder: fs::canonicalize(folder_of(path))?.into(),
        })
    }

    /// In its folder or below it.
    pub(super) fn sibling(&self, name: &Path) -> io::Result<Self> {
        let shown = Path::new(&*self.shown).with_file_name(name);
        Self::below(&self.folder, name, &shown)
    }

    pub(super) fn inner(&self, name: &Path) -> io::Result<Self> {
        Self::below(&self.path, name, &Path::new(&*self.shown).join(name))
    }

    fn below(folder: &Path, name: &Path, shown: &Path) -> io::Result<Self> {
        let path = path_inside(name, folder)?;
        Ok(Self {
            shown: shown.to_string_lossy().into(),
            folder: path.parent().unwrap_or(&path).into(),
            path: path.into(),
        })
    }

    pub(super) fn case(&self, node: Node) -> RawCase {
        RawCase {
            node,
            id: None,
            file: Arc::clone(&self.shown),
            folder: Arc::clone(&self.folder),
            is_table: false,
            matcher: String::new(),
        }
    }

    /// In lower case, without the dot.
    pub(super) fn extension(&self) -> String {
        let extension = Path::new(&*self.shown).extension();
        let extension = extension.map(|ending| ending.to_string_lossy().to_lowercase());
        extension.unwrap_or_default()
    }
}

/// Returns the path of a file below a folder, resolved: it is to be opened without following links.
///
/// # Errors
///
/// When it is outside, or not there; [`unusable`] has the words.
pub(super) fn path_inside(name: &Path, folder: &Path) -> io::Result<PathBuf> {
    let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if !name.components().all(is_plain) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    resolved::within(folder, name)
}

pub(super) fn set(map: &mut NodeMap, key: &str, line: usize, value: NodeValue) {
    map.insert(key.to_owned(), Node { line, value });
}

/// Returns a value with one line for all its parts.
pub(super) fn node_of(line: usize, value: &serde_json::Value) -> Node {
    let node = json::parse(&value.to_string()).ok().flatten();
    let null = Node {
        line,
        value: NodeValue::Null,
    };
    node.unwrap_or(null).at_line(line)
}

/// Returns the text of a file without its byte order mark, or the line that is not UTF-8.
pub(super) fn text_of(bytes: &[u8]) -> Result<&str, usize> {
    let text = str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        memchr::memchr_iter(b'\n', before).count() + 1
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

pub(super) fn read(file: &CaseFile, log: &mut FileLog<'_>) -> io::Result<Option<String>> {
    let bytes = resolved::read(&file.path, SizeLimit::SUITE)?;
    let text = text_of(&bytes).map(str::to_owned);
    Ok(text.map_or_else(
        |line| log.refuse(line, "not UTF-8 text; save it as UTF-8"),
        Some,
    ))
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
pub(super) fn content(file: &CaseFile, log: &mut FileLog<'_>) -> io::Result<ParsedFile> {
    let Some(text) = read(file, log)? else {
        return Ok(ParsedFile::Document(None));
    };
    // One too many shows that there are too many.
    let most = MAX_CASES + 1;
    let table = |separator| {
        let rows = table::parse(&text, separator, columns_without_header, most);
        rows.unwrap_or_else(|error| vec![Err(error)])
    };
    let parsed: Vec<Result<Node, SyntaxProblem>> = match file.extension().as_str() {
        "jsonl" | "ndjson" => json::parse_lines(&text).take(most).collect(),
        "csv" => table(Separator::Comma),
        "tsv" => table(Separator::Tab),
        "yaml" | "yml" => return Ok(document(yaml::parse(&text), log)),
        "json" => return Ok(document(json::parse(&text), log)),
        _ => return Ok(ParsedFile::Unknown),
    };
    let is_table = matches!(file.extension().as_str(), "csv" | "tsv");
    let nodes = parsed.into_iter().filter_map(|node| logged(node, log));
    Ok(ParsedFile::List {
        nodes: nodes.collect(),
        is_table,
    })
}

fn document(node: Result<Option<Node>, SyntaxProblem>, log: &mut FileLog<'_>) -> ParsedFile {
    ParsedFile::Document(logged(node, log).flatten())
}

fn logged<T>(parsed: Result<T, SyntaxProblem>, log: &mut FileLog<'_>) -> Option<T> {
    parsed.map_or_else(|error| log.refuse(error.line, error.problem), Some)
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
