//! The document and the folder beside it as this command reads them, and why it cannot.

use serde::Serialize;

use crate::error::{Error, Exit};
use crate::records::refinements::{RefinementStoreError, SpecFile, SpecFileError};
use crate::refinement::document::{DocumentError, SpecDocument};
use crate::refinement::mask::TextMask;
use crate::terminal::output::printer::Printer;
use crate::text::clean::clean;

/// Returns the name of a file in messages.
pub(super) fn display(file: &SpecFile) -> String {
    clean(&file.path.display().to_string())
}

/// Reads the text of a document.
pub(super) fn read_text(file: &SpecFile) -> Result<String, Error> {
    Ok(file.read()?)
}

/// Reads the sections of a document.
pub(super) fn parse(file: &SpecFile, text: &str, mask: &TextMask) -> Result<SpecDocument, Error> {
    SpecDocument::parse_masked(text, mask.clone()).map_err(|error| {
        let file = display(file);
        let hint = format!("fix the front matter of `{file}`");
        Error::usage(UnreadableDocument {
            file,
            source: error,
        })
        .hint(hint)
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

/// A question of the document that the panel is not asked.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct UnlistedQuestion {
    #[cfg_attr(test, schemars(range(min = 1)))]
    line: usize,
    message: &'static str,
}

/// Returns the same warnings for programs.
pub(super) fn warnings(document: &SpecDocument) -> Vec<UnlistedQuestion> {
    let (lines, message) = (document.unlisted_questions(), UNLISTED);
    let warnings = lines.map(|line| UnlistedQuestion { line, message });
    warnings.collect()
}

/// Explains why a document cannot be read or written.
impl From<SpecFileError> for Error {
    fn from(error: SpecFileError) -> Self {
        let hint = match &error {
            SpecFileError::Missing(_) => Some("name a Markdown file"),
            SpecFileError::Empty(_) => Some("write down what is to be specified, and what is open"),
            SpecFileError::Read { .. } => Some("name a file with text in UTF-8, of at most 16 MB"),
            SpecFileError::Exists(_) => Some("write another file with `-o FILE`"),
            SpecFileError::Changed(_) | SpecFileError::Write(_) => None,
        };
        Self::usage(error).hint_if(hint)
    }
}

/// Explains why the loops over a document cannot be read or continued.
impl From<RefinementStoreError> for Error {
    fn from(error: RefinementStoreError) -> Self {
        let (exit, hint) = match &error {
            RefinementStoreError::Busy(_) => {
                let hint = "wait until that process has ended, or end it";
                (Exit::Usage, Some(hint.to_owned()))
            }
            RefinementStoreError::FolderLink(folder) => {
                let hint = format!("remove the link `{}`", folder.display());
                (Exit::Usage, Some(hint))
            }
            RefinementStoreError::OtherDocument { folder, .. } => {
                let hint = format!("rename the folder `{}`, or the document", folder.display());
                (Exit::Usage, Some(hint))
            }
            RefinementStoreError::Log(_) => {
                let hint = "begin without it: rename the folder beside the document, which has \
                            that log";
                (Exit::Failed, Some(hint.to_owned()))
            }
            RefinementStoreError::NotBegun(_)
            | RefinementStoreError::Gone(_)
            | RefinementStoreError::Write(_) => (Exit::Failed, None),
        };
        Self::new(exit, error).hint_if(hint)
    }
}

/// A document cannot be understood.
#[derive(Debug, thiserror::Error)]
#[error("cannot read `{file}`")]
struct UnreadableDocument {
    file: String,
    source: DocumentError,
}
