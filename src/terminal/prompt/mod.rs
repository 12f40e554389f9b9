//! One question on the terminal: put, asked again until the answer is one, and taken away when
//! nobody wants it any more. What is asked is `questions`' business, and whether there is anyone to
//! ask the caller's.

pub mod keyboard;
pub mod person;
mod choices;
pub(super) mod questions;

pub use self::keyboard::{StdinUse, can_ask};

use self::choices::{PromptChoice, PromptChoices};
use self::keyboard::{Keyboard, TypedLine};
use super::output::printer::Printer;
use super::output::wrap::fit;

/// What came of a question with yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmation {
    Yes,
    /// Also when the input ended.
    No,
    /// There is no terminal to ask on, or it went away.
    NoTerminal,
}

/// Why a question has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromptError {
    /// The input ended.
    InputEnded,
    /// There is no terminal to ask on, or it went away.
    NoTerminal,
}

/// Asks a question whose default is yes on the controlling terminal, again until the answer is one.
pub async fn ask_yes_no(printer: &Printer, question: &str) -> Confirmation {
    ask_choices(printer, question, PromptChoices::YES_NO).await
}

/// Asks before something is done that cannot be undone: the default is no. The prompt is put behind
/// the question.
pub async fn ask_before_harm(printer: &Printer, question: &str) -> Confirmation {
    let choices = PromptChoices::NO_UNLESS_YES;
    let fitted = fit(
        &format!("{question} {}", choices.prompt()),
        Some(printer.err_traits().width),
    );
    ask_choices(printer, &format!("{fitted} "), choices).await
}

async fn ask_choices(printer: &Printer, question: &str, choices: PromptChoices) -> Confirmation {
    match ask(
        printer,
        &Keyboard::controlling(),
        question,
        &choices.again(),
        |line| choices.read(line),
    )
    .await
    {
        Ok(PromptChoice::Yes | PromptChoice::Always) => Confirmation::Yes,
        Ok(PromptChoice::No | PromptChoice::Fail) | Err(PromptError::InputEnded) => {
            Confirmation::No
        }
        Err(PromptError::NoTerminal) => Confirmation::NoTerminal,
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
) -> Result<T, PromptError> {
    let _hidden = printer.live_area().hide();
    keyboard.forget();
    let mut open = printer.ask(question);
    loop {
        match keyboard.line().await {
            TypedLine::Typed(line) => {
                open.answered();
                match read(&line) {
                    Some(answer) => return Ok(answer),
                    None => open = printer.ask(again),
                }
            }
            TypedLine::InputEnded => return Err(PromptError::InputEnded),
            TypedLine::NoTerminal => return Err(PromptError::NoTerminal),
        }
    }
}
