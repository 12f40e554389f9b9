//! The output of an answer: on standard output, rendered if that is a terminal, or in a file.

use std::path::Path;

use crate::error::Error;
use crate::files::write::{Access, check_writable, write_atomically};
use crate::terminal::document::{Part, screen};
use crate::terminal::markdown::render;
use crate::terminal::output::pager::Pager;
use crate::terminal::output::printer::Printer;

use crate::commands::flags::AnswerFormat;

/// Makes a text in each format when it is needed.
pub(crate) struct AnswerText<'a> {
    pub(crate) markdown: &'a str,
    /// Shown on a terminal instead of the Markdown.
    pub(crate) summary: Option<&'a [Part]>,
    pub(crate) json: &'a dyn Fn() -> Result<String, Error>,
    pub(crate) html: &'a dyn Fn() -> String,
    /// What the text is, in messages: `Answer`, `Report`.
    pub(crate) noun: &'static str,
}

impl AnswerText<'_> {
    pub(crate) fn text(&self, format: AnswerFormat) -> Result<String, Error> {
        let json = || (self.json)().map(|json| json.trim_end().to_owned() + "\n");
        Ok(match format {
            AnswerFormat::Markdown => self.markdown.to_owned(),
            AnswerFormat::Json => json()?,
            AnswerFormat::Html => (self.html)(),
            // Its bytes are written by `history export` alone.
            AnswerFormat::Otlp => return Err(Error::usage("a trace is no text")),
            AnswerFormat::Both => format!("{}\n\n---\n{}", self.markdown.trim_end(), json()?),
        })
    }
}

/// Checks before anything is spent that the answer can be written.
pub(crate) fn check_output(output: Option<&Path>) -> Result<(), Error> {
    let Some(output) = output else {
        return Ok(());
    };
    if output.as_os_str() == "-" {
        let error = Error::usage("`-` is not the name of a file");
        return Err(error.hint("name a file; `./-` is one that is called `-`"));
    }
    let folder = output
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    match (folder.is_dir(), output.is_dir()) {
        (true, false) => check_writable(output).map_err(Error::usage),
        (false, _) => Err(Error::usage(format!(
            "the folder of `{}` does not exist",
            output.display()
        ))),
        (true, true) => {
            Err(Error::usage(format!("`{}` is a folder", output.display())).hint("name a file"))
        }
    }
}

/// On a terminal, what does not fit its screen goes through the pager. An answer that cannot be
/// written to its file goes to standard output.
pub(crate) fn write(
    source: &AnswerText<'_>,
    format: AnswerFormat,
    output: Option<&Path>,
    pager: &Pager,
    printer: &Printer,
) -> Result<(), Error> {
    let text = source.text(format)?;
    let Some(output) = output else {
        let face = printer.out_traits();
        let shown = match source.summary {
            _ if format != AnswerFormat::Markdown || !face.is_terminal => text,
            Some(summary) => screen(summary, Some(face.width), face.paint),
            None => render::render(source.markdown, face.width, face.paint),
        };
        return Ok(pager.result(&shown, printer)?);
    };
    match write_atomically(output, text.as_bytes(), Access::Normal) {
        Ok(()) => {
            printer.note(&format!("{} written to {}", source.noun, output.display()));
            Ok(())
        }
        Err(failed) => {
            // The answer is paid for: it must not be lost with the file.
            printer.result(&text)?;
            printer.warning(&format!("{} on standard output instead", source.noun));
            Err(Error::failed(failed))
        }
    }
}
