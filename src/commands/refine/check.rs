//! `--check`: whether a document has converged, by its own front matter and items, without any
//! call.

use serde::Serialize;

use crate::commands::App;
use crate::error::{Error, Exit};
use crate::records::refinements::SpecFile;
use crate::refinement::check::{ConvergenceCheck, check};
use crate::refinement::mask::TextMask;

use super::Args;
use super::files::{UnlistedQuestion, display, parse, read_text, warn_of_unlisted, warnings};
use super::target::refined_path;

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
    let document = parse(&file, &read_text(&file)?, &TextMask::default())?;
    let check = check(document.front_matter(), &document.measure());
    warn_of_unlisted(&file, &document, printer);
    let report = CheckReport {
        schema_version: "1.0",
        document: display(&file),
        converged: check.has_converged(),
        check,
        warnings: warnings(&document),
    };
    app.print(args.output.json.is_json(), &report, |_, _| {
        format!("{}: {}\n", report.document, report.check.message)
    })?;
    if report.converged {
        return Ok(Exit::Answer);
    }
    let refined = SpecFile::at(&refined_path(&file.path));
    if refined.exists() {
        printer.note(&format!(
            "A loop may have written {0}: `conclave refine --check {0}`",
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
            "What `conclave refine SPEC --check --json` prints",
        );
    }
}
