//! Asks a person on the terminal. `question` is what one key answers, `keyboard` reads the keys,
//! `dialogue` asks with menus and lines, and `questions` holds the words; the caller decides
//! whether there is a person to ask. A question is withdrawn by dropping its future.

pub mod keyboard;
pub mod person;
pub mod dialogue;
mod question;
mod open_question;
pub(super) mod questions;

pub use self::keyboard::{StdinUse, can_ask};

use self::keyboard::{Keyboard, TypedKey};
use self::open_question::OpenQuestion;
use self::question::{KeyChoice, KeyQuestion, QuestionTrace};
use super::output::printer::Printer;
use crate::consultation::policy::consent::ConsentRule;
use crate::consultation::policy::estimate::{Estimate, GateReason};
use crate::engine::ports::Confirmation;

/// The reason why a question has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromptError {
    /// The input ended.
    InputEnded,
    /// There is no terminal to ask on, or it went away.
    NoTerminal,
}

/// Asks for consent to a cost; without a rule, no setting allows one in advance.
pub async fn ask_run_consent(
    printer: &Printer,
    estimate: &Estimate,
    why: &[GateReason],
    rule: Option<&ConsentRule>,
) -> Confirmation {
    let (lines, question) = questions::consent::run_question(estimate, why, rule);
    confirm(printer, lines, &question, 'y').await
}

/// Asks a yes-or-no question on the controlling terminal. `lines` are above it; Enter stands for
/// the default, `y` or `n`: before an action that cannot be undone it is no.
pub async fn confirm(
    printer: &Printer,
    lines: Vec<String>,
    question: &str,
    default: char,
) -> Confirmation {
    let question = KeyQuestion {
        lines,
        question: question.to_owned(),
        choices: vec![
            KeyChoice::plain("yes", Confirmation::Yes),
            KeyChoice::plain("no", Confirmation::No),
        ],
        default,
        safe: 'n',
        trace: QuestionTrace::Whole,
    };
    match ask(printer, &Keyboard::controlling(), &question).await {
        Ok(answer) => answer,
        Err(PromptError::InputEnded) => Confirmation::No,
        Err(PromptError::NoTerminal) => Confirmation::NoPerson,
    }
}

/// Asks until a key has a meaning. The first key without one gets the legend. Dropping the future
/// withdraws the question: its lines go, and what is typed then does not answer the next one.
pub(super) async fn ask<A: Clone + Send + Sync + 'static>(
    printer: &Printer,
    keyboard: &Keyboard,
    question: &KeyQuestion<A>,
) -> Result<A, PromptError> {
    let _keys = printer.live_area().keys();
    keyboard.forget();
    let mut open = OpenQuestion::new(printer, question);
    loop {
        let key = match keyboard.key().await {
            TypedKey::Typed(key) => key,
            TypedKey::InputEnded => return Err(PromptError::InputEnded),
            TypedKey::NoTerminal => return Err(PromptError::NoTerminal),
        };
        match question.chosen(key) {
            Some(choice) => {
                open.answered(choice.word, question.trace);
                return Ok(choice.answer.clone());
            }
            None => open.explain(question.legend()),
        }
    }
}
