//! Lines typed on the controlling terminal.
//!
//! One thread reads, and only while a line is requested: a background job that asks nothing must
//! not be stopped for reading. A read cannot be cancelled, so a withdrawn question leaves the
//! thread in its read. That line goes to the question that is open when it arrives, and is dropped
//! when none is.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal};
use std::sync::{OnceLock, mpsc};

use tokio::sync::oneshot;

use crate::terminal::output::printer::Printer;

/// The use of standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StdinUse {
    /// Nothing else.
    Free,
    /// It carries data, which is never read as an answer.
    Taken,
}

/// Returns true when a question can be asked: standard error is a terminal, and standard input is
/// one too, or carries data while there is a controlling terminal to answer on. The system would
/// stop a background process that reads its terminal.
pub fn can_ask(printer: &Printer, input: StdinUse) -> bool {
    printer.err_traits().is_terminal
        && printer.live_area().is_in_foreground()
        && match input {
            StdinUse::Free => io::stdin().is_terminal(),
            StdinUse::Taken => controlling_terminal().is_ok(),
        }
}

/// A source of typed lines. It is opened when the first line is requested.
#[derive(Debug, Default)]
pub struct Keyboard(OnceLock<Option<LineReader>>);

/// The outcome of waiting for a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::terminal) enum TypedLine {
    Typed(String),
    /// The input has ended.
    InputEnded,
    /// There is no terminal, or it went away.
    NoTerminal,
}

#[derive(Debug)]
struct LineReader {
    requests_to: mpsc::Sender<oneshot::Sender<TypedLine>>,
    terminal: Option<File>,
}

impl Keyboard {
    /// Reads the controlling terminal, so that data piped into standard input is never an answer.
    pub fn controlling() -> Self {
        Self::default()
    }

    /// Reads lines from another input.
    pub fn reading(input: impl BufRead + Send + 'static) -> Self {
        Self(OnceLock::from(LineReader::start(input, None)))
    }

    fn opened(&self) -> Option<&LineReader> {
        let open = || {
            let terminal = controlling_terminal().ok()?;
            let same = terminal.try_clone().ok();
            LineReader::start(BufReader::new(terminal), same)
        };
        self.0.get_or_init(open).as_ref()
    }

    /// Drops what was typed before the question was asked.
    pub(in crate::terminal) fn forget(&self) {
        #[cfg(unix)]
        if let Some(terminal) = self.opened().and_then(|reading| reading.terminal.as_ref()) {
            // A terminal that cannot flush its input is asked all the same.
            let _ = rustix::termios::tcflush(terminal, rustix::termios::QueueSelector::IFlush);
        }
    }

    /// Returns the next line. Dropping the future leaves the line to the next caller.
    pub(in crate::terminal) async fn line(&self) -> TypedLine {
        let (answer, answered) = oneshot::channel();
        match self
            .opened()
            .map(|reading| reading.requests_to.send(answer))
        {
            Some(Ok(())) => answered.await.unwrap_or(TypedLine::NoTerminal),
            Some(Err(_)) | None => TypedLine::NoTerminal,
        }
    }
}

impl LineReader {
    /// Returns `None` when the thread cannot be spawned. The thread ends when its keyboard is
    /// dropped, or with the process when it is in a read.
    fn start(mut input: impl BufRead + Send + 'static, terminal: Option<File>) -> Option<Self> {
        let (requests_to, requests) = mpsc::channel::<oneshot::Sender<TypedLine>>();
        let read = move || {
            while let Ok(request) = requests.recv() {
                // The question was withdrawn.
                if request.is_closed() {
                    continue;
                }
                give(read_line(&mut input), request, &requests);
            }
        };
        std::thread::Builder::new()
            .name("keyboard".to_owned())
            .spawn(read)
            .ok()?;
        Some(Self {
            requests_to,
            terminal,
        })
    }
}

/// Gives a line to the first request that is still open; without one, the line is dropped.
fn give(
    line: TypedLine,
    request: oneshot::Sender<TypedLine>,
    others: &mpsc::Receiver<oneshot::Sender<TypedLine>>,
) {
    let mut unread = request.send(line).err();
    while let Some(line) = unread.take() {
        unread = others
            .try_recv()
            .ok()
            .and_then(|request| request.send(line).err());
    }
}

fn read_line(input: &mut impl BufRead) -> TypedLine {
    let mut line = String::new();
    match input.read_line(&mut line) {
        Ok(0) => TypedLine::InputEnded,
        Ok(_) => TypedLine::Typed(line),
        // Input that is not UTF-8 is not an answer.
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            TypedLine::Typed("?".to_owned())
        }
        Err(_) => TypedLine::NoTerminal,
    }
}

fn controlling_terminal() -> io::Result<File> {
    File::open(if cfg!(windows) { "CONIN$" } else { "/dev/tty" })
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::pin::Pin;
    use std::task::{Context, Waker};

    use super::*;

    /// An input that yields the lines it is sent and reports each read.
    struct Typing {
        reads: mpsc::Sender<()>,
        lines: mpsc::Receiver<&'static str>,
    }

    impl Read for Typing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.reads.send(()).ok();
            let line = self.lines.recv().unwrap_or_default();
            buffer[..line.len()].copy_from_slice(line.as_bytes());
            Ok(line.len())
        }
    }

    fn keyboard() -> (Keyboard, mpsc::Sender<&'static str>, mpsc::Receiver<()>) {
        let (reads, read) = mpsc::channel();
        let (typed, lines) = mpsc::channel();
        (
            Keyboard::reading(BufReader::new(Typing { reads, lines })),
            typed,
            read,
        )
    }

    fn begins_to_wait(line: Pin<&mut impl Future<Output = TypedLine>>) -> bool {
        line.poll(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    }

    #[test]
    fn line_without_an_open_question_is_dropped() {
        let (requests_to, requests) = mpsc::channel();
        let withdrawn = || oneshot::channel().0;
        requests_to.send(withdrawn()).unwrap();
        give(TypedLine::Typed("late".to_owned()), withdrawn(), &requests);
        let (next, mut answered) = oneshot::channel();
        requests_to.send(next).unwrap();
        assert_eq!(
            answered.try_recv(),
            Err(oneshot::error::TryRecvError::Empty)
        );
        give(TypedLine::Typed("yes".to_owned()), withdrawn(), &requests);
        assert_eq!(answered.try_recv(), Ok(TypedLine::Typed("yes".to_owned())));
    }

    #[tokio::test]
    async fn a_read_left_over_from_one_question_serves_the_one_that_is_open() {
        let (keyboard, typed, read) = keyboard();
        let mut abandoned = Box::pin(keyboard.line());
        assert!(begins_to_wait(abandoned.as_mut()));
        read.recv().unwrap();
        drop(abandoned);
        let mut asking = Box::pin(keyboard.line());
        assert!(begins_to_wait(asking.as_mut()));
        typed.send("yes\n").unwrap();
        assert_eq!(asking.await, TypedLine::Typed("yes\n".to_owned()));
        assert!(
            read.try_recv().is_err(),
            "nothing is read without a request"
        );
    }

    #[tokio::test]
    async fn every_request_sees_the_end_of_the_input() {
        let keyboard = Keyboard::reading(&b"one\n"[..]);
        assert_eq!(keyboard.line().await, TypedLine::Typed("one\n".to_owned()));
        assert_eq!(keyboard.line().await, TypedLine::InputEnded);
        assert_eq!(keyboard.line().await, TypedLine::InputEnded);
    }
}
