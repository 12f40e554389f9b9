//! The question: the words of the command line, or standard input for `-`.

use std::io::IsTerminal;

use crate::error::Error;
use crate::files::{self, SizeLimit};
use crate::setup::context::sources::wait_for_stdin;
use crate::terminal::output::printer::Printer;
use crate::terminal::prompt::StdinUse;

/// The question, and whether its source uses up standard input.
#[derive(Debug)]
pub(super) struct AskedQuestion {
    pub(super) text: String,
    pub(super) input: StdinUse,
    /// A file or another program holds it: no terminal shows how it begins.
    pub(super) is_unseen: bool,
}

/// Joins the words, or reads standard input to its end.
pub(super) fn read(words: &[String], printer: &Printer) -> Result<AskedQuestion, Error> {
    let (text, input, is_unseen) = match words {
        [dash] if dash == "-" => {
            let (text, is_unseen) = from_input(printer)?;
            (text, StdinUse::Taken, is_unseen)
        }
        [dash, ..] if dash == "-" => {
            return Err(Error::usage(
                "`-` reads the whole question from standard input; other words cannot follow it",
            )
            .hint("leave out `-`, or the other words"));
        }
        words => (words.join(" "), StdinUse::Free, false),
    };
    let text = text.trim();
    match (text, input) {
        ("", StdinUse::Taken) => Err(Error::usage("standard input holds no question")
            .hint("for example: `echo 'Should we?' | conclave consult -`")),
        ("", StdinUse::Free) => {
            let error = Error::usage("Question is required. Usage: conclave consult <question>");
            Err(if std::io::stdin().is_terminal() {
                error
            } else {
                error.hint("read the question from standard input with `conclave consult -`")
            })
        }
        (text, input) => Ok(AskedQuestion {
            text: text.to_owned(),
            input,
            is_unseen,
        }),
    }
}

/// Reads the question that a person types, or that a file or another program holds; returns whether
/// it is the latter.
fn from_input(printer: &Printer) -> Result<(String, bool), Error> {
    let input = std::io::stdin();
    let is_typed = input.is_terminal();
    if is_typed {
        printer.lines("Type the question, end with Ctrl-D");
    }
    wait_for_stdin(printer);
    let bytes = files::read_to_end(input.lock(), SizeLimit::QUESTION)
        .map_err(|error| Error::usage(format!("cannot read the question: {error}")))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::usage("the question on standard input is not UTF-8 text"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    Ok((text.to_owned(), !is_typed))
}
