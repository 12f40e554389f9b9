//! Asks a person on the terminal. `question` is what one key answers, `keyboard` reads the keys,
//! `line` asks for a line, and `questions` holds the words; the caller decides whether there is a
//! person to ask. A question is withdrawn by dropping its future.

pub mod keyboard;
pub mod person;
mod question;
mod open_question;
mod line;
pub(super) mod questions;

pub use self::keyboard::{InputError, StdinUse, can_ask};
pub use self::line::ask_line;

use std::time::Duration;

use tokio::time::timeout;

use self::keyboard::{Key, Keyboard};
pub use self::questions::consent::run_question;

use self::open_question::OpenQuestion;
use self::question::{KeyChoice, KeyQuestion, QuestionTrace};
use super::output::printer::Printer;
use crate::consultation::policy::consent::ConsentRule;
use crate::consultation::policy::estimate::{Estimate, GateReason};
use crate::domain::cost::money::MicroUsd;
use crate::engine::ports::Confirmation;

/// Keys that follow within this time belong together: faster than a second key of its own.
const SHORT_PAUSE: Duration = Duration::from_millis(150);

/// The same after keys that are no answer: a word that is typed slowly goes on.
const LONG_PAUSE: Duration = Duration::from_millis(500);

/// Asks for consent to a cost; without a rule, no setting allows one in advance. `ceiling` is what
/// is left under it.
pub async fn ask_run_consent(
    printer: &Printer,
    estimate: &Estimate,
    why: &[GateReason],
    rule: Option<&ConsentRule>,
    ceiling: Option<MicroUsd>,
) -> Confirmation {
    let (lines, question) = run_question(estimate, why, rule, ceiling);
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
        Err(InputError::InputEnded) => Confirmation::No,
        Err(InputError::NoTerminal) => Confirmation::NoPerson,
    }
}

/// Asks for one of several items, each a word, whose first letter is its key, and what it means.
/// Enter stands for the first one; Esc leaves, as does a key of its own. Returns its position.
pub async fn choose(
    printer: &Printer,
    question: &str,
    items: &[(&'static str, String)],
) -> Result<usize, InputError> {
    let leave = ("leave", "write nothing".to_owned());
    let items: Vec<_> = items.iter().chain([&leave]).collect();
    let lines = items
        .iter()
        .map(|(word, meaning)| format!("  {word}: {meaning}"));
    let choices: Vec<_> = items
        .iter()
        .enumerate()
        .map(|(at, (word, _))| KeyChoice::plain(word, at))
        .collect();
    let question = KeyQuestion {
        lines: lines.collect(),
        question: question.to_owned(),
        default: choices.first().map_or('l', |choice| choice.key),
        choices,
        safe: 'l',
        trace: QuestionTrace::Whole,
    };
    let answer = ask(printer, &Keyboard::controlling(), &question).await?;
    (answer + 1 < items.len())
        .then_some(answer)
        .ok_or(InputError::InputEnded)
}

/// Asks until a key has a meaning. The first keys without one get the legend. Dropping the future
/// withdraws the question: its lines go, and what is typed then does not answer the next one.
pub(super) async fn ask<A: Clone + Send + Sync + 'static>(
    printer: &Printer,
    keyboard: &Keyboard,
    question: &KeyQuestion<A>,
) -> Result<A, InputError> {
    let _keys = printer.live_area().keys();
    keyboard.forget();
    let (words, paint) = (question.clone(), printer.err_traits().paint);
    let mut open = OpenQuestion::new(printer, move |width| words.text(width, paint));
    loop {
        match typed(keyboard, question).await? {
            Some(choice) => {
                open.answered(choice.word, question.trace);
                return Ok(choice.answer.clone());
            }
            None => open.explain(question.legend()),
        }
    }
}

/// Takes the keys of one burst: no letter of a word is an answer, only a key alone or with Enter.
async fn typed<'a, A>(
    keyboard: &Keyboard,
    question: &'a KeyQuestion<A>,
) -> Result<Option<&'a KeyChoice<A>>, InputError> {
    let mut keys = vec![keyboard.key().await?];
    loop {
        let chosen = question.answered_by(&keys);
        if matches!(keys.last(), Some(Key::Enter | Key::Escape)) {
            return Ok(chosen);
        }
        let pause = if chosen.is_some() {
            SHORT_PAUSE
        } else {
            LONG_PAUSE
        };
        match timeout(pause, keyboard.key()).await {
            Ok(Ok(key)) => keys.push(key),
            Ok(Err(_)) | Err(_) => return Ok(chosen),
        }
    }
}
