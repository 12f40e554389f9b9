//! Single keys typed on the controlling terminal.
//!
//! One thread reads, and only while a question is open and the process is in the foreground: the
//! system stops a background job that reads. The thread looks whether a key is there before it
//! reads, so that it notices a withdrawn question. A read from an input that is not a terminal
//! cannot be broken off: the next key goes to the question that is open when the key arrives, or is
//! dropped if none is.

mod key;
mod queue;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, mpsc};

use tokio::sync::oneshot;

pub use self::key::InputError;
pub(in crate::terminal) use self::key::{Key, TypedKey};

use self::queue::{KeyQueue, ReadKeys, is_in_foreground, read_terminal};
use crate::terminal::output::printer::Printer;

/// The use of standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StdinUse {
    /// Nothing else.
    Free,
    /// It carries data, which is never read as an answer.
    Taken,
}

impl StdinUse {
    pub fn of(is_taken: bool) -> Self {
        if is_taken { Self::Taken } else { Self::Free }
    }
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

/// A source of typed keys. It is opened when the first key is requested.
#[derive(Debug, Default)]
pub struct Keyboard(OnceLock<Option<KeyReader>>);

#[derive(Debug)]
struct KeyReader {
    requests_to: mpsc::Sender<oneshot::Sender<TypedKey>>,
    /// The number of questions that have begun.
    questions: Arc<AtomicU64>,
    terminal: Option<File>,
}

impl Keyboard {
    /// Reads the controlling terminal, so that data piped into standard input is never an answer.
    pub fn controlling() -> Self {
        Self::default()
    }

    pub fn reading(mut input: impl Read + Send + 'static) -> Self {
        let source = move |buffer: &mut [u8]| input.read(buffer).map(Some);
        Self(OnceLock::from(KeyReader::start(Box::new(source), None)))
    }

    fn opened(&self) -> Option<&KeyReader> {
        let open = || {
            let terminal = controlling_terminal().ok()?;
            let same = terminal.try_clone().ok();
            let source = move |buffer: &mut [u8]| read_terminal(&terminal, buffer);
            KeyReader::start(Box::new(source), same)
        };
        self.0.get_or_init(open).as_ref()
    }

    /// Drops what was typed before a question. The terminal hands over single keys already.
    pub(in crate::terminal) fn forget(&self) {
        let Some(reader) = self.opened() else {
            return;
        };
        reader.questions.fetch_add(1, Ordering::SeqCst);
        if let Some(terminal) = reader
            .terminal
            .as_ref()
            .filter(|file| is_in_foreground(file))
        {
            // What cannot be dropped is read as a key.
            let _ = rustix::termios::tcflush(terminal, rustix::termios::QueueSelector::IFlush);
        }
    }

    /// Dropping the future leaves the key to the next caller.
    pub(in crate::terminal) async fn key(&self) -> TypedKey {
        let (answer, answered) = oneshot::channel();
        let sent = self.opened().map(|reader| reader.requests_to.send(answer));
        match sent {
            Some(Ok(())) => answered.await.unwrap_or(Err(InputError::NoTerminal)),
            Some(Err(_)) | None => Err(InputError::NoTerminal),
        }
    }
}

impl KeyReader {
    /// Returns `None` when the thread cannot be spawned. The thread ends when its keyboard is
    /// dropped, or with the process when it is in a read.
    fn start(source: Box<ReadKeys>, terminal: Option<File>) -> Option<Self> {
        let (requests_to, requests) = mpsc::channel();
        let questions = Arc::new(AtomicU64::new(0));
        let queue = KeyQueue {
            source,
            typed: VecDeque::new(),
            questions: Arc::clone(&questions),
            typed_for: 0,
        };
        std::thread::Builder::new()
            .name("keyboard".to_owned())
            .spawn(move || queue.serve(&requests))
            .ok()?;
        Some(Self {
            requests_to,
            questions,
            terminal,
        })
    }
}

fn controlling_terminal() -> io::Result<File> {
    File::open("/dev/tty")
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Waker};
    use std::time::Duration;

    use super::*;

    /// An input that yields the keys it is sent and reports each read.
    struct Typing {
        reads: mpsc::Sender<()>,
        keys: mpsc::Receiver<&'static str>,
    }

    impl Read for Typing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.reads.send(()).ok();
            let keys = self.keys.recv().unwrap_or_default();
            buffer[..keys.len()].copy_from_slice(keys.as_bytes());
            Ok(keys.len())
        }
    }

    fn keyboard() -> (Keyboard, mpsc::Sender<&'static str>, mpsc::Receiver<()>) {
        let (reads, read) = mpsc::channel();
        let (typed, keys) = mpsc::channel();
        (Keyboard::reading(Typing { reads, keys }), typed, read)
    }

    /// Longer than any wait takes on a slow and busy machine.
    const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

    /// Awaits a key, which comes from another thread.
    async fn in_time(key: impl Future<Output = TypedKey>) -> TypedKey {
        let key = tokio::time::timeout(WAIT_TIMEOUT, key).await;
        key.expect("a key within a minute")
    }

    fn begins_to_wait(key: Pin<&mut impl Future<Output = TypedKey>>) -> bool {
        key.poll(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    }

    #[expect(clippy::unnecessary_wraps, reason = "a key as the terminal gives it")]
    fn character(letter: char) -> TypedKey {
        Ok(Key::Character(letter))
    }

    #[tokio::test]
    async fn a_read_left_over_from_one_question_serves_the_one_that_is_open() {
        let (keyboard, typed, read) = keyboard();
        let mut abandoned = Box::pin(keyboard.key());
        assert!(begins_to_wait(abandoned.as_mut()));
        read.recv_timeout(WAIT_TIMEOUT).unwrap();
        drop(abandoned);
        keyboard.forget();
        let mut asking = Box::pin(keyboard.key());
        assert!(begins_to_wait(asking.as_mut()));
        typed.send("y").unwrap();
        assert_eq!(in_time(asking).await, character('y'));
        assert!(
            read.try_recv().is_err(),
            "nothing is read without a request"
        );
    }

    #[tokio::test]
    async fn keys_typed_before_a_question_are_dropped() {
        let (keyboard, typed, _read) = keyboard();
        typed.send("xyz").unwrap();
        assert_eq!(in_time(keyboard.key()).await, character('x'));
        assert_eq!(in_time(keyboard.key()).await, character('y'));
        keyboard.forget();
        typed.send("n").unwrap();
        assert_eq!(in_time(keyboard.key()).await, character('n'));
    }

    #[tokio::test]
    async fn every_request_sees_the_end_of_the_input() {
        let keyboard = Keyboard::reading(&b"1"[..]);
        assert_eq!(in_time(keyboard.key()).await, character('1'));
        assert_eq!(in_time(keyboard.key()).await, Err(InputError::InputEnded));
        assert_eq!(in_time(keyboard.key()).await, Err(InputError::InputEnded));
    }
}
