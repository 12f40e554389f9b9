//! The question: an argument, or standard input for `-`.

use std::io::IsTerminal;

use crate::error::Error;
use crate::files::{self, SizeLimit};
use crate::terminal::prompt::StdinUse;

/// The question, and whether its source uses up standard input.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) text: String,
    pub(super) input: StdinUse,
}

/// Takes the argument, or reads standard input to its end.
pub(super) fn read(argument: Option<&str>) -> Result<Question, Error> {
    let (text, input) = match argument {
        Some("-") => (from_input()?, StdinUse::Taken),
        Some(text) => (text.to_owned(), StdinUse::Free),
        None => return Err(required()),
    };
    let text = text.trim();
    match (text, input) {
        ("", StdinUse::Taken) => Err(Error::usage("standard input holds no question")
            .hint("for example: `echo 'Should we?' | conclave consult -`")),
        ("", StdinUse::Free) => Err(required()),
        (text, input) => Ok(Question {
            text: text.to_owned(),
            input,
        }),
    }
}

fn required() -> Error {
    let error = Error::usage("Question is required. Usage: conclave consult <question>");
    if std::io::stdin().is_terminal() {
        error
    } else {
        error.hint("read the question from standard input with `conclave consult -`")
    }
}

fn from_input() -> Result<String, Error> {
    let bytes = files::read_to_end(std::io::stdin().lock(), SizeLimit::QUESTION)
        .map_err(|error| Error::usage(format!("cannot read the question: {error}")))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::usage("the question on standard input is not UTF-8 text"))?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
}
