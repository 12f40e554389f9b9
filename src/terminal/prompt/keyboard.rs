//! What is typed on the controlling terminal, a line at a time, for whoever asks for one.
//!
//! One thread reads, and only while a line is requests_to: a run in the background that asks nothing
//! must not be stopped for reading. A read cannot be taken back, so a question that is withdrawn
//! leaves the thread at it. Its line then goes to the question that is open when it comes, and is
//! forgotten when none is.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal};
use std::sync::{OnceLock, mpsc};

use tokio::sync::oneshot;

use crate::terminal::output::printer::Printer;

/// What standard input is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StdinUse {
    /// Nothing else.
    Free,
    /// It carries data, which is never read as an answer.
    Taken,
}

/// True when a question can be asked: a person reads standard error, and standard input is a
/// terminal too, or has been read to its end for something else while there is a terminal to answer
/// on.
pub fn can_ask(printer: &Printer, input: StdinUse) -> bool {
    printer.err_traits().is_terminal
        && match input {
            StdinUse::Free => io::stdin().is_terminal(),
            StdinUse::Taken => controlling_terminal().is_ok(),
        }
}

/// Somewhere that lines are typed. It is not opened before the first is requests_to.
#[derive(Debug, Default)]
pub struct Keyboard(OnceLock<Option<LineReader>>);

/// What came of waiting for a line.
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
    /// The controlling terminal, so that data piped into standard input is never read as an answer.
    pub fn controlling() -> Self {
        Self::default()
    }

    /// Lines from elsewhere.
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

    /// Drops what was typed before there was a question to answer.
    pub(in crate::terminal) fn forget(&self) {
        #[cfg(unix)]
        if let Some(terminal) = self.opened().and_then(|reading| reading.terminal.as_ref()) {
            // A terminal that cannot do this is asked all the same.
            let _ = rustix::termios::tcflush(terminal, rustix::termios::QueueSelector::IFlush);
        }
    }

    /// The next line. Dropping the future leaves it to whoever asks next.
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
    /// `None` when there can be no thread. The thread ends with whoever it reads for, or with the
    /// process when it is at a read.
    fn start(mut input: impl BufRead + Send + 'static, terminal: Option<File>) -> Option<Self> {
        let (requests_to, requests) = mpsc::channel::<oneshot::Sender<TypedLine>>();
        let read = move || {
            while let Ok(request) = requests.recv() {
                // Nobody waits for this one any more.
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

/// Gives a line to the first who still waits; when nobody does, it is forgotten.
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
        // Not UTF-8: no answer that anyone would understand.
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

    /// An input that gives the lines it is sent, and tells when it is read.
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
    fn what_is_typed_when_nothing_is_asked_any_more_answers_nothing() {
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
            "nothing is read that nobody wants"
        );
    }

    #[tokio::test]
    async fn the_end_of_the_input_is_told_to_each_who_asks() {
        let keyboard = Keyboard::reading(&b"one\n"[..]);
        assert_eq!(keyboard.line().await, TypedLine::Typed("one\n".to_owned()));
        assert_eq!(
            (keyboard.line().await, keyboard.line().await),
            (TypedLine::InputEnded, TypedLine::InputEnded)
        );
    }
}
