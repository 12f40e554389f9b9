//! Runs the program by calling it in this process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::Write;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, LazyLock, Mutex, Once};

use conclave::cli;
use conclave::config::env::Environment;
use conclave::engine::clock::Clock;
use conclave::terminal::output::printer::Printer;
use conclave::terminal::output::stream_traits::StreamTraits;

use super::RunOutput;
use crate::support::timeout::WAIT_TIMEOUT;

/// What a call has written to a stream so far.
#[derive(Clone, Debug, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

/// Returns whether the system gives a thread a working folder of its own.
pub(super) fn is_possible() -> bool {
    static IS_POSSIBLE: LazyLock<bool> =
        LazyLock::new(|| std::thread::spawn(unshare_folder).join().unwrap());
    *IS_POSSIBLE
}

/// Runs in this folder with these variables, and with nothing on standard input.
pub(super) fn run(
    arguments: &[&str],
    variables: &BTreeMap<&'static str, OsString>,
    folder: &Path,
) -> RunOutput {
    let words = std::iter::once("conclave").chain(arguments.iter().copied());
    let words: Vec<OsString> = words.map(OsString::from).collect();
    let environment = Environment::of(variables.clone());
    let (out, err, folder) = (Written::default(), Written::default(), folder.to_owned());
    let written = [out.clone(), err.clone()];
    let (sender, ended) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        move_to(&folder);
        let exit = cli::run(words, &environment, Clock::system(), |verbosity, mask| {
            let traits = StreamTraits::new(false, None, &|name| environment.text(name));
            let [out, err] = written.map(|stream| (Box::new(stream) as _, traits));
            Printer::new(out, err, verbosity, mask)
        });
        sender.send(exit)
    });
    let code = match ended.recv_timeout(WAIT_TIMEOUT) {
        Ok(exit) => Some(exit.code().into()),
        Err(RecvTimeoutError::Timeout) => {
            panic!("the run hangs; stdout and stderr so far:\n{out}\n{err}")
        }
        Err(RecvTimeoutError::Disconnected) => {
            resume_unwind(thread.join().expect_err("it sent no exit code"))
        }
    };
    RunOutput {
        code,
        stdout: out.to_string(),
        stderr: err.to_string(),
    }
}

/// Gives this thread, and those that it will start, a working folder of their own; standard input
/// of this process is empty from now on.
fn move_to(folder: &Path) {
    static EMPTY_INPUT: Once = Once::new();
    EMPTY_INPUT.call_once(|| {
        let nothing = std::fs::File::open("/dev/null").unwrap();
        rustix::stdio::dup2_stdin(&nothing).unwrap();
    });
    assert!(unshare_folder());
    std::env::set_current_dir(folder).unwrap();
}

/// Separates this thread's working folder from that of the process. Containers may forbid it, and
/// only Linux knows it.
fn unshare_folder() -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::UnshareFlags;

        #[expect(
            deprecated,
            reason = "its successor is unsafe for tables of file descriptors alone"
        )]
        rustix::thread::unshare(UnshareFlags::FS).is_ok()
    }
    #[cfg(not(target_os = "linux"))]
    false
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Display for Written {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes = self.0.lock().unwrap();
        f.write_str(std::str::from_utf8(&bytes).expect("only UTF-8 is written"))
    }
}
