//! `--check`: whether a document has converged, by its own front matter and items, without any
//! call.

use serde_json::{Value, json};

use crate::commands::App;
use crate::error::{Error, Exit};
use crate::records::refinements::SpecFile;
use crate::refinement::check::{ConvergenceCheck, check};
use crate::refinement::document::SpecDocument;

use super::Args;
use super::files::{display, parse, read_text, warn_of_unlisted, warnings};
use super::target::refined_path;

pub(super) fn run(args: &Args, app: App<'_>) -> Result<Exit, Error> {
    let printer = app.printer;
    let file = SpecFile::at(&args.spec);
    let document = parse(&file, &read_text(&file)?)?;
    let check = check(document.front_matter(), &document.measure());
    warn_of_unlisted(&file, &document, printer);
    app.print(
        args.output.json.is_json(),
        &as_json(&file, &document, &check),
        |_, _| format!("{}: {}\n", display(&file), check.message),
    )?;
    if check.has_converged() {
        return Ok(Exit::Answer);
    }
    let refined = SpecFile::at(&refined_path(file.path()));
    if refined.exists() {
        printer.note(&format!(
            "A loop may have written {0}: `conclave refine --check {0}`",
            display(&refined)
        ));
    }
    Ok(Exit::Failed)
}

fn as_json(file: &SpecFile, document: &SpecDocument, check: &ConvergenceCheck) -> Value {
    json!({
        "schema_version": "1.0",
        "document": display(file),
        "converged": check.has_converged(),
        "state": check.state,
        "message": check.message,
        "open_questions_count": check.open_questions_count,
        "recorded": check.recorded,
        "warnings": warnings(document),
    })
}
