//! The thread that reads keys: one request after the other, and never without one.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use tokio::sync::oneshot;

use super::key::{Key, TypedKey, keys};

/// More than any key sends.
const MOST_BYTES: usize = 256;

/// The time between two looks whether a key is there.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// What keys are read from.
pub(super) trait KeySource: Send {
    /// Waits for keys; on a terminal only for a moment.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<KeyBytes>;
}

/// The outcome of one read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyBytes {
    Read(usize),
    NoneYet,
    Ended,
}

/// A terminal, which is read only when a key is there.
pub(super) struct ControllingTerminal(pub(super) File);

/// An input that waits for its keys.
pub(super) struct OtherInput<R>(pub(super) R);

/// The keys that were read and not yet wanted.
pub(super) struct KeyQueue<S> {
    source: S,
    typed: VecDeque<Key>,
    /// The number of questions that have begun.
    questions: Arc<AtomicU64>,
    /// The question that `typed` belongs to.
    typed_for: u64,
}

impl KeySource for ControllingTerminal {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<KeyBytes> {
        let Self(terminal) = self;
        if !is_ready(terminal)? {
            std::thread::sleep(BETWEEN_LOOKS);
            return Ok(KeyBytes::NoneYet);
        }
        let mut length = terminal.read(buffer)?;
        if buffer.starts_with(b"\x1b") && length == 1 {
            // Esc alone, or the beginning of a key whose other bytes are under way.
            std::thread::sleep(BETWEEN_LOOKS);
            if is_ready(terminal)? {
                length += terminal.read(buffer.get_mut(1..).unwrap_or_default())?;
            }
        }
        Ok(match length {
            0 => KeyBytes::Ended,
            length => KeyBytes::Read(length),
        })
    }
}

/// Returns whether a key can be read at once. Fails when the terminal went away.
fn is_ready(terminal: &File) -> io::Result<bool> {
    Ok(rustix::io::ioctl_fionread(terminal)? > 0 && is_in_foreground(terminal))
}

/// Returns whether this process may read from the terminal.
pub(super) fn is_in_foreground(terminal: &File) -> bool {
    let group = rustix::termios::tcgetpgrp(terminal);
    group.is_ok_and(|group| group == rustix::process::getpgrp())
}

impl<R: Read + Send> KeySource for OtherInput<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<KeyBytes> {
        let Self(input) = self;
        Ok(match input.read(buffer)? {
            0 => KeyBytes::Ended,
            length => KeyBytes::Read(length),
        })
    }
}

impl<S: KeySource> KeyQueue<S> {
    pub(super) fn new(source: S, questions: Arc<AtomicU64>) -> Self {
        Self {
            source,
            typed: VecDeque::new(),
            questions,
            typed_for: 0,
        }
    }

    /// Answers requests until there are no more.
    pub(super) fn serve(mut self, requests: &Receiver<oneshot::Sender<TypedKey>>) {
        while let Ok(request) = requests.recv() {
            let Some(typed) = self.next_for(&request) else {
                continue;
            };
            // The question may have been withdrawn meanwhile: the next request gets the key.
            if let Err(TypedKey::Typed(key)) = request.send(typed) {
                self.typed.push_front(key);
            }
        }
    }

    /// Returns the next key; `None` once its question was withdrawn.
    fn next_for(&mut self, request: &oneshot::Sender<TypedKey>) -> Option<TypedKey> {
        while !request.is_closed() {
            self.drop_earlier();
            if let Some(key) = self.typed.pop_front() {
                return Some(TypedKey::of(key));
            }
            match self.read() {
                Ok(KeyBytes::Read(_) | KeyBytes::NoneYet) => {}
                Ok(KeyBytes::Ended) => return Some(TypedKey::InputEnded),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Some(TypedKey::NoTerminal),
            }
        }
        None
    }

    /// Drops the keys that were read before the open question began. A key that arrives during a
    /// read belongs to the question that is open when the read ends.
    fn drop_earlier(&mut self) {
        let open = self.questions.load(Ordering::SeqCst);
        if self.typed_for != open {
            self.typed.clear();
            self.typed_for = open;
        }
    }

    fn read(&mut self) -> io::Result<KeyBytes> {
        let mut buffer = [0; MOST_BYTES];
        let read = self.source.read(&mut buffer)?;
        if let KeyBytes::Read(length) = read {
            self.drop_earlier();
            self.typed
                .extend(keys(buffer.get(..length).unwrap_or_default()));
        }
        Ok(read)
    }
}

impl TypedKey {
    fn of(key: Key) -> Self {
        match key {
            Key::EndOfInput => Self::InputEnded,
            Key::Character(_) | Key::Enter | Key::Escape | Key::Other => Self::Typed(key),
        }
    }
}
