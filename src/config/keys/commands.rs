//! Keys from commands, such as a password manager's. Each command runs once, when its key is first
//! needed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use secrecy::SecretString;

use crate::domain::model::vendors::VENDORS;
use crate::files::process::{self, OutputPart, ProcessEnd, ProcessGroup};
use crate::text::clean::{clean, shortened_unmasked};

use super::detection::hide_keys;

/// Longest run of a command: a person may have to unlock something.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Most bytes that are kept of what a command prints.
const MAX_BYTES: usize = 64 * 1024;

/// The commands that have run, with their results.
#[derive(Debug, Default)]
pub struct KeyCommands {
    keys: Mutex<BTreeMap<String, SecretString>>,
    /// On each command; [`TIME_LIMIT`] if there is none.
    time_limit: Option<Duration>,
}

/// Most characters that are shown of what a command says about its failure.
const MAX_SHOWN: usize = 200;

/// A command without a key. Its standard output is never shown.
#[derive(Debug, thiserror::Error)]
#[error("`{command}` {problem}")]
pub struct KeyCommandError {
    command: String,
    problem: String,
    source: Option<io::Error>,
}

/// Lines that trace its steps (`set -x`) show secrets, so none of them is taken.
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
    shortened_unmasked(&line, MAX_SHOWN)
}

impl KeyCommands {
    pub fn with_time_limit(time_limit: Duration) -> Self {
        Self {
            time_limit: Some(time_limit),
            ..Self::default()
        }
    }

    /// `sh` runs it, with empty standard input and without the vendors' keys in its environment.
    pub fn key(&self, command: &str) -> Result<SecretString, KeyCommandError> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = keys.get(command) {
            return Ok(key.clone());
        }
        let time_limit = self.time_limit.unwrap_or(TIME_LIMIT);
        let key = run(command, time_limit, group())?;
        keys.insert(command.to_owned(), key.clone());
        Ok(key)
    }

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
    let failed = |problem: String| KeyCommandError {
        command: command.to_owned(),
        problem,
        source: None,
    };
    let part = OutputPart::First(MAX_BYTES);
    let (end, stdout, stderr) =
        process::run(shell(command), group, time_limit, (part, part), &|| false).map_err(
            |source| KeyCommandError {
                source: Some(source),
                ..failed("cannot be run".to_owned())
            },
        )?;
    let [printed, said] =
        [stdout, stderr].map(|output| String::from_utf8_lossy(&output.bytes).into_owned());
    let ProcessEnd::Exited(status) = end else {
        let seconds = time_limit.as_secs_f64();
        return Err(failed(format!("did not finish within {seconds} s")));
    };
    let reason = || match reason(&said, &printed).as_str() {
        "" => String::new(),
        words => format!(": {words}"),
    };
    if !status.success() {
        return Err(failed(format!("failed ({status}){}", reason())));
    }
    match printed.lines().next().map(str::trim) {
        None | Some("") => Err(failed(format!("printed no key{}", reason()))),
        Some(key) if key.len() >= MAX_BYTES => {
            let most = MAX_BYTES / 1024;
            Err(failed(format!(
                "printed more than {most} KiB, which is not a key"
            )))
        }
        Some(key) => Ok(SecretString::from(key)),
    }
}

/// With a terminal the program may ask there, which only the group of this process may do.
fn group() -> ProcessGroup {
    match File::open("/dev/tty") {
        Ok(_) => ProcessGroup::Shared,
        Err(_) => ProcessGroup::Own,
    }
}

fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command);
    for variable in VENDORS.iter().flat_map(|vendor| vendor.key_variables) {
        shell.env_remove(variable);
    }
    shell
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
        // Nothing is on standard input.
        assert_eq!(key("cat; echo k-3"), Ok("k-3".to_owned()));
    }

    #[test]
    fn a_command_is_run_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("runs").display().to_string();
        let commands = KeyCommands::default();
        let command = format!("echo run >> '{file}'; echo k");
        for _ in 0..2 {
            assert_eq!(commands.key(&command).unwrap().expose_secret(), "k");
        }
        assert_eq!(commands.printed_keys().len(), 1);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "run\n");
        assert!(!format!("{commands:?}").contains("\"k\""), "{commands:?}");
    }

    #[test]
    fn a_command_that_gives_no_key_says_why_and_never_what_it_printed() {
        let much = "head -c 300000 /dev/zero | tr '\\0' a";
        for (command, reason) in [
            (
                "echo secret-half; echo 'the vault is locked' >&2; exit 3",
                "failed (exit status: 3): the vault is locked",
            ),
            ("true", "printed no key"),
            ("printf '\\nsecond'", "printed no key"),
            (much, "printed more than 64 KiB, which is not a key"),
        ] {
            assert_eq!(key(command).unwrap_err(), format!("`{command}` {reason}"));
        }
        let missing = key("no-such-program-anywhere").unwrap_err();
        assert!(missing.contains("not found"), "{missing}");
    }

    #[test]
    fn a_command_that_takes_too_long_is_ended() {
        let commands = KeyCommands::with_time_limit(Duration::from_millis(50));
        let error = commands.key("exec sleep 60").unwrap_err().to_string();
        assert_eq!(error, "`exec sleep 60` did not finish within 0.05 s");
    }

    #[test]
    fn a_failure_shows_one_short_line_without_what_was_printed() {
        let words = |command: &str| {
            let error = key(command).unwrap_err();
            let (_, reason) = error.split_once("status: 1)").unwrap();
            reason.to_owned()
        };
        assert_eq!(words("set -x; printf my-secret; exit 1"), "");
        let printed = "printf my-secret; echo one >&2; echo my-secret is refused >&2; exit 1";
        assert_eq!(words(printed), ": [key] is refused");
        let looks_like_a_key = "printf 'sk-proj-%s is locked\\n' 0123456789abcdef >&2; exit 1";
        assert_eq!(words(looks_like_a_key), ": [key] is locked");
        assert_eq!(words("printf 'a\\033[31mb' >&2; exit 1"), ": a[31mb");
        let long = words("yes x | head -n 1500 | tr '\\n' ' ' >&2; exit 1");
        assert_eq!(long.chars().count(), 2 + MAX_SHOWN + 1);
    }

    #[test]
    fn a_process_left_running_does_not_hold_up_the_key() {
        assert_eq!(key("sleep 5 & echo k"), Ok("k".to_owned()));
    }
}
