//! Runs the program in its own home: no keys, no colour, nothing of the developer's environment,
//! and a time limit on every run. Where a process of its own would show no more, the tests call it
//! in theirs.

mod call;
mod process;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::network::VendorHosts;
use super::provider_server::{ProviderServer, Vendor};
pub(crate) use process::RunningProcess;

/// The binary with its home and its environment variables.
#[derive(Debug)]
pub(crate) struct Conclave {
    /// In a temporary folder of its own, so that its parent is the test's too.
    folder: PathBuf,
    _temporary: TempDir,
    variables: BTreeMap<&'static str, OsString>,
}

/// What a finished run returned and wrote.
#[derive(Debug)]
pub(crate) struct RunOutput {
    /// `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Conclave {
    /// Sets up a home without any key.
    pub(crate) fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().join("work");
        std::fs::create_dir(&folder).unwrap();
        let variables = BTreeMap::from([
            ("PATH", path().unwrap_or_default()),
            ("HOME", folder.join("user").into()),
            ("CONCLAVE_HOME", folder.join("home").into()),
            // Nothing listens there: a test never downloads anything.
            ("CONCLAVE_HUB_URL", "http://127.0.0.1:9".into()),
            // Model servers on the developer's machine must not affect a test.
            ("CONCLAVE_LOCAL_SERVERS", "none".into()),
            // Adds one call; tests of the debate analysis switch it on.
            ("CONCLAVE_DEBATE_ANALYSIS", "off".into()),
            // A new home is offered `conclave setup`; tests of the offer remove this.
            ("CI", "true".into()),
            // A pager would wait for a key.
            ("PAGER", "cat".into()),
            ("NO_COLOR", "1".into()),
            ("LANG", "C.UTF-8".into()),
            ("TZ", "UTC".into()),
        ]);
        Self {
            folder,
            _temporary: temporary,
            variables,
        }
    }

    /// Sets up a home with the default panel's keys and the server in place of every vendor.
    pub(crate) fn at(server: &ProviderServer) -> Self {
        server
            .variables()
            .into_iter()
            .fold(Self::new(), |conclave, (name, value)| {
                conclave.variable(name, value)
            })
    }

    /// Sets up a home with the default panel's keys and nothing else: every vendor is at its own
    /// address, and the settings have their defaults.
    pub(crate) fn by_default(hosts: &VendorHosts) -> Self {
        let conclave = hosts
            .variables()
            .into_iter()
            .fold(Self::new(), |conclave, (name, value)| {
                conclave.variable(name, value)
            });
        [Vendor::Anthropic, Vendor::OpenAi, Vendor::Google]
            .into_iter()
            .fold(conclave, Self::with_key)
            .without("CONCLAVE_DEBATE_ANALYSIS")
    }

    /// Adds the key of a vendor.
    pub(crate) fn with_key(self, vendor: Vendor) -> Self {
        let (_, key) = vendor.variable_names().expect("a vendor with keys");
        self.variable(key, vendor.key())
    }

    /// Sets up a home with the keys of all vendors and the server in place of every vendor.
    pub(crate) fn with_all_keys(server: &ProviderServer) -> Self {
        server
            .all_variables()
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

    /// Writes `config.json` with this text.
    pub(crate) fn config(self, text: &str) -> Self {
        let file = self.home().join("config.json");
        std::fs::create_dir_all(self.home()).unwrap();
        std::fs::write(&file, text).unwrap();
        // As private as the binary makes them, whatever the developer's umask.
        for (path, mode) in [(self.home(), 0o700), (file, 0o600)] {
            std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        }
        self
    }

    /// Returns the folder for the test's own files.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the binary's home, which does not exist before the binary needs it.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    /// Returns the only consultation file with this extension.
    pub(crate) fn log(&self, extension: &str) -> PathBuf {
        let entries = std::fs::read_dir(self.home().join("consult-logs")).unwrap();
        let mut files = entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|actual| actual == extension));
        let file = files
            .next()
            .unwrap_or_else(|| panic!("no `.{extension}` is saved"));
        assert_eq!(
            files.next(),
            None,
            "one consultation has one `.{extension}`"
        );
        file
    }

    /// Returns the saved record.
    pub(crate) fn record(&self) -> Value {
        serde_json::from_str(&std::fs::read_to_string(self.log("json")).unwrap()).unwrap()
    }

    /// Returns the command for tests that start it themselves. It starts in the test's folder.
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

    /// Runs with nothing on standard input, as a call in this process where that shows the same.
    pub(crate) fn run(&self, arguments: &[&str]) -> RunOutput {
        if self.needs_process() {
            return self.run_process(arguments);
        }
        call::run(arguments, &self.variables, &self.folder)
    }

    /// Returns whether a variable is one that libraries or children read from the process, or the
    /// system gives a thread no working folder of its own.
    fn needs_process(&self) -> bool {
        let is_usual = |(name, value): (&&str, &OsString)| match *name {
            "PATH" => Some(value) == path().as_ref(),
            "TZ" => value == "UTC",
            name => !name.starts_with("SSL_CERT_") && !name.to_lowercase().ends_with("_proxy"),
        };
        !call::is_possible() || !self.variables.iter().all(is_usual)
    }

    /// Runs as a process, with nothing on standard input: for what belongs to a process, such as
    /// its signals, its children's environment, its time zone and its certificates.
    pub(crate) fn run_process(&self, arguments: &[&str]) -> RunOutput {
        self.run_with(arguments, "")
    }

    /// Runs with this text on standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &str) -> RunOutput {
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::piped());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_owned());
        // On a thread: a program that hangs reads no more, and one that does not read its input may
        // have exited.
        std::thread::spawn(move || stdin.write_all(input.as_bytes()));
        RunningProcess::of(child).wait()
    }

    /// Runs under a limit of the system, as `ulimit` takes it. The shell splits the arguments.
    pub(crate) fn run_limited(&self, limit: &str, arguments: &str) -> RunOutput {
        let script = format!("ulimit {limit}; exec \"$0\" {arguments}");
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", &script, env!("CARGO_BIN_EXE_conclave")])
            .env_clear()
            .envs(&self.variables)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        RunningProcess::of(command.spawn().unwrap()).wait()
    }

    /// Starts, with nothing on standard input.
    pub(crate) fn start(&self, arguments: &[&str]) -> RunningProcess {
        let mut command = self.command();
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        RunningProcess::of(command.spawn().unwrap())
    }
}

impl RunOutput {
    /// Asserts the exit code and shows all output when it differs.
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

    /// Asserts that standard error has this text.
    #[track_caller]
    pub(crate) fn assert_stderr_contains(&self, text: &str) {
        assert!(self.stderr.contains(text), "{text}: {}", self.stderr);
    }

    /// Parses standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

/// Returns the folders of programs of this process.
fn path() -> Option<OsString> {
    let mut variables = std::env::vars_os();
    Some(variables.find(|(name, _)| name == "PATH")?.1)
}
