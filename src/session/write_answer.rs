//! An answer where and as it was asked for: on standard output, rendered where that is a terminal,
//! or in a file.

use std::path::Path;

use crate::error::Error;
use crate::records::files::{Access, write_atomically};
use crate::terminal::markdown::render;
use crate::terminal::output::printer::Printer;

use crate::commands::consult::flags::Format;

/// An answer in both forms.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) markdown: String,
    pub(crate) json: serde_json::Value,
}

/// Writes an answer. What cannot be written to the file goes to standard output.
pub(crate) fn give(
    markdown: &str,
    json: impl Fn() -> Result<String, Error>,
    format: Format,
    output: Option<&Path>,
    printer: &Printer,
) -> Result<(), Error> {
    let source = match format {
        Format::Markdown => markdown.to_owned(),
        Format::Json => json()?.trim_end().to_owned() + "\n",
        Format::Both => format!("{}\n\n---\n{}\n", markdown.trim_end(), json()?.trim_end()),
    };
    let Some(output) = output else {
        let face = printer.out_traits();
        let shown = match format {
            Format::Markdown if face.is_terminal => {
                render::render(markdown, face.width, face.paint)
            }
            Format::Markdown | Format::Json | Format::Both => source,
        };
        return printer.result(&shown).map_err(Error::failed);
    };
    match write_atomically(output, source.as_bytes(), Access::Normal) {
        Ok(()) => {
            printer.note(&format!("Answer written to {}", output.display()));
            Ok(())
        }
        Err(failed) => {
            // What was paid for is not lost to a file that cannot be written.
            printer.result(&source).map_err(Error::failed)?;
            Err(Error::failed(failed).hint("the answer is on standard output instead"))
        }
    }
}
