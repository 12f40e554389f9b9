//! Keys from commands, such as a password manager's. Each command runs once, when its key is first
//! needed.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use secrecy::SecretString;

/// Longest run of a command: a person may have to unlock something.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Time between two checks of whether a command has ended.
const STEP: Duration = Duration::from_millis(5);

/// Longest wait for output after the command's end. A command may leave something running that
/// holds its output open.
const STRAGGLING: Duration = Duration::from_millis(500);

/// Most bytes that are kept of what a command prints.
const MOST_BYTES: usize = 64 * 1024;

/// The commands that have run, with their results.
#[derive(Debug, Default)]
pub struct KeyCommands {
    keys: Mutex<BTreeMap<String, SecretString>>,
    /// On each command; [`TIME_LIMIT`] if there is none.
    time_limit: Option<Duration>,
}

/// A command without a key. Its standard output is never shown.
#[derive(Debug, thiserror::Error)]
pub enum KeyCommandError {
    #[error("`{command}` cannot be run")]
    Unstartable { command: String, source: io::Error },
    #[error("`{command}` did not finish within {} s", time_limit.as_secs_f64())]
    TooSlow {
        command: String,
        time_limit: Duration,
    },
    #[error("`{command}` failed ({status}){}", said(stderr))]
    Failed {
        command: String,
        status: String,
        stderr: String,
    },
    #[error("`{command}` printed more than {} KiB, which is not a key", MOST_BYTES / 1024)]
    TooMuch { command: String },
    #[error("`{command}` printed no key{}", said(stderr))]
    Empty { command: String, stderr: String },
}

fn said(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        words => format!(": {words}"),
    }
}

impl KeyCommands {
    /// Returns an empty set with this time limit on each command.
    pub fn with_time_limit(time_limit: Duration) -> Self {
        Self {
            time_limit: Some(time_limit),
            ..Self::default()
        }
    }

    /// Returns the first line that the command prints, without surrounding white space. `sh` runs
    /// it, with empty standard input.
    pub fn key(&self, command: &str) -> Result<SecretString, KeyCommandError> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = keys.get(command) {
            return Ok(key.clone());
        }
        let key = run(command, self.time_limit.unwrap_or(TIME_LIMIT))?;
        keys.insert(command.to_owned(), key.clone());
        Ok(key)
    }
}

fn run(command: &str, time_limit: Duration) -> Result<SecretString, KeyCommandError> {
    let unstartable = |source| KeyCommandError::Unstartable {
        command: command.to_owned(),
        source,
    };
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg(command)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = shell.spawn().map_err(unstartable)?;
    let outputs = Output::collect(child.stdout.take())
        .and_then(|stdout| Ok((stdout, Output::collect(child.stderr.take())?)));
    let (stdout, stderr) = match outputs {
        Ok(outputs) => outputs,
        Err(error) => {
            end(&mut child);
            return Err(unstartable(error));
        }
    };

    let Some(status) = wait(&mut child, time_limit).map_err(unstartable)? else {
        end(&mut child);
        return Err(KeyCommandError::TooSlow {
            command: command.to_owned(),
            time_limit,
        });
    };
    if !status.success() {
        let stderr = stderr.text();
        return Err(KeyCommandError::Failed {
            command: command.to_owned(),
            status: status.to_string(),
            stderr,
        });
    }
    let text = stdout.text();
    match text.lines().next().map(str::trim) {
        None | Some("") => Err(KeyCommandError::Empty {
            command: command.to_owned(),
            stderr: stderr.text(),
        }),
        Some(key) if key.len() >= MOST_BYTES => Err(KeyCommandError::TooMuch {
            command: command.to_owned(),
        }),
        Some(key) => Ok(SecretString::from(key)),
    }
}

/// Ends a command. It may have ended by itself just now; either way it is gone.
fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// Waits for the end; `None` when it does not come in time.
fn wait(child: &mut Child, time_limit: Duration) -> io::Result<Option<std::process::ExitStatus>> {
    let mut waited = Duration::ZERO;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if waited >= time_limit {
            return Ok(None);
        }
        std::thread::sleep(STEP);
        waited += STEP;
    }
}

/// One output stream of a command, read while it runs so that a full pipe never blocks it.
struct Output {
    bytes: Arc<Mutex<Vec<u8>>>,
    end: mpsc::Receiver<()>,
}

impl Output {
    /// Reads a stream on a thread of its own.
    fn collect(stream: Option<impl Read + Send + 'static>) -> io::Result<Self> {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (sender, end) = mpsc::channel();
        let shared = Arc::clone(&bytes);
        // The thread ends with the stream. A process that the command left running may hold the
        // stream open: then the thread ends with this process.
        std::thread::Builder::new().spawn(move || {
            let Some(mut stream) = stream else { return };
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = stream.read(&mut chunk) {
                let mut bytes = shared.lock().unwrap_or_else(PoisonError::into_inner);
                // The rest is read and dropped, so that a command with much output can end.
                let room = MOST_BYTES.saturating_sub(bytes.len());
                bytes.extend(chunk.iter().take(count.min(room)));
            }
            drop(sender);
        })?;
        Ok(Self { bytes, end })
    }

    fn text(&self) -> String {
        // Either the stream has ended, which drops the sender, or it is not waited for.
        let _ = self.end.recv_timeout(STRAGGLING);
        String::from_utf8_lossy(&self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
            .into_owned()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    fn key(command: &str) -> Result<String, String> {
        KeyCommands::default()
            .key(command)
            .map(|key| key.expose_secret().to_owned())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_first_line_is_the_key() {
        assert_eq!(key("printf ' k-1 \\nsecond\\n'"), Ok("k-1".to_owned()));
        assert_eq!(key("echo k-2; echo warning >&2"), Ok("k-2".to_owned()));
        assert_eq!(
            key("cat; echo k-3"),
            Ok("k-3".to_owned()),
            "nothing is on standard input"
        );
    }

    #[test]
    fn a_command_is_run_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("runs").display().to_string();
        let commands = KeyCommands::default();
        let command = format!("echo run >> '{file}'; echo k");
        let keys = [
            commands.key(&command).unwrap(),
            commands.key(&command).unwrap(),
        ];
        assert!(keys.iter().all(|key| key.expose_secret() == "k"));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "run\n");
        assert!(!format!("{commands:?}").contains("\"k\""), "{commands:?}");
    }

    #[test]
    fn a_command_that_gives_no_key_says_why_and_never_what_it_printed() {
        assert_eq!(
            key("echo secret-half; echo 'the vault is locked' >&2; exit 3").unwrap_err(),
            "`echo secret-half; echo 'the vault is locked' >&2; exit 3` failed (exit status: 3): \
             the vault is locked"
        );
        assert_eq!(key("true").unwrap_err(), "`true` printed no key");
        assert_eq!(
            key("printf '\\nsecond'").unwrap_err(),
            "`printf '\\nsecond'` printed no key"
        );
        let much = "head -c 300000 /dev/zero | tr '\\0' a";
        assert_eq!(
            key(much).unwrap_err(),
            format!("`{much}` printed more than 64 KiB, which is not a key")
        );
        assert!(
            key("no-such-program-anywhere")
                .unwrap_err()
                .contains("not found")
        );
    }

    #[test]
    fn a_command_that_takes_too_long_is_ended() {
        let commands = KeyCommands::with_time_limit(Duration::from_millis(50));
        let error = commands.key("exec sleep 60").unwrap_err().to_string();
        assert_eq!(error, "`exec sleep 60` did not finish within 0.05 s");
    }

    #[test]
    fn a_process_left_running_does_not_hold_up_the_key() {
        assert_eq!(key("sleep 5 & echo k"), Ok("k".to_owned()));
    }
}
