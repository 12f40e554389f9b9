//! The files of a suite as text, and a case as a format has it, before its fields are read.
//!
//! Suites come from other people, and what they name is sent to models: it is kept within the
//! folder of the suite.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use super::MAX_CASES;
use super::log::FileLog;
use super::shapes::headless_tables;
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
    /// The rows of a table, or a value a line.
    List {
        nodes: Vec<Node>,
        is_table: bool,
        /// What the columns of a table without a header were recognised by.
        headless: Option<String>,
    },
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
    let mut headless = None;
    let mut table = |separator| match table::parse(&text, separator, headless_tables(), most) {
        Ok(table) => {
            headless = table.headless;
            table.rows
        }
        Err(error) => vec![Err(error)],
    };
    let extension = file.extension();
    let parsed: Vec<Result<Node, SyntaxProblem>> = match extension.as_str() {
        "jsonl" | "ndjson" => json::parse_lines(&text).take(most).collect(),
        "csv" => table(Separator::Comma),
        "tsv" => table(Separator::Tab),
        "yaml" | "yml" => Vec::from_iter(yaml::parse(&text).transpose()),
        "json" => Vec::from_iter(json::parse(&text).transpose()),
        _ => return Ok(ParsedFile::Unknown),
    };
    let mut nodes = Vec::new();
    for node in parsed {
        match node {
            Ok(node) => nodes.push(node),
            Err(error) => log.add(error.line, error.problem),
        }
    }
    let is_table = matches!(extension.as_str(), "csv" | "tsv");
    Ok(match extension.as_str() {
        "yaml" | "yml" | "json" => ParsedFile::Document(nodes.pop()),
        _ => ParsedFile::List {
            nodes,
            is_table,
            headless,
        },
    })
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
