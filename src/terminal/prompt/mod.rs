//! One question on the terminal: put, asked again until the answer is one, and taken away when
//! nobody wants it any more. What is asked is `questions`' business, and whether there is anyone to
//! ask the caller's.

pub mod keyboard;
pub mod person;
mod choices;
pub(super) mod questions;

pub use self::keyboard::{Input, can_ask};

use self::choices::{Choice, Choices};
use self::keyboard::{Keyboard, Line};
use super::output::printer::Printer;
use super::output::wrap::fit;

/// What came of a question with yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Yes,
    /// Also when the input ended.
    No,
    /// There is no terminal to ask on, or it went away.
    Gone,
}

/// Why a question has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoAnswer {
    /// The input ended.
    Ended,
    /// There is no terminal to ask on, or it went away.
    Gone,
}

/// Asks a question whose default is yes on the controlling terminal, again until the answer is one.
pub async fn ask_yes_no(printer: &Printer, question: &str) -> Answer {
    ask_choices(printer, question, Choices::YES_NO).await
}

/// Asks before something is done that cannot be undone: the default is no. The prompt is put behind
/// the question.
pub async fn ask_before_harm(printer: &Printer, question: &str) -> Answer {
    let choices = Choices::NO_UNLESS_YES;
    let fitted = fit(
        &format!("{question} {}", choices.prompt()),
        Some(printer.err_face().width),
    );
    ask_choices(printer, &format!("{fitted} "), choices).await
}

async fn ask_choices(printer: &Printer, question: &str, choices: Choices) -> Answer {
    match ask(
        printer,
        &Keyboard::controlling(),
        question,
        &choices.again(),
        |line| choices.read(line),
    )
    .await
    {
        Ok(Choice::Yes | Choice::Always) => Answer::Yes,
        Ok(Choice::No | Choice::Fail) | Err(NoAnswer::Ended) => Answer::No,
        Err(NoAnswer::Gone) => Answer::Gone,
    }
}

/// Asks until `read` makes something of a line. The live display is away while the question is
/// open. Dropping the future takes the question away: its line is ended, and what is typed then
/// does not answer the next one.
pub(super) async fn ask<T>(
    printer: &Printer,
    keyboard: &Keyboard,
    question: &str,
    again: &str,
    read: impl Fn(&str) -> Option<T> + Send,
) -> Result<T, NoAnswer> {
    let _hidden = printer.live_area().hide();
    keyboard.forget();
    let mut open = printer.ask(question);
    loop {
        match keyboard.line().await {
            Line::Typed(line) => {
                open.answered();
                match read(&line) {
                    Some(answer) => return Ok(answer),
                    None => open = printer.ask(again),
                }
            }
            Line::Ended => return Err(NoAnswer::Ended),
            Line::Gone => return Err(NoAnswer::Gone),
        }
    }
}
