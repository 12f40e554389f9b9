//! Shows a long text on a terminal through a pager: `$PAGER`, else `less` where there is one.
//!
//! Invariant: no text is lost. It is printed directly if the pager cannot start or fails, and a
//! pager that the user closes early is no error.

use std::io::{self, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};

use super::printer::{PrintError, Printer};
use crate::engine::interrupts::ForegroundProgram;

const DEFAULT: &str = "less";

/// The options of `less` without `$LESS`: short texts stay on the screen, styles are shown, and the
/// text stays there afterwards.
const LESS: &str = "FRX";

/// The signals by which a person or a closed terminal ends a pager, which is no failure.
const CLOSED: [i32; 4] = [1, 2, 13, 15];

/// The pager to use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pager {
    /// Everything is printed directly.
    #[default]
    Off,
    /// The user's own command, for a shell; else `less`, if it exists and the terminal can show
    /// it.
    On {
        command: Option<String>,
        has_less_options: bool,
    },
}

impl Pager {
    /// Returns the pager for the values of `PAGER` and `LESS`. An empty `PAGER` and `cat` switch
    /// paging off.
    pub fn of_variables(pager: Option<&str>, less: Option<&str>) -> Self {
        match pager.map(str::trim) {
            Some("" | "cat") => Self::Off,
            command => Self::On {
                command: command.map(ToOwned::to_owned),
                has_less_options: less.is_some(),
            },
        }
    }

    /// Prints a result on standard output, through the pager if it does not fit the screen.
    ///
    /// # Errors
    ///
    /// When standard output cannot be written to.
    pub fn result(&self, text: &str, printer: &Printer) -> Result<(), PrintError> {
        let is_long = || {
            let rows = console::Term::stdout().size_checked().map(|(rows, _)| rows);
            rows.is_some_and(|rows| text.lines().count() >= usize::from(rows))
        };
        let can_page = match self {
            Self::Off => false,
            // On a dumb terminal `less` stops with a warning.
            Self::On { command: None, .. } => printer.out_traits().is_animated,
            Self::On { .. } => printer.out_traits().is_terminal,
        };
        if can_page && is_long() && self.show(&printer.printable_result(text)) {
            return Ok(());
        }
        printer.result(text)
    }

    /// Returns false if the pager could not start, or failed.
    fn show(&self, text: &str) -> bool {
        let Some(mut command) = self.command() else {
            return false;
        };
        // Ctrl-C is for the pager: it would end this program before the pager has restored the
        // terminal.
        let _ignored = IgnoredInterrupts::begin();
        let Ok(child) = command.stdin(Stdio::piped()).spawn() else {
            return false;
        };
        feed(child, text).is_ok_and(|status| {
            // A shell adds 128 to the signal that ended its command.
            let by_signal = status.signal().or(status.code().map(|code| code - 128));
            status.success() || by_signal.is_some_and(|signal| CLOSED.contains(&signal))
        })
    }

    fn command(&self) -> Option<Command> {
        let Self::On {
            command,
            has_less_options,
        } = self
        else {
            return None;
        };
        let mut command = command
            .as_deref()
            .map_or_else(|| Command::new(DEFAULT), shell);
        if !*has_less_options {
            command.env("LESS", LESS);
        }
        Some(command)
    }
}

fn shell(line: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]);
    command
}

/// Writes the text and waits for the end. A pager that is closed early reads no more.
fn feed(mut child: Child, text: &str) -> io::Result<ExitStatus> {
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(text.as_bytes());
    }
    child.wait()
}

/// While it lives, Ctrl-C does not end this program.
#[derive(Debug)]
struct IgnoredInterrupts(ForegroundProgram);

impl IgnoredInterrupts {
    fn begin() -> Option<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .ok()?;
        let _inside = runtime.enter();
        // The handler outlives the stream and the runtime.
        let _stream = signal(SignalKind::interrupt()).ok()?;
        Some(Self(ForegroundProgram::begin()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_pager_and_cat_switch_paging_off() {
        for off in ["", " ", "cat"] {
            assert_eq!(Pager::of_variables(Some(off), None), Pager::Off, "{off:?}");
        }
        let pager = |command: Option<&str>, has_less_options| Pager::On {
            command: command.map(ToOwned::to_owned),
            has_less_options,
        };
        assert_eq!(Pager::of_variables(None, None), pager(None, false));
        let own = Pager::of_variables(Some("less -R"), Some("FRX"));
        assert_eq!(own, pager(Some("less -R"), true));
    }

    #[test]
    fn text_is_shown_unless_the_pager_cannot_start_or_fails() {
        for (command, is_shown) in [
            ("/no/such/pager", false),
            ("exit 1", false),
            ("cat >/dev/null; kill -SEGV $$", false),
            ("head -c 1 >/dev/null", true),
            ("kill -INT $$", true),
            ("exit 130", true),
            ("exit 141", true),
        ] {
            let pager = Pager::of_variables(Some(command), None);
            assert_eq!(pager.show("text"), is_shown, "{command}");
        }
    }
}
