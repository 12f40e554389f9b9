//! A pseudo-terminal for the binary: input, output and width. Waits for text to appear, with a
//! timeout.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use console::{measure_text_width, strip_ansi_codes};
use pty_process::Size;
use pty_process::blocking::{Command, open};
use rustix::process::Signal;

use super::binary::{Conclave, RunOutput, RunningProcess};

/// Longer than any wait takes on a busy machine.
pub(crate) const WAIT_TIMEOUT: Duration = Duration::from_secs(20);

/// A run on a terminal, which also shows standard output unless that is piped.
#[derive(Debug)]
pub(crate) struct Terminal {
    keyboard: File,
    screen: Arc<(Mutex<Vec<u8>>, Condvar)>,
    reader: JoinHandle<()>,
    running: RunningProcess,
}

/// Where standard output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    Terminal,
    Pipe,
}

/// Everything that was written to a terminal.
#[derive(Debug)]
pub(crate) struct Transcript(String);

impl Terminal {
    /// Starts the binary on a terminal with this many columns.
    pub(crate) fn start(
        conclave: &Conclave,
        columns: u16,
        output: Output,
        arguments: &[&str],
    ) -> Self {
        let binary = conclave.command();
        Self::start_program(conclave, columns, output, binary.get_program(), arguments)
    }

    /// Starts a program, such as a shell that pipes into the binary, on a terminal.
    pub(crate) fn start_program(
        conclave: &Conclave,
        columns: u16,
        output: Output,
        program: &OsStr,
        arguments: &[&str],
    ) -> Self {
        let (pty, terminal) = open().unwrap();
        pty.resize(Size::new(40, columns)).unwrap();
        let mut command = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(conclave.variables())
            .current_dir(conclave.folder());
        if output == Output::Pipe {
            command = command.stdout(Stdio::piped());
        }
        let running = RunningProcess::of(command.spawn(terminal).unwrap());
        let keyboard = File::from(OwnedFd::from(pty));
        let mut written = keyboard.try_clone().unwrap();
        let screen = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let shared = Arc::clone(&screen);
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Reading fails when the last program has closed the terminal.
            while let Ok(count @ 1..) = written.read(&mut bytes) {
                shared.0.lock().unwrap().extend_from_slice(&bytes[..count]);
                shared.1.notify_all();
            }
        });
        Self {
            keyboard,
            screen,
            reader,
            running,
        }
    }

    /// Waits until this text has been written `times` times.
    pub(crate) fn wait_for(&self, text: &str, times: usize) {
        let (screen, changed) = &*self.screen;
        let missing = |bytes: &mut Vec<u8>| {
            strip_ansi_codes(&String::from_utf8_lossy(bytes))
                .matches(text)
                .count()
                < times
        };
        let (bytes, waited) = changed
            .wait_timeout_while(screen.lock().unwrap(), WAIT_TIMEOUT, missing)
            .unwrap();
        assert!(
            !waited.timed_out(),
            "no `{text}` before the timeout: {}",
            String::from_utf8_lossy(&bytes)
        );
    }

    /// Types these keys; `\x03` is Ctrl-C.
    pub(crate) fn type_in(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Sends a signal to the process alone.
    pub(crate) fn signal(&self, signal: Signal) {
        self.running.signal(signal);
    }

    /// Waits for the process to exit.
    pub(crate) fn end(self) -> (RunOutput, Transcript) {
        let output = self.running.wait();
        self.reader.join().unwrap();
        let bytes = self.screen.0.lock().unwrap().clone();
        (output, Transcript(String::from_utf8(bytes).unwrap()))
    }
}

/// Returns whether Ctrl-C does nothing to a program that does not listen for it: shells start their
/// background jobs in this way, these tests perhaps among them.
pub(crate) fn interrupts_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << (Signal::INT.as_raw() - 1)) != 0)
}

impl Transcript {
    /// Returns the text without colours and cursor movements.
    pub(crate) fn text(&self) -> String {
        strip_ansi_codes(&self.0).replace('\r', "")
    }

    /// Returns all that was written.
    pub(crate) fn written(&self) -> &str {
        &self.0
    }

    pub(crate) fn has_escape_codes(&self) -> bool {
        self.0.contains('\u{1b}')
    }

    /// Returns whether there are colours or weights, as opposed to cursor movements.
    pub(crate) fn has_colours(&self) -> bool {
        let mut codes = self.0.split("\u{1b}[").skip(1);
        codes.any(|code| {
            code.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';')
                .starts_with('m')
        })
    }

    /// Returns the lines that do not fit on a terminal with this many columns. The live display pads
    /// its lines with blanks to the last column and lets the terminal wrap, so a line is too long
    /// only if it has another character there.
    pub(crate) fn too_wide(&self, columns: usize) -> Vec<String> {
        let text = strip_ansi_codes(&self.0).into_owned();
        let overflows = |line: &&str| {
            let mut column = 0;
            measure_text_width(line) > columns
                && line.chars().any(|c| {
                    column += measure_text_width(c.encode_utf8(&mut [0; 4]));
                    column % columns == 0 && c != ' '
                })
        };
        text.split(['\n', '\r'])
            .filter(overflows)
            .map(ToOwned::to_owned)
            .collect()
    }
}
