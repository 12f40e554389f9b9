//! Text on standard input beside a question on the command line: `cat code.rs | conclave consult
//! "is this ok?"` would pay for an answer that ignores the code.
//!
//! A pipe without data is no mistake: services, containers, `ssh` and other programs hold one open
//! that is never written to. Whether data will still come cannot be known, so the input is looked at
//! three times: at the start, without waiting; before the first call, where a pipe with a writer
//! gets a moment; and at the end, when a warning is all that is left.

use std::io;

use crate::error::Error;
use crate::terminal::output::printer::Printer;
use crate::terminal::prompt::StdinUse;

use super::question::Question;

const IGNORED: &str = "standard input carries text that would be ignored";

/// Standard input while the question is not read from it.
#[derive(Debug)]
pub(super) struct UnreadInput(StdinUse);

/// How long to wait for the first data of a pipe that another program holds open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    None,
    /// Longer than a program like `cat` takes to begin, and short beside any answer.
    Brief,
}

impl UnreadInput {
    pub(super) fn beside(question: &Question) -> Self {
        Self(question.input)
    }

    /// Fails when there is data.
    pub(super) fn refuse(&self, patience: Patience) -> Result<(), Error> {
        if !self.has_data(patience) {
            return Ok(());
        }
        Err(Error::usage(IGNORED)
            .hint(
                "make it part of the question, as in `(echo \"Is this right?\"; cat FILE) | \
                 conclave consult -`",
            )
            .hint("or ignore it with `< /dev/null`"))
    }

    /// Warns of data that came during the run.
    pub(super) fn warn(&self, printer: &Printer) {
        if self.has_data(Patience::None) {
            printer.warning(
                "Warning: text arrived on standard input during the run; it is not part of the \
                 question",
            );
        }
    }

    fn has_data(&self, patience: Patience) -> bool {
        self.0 == StdinUse::Free && has_data(&io::stdin(), patience)
    }
}

/// Returns whether an input that is no terminal or other device has data to read. An input that
/// cannot be examined has none.
#[cfg(unix)]
fn has_data(input: &io::Stdin, patience: Patience) -> bool {
    use rustix::fs::{FileType, fstat, tell};

    let Ok(stat) = fstat(input) else {
        return false;
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            let size = u64::try_from(stat.st_size).unwrap_or_default();
            tell(input).is_ok_and(|position| position < size)
        }
        FileType::Fifo | FileType::Socket => arrives(input, patience),
        _ => false,
    }
}

/// Returns whether a pipe has data, or gets some within the time. It is not waited for when all
/// writers have closed it.
#[cfg(unix)]
fn arrives(input: &io::Stdin, patience: Patience) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::ioctl_fionread;

    let time = Timespec {
        tv_sec: 0,
        tv_nsec: match patience {
            Patience::None => 0,
            Patience::Brief => 200_000_000,
        },
    };
    let mut inputs = [PollFd::new(input, PollFlags::IN)];
    // The number of bytes decides: a closed pipe counts as ready, too.
    poll(&mut inputs, Some(&time)).is_ok() && ioctl_fionread(input).is_ok_and(|bytes| bytes > 0)
}

/// On other systems, looking would wait for data.
#[cfg(not(unix))]
fn has_data(_: &io::Stdin, _: Patience) -> bool {
    false
}
