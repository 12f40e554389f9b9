//! The compiled binary, run in a home of its own: no keys, no colour, nothing of the developer's
//! environment, and never for ever.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use super::provider_server::ProviderServer;

/// A run that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// The binary with its home and its variables.
#[derive(Debug)]
pub(crate) struct Conclave {
    folder: TempDir,
    variables: BTreeMap<&'static str, OsString>,
}

/// A run that is over.
#[derive(Debug)]
pub(crate) struct Ran {
    /// `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A run under way.
#[derive(Debug)]
pub(crate) struct Running {
    pid: Pid,
    ended: mpsc::Receiver<ExitStatus>,
    stdout: JoinHandle<String>,
    stderr: JoinHandle<String>,
}

impl Conclave {
    /// Without any key.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = std::env::vars_os()
            .find(|(name, _)| name == "PATH")
            .map(|(_, path)| path)
            .unwrap_or_default();
        let variables = BTreeMap::from([
            ("PATH", path),
            ("HOME", folder.path().join("user").into()),
            ("CONCLAVE_HOME", folder.path().join("home").into()),
            // Nothing listens there: a test never downloads anything.
            ("CONCLAVE_HUB_URL", "http://127.0.0.1:9".into()),
            // What happens to run on the developer's machine is none of a test's business.
            ("CONCLAVE_LOCAL_SERVERS", "none".into()),
            // One more call than a test counts; those that are about it switch it on.
            ("CONCLAVE_DEBATE_ANALYSIS", "off".into()),
            ("NO_COLOR", "1".into()),
            ("LANG", "C.UTF-8".into()),
            ("TZ", "UTC".into()),
        ]);
        Self { folder, variables }
    }

    /// With all keys, and with the server in the place of every vendor.
    pub(crate) fn at(server: &ProviderServer) -> Self {
        server
            .variables()
            .into_iter()
            .fold(Self::new(), |conclave, (name, value)| {
                conclave.variable(name, value)
            })
    }

    pub(crate) fn variable(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.variables.insert(name, value.into());
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.variables.remove(name);
        self
    }

    /// With this text as `config.json`.
    pub(crate) fn config(self, text: &str) -> Self {
        std::fs::create_dir_all(self.home()).unwrap();
        std::fs::write(self.home().join("config.json"), text).unwrap();
        self
    }

    /// A folder for the test's own files.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where the binary keeps its files; it does not exist before it is needed.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The one file of a consultation with this ending.
    pub(crate) fn log(&self, ending: &str) -> PathBuf {
        let entries = std::fs::read_dir(self.home().join("consult-logs")).unwrap();
        let mut files = entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|found| found == ending));
        let file = files
            .next()
            .unwrap_or_else(|| panic!("no `.{ending}` is kept"));
        assert_eq!(files.next(), None, "one consultation has one `.{ending}`");
        file
    }

    /// The record that was kept.
    pub(crate) fn record(&self) -> Value {
        serde_json::from_str(&std::fs::read_to_string(self.log("json")).unwrap()).unwrap()
    }

    /// The command, for tests that need more of it. It starts in the test's folder.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_conclave"));
        command
            .env_clear()
            .envs(&self.variables)
            .current_dir(self.folder());
        command
    }

    pub(crate) fn variables(&self) -> &BTreeMap<&'static str, OsString> {
        &self.variables
    }

    /// Runs with nothing on standard input.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, "")
    }

    /// Runs with this text on standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &str) -> Ran {
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::piped());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A program that does not want the input may have ended.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        Running::of(child).wait()
    }

    /// Starts, with nothing on standard input.
    pub(crate) fn start(&self, arguments: &[&str]) -> Running {
        let mut command = self.command();
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Running::of(command.spawn().unwrap())
    }
}

impl Running {
    /// Takes over a child, and what it writes to pipes.
    pub(crate) fn of(mut child: Child) -> Self {
        let stdout = collect(child.stdout.take());
        let stderr = collect(child.stderr.take());
        let pid = Pid::from_child(&child);
        let (sender, ended) = mpsc::channel();
        // The thread ends with the child: `wait` sees to that, or the server of a failed test when
        // it closes its connections.
        std::thread::spawn(move || sender.send(child.wait().unwrap()));
        Self {
            pid,
            ended,
            stdout,
            stderr,
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        match kill_process(self.pid, signal) {
            // One that has come to its end by itself a moment ago is as dead as it can be.
            Ok(()) | Err(Errno::SRCH) => {}
            Err(error) => panic!("{error}"),
        }
    }

    /// Whether it has this file open at this moment.
    #[cfg(target_os = "linux")]
    pub(crate) fn has_open(&self, file: &Path) -> bool {
        let open = std::fs::read_dir(format!("/proc/{}/fd", self.pid.as_raw_nonzero()))
            .into_iter()
            .flatten()
            .flatten();
        open.into_iter()
            .any(|entry| std::fs::read_link(entry.path()).is_ok_and(|target| target == file))
    }

    /// Waits for the end; a run that hangs is killed and fails the test.
    pub(crate) fn wait(self) -> Ran {
        let Ok(status) = self.ended.recv_timeout(PATIENCE) else {
            let _ = kill_process(self.pid, Signal::KILL);
            panic!(
                "it hangs; it had written:\n{}\n{}",
                self.stdout.join().unwrap(),
                self.stderr.join().unwrap()
            );
        };
        Ran {
            code: status.code(),
            stdout: self.stdout.join().unwrap(),
            stderr: self.stderr.join().unwrap(),
        }
    }
}

impl Ran {
    /// Checks the exit code, and shows everything when it is another one.
    pub(crate) fn ends_with(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "stdout:\n{}\nstderr:\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    /// Standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

/// Reads a stream to its end beside the test, so that a full pipe never stops the child.
fn collect(stream: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            stream.read_to_end(&mut bytes).unwrap();
        }
        String::from_utf8(bytes).expect("only UTF-8 is written")
    })
}
