//! A question that is answered by a line, with a suggestion to edit.

use super::keyboard::{InputError, Key, Keyboard};
use super::open_question::OpenQuestion;
use crate::terminal::output::printer::Printer;
use crate::terminal::output::wrap::fit;

/// Asks until `read` accepts the line; says why one is not accepted. Esc ends the input. Dropping
/// the future withdraws the question.
pub async fn ask_line<T>(
    printer: &Printer,
    keyboard: &Keyboard,
    prompt: &str,
    suggested: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<T, InputError> {
    let _keys = printer.live_area().keys();
    keyboard.forget();
    let paint = printer.err_traits().paint;
    let head = format!("{} {}", paint.cyan("?"), paint.bold(&format!("{prompt}:")));
    let mut text = suggested.to_owned();
    loop {
        let line = format!("{head} {text}▏");
        let open = OpenQuestion::new(printer, move |width| fit(&line, Some(width)));
        let key = keyboard.key().await?;
        drop(open);
        match key {
            Key::Enter if !text.trim().is_empty() => match read(text.trim()) {
                Ok(value) => {
                    let line = format!("{head} {}", paint.cyan(text.trim()));
                    printer.lines(&fit(&line, Some(printer.err_traits().width)));
                    return Ok(value);
                }
                Err(problem) => {
                    printer.warning(&problem);
                    text.clear();
                }
            },
            Key::Escape => return Err(InputError::InputEnded),
            Key::Backspace => drop(text.pop()),
            Key::Character(letter) => text.push(letter),
            Key::Enter | Key::Other => {}
        }
    }
}
