//! A terminal of its own for the binary: what is typed, what is on it, how wide it is. Waits are
//! for words to appear, and have a limit.

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

use super::binary::{Conclave, Ran, Running};

/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A run on a terminal. Standard output is on it too, unless it was piped.
#[derive(Debug)]
pub(crate) struct Terminal {
    keyboard: File,
    screen: Arc<(Mutex<Vec<u8>>, Condvar)>,
    reader: JoinHandle<()>,
    running: Running,
}

/// Where standard output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    Terminal,
    Pipe,
}

/// All that was ever written on a terminal.
#[derive(Debug)]
pub(crate) struct Transcript(String);

impl Terminal {
    /// Starts the binary on a terminal of so many columns.
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
        let running = Running::of(command.spawn(terminal).unwrap());
        let keyboard = File::from(OwnedFd::from(pty));
        let mut written = keyboard.try_clone().unwrap();
        let screen = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let kept = Arc::clone(&screen);
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Reading fails when the last program has closed the terminal.
            while let Ok(count @ 1..) = written.read(&mut bytes) {
                kept.0.lock().unwrap().extend_from_slice(&bytes[..count]);
                kept.1.notify_all();
            }
        });
        Self {
            keyboard,
            screen,
            reader,
            running,
        }
    }

    /// Waits until these words have been written, as often as said.
    pub(crate) fn wait_for(&self, words: &str, times: usize) {
        let (screen, changed) = &*self.screen;
        let lacking = |bytes: &mut Vec<u8>| {
            strip_ansi_codes(&String::from_utf8_lossy(bytes))
                .matches(words)
                .count()
                < times
        };
        let (bytes, waited) = changed
            .wait_timeout_while(screen.lock().unwrap(), PATIENCE, lacking)
            .unwrap();
        assert!(
            !waited.timed_out(),
            "waited in vain for `{words}`: {}",
            String::from_utf8_lossy(&bytes)
        );
    }

    /// Types; `\x03` is Ctrl-C.
    pub(crate) fn type_in(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the end.
    pub(crate) fn end(self) -> (Ran, Transcript) {
        let ran = self.running.wait();
        self.reader.join().unwrap();
        let bytes = self.screen.0.lock().unwrap().clone();
        (ran, Transcript(String::from_utf8(bytes).unwrap()))
    }
}

impl Transcript {
    /// Without colours and movements of the cursor.
    pub(crate) fn text(&self) -> String {
        strip_ansi_codes(&self.0).replace('\r', "")
    }

    pub(crate) fn has_escape_codes(&self) -> bool {
        self.0.contains('\u{1b}')
    }

    /// Colours and weights, as opposed to movements of the cursor.
    pub(crate) fn has_colours(&self) -> bool {
        let mut codes = self.0.split("\u{1b}[").skip(1);
        codes.any(|code| {
            code.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';')
                .starts_with('m')
        })
    }

    /// Lines that do not fit on a terminal of so many columns. The live display fills each of its
    /// lines with blanks to the last column and lets the terminal wrap; a line that is too long is
    /// one that has something else there.
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
