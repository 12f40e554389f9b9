//! The thread that reads keys: one for each request, and none without a request.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use tokio::sync::oneshot;

use super::key::{InputError, TypedKey, keys};

/// More than any key sends.
const MAX_BYTES: usize = 256;

/// The time between two looks whether a key is there.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Waits for the bytes of keys, on a terminal only for a moment, and returns their number; `None`
/// if there are none yet, and zero at the end.
pub(super) type ReadKeys = dyn FnMut(&mut [u8]) -> io::Result<Option<usize>> + Send;

/// The keys that were read and not yet wanted.
pub(super) struct KeyQueue {
    pub(super) source: Box<ReadKeys>,
    pub(super) typed: VecDeque<TypedKey>,
    /// The number of questions that have begun.
    pub(super) questions: Arc<AtomicU64>,
    /// The question that `typed` belongs to.
    pub(super) typed_for: u64,
}

/// Reads a terminal, but only when a key is there.
pub(super) fn read_terminal(mut terminal: &File, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    if !is_ready(terminal)? {
        std::thread::sleep(BETWEEN_LOOKS);
        return Ok(None);
    }
    let mut length = terminal.read(buffer)?;
    if buffer.starts_with(b"\x1b") && length == 1 {
        // Esc alone, or the beginning of a key whose other bytes are under way.
        std::thread::sleep(BETWEEN_LOOKS);
        if is_ready(terminal)? {
            length += terminal.read(buffer.get_mut(1..).unwrap_or_default())?;
        }
    }
    Ok(Some(length))
}

/// Fails when the terminal went away.
fn is_ready(terminal: &File) -> io::Result<bool> {
    Ok(rustix::io::ioctl_fionread(terminal)? > 0 && is_in_foreground(terminal))
}

pub(super) fn is_in_foreground(terminal: &File) -> bool {
    let group = rustix::termios::tcgetpgrp(terminal);
    group.is_ok_and(|group| group == rustix::process::getpgrp())
}

impl KeyQueue {
    pub(super) fn serve(mut self, requests: &Receiver<oneshot::Sender<TypedKey>>) {
        while let Ok(request) = requests.recv() {
            let Some(typed) = self.next_for(&request) else {
                continue;
            };
            // The question may have been withdrawn meanwhile: the next request gets the key.
            if let Err(key) = request.send(typed) {
                self.typed.push_front(key);
            }
        }
    }

    /// `None` once its question was withdrawn.
    fn next_for(&mut self, request: &oneshot::Sender<TypedKey>) -> Option<TypedKey> {
        while !request.is_closed() {
            self.drop_earlier();
            if let Some(key) = self.typed.pop_front() {
                return Some(key);
            }
            match self.read() {
                Ok(Some(0)) => return Some(Err(InputError::InputEnded)),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Some(Err(InputError::NoTerminal)),
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

    fn read(&mut self) -> io::Result<Option<usize>> {
        let mut buffer = [0; MAX_BYTES];
        let read = (self.source)(&mut buffer)?;
        if let Some(length) = read {
            self.drop_earlier();
            self.typed
                .extend(keys(buffer.get(..length).unwrap_or_default()));
        }
        Ok(read)
    }
}
