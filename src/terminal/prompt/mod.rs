//! Asks one question on the terminal: repeats it until the answer is valid, and withdraws it when
//! the caller drops the future. `questions` holds the words; the caller decides whether there is a
//! person to ask.

pub mod keyboard;
pub mod person;
pub mod dialogue;
mod choices;
pub(super) mod questions;

pub use self::keyboard::{StdinUse, can_ask};

use self::choices::{PromptChoice, PromptChoices};
use self::keyboard::{Keyboard, TypedLine};
use super::output::printer::Printer;
use super::output::wrap::fit;

/// The answer to a yes-or-no question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmation {
    Yes,
    /// Also when the input ended.
    No,
    /// There is no terminal to ask on, or it went away.
    NoTerminal,
}

/// The reason why a question has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromptError {
    /// The input ended.
    InputEnded,
    /// There is no terminal to ask on, or it went away.
    NoTerminal,
}

/// Asks a question whose default is yes on the controlling terminal until the answer is valid.
pub async fn ask_yes_no(printer: &Printer, question: &str) -> Confirmation {
    ask_choices(printer, question, PromptChoices::YES_NO).await
}

/// Asks before an action that cannot be undone: the default is no. Appends the prompt to the
/// question.
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
        Ok(PromptChoice::Yes | PromptChoice::Always | PromptChoice::Wait) => Confirmation::Yes,
        Ok(PromptChoice::No | PromptChoice::Fail | PromptChoice::GoOn | PromptChoice::Stop)
        | Err(PromptError::InputEnded) => Confirmation::No,
        Err(PromptError::NoTerminal) => Confirmation::NoTerminal,
    }
}

/// Asks until `read` accepts a line. The live area is hidden while the question is open. Dropping
/// the future withdraws the question: its line is ended, and what is typed then does not answer the
/// next one.
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
