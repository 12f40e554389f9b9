//! A dialogue: menus and lines that nothing can withdraw.
//!
//! Each question is drawn on standard error and replaced by one line with its answer. Esc leaves
//! the dialogue. Ctrl-C arrives as a signal: the caller drops the open question, and dropping the
//! dialogue restores the terminal.

use std::fmt;
use std::fs::File;
use std::io;

use console::{Key, Term, measure_text_width, truncate_str};
use dialoguer::Select;
use dialoguer::theme::Theme;

use crate::engine::host::run_aside;
use crate::terminal::document::{Line, Part, fact, screen};
use crate::terminal::output::modes::ModeGuard;
use crate::terminal::output::printer::Printer;
use crate::terminal::output::style::{Paint, Tone};
use crate::terminal::output::wrap::{fit, wrap_options};
use crate::text::clean::clean;

/// Columns of the marks in front of an item: `❯ [x] `, and one at the end that stays free.
const ITEM_MARKS: usize = 7;

/// Columns beside the text of a prompt: its mark, its colon and the page of a long menu.
const PROMPT_MARKS: usize = 16;

/// Asks one question after the other.
#[derive(Debug)]
pub struct Dialogue {
    printer: Printer,
    theme: DialogueTheme,
    /// Keys that are typed ahead do not appear, and the terminal does not edit them. Its end
    /// restores the modes also when a question is dropped while it reads a key.
    _keys: ModeGuard,
    _cursor: CursorGuard,
}

/// The change of a line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineChange {
    Added,
    Removed,
}

/// The reason why a question of a dialogue has no answer.
#[derive(Debug, thiserror::Error)]
pub enum DialogueError {
    /// Esc.
    #[error("cancelled")]
    Cancelled,
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
    #[error("cannot ask on this terminal")]
    Terminal(#[source] io::Error),
}

impl Dialogue {
    pub fn open(printer: &Printer) -> Self {
        Self {
            printer: printer.clone(),
            theme: DialogueTheme(printer.err_traits().paint),
            _keys: printer.live_area().keys(),
            _cursor: CursorGuard(Term::stderr()),
        }
    }

    /// Asks for one of several items; returns its position. A remark about an item follows it after
    /// two blanks, and is left out of the answer that stays on the screen.
    pub async fn select(
        &self,
        prompt: &str,
        items: &[String],
        default: usize,
    ) -> Result<usize, DialogueError> {
        let (title, shown) = (self.prompt(prompt), self.items(items));
        let theme = self.theme;
        let choice = ask(move || {
            Select::with_theme(&theme)
                .with_prompt(title)
                .items(&shown)
                .default(default.min(shown.len().saturating_sub(1)))
                .report(false)
                .interact_opt()
        })
        .await?;
        let item = items.get(choice).map(String::as_str).unwrap_or_default();
        let answer = item.split_once("  ").map_or(item, |(answer, _)| answer);
        self.answered(prompt, answer);
        Ok(choice)
    }

    /// Asks for a line that is there to be changed, until `read` accepts it; says why one is not
    /// accepted.
    pub async fn edited_line<T>(
        &self,
        prompt: &str,
        suggested: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, DialogueError> {
        let head = self.theme.head(&self.prompt(prompt));
        let mut suggested = suggested.to_owned();
        loop {
            let (shown, typed) = (head.clone(), std::mem::take(&mut suggested));
            let mut line = OpenLine(Some(Term::stderr()));
            let answer = ask(move || edit_line(&Term::stderr(), &shown, typed)).await;
            if !matches!(answer, Err(DialogueError::Interrupted)) {
                // The question has erased its line.
                line.0 = None;
            }
            let text = answer?;
            match read(text.trim()) {
                Ok(value) => {
                    self.answered(prompt, text.trim());
                    return Ok(value);
                }
                Err(problem) => self.printer.warning(&problem),
            }
        }
    }

    /// Shows the answer to a question where the question was.
    fn answered(&self, prompt: &str, answer: &str) {
        let answer = clean(answer)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let DialogueTheme(paint) = self.theme;
        // Wrapped before it is painted: the styles must not be split.
        let prompt = clean(prompt);
        let text = fit(&format!("? {prompt}: {answer}"), Some(self.columns()));
        let answer = text
            .strip_prefix(&format!("? {prompt}:"))
            .unwrap_or(&answer)
            .trim_start_matches(' ');
        let answer: Vec<String> = answer.lines().map(|line| paint.cyan(line)).collect();
        self.printer.lines(&format!(
            "{}{}",
            self.theme.head(&prompt),
            answer.join("\n")
        ));
    }

    /// Shows a sentence.
    pub fn say(&self, sentence: &str) {
        let text = textwrap::fill(&clean(sentence), wrap_options(self.columns()));
        self.printer.lines(&text);
    }

    /// Shows a remark after an empty line.
    pub fn remark(&self, remark: &str) {
        let DialogueTheme(paint) = self.theme;
        let text = textwrap::fill(&clean(remark), wrap_options(self.columns()));
        let lines: Vec<String> = text.lines().map(|line| paint.dim(line)).collect();
        self.printer.lines(&format!("\n{}", lines.join("\n")));
    }

    /// Shows what a question is about, a name and a value a line.
    pub fn table(&self, rows: &[(String, String)]) {
        let fact =
            |(name, value): &(String, String)| fact(Line::toned(Tone::Quiet, name), value.clone());
        let facts = Part::Facts(rows.iter().map(fact).collect());
        let DialogueTheme(paint) = self.theme;
        let text = screen(&[facts], Some(self.columns() - 2), paint);
        let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
        self.printer.lines(&lines.join("\n"));
    }

    /// Shows a line of a file that would be added, or removed.
    pub fn change(&self, line: &str, change: LineChange) {
        let DialogueTheme(paint) = self.theme;
        let line = clean(line);
        let shown = match change {
            LineChange::Added => paint.green(&fit(&format!("  + {line}"), Some(self.columns()))),
            LineChange::Removed => paint.red(&fit(&format!("  - {line}"), Some(self.columns()))),
        };
        self.printer.lines(&shown);
    }

    fn prompt(&self, prompt: &str) -> String {
        let columns = self.columns().saturating_sub(PROMPT_MARKS);
        fitting(prompt, columns)
    }

    fn items(&self, items: &[String]) -> Vec<String> {
        let columns = self.columns().saturating_sub(ITEM_MARKS);
        items.iter().map(|item| fitting(item, columns)).collect()
    }

    fn columns(&self) -> usize {
        self.printer.err_traits().width
    }
}

/// Returns the text on one line, cut to these columns. The menus measure an item by its bytes when
/// they redraw it, so the bytes have to fit too.
fn fitting(text: &str, columns: usize) -> String {
    let line = clean(text).replace(['\n', '\t'], " ");
    let mut room = columns.max(8);
    loop {
        let cut = truncate_str(&line, room, "…");
        if cut.len() <= columns.max(8) + ITEM_MARKS || room <= 8 {
            return cut.into_owned();
        }
        room -= 1;
    }
}

/// Asks on a thread of its own, so that a signal is noticed while a key is awaited.
async fn ask<T: Send + 'static>(
    question: impl FnOnce() -> dialoguer::Result<Option<T>> + Send + 'static,
) -> Result<T, DialogueError> {
    let mut keys = LentTerminal { is_open: true };
    let answered = run_aside("dialogue", question).await;
    keys.is_open = false;
    match answered {
        Some(Ok(Some(answer))) => Ok(answer),
        Some(Ok(None)) => Err(DialogueError::Cancelled),
        Some(Err(dialoguer::Error::IO(error))) if error.kind() == io::ErrorKind::Interrupted => {
            Err(DialogueError::Interrupted)
        }
        Some(Err(dialoguer::Error::IO(error))) => Err(DialogueError::Terminal(error)),
        None => Err(DialogueError::Terminal(io::Error::other(
            "the question failed",
        ))),
    }
}

/// The terminal that a question reads its keys from.
struct LentTerminal {
    is_open: bool,
}

impl Drop for LentTerminal {
    /// Takes the terminal from the thread of a dropped question, which cannot be stopped: it would
    /// set the modes for the next key after they are restored. It gets a terminal without a
    /// keyboard: for anything else as standard input, `console` opens the real one again.
    fn drop(&mut self) {
        if self.is_open
            && let Ok(other) = File::open("/dev/ptmx")
        {
            let _ = rustix::stdio::dup2_stdin(other);
        }
    }
}

/// Reads a line, which Esc cancels; the lines of `dialoguer` ignore Esc.
fn edit_line(term: &Term, head: &str, mut text: String) -> dialoguer::Result<Option<String>> {
    loop {
        let room = usize::from(term.size().1).saturating_sub(measure_text_width(head) + 1);
        let hidden = text.chars().count().saturating_sub(room.max(1));
        let shown: String = text.chars().skip(hidden).collect();
        term.clear_line()?;
        term.write_str(&format!("{head}{shown}"))?;
        term.flush()?;
        match term.read_key()? {
            Key::Enter if !text.trim().is_empty() => {
                term.clear_line()?;
                return Ok(Some(text));
            }
            Key::Escape => {
                term.clear_line()?;
                return Ok(None);
            }
            Key::Backspace => {
                text.pop();
            }
            Key::Char(letter) if !letter.is_control() => text.push(letter),
            _ => {}
        }
    }
}

/// The look of the questions.
#[derive(Clone, Copy, Debug)]
struct DialogueTheme(Paint);

impl DialogueTheme {
    /// `? Judge: `
    fn head(self, prompt: &str) -> String {
        let Self(paint) = self;
        format!("{} {} ", paint.cyan("?"), paint.bold(&format!("{prompt}:")))
    }
}

impl Theme for DialogueTheme {
    fn format_prompt(&self, f: &mut dyn fmt::Write, prompt: &str) -> fmt::Result {
        write!(f, "{}", self.head(prompt).trim_end())
    }

    fn format_select_prompt_item(
        &self,
        f: &mut dyn fmt::Write,
        text: &str,
        active: bool,
    ) -> fmt::Result {
        let Self(paint) = self;
        if active {
            write!(f, "{}", paint.cyan(&format!("❯ {text}")))
        } else {
            write!(f, "  {text}")
        }
    }
}

/// Shows the cursor again: a question that is dropped leaves it hidden.
#[derive(Debug)]
struct CursorGuard(Term);

impl Drop for CursorGuard {
    fn drop(&mut self) {
        // A terminal that went away has no cursor.
        let _ = self.0.show_cursor();
    }
}

/// Ends the line of a question that is dropped or interrupted: what follows starts its own line.
#[derive(Debug)]
struct OpenLine(Option<Term>);

impl Drop for OpenLine {
    fn drop(&mut self) {
        if let Some(term) = &self.0 {
            // A terminal that went away has no lines.
            let _ = term.write_line("");
        }
    }
}
