//! Reads standard input as a source.
//!
//! Services, containers, `ssh` and other programs hold a pipe open and never write to it. This
//! program cannot know whether data will still come, so it waits for the first byte for a limited
//! time, and then fails: no question is asked without what was piped. Once data has come, it reads
//! to the end, however long that takes.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::time::Duration;

use thiserror::Error;

use super::{DecodeError, HEAD, check_head, decode};
use super::{SourceText, megabytes};
use crate::domain::context::SourceKind;

/// Longer pauses of a pipe are reported.
const SILENT_PAUSE: Duration = Duration::from_secs(3);

const CHUNK: usize = 65_536;

/// What is waited for, to be reported once each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StdinPause {
    BeforeData,
    WithinData,
}

/// The reason why standard input cannot be used.
#[derive(Debug, Error)]
pub enum StdinError {
    #[error("cannot read standard input")]
    Read(#[source] io::Error),
    #[error("standard input is not text")]
    NotText(#[source] DecodeError),
    #[error("standard input has more than {}", megabytes(*.0))]
    TooLarge(u64),
    #[error("standard input is open, and no text came in {} s; nothing was spent", .0.as_secs_f64())]
    Silent(Duration),
}

/// Waits for standard input without a limit, so that reading it does not.
pub fn wait(report: &dyn Fn(StdinPause)) {
    let input = io::stdin();
    if is_awaited(&input) {
        starts_within(&input, SILENT_PAUSE, None, report);
    }
}

/// Reads standard input to its end. `first_byte` is the time to wait for it, `None` for no limit.
/// Returns `None` if there is no text.
///
/// # Errors
///
/// When it stays silent, is not text, or is larger than the limit in bytes.
pub fn read(
    first_byte: Option<Duration>,
    limit: u64,
    report: &dyn Fn(StdinPause),
) -> Result<Option<SourceText>, StdinError> {
    read_from(&mut io::stdin(), SILENT_PAUSE, first_byte, limit, report)
}

fn read_from(
    input: &mut (impl Read + AsFd),
    pause: Duration,
    first_byte: Option<Duration>,
    limit: u64,
    report: &dyn Fn(StdinPause),
) -> Result<Option<SourceText>, StdinError> {
    let is_awaited = is_awaited(input);
    if is_awaited && !starts_within(input, pause, first_byte, report) {
        return Err(StdinError::Silent(first_byte.unwrap_or_default()));
    }
    let bytes = read_to_end(input, is_awaited.then_some(pause), limit, report)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let text = decode(bytes).map_err(StdinError::NotText)?;
    Ok(Some(SourceText {
        kind: SourceKind::Stdin,
        name: "stdin".to_owned(),
        text,
    }))
}

/// Returns whether another program writes it: a file has all its data, and at a terminal a person
/// types.
fn is_awaited(input: &impl AsFd) -> bool {
    use rustix::fs::{FileType, fstat};

    let kind = fstat(input).map(|stat| FileType::from_raw_mode(stat.st_mode));
    kind != Ok(FileType::RegularFile) && !rustix::termios::isatty(input)
}

/// A longer pause is reported.
fn starts_within(
    input: &impl AsFd,
    pause: Duration,
    time: Option<Duration>,
    report: &dyn Fn(StdinPause),
) -> bool {
    if time.is_some_and(|time| time <= pause) {
        return is_ready(input, time);
    }
    if is_ready(input, Some(pause)) {
        return true;
    }
    report(StdinPause::BeforeData);
    is_ready(input, time.map(|time| time.saturating_sub(pause)))
}

fn read_to_end(
    input: &mut (impl Read + AsFd),
    mut pause: Option<Duration>,
    limit: u64,
    report: &dyn Fn(StdinPause),
) -> Result<Vec<u8>, StdinError> {
    let mut bytes = Vec::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        if pause.is_some() && !is_ready(input, pause) {
            report(StdinPause::WithinData);
            pause = None;
        }
        match input.read(&mut chunk) {
            Ok(0) => return Ok(bytes),
            Ok(count) => {
                let is_head = bytes.len() < HEAD;
                bytes.extend(chunk.iter().take(count));
                if is_head {
                    check_head(&bytes).map_err(StdinError::NotText)?;
                }
                if bytes.len() as u64 > limit {
                    return Err(StdinError::TooLarge(limit));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // The program at the other end may have made the pipe non-blocking.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                is_ready(input, None);
            }
            Err(error) => return Err(StdinError::Read(error)),
        }
    }
}

/// `None` for no limit. An input that cannot be examined counts as ready.
fn is_ready(input: &impl AsFd, time: Option<Duration>) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;

    let time = time.and_then(|time| Timespec::try_from(time).ok());
    let mut inputs = [PollFd::new(input, PollFlags::IN)];
    loop {
        match poll(&mut inputs, time.as_ref()) {
            Err(Errno::INTR) => {}
            Ok(0) => return false,
            Ok(_) | Err(_) => return true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io::{PipeWriter, Write, pipe};

    use super::*;

    /// Reads a pipe into which each reported pause writes; the last one closes it.
    fn read_pipe(first: &str, first_byte: Option<Duration>) -> (Vec<StdinPause>, String) {
        let (mut reader, mut writer) = pipe().unwrap();
        writer.write_all(first.as_bytes()).unwrap();
        let open: RefCell<Option<PipeWriter>> = RefCell::new(Some(writer));
        let pauses = RefCell::new(Vec::new());
        let report = |pause| {
            pauses.borrow_mut().push(pause);
            let mut writer = open.borrow_mut();
            match pause {
                StdinPause::BeforeData => writer.as_mut().unwrap().write_all(b"late").unwrap(),
                StdinPause::WithinData => *writer = None,
            }
        };
        let read = read_from(&mut reader, Duration::ZERO, first_byte, 100, &report);
        (pauses.take(), read.unwrap().unwrap().text)
    }

    #[test]
    fn long_waits_for_a_pipe_are_reported_and_its_text_is_read_to_the_end() {
        use StdinPause::{BeforeData, WithinData};

        let within_data = (vec![WithinData], "soon".to_owned());
        assert_eq!(read_pipe("soon", None), within_data);
        // Once a byte has come, no limit holds.
        assert_eq!(read_pipe("soon", Some(Duration::ZERO)), within_data);
        let both = (vec![BeforeData, WithinData], "late".to_owned());
        assert_eq!(read_pipe("", None), both);
        assert_eq!(read_pipe("", Some(Duration::from_secs(60))), both);
    }

    #[test]
    fn pipe_that_stays_silent_is_an_error() {
        let (mut reader, writer) = pipe().unwrap();
        let moment = Duration::from_millis(1);
        let pauses = RefCell::new(Vec::new());
        let report = |pause| pauses.borrow_mut().push(pause);
        let read = read_from(&mut reader, Duration::ZERO, Some(moment), 100, &report);
        assert!(matches!(read, Err(StdinError::Silent(_))), "{read:?}");
        assert_eq!(pauses.take(), [StdinPause::BeforeData]);
        drop(writer);
        let read = read_from(&mut reader, Duration::ZERO, Some(moment), 100, &report);
        assert!(matches!(read, Ok(None)), "{read:?}");
    }
}
