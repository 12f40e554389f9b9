//! Questions with yes or no, asked on the controlling terminal, so that data piped into standard input is never read as an answer.
//! Whether there is anyone to ask is the caller's decision; the wording of the cost gate is here.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal};

use tokio::sync::oneshot;

use crate::consultation::event::Estimate;

use super::printer::Printer;
use super::words::{count, thousands};

/// What came of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Yes,
    /// Also when the input ended.
    No,
    /// There is no terminal to ask on, or it went away.
    Gone,
}

/// The cost gate's question, without an end of line after the prompt.
pub fn cost_question(estimate: &Estimate, agents: usize, rounds: u8) -> String {
    format!(
        "Estimated cost: {:.2}\n- Input tokens: {}\n- Expected output tokens: ~{}\n- {} × {}\n\nProceed? [Y/n] ",
        estimate.cost,
        thousands(estimate.input_tokens),
        thousands(estimate.output_tokens),
        count(agents, "agent"),
        count(usize::from(rounds), "round"),
    )
}

/// True when a question can be asked: a person reads standard error, and standard input is a terminal too, or has been read to its end
/// for something else while there is a terminal to answer on.
pub fn can_ask(printer: &Printer, input: Input) -> bool {
    printer.err_face().is_terminal
        && match input {
            Input::Free => io::stdin().is_terminal(),
            Input::Taken => controlling_terminal().is_ok(),
        }
}

/// What standard input is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Nothing else.
    Free,
    /// It carries data, which is never read as an answer.
    Taken,
}

/// Asks a question whose default is yes, again until the answer is one. The live display is away while it is open.
///
/// Dropping the future leaves the question unanswered; the thread that waits for the line ends with the process.
pub async fn ask_yes_no(printer: &Printer, question: &str) -> Answer {
    let Ok(terminal) = controlling_terminal() else { return Answer::Gone };
    ask_on(printer, question, BufReader::new(terminal)).await
}

/// Asks and reads the answer from `input`; see [`ask_yes_no`].
pub async fn ask_on(printer: &Printer, question: &str, input: impl BufRead + Send + 'static) -> Answer {
    let _hidden = printer.live().hide();
    printer.prompt(question);
    let mut line = OpenLine(Some(printer.clone()));
    let (answer, answered) = oneshot::channel();
    let printer = printer.clone();
    let asking = std::thread::Builder::new().name("question".to_owned()).spawn(move || {
        // Nobody listens any more when the consultation was interrupted meanwhile.
        let _ = answer.send(read_answer(&printer, input));
    });
    let answer = match asking {
        Ok(_) => answered.await.unwrap_or(Answer::Gone),
        Err(_) => Answer::Gone,
    };
    line.0 = None;
    answer
}

/// A question whose line nobody has ended; what is said next must not continue it.
struct OpenLine(Option<Printer>);

impl Drop for OpenLine {
    fn drop(&mut self) {
        if let Some(printer) = &self.0 {
            printer.prompt("\n");
        }
    }
}

fn read_answer(printer: &Printer, mut input: impl BufRead) -> Answer {
    loop {
        let mut line = String::new();
        match input.read_line(&mut line) {
            Ok(0) => {
                printer.prompt("\n");
                return Answer::No;
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::InvalidData => "?".clone_into(&mut line),
            Err(_) => return Answer::Gone,
        }
        match line.trim().to_lowercase().as_str() {
            "" | "y" | "yes" => return Answer::Yes,
            "n" | "no" => return Answer::No,
            _ => printer.prompt("Please answer y or n: "),
        }
    }
}

fn controlling_terminal() -> io::Result<File> {
    File::open(if cfg!(windows) { "CONIN$" } else { "/dev/tty" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::money::{Cost, MicroUsd};

    #[test]
    fn the_question_names_cost_tokens_and_size() {
        let estimate =
            Estimate { cost: Cost::exactly(MicroUsd(450_000)), input_tokens: 1_234, output_tokens: 8_000, ..Estimate::default() };
        let expected =
            "Estimated cost: $0.45\n- Input tokens: 1,234\n- Expected output tokens: ~8,000\n- 3 agents × 4 rounds\n\nProceed? [Y/n] ";
        assert_eq!(cost_question(&estimate, 3, 4), expected);
        let unpriced = Estimate { cost: Cost::at_least(MicroUsd(120_000)), ..estimate };
        assert!(cost_question(&unpriced, 1, 1).starts_with("Estimated cost: ≥ $0.12\n"));
        assert!(cost_question(&unpriced, 1, 1).contains("- 1 agent × 1 round\n"));
    }
}
