//! Keys from commands, such as a password manager's. Each command runs once, when its key is first
//! needed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use secrecy::SecretString;

use crate::domain::text::clean;
use crate::domain::vendors::VENDORS;

use super::key_detection::hide_keys;

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

/// Most characters that are shown of what a command says about its failure.
const MOST_SHOWN: usize = 200;

/// The process group of a command. One of its own ends as a whole with the time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProcessGroup {
    Own,
    /// That of this process. On a terminal, a command can only ask for a password in the foreground
    /// group, and Ctrl-C ends that group alone.
    Shared,
}

impl ProcessGroup {
    fn of_process() -> Self {
        match File::open("/dev/tty") {
            Ok(_) => Self::Shared,
            Err(_) => Self::Own,
        }
    }
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
    #[error("`{command}` failed ({status}){}", after_colon(reason))]
    Failed {
        command: String,
        status: String,
        reason: String,
    },
    #[error("`{command}` printed more than {} KiB, which is not a key", MOST_BYTES / 1024)]
    TooMuch { command: String },
    #[error("`{command}` printed no key{}", after_colon(reason))]
    Empty { command: String, reason: String },
}

fn after_colon(reason: &str) -> String {
    match reason {
        "" => String::new(),
        words => format!(": {words}"),
    }
}

/// Returns the last line of what a command says, without what it printed as a key. Lines that trace
/// its steps (`set -x`) show secrets, so none of them is taken.
fn reason(stderr: &str, stdout: &str) -> String {
    const TOO_COMMON: usize = 4;
    let stderr = clean(stderr);
    let last = stderr
        .lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty() && !line.starts_with('+'))
        .unwrap_or_default();
    let mut line = hide_keys(last);
    let printed = stdout.split_whitespace();
    for word in printed.filter(|word| word.len() >= TOO_COMMON) {
        line = line.replace(word, "[key]");
    }
    match line.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
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
    /// it, with empty standard input and without the vendors' keys in its environment.
    pub fn key(&self, command: &str) -> Result<SecretString, KeyCommandError> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = keys.get(command) {
            return Ok(key.clone());
        }
        let time_limit = self.time_limit.unwrap_or(TIME_LIMIT);
        let key = run(command, time_limit, ProcessGroup::of_process())?;
        keys.insert(command.to_owned(), key.clone());
        Ok(key)
    }

    /// Returns the keys of the commands that have run.
    pub fn printed_keys(&self) -> Vec<SecretString> {
        let keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.values().cloned().collect()
    }
}

fn run(
    command: &str,
    time_limit: Duration,
    group: ProcessGroup,
) -> Result<SecretString, KeyCommandError> {
    let unstartable = |source| KeyCommandError::Unstartable {
        command: command.to_owned(),
        source,
    };
    let mut child = shell(command, group).spawn().map_err(unstartable)?;
    let outputs = Output::collect(child.stdout.take())
        .and_then(|stdout| Ok((stdout, Output::collect(child.stderr.take())?)));
    let (stdout, stderr) = match outputs {
        Ok(outputs) => outputs,
        Err(error) => {
            kill(&mut child, group);
            return Err(unstartable(error));
        }
    };

    let Some(status) = wait(&mut child, time_limit).map_err(unstartable)? else {
        kill(&mut child, group);
        return Err(KeyCommandError::TooSlow {
            command: command.to_owned(),
            time_limit,
        });
    };
    if !status.success() {
        return Err(KeyCommandError::Failed {
            command: command.to_owned(),
            status: status.to_string(),
            reason: reason(&stderr.text(), &stdout.text()),
        });
    }
    let text = stdout.text();
    match text.lines().next().map(str::trim) {
        None | Some("") => Err(KeyCommandError::Empty {
            command: command.to_owned(),
            reason: reason(&stderr.text(), &text),
        }),
        Some(key) if key.len() >= MOST_BYTES => Err(KeyCommandError::TooMuch {
            command: command.to_owned(),
        }),
        Some(key) => Ok(SecretString::from(key)),
    }
}

fn shell(command: &str, group: ProcessGroup) -> Command {
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg(command)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for variable in VENDORS.iter().flat_map(|vendor| vendor.key_variables) {
        shell.env_remove(variable);
    }
    if group == ProcessGroup::Own {
        std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    }
    shell
}

/// Ends a command with what it started. Any of it may have ended just now; either
/// way it is gone.
fn kill(child: &mut Child, group: ProcessGroup) {
    if group == ProcessGroup::Own {
        use rustix::process::{Pid, Signal, kill_process_group};

        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
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

#[cfg(test)]
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
        assert_eq!(commands.printed_keys().len(), 1);
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
    fn what_a_slow_command_started_ends_with_it() {
        let command = "(echo started; exec sleep 60) & wait";
        let mut child = shell(command, ProcessGroup::Own).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut [0; "started\n".len()]).unwrap();
        kill(&mut child, ProcessGroup::Own);
        let (sender, end) = mpsc::channel();
        std::thread::spawn(move || sender.send(stdout.read_to_end(&mut Vec::new())));
        // The output ends when no process has it open.
        assert!(end.recv_timeout(Duration::from_secs(20)).is_ok());
    }

    #[test]
    fn a_failure_shows_one_short_line_without_what_was_printed() {
        let words = |command: &str| {
            let error = key(command).unwrap_err();
            let (_, reason) = error.split_once("status: 1)").unwrap();
            reason.to_owned()
        };
        assert_eq!(words("set -x; printf my-secret; exit 1"), "");
        assert_eq!(
            words("printf my-secret; echo one >&2; echo my-secret is refused >&2; exit 1"),
            ": [key] is refused"
        );
        assert_eq!(
            words("printf 'sk-proj-%s is locked\\n' 0123456789abcdef >&2; exit 1"),
            ": [key] is locked"
        );
        assert_eq!(words("printf 'a\\033[31mb' >&2; exit 1"), ": a[31mb");
        let long = words("head -c 3000 /dev/zero | tr '\\0' x >&2; exit 1");
        assert_eq!(long.chars().count(), 2 + MOST_SHOWN + 1);
    }

    #[test]
    fn a_process_left_running_does_not_hold_up_the_key() {
        assert_eq!(key("sleep 5 & echo k"), Ok("k".to_owned()));
    }
}
