//! Reads the document and the folder beside it, and explains why they cannot be read.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::commands::App;
use crate::commands::flags::JsonFlags;
use crate::error::{Error, Exit};
use crate::files::log::LogError;
use crate::records::refinements::{RefinementStoreError, SpecFile, SpecFileError};
use crate::refinement::check::{ConvergenceCheck, ConvergenceState, check};
use crate::refinement::document::SpecDocument;
use crate::refinement::mask::TextMask;
use crate::terminal::output::printer::Printer;
use crate::text::clean::{clean, one_line};

pub(super) fn display(file: &SpecFile) -> String {
    clean(&file.path.display().to_string())
}

/// `SPEC.md` becomes `SPEC.refined.md`.
pub(super) fn refined_path(path: &Path) -> PathBuf {
    let ending = path.extension().unwrap_or("md".as_ref());
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(".refined.");
    name.push(ending);
    path.with_file_name(name)
}

pub(super) fn parse(file: &SpecFile, text: &str, mask: &TextMask) -> Result<SpecDocument, Error> {
    SpecDocument::parse_masked(text, mask.clone()).map_err(|error| {
        let file = display(file);
        Error::caused(format!("cannot read `{file}`"), error)
            .hint(format!("fix the front matter of `{file}`"))
    })
}

/// What is said of a paragraph that asks a question.
const UNLISTED: &str =
    "this paragraph is no list entry, so the panel is not asked: begin it with `- `";

/// What is said of the questions in the lists of another heading.
const UNREAD: &str = "questions that are not read: call it `Open Questions`";

pub(super) fn warn_of_unlisted(file: &SpecFile, document: &SpecDocument, printer: &Printer) {
    for UnlistedQuestion { line, message } in warnings(document) {
        printer.warning(&format!("Warning: {}:{line}: {message}", display(file)));
    }
}

/// A question of the document that the panel is not asked.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct UnlistedQuestion {
    #[cfg_attr(test, schemars(range(min = 1)))]
    line: usize,
    message: String,
}

/// By line, without secrets.
pub(super) fn warnings(document: &SpecDocument) -> Vec<UnlistedQuestion> {
    let lines = document.unlisted_questions();
    let unlisted = lines.map(|line| (line, UNLISTED.to_owned()));
    let unread = document.unread_questions().map(|(line, heading, count)| {
        let heading = one_line(heading);
        (line, format!("\"{heading}\" has {count} {UNREAD}"))
    });
    let mut warnings: Vec<(usize, String)> = unlisted.chain(unread).collect();
    warnings.sort_unstable();
    document.mask(warnings.iter_mut().map(|(_, message)| message).collect());
    let warnings = warnings.into_iter();
    let warnings = warnings.map(|(line, message)| UnlistedQuestion { line, message });
    warnings.collect()
}

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

impl From<RefinementStoreError> for Error {
    fn from(error: RefinementStoreError) -> Self {
        let hint = match &error {
            RefinementStoreError::Log(LogError::Busy(_)) => {
                "wait until that process has ended, or end it".to_owned()
            }
            RefinementStoreError::FolderLink(folder) => {
                format!("remove the link `{}`", folder.display())
            }
            RefinementStoreError::OtherDocument { folder, .. } => {
                format!("rename the folder `{}`, or the document", folder.display())
            }
            RefinementStoreError::Log(_) => {
                let hint = "rename the folder beside the document to begin without its log";
                return Self::failed(error).hint(hint);
            }
            RefinementStoreError::NotBegun(_)
            | RefinementStoreError::Gone(_)
            | RefinementStoreError::Write(_) => return Self::failed(error),
        };
        Self::usage(error).hint(hint)
    }
}

/// Say whether a document has converged: exit code 0 if it has, 1 if not; nothing is sent
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The document
    #[arg(value_name = "SPEC")]
    spec: PathBuf,

    #[command(flatten)]
    json: JsonFlags,
}

/// Whether a document has converged.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct CheckReport {
    #[cfg_attr(test, schemars(extend("const" = "1.0")))]
    schema_version: &'static str,
    document: String,
    converged: bool,
    #[serde(flatten)]
    check: ConvergenceCheck,
    /// What the document says and the panel is not asked, by line.
    warnings: Vec<UnlistedQuestion>,
}

pub(super) fn run(args: &Args, app: App<'_>) -> Result<Exit, Error> {
    let printer = app.printer;
    let file = SpecFile::at(&args.spec);
    let document = parse(&file, &file.read()?, &TextMask::default())?;
    let check = check(document.front_matter(), &document.measure());
    warn_of_unlisted(&file, &document, printer);
    let report = CheckReport {
        schema_version: "1.0",
        document: display(&file),
        converged: check.state == ConvergenceState::Converged,
        check,
        warnings: warnings(&document),
    };
    app.print(args.json.is_json(), &report, |_, _| {
        format!("{}: {}\n", report.document, report.check.message)
    })?;
    if report.converged {
        return Ok(Exit::Answer);
    }
    let refined = SpecFile::at(&refined_path(&file.path));
    if refined.exists() {
        printer.note(&format!(
            "A loop may have written {0}: `conclave refine check {0}`",
            display(&refined)
        ));
    }
    Ok(Exit::Failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_published() {
        crate::schema::check::<CheckReport>(
            "refine_check",
            "What `conclave refine check SPEC --json` prints",
        );
    }
}
