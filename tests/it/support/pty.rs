//! A pseudo-terminal for the binary: input, output, size and modes. Waits for what a person would
//! wait for, with a timeout.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::{Arc, Condvar, Mutex, mpsc};

use console::{measure_text_width, strip_ansi_codes};
use pty_process::Size;
use pty_process::blocking::{Command, open};
use rustix::process::Signal;
use rustix::termios::{LocalModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

use super::binary::{Conclave, RunOutput, RunningProcess};
use super::screen::Screen;
use super::timeout::{WAIT_TIMEOUT, receive};

/// The height of a terminal where a test does not set it.
const ROWS: u16 = 40;

/// A run on a terminal, which also shows standard output unless that is piped.
#[derive(Debug)]
pub(crate) struct Terminal {
    keyboard: File,
    screen: Arc<(Mutex<Screen>, Condvar)>,
    closed: mpsc::Receiver<()>,
    running: RunningProcess,
    modes_before: String,
}

/// Where standard output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    Terminal,
    Pipe,
}

/// Everything that was written to a terminal.
#[derive(Debug)]
pub(crate) struct Transcript {
    written: String,
    screen: Screen,
    modes_before: String,
    modes: String,
}

impl Terminal {
    /// Starts the binary on a terminal with this many columns.
    pub(crate) fn start(
        conclave: &Conclave,
        columns: u16,
        output: Output,
        arguments: &[&str],
    ) -> Self {
        Self::start_sized(conclave, (columns, ROWS), output, arguments)
    }

    /// Starts the binary on a terminal with these columns and rows.
    pub(crate) fn start_sized(
        conclave: &Conclave,
        size: (u16, u16),
        output: Output,
        arguments: &[&str],
    ) -> Self {
        let binary = conclave.command();
        Self::spawn(conclave, size, output, binary.get_program(), arguments)
    }

    /// Starts a program, such as a shell that pipes into the binary, on a terminal.
    pub(crate) fn start_program(
        conclave: &Conclave,
        columns: u16,
        output: Output,
        program: &OsStr,
        arguments: &[&str],
    ) -> Self {
        Self::spawn(conclave, (columns, ROWS), output, program, arguments)
    }

    fn spawn(
        conclave: &Conclave,
        (columns, rows): (u16, u16),
        output: Output,
        program: &OsStr,
        arguments: &[&str],
    ) -> Self {
        let (pty, terminal) = open().unwrap();
        pty.resize(Size::new(rows, columns)).unwrap();
        let mut command = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(conclave.variables())
            .current_dir(conclave.folder());
        if output == Output::Pipe {
            command = command.stdout(Stdio::piped());
        }
        let keyboard = File::from(OwnedFd::from(pty));
        keep_output_at_signals(&keyboard);
        let modes_before = modes_of(&keyboard);
        let running = RunningProcess::of(command.spawn(terminal).unwrap());
        let mut written = keyboard.try_clone().unwrap();
        let screen = Arc::new((Mutex::new(Screen::new(columns, rows)), Condvar::new()));
        let shared = Arc::clone(&screen);
        let (sender, closed) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Reading fails when the last program has closed the terminal.
            while let Ok(count @ 1..) = written.read(&mut bytes) {
                shared.0.lock().unwrap().write(&bytes[..count]);
                shared.1.notify_all();
            }
            // The test has the screen alone before it learns of the end.
            drop(shared);
            sender.send(())
        });
        Self {
            keyboard,
            screen,
            closed,
            running,
            modes_before,
        }
    }

    /// Waits until this text has been written `times` times.
    pub(crate) fn wait_for(&self, text: &str, times: usize) {
        self.wait_until(&format!("`{text}` is written"), |screen| {
            strip_ansi_codes(&String::from_utf8_lossy(screen.written()))
                .matches(text)
                .count()
                >= times
        });
    }

    /// Waits until the screen fulfils the condition.
    pub(crate) fn wait_until(&self, description: &str, condition: impl Fn(&Screen) -> bool) {
        let (screen, changed) = &*self.screen;
        let (screen, waited) = changed
            .wait_timeout_while(screen.lock().unwrap(), WAIT_TIMEOUT, |screen| {
                !condition(screen)
            })
            .unwrap();
        assert!(
            !waited.timed_out(),
            "timed out waiting until {description}: {screen:?}"
        );
    }

    /// Waits until the visible text contains this.
    pub(crate) fn wait_for_sight(&self, text: &str) {
        self.wait_until(&format!("`{text}` is visible"), |screen| {
            screen.contents().contains(text)
        });
    }

    /// Looks at the screen as it is now.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Screen) -> T) -> T {
        look(&self.screen.0.lock().unwrap())
    }

    /// Changes the size of the terminal, as a person does who drags the corner of its window.
    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        self.screen.0.lock().unwrap().resize(columns, rows);
        let size = Winsize {
            ws_row: rows,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&self.keyboard, size).unwrap();
    }

    /// Returns whether typed characters appear on the screen.
    pub(crate) fn echoes(&self) -> bool {
        let modes = tcgetattr(&self.keyboard).unwrap();
        modes.local_modes.contains(LocalModes::ECHO)
    }

    /// Returns all modes of the terminal, to compare.
    pub(crate) fn modes(&self) -> String {
        modes_of(&self.keyboard)
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
        receive("the end of all output", &self.closed);
        let modes = modes_of(&self.keyboard);
        let screen = Arc::into_inner(self.screen).unwrap().0;
        let screen = screen.into_inner().unwrap();
        let written = String::from_utf8(screen.written().to_vec()).unwrap();
        let transcript = Transcript {
            written,
            screen,
            modes_before: self.modes_before,
            modes,
        };
        (output, transcript)
    }
}

/// Keeps what a program writes as soon as Ctrl-C reaches it: without this mode the system drops the
/// output that waits at that moment, a little after it sent the signal.
fn keep_output_at_signals(terminal: &File) {
    let mut modes = tcgetattr(terminal).unwrap();
    modes.local_modes |= LocalModes::NOFLSH;
    tcsetattr(terminal, OptionalActions::Now, &modes).unwrap();
}

fn modes_of(terminal: &File) -> String {
    format!("{:?}", tcgetattr(terminal).unwrap())
}

impl Transcript {
    /// Returns the text without colours and cursor movements.
    pub(crate) fn text(&self) -> String {
        strip_ansi_codes(&self.written).replace('\r', "")
    }

    /// Returns all that was written.
    pub(crate) fn written(&self) -> &str {
        &self.written
    }

    /// Returns whether the terminal has the modes that it had before the program started.
    pub(crate) fn has_restored_modes(&self) -> bool {
        self.modes == self.modes_before
    }

    /// Returns the terminal's modes at the end, to compare with [`Terminal::modes`].
    pub(crate) fn modes(&self) -> &str {
        &self.modes
    }

    /// Returns the screen at the end.
    pub(crate) fn screen(&self) -> &Screen {
        &self.screen
    }

    pub(crate) fn has_escape_codes(&self) -> bool {
        self.written.contains('\u{1b}')
    }

    /// Returns whether there are colours or weights, as opposed to cursor movements.
    pub(crate) fn has_colours(&self) -> bool {
        let mut codes = self.written.split("\u{1b}[").skip(1);
        codes.any(|code| {
            code.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';')
                .starts_with('m')
        })
    }

    /// Returns the lines that do not fit on a terminal with this many columns. The live display
    /// pads its lines with blanks to the last column and lets the terminal wrap, so a line is too
    /// long only if it has another character there.
    pub(crate) fn too_wide(&self, columns: usize) -> Vec<String> {
        let text = strip_ansi_codes(&self.written).into_owned();
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
