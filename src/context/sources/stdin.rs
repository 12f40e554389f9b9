//! Reads standard input as a source.
//!
//! A pipe without data is not a mistake: services, containers, `ssh` and other programs hold a pipe
//! open and never write to it. This program cannot know whether data will still come, so it waits
//! for the first byte for a limited time. Once data has come, it reads to the end, however long
//! that takes.

use std::io::{self, IsTerminal, Read, Stdin};
use std::time::Duration;

use thiserror::Error;

use super::{DecodeError, HEAD, check_head, decode};
use super::{SourceText, megabytes};
use crate::domain::context::SourceKind;

/// Other programs give their children a socket or a device that has data at once or never does.
const OTHER_WAIT: Duration = Duration::from_millis(200);

/// Longer pauses of a pipe are reported.
const SILENT_PAUSE: Duration = Duration::from_secs(1);

const CHUNK: usize = 65_536;

/// The kind of standard input, by which it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StdinKind {
    /// A person types there.
    Terminal,
    File,
    Pipe,
    /// A socket or a device, such as `/dev/null`.
    Other,
}

/// What is waited for, to be reported once each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StdinPause {
    BeforeData,
    WithinData,
}

/// The outcome of reading standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StdinSource {
    /// It ended without data.
    Empty,
    /// It is open and has no data yet.
    NoData,
    Text(SourceText),
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
}

pub fn kind() -> StdinKind {
    use rustix::fs::{FileType, fstat};

    let input = io::stdin();
    if input.is_terminal() {
        return StdinKind::Terminal;
    }
    match fstat(&input).map(|stat| FileType::from_raw_mode(stat.st_mode)) {
        Ok(FileType::RegularFile) => StdinKind::File,
        Ok(FileType::Fifo) => StdinKind::Pipe,
        Ok(_) | Err(_) => StdinKind::Other,
    }
}

/// Returns whether standard input, which is no terminal, has data now that was not read.
pub fn has_data() -> bool {
    let input = io::stdin();
    // Ready is also what has only its end.
    kind() == StdinKind::Pipe
        && is_ready(&input, Some(Duration::ZERO))
        && rustix::io::ioctl_fionread(&input).is_ok_and(|bytes| bytes > 0)
}

/// Reads standard input to its end. `first_byte` is the time to wait for it, `None` for no limit.
///
/// # Errors
///
/// When it is not text, or larger than the limit in bytes.
pub fn read(
    first_byte: Option<Duration>,
    limit: u64,
    report: &dyn Fn(StdinPause),
) -> Result<StdinSource, StdinError> {
    let mut input = io::stdin();
    let starts = match kind() {
        StdinKind::Terminal | StdinKind::File => true,
        StdinKind::Other if first_byte.is_some() => is_ready(&input, Some(OTHER_WAIT)),
        StdinKind::Pipe | StdinKind::Other => starts_within(&input, first_byte, report),
    };
    if !starts {
        return Ok(StdinSource::NoData);
    }
    let bytes = read_to_end(&mut input, limit, report)?;
    if bytes.is_empty() {
        return Ok(StdinSource::Empty);
    }
    let text = decode(bytes).map_err(StdinError::NotText)?;
    Ok(StdinSource::Text(SourceText {
        kind: SourceKind::Stdin,
        name: "stdin".to_owned(),
        text,
    }))
}

/// A longer pause is reported.
fn starts_within(input: &Stdin, time: Option<Duration>, report: &dyn Fn(StdinPause)) -> bool {
    if time.is_some_and(|time| time <= SILENT_PAUSE) {
        return is_ready(input, time);
    }
    if is_ready(input, Some(SILENT_PAUSE)) {
        return true;
    }
    report(StdinPause::BeforeData);
    is_ready(input, time.map(|time| time.saturating_sub(SILENT_PAUSE)))
}

fn read_to_end(
    input: &mut Stdin,
    limit: u64,
    report: &dyn Fn(StdinPause),
) -> Result<Vec<u8>, StdinError> {
    let is_pipe = kind() == StdinKind::Pipe;
    let mut is_reported = false;
    let mut bytes = Vec::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        if is_pipe && !is_reported && !is_ready(input, Some(SILENT_PAUSE)) {
            report(StdinPause::WithinData);
            is_reported = true;
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
fn is_ready(input: &Stdin, time: Option<Duration>) -> bool {
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
