//! The document as this command reads it, and why it cannot.

use serde_json::{Value, json};

use crate::domain::text::clean;
use crate::error::Error;
use crate::records::refinements::{SpecFile, SpecFileError};
use crate::refinement::document::SpecDocument;
use crate::terminal::output::printer::Printer;

/// Returns the name of a file in messages.
pub(super) fn display(file: &SpecFile) -> String {
    clean(&file.path().display().to_string())
}

/// Reads the text of a document.
pub(super) fn read_text(file: &SpecFile) -> Result<String, Error> {
    file.read().map_err(unusable)
}

/// Reads the sections of a document.
pub(super) fn parse(file: &SpecFile, text: &str) -> Result<SpecDocument, Error> {
    SpecDocument::parse(text).map_err(|error| {
        let file = display(file);
        Error::usage(UnreadableDocument {
            file: file.clone(),
            source: error,
        })
        .hint(format!("fix the front matter of `{file}`"))
    })
}

/// What is said of a paragraph that asks a question.
const UNLISTED: &str =
    "this paragraph is no list entry, so the panel is not asked: begin it with `- `";

/// Warns of what the document asks and the panel is not asked.
pub(super) fn warn_of_unlisted(file: &SpecFile, document: &SpecDocument, printer: &Printer) {
    for line in document.unlisted_questions() {
        printer.warning(&format!("Warning: {}:{line}: {UNLISTED}", display(file)));
    }
}

/// Returns the same warnings for programs.
pub(super) fn warnings(document: &SpecDocument) -> Vec<Value> {
    let lines = document.unlisted_questions();
    lines
        .map(|line| json!({"line": line, "message": UNLISTED}))
        .collect()
}

/// Explains why a document cannot be read or written.
pub(super) fn unusable(error: SpecFileError) -> Error {
    let hint = match &error {
        SpecFileError::Missing(_) => Some("name a Markdown file"),
        SpecFileError::Empty(_) => Some("write down what is to be specified, and what is open"),
        SpecFileError::Read { .. } => Some("name a file with text in UTF-8, of at most 16 MB"),
        SpecFileError::Exists(_) => Some("write another file with `-o FILE`"),
        SpecFileError::Changed(_) | SpecFileError::Write(_) => None,
    };
    let error = Error::usage(error);
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

/// A document cannot be understood.
#[derive(Debug, thiserror::Error)]
#[error("cannot read `{file}`")]
struct UnreadableDocument {
    file: String,
    source: crate::refinement::document::DocumentError,
}
