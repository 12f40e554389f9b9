//! Runs the program in its own home: no keys, no colour, nothing of the developer's environment, and
//! a time limit on every run. Where a process of its own would show no more, it is called in this
//! one.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Display;
use std::fs::Permissions;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Condvar, LazyLock, Mutex, Once, PoisonError, mpsc};

use conclave::cli;
use conclave::config::env::Environment;
use conclave::engine::clock::Clock;
use conclave::terminal::output::printer::Printer;
use conclave::terminal::output::stream_traits::{StreamTraits, TerminalEnv};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use super::network::VendorHosts;
use super::provider_server::{ProviderServer, Vendor};
use super::timeout::WAIT_TIMEOUT;

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

/// A process under way. Dropping it kills the process.
#[derive(Debug)]
pub(crate) struct RunningProcess {
    pid: Pid,
    ended: mpsc::Receiver<ExitStatus>,
    stdout: Stream,
    stderr: Stream,
}

/// What a call has written to a stream so far.
#[derive(Clone, Debug, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

/// What a process has written to a pipe so far.
#[derive(Debug)]
struct Stream {
    bytes: Arc<(Mutex<Vec<u8>>, Condvar)>,
    closed: mpsc::Receiver<()>,
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

    /// Runs with nothing on standard input, as a call in this process.
    pub(crate) fn run(&self, arguments: &[&str]) -> RunOutput {
        if self.needs_process() {
            return self.run_process(arguments);
        }
        let words = std::iter::once("conclave").chain(arguments.iter().copied());
        let words: Vec<OsString> = words.map(OsString::from).collect();
        let environment = Environment::of(self.variables.clone());
        let (out, err, folder) = (Written::default(), Written::default(), self.folder.clone());
        let written = [out.clone(), err.clone()];
        let (sender, ended) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            move_to(&folder);
            let exit = cli::run(words, &environment, Clock::system(), |verbosity, mask| {
                let traits = StreamTraits::new(
                    false,
                    None,
                    &TerminalEnv {
                        no_color: environment.text("NO_COLOR"),
                        clicolor_force: environment.text("CLICOLOR_FORCE"),
                        term: environment.text("TERM"),
                    },
                );
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

    /// Returns whether a variable is one that libraries or children read from the process, or the
    /// system gives a thread no working folder of its own.
    fn needs_process(&self) -> bool {
        static IS_POSSIBLE: LazyLock<bool> =
            LazyLock::new(|| std::thread::spawn(unshare_folder).join().unwrap());

        let is_usual = |(name, value): (&&str, &OsString)| match *name {
            "PATH" => Some(value) == path().as_ref(),
            "TZ" => value == "UTC",
            name => !name.starts_with("SSL_CERT_") && !name.to_lowercase().ends_with("_proxy"),
        };
        !*IS_POSSIBLE || !self.variables.iter().all(is_usual)
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

/// Returns the folders of programs of this process.
fn path() -> Option<OsString> {
    let mut variables = std::env::vars_os();
    Some(variables.find(|(name, _)| name == "PATH")?.1)
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

impl RunningProcess {
    /// Takes over a child process and reads what it writes to pipes.
    pub(crate) fn of(mut child: Child) -> Self {
        let stdout = Stream::of(child.stdout.take());
        let stderr = Stream::of(child.stderr.take());
        let pid = Pid::from_child(&child);
        let (sender, ended) = mpsc::channel();
        // The thread ends with the child, which is killed at the latest when this is dropped.
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
            // The process may have exited by itself a moment ago.
            Ok(()) | Err(Errno::SRCH) => {}
            Err(error) => panic!("{error}"),
        }
    }

    /// Returns whether the process has this file open now.
    #[cfg(target_os = "linux")]
    pub(crate) fn has_open(&self, file: &Path) -> bool {
        let open = std::fs::read_dir(format!("/proc/{}/fd", self.pid.as_raw_nonzero()))
            .into_iter()
            .flatten()
            .flatten();
        open.into_iter()
            .any(|entry| std::fs::read_link(entry.path()).is_ok_and(|target| target == file))
    }

    /// Returns whether the process has ended.
    #[cfg(target_os = "linux")]
    pub(crate) fn has_ended(&self) -> bool {
        !Path::new(&format!("/proc/{}", self.pid.as_raw_nonzero())).exists()
    }

    /// Waits until standard error fulfils the condition.
    pub(crate) fn wait_until(&self, description: &str, condition: impl Fn(&str) -> bool) {
        self.stderr.wait_until(description, condition);
    }

    /// Waits for the process to exit; kills it and fails the test when it hangs.
    pub(crate) fn wait(self) -> RunOutput {
        let Ok(status) = self.ended.recv_timeout(WAIT_TIMEOUT) else {
            panic!(
                "the run hangs; stdout and stderr so far:\n{}\n{}",
                self.stdout.text(),
                self.stderr.text()
            );
        };
        RunOutput {
            code: status.code(),
            stdout: self.stdout.to_the_end(),
            stderr: self.stderr.to_the_end(),
        }
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        if let Err(mpsc::TryRecvError::Empty) = self.ended.try_recv() {
            let _ = kill_process(self.pid, Signal::KILL);
        }
    }
}

impl Stream {
    /// Reads on a thread, so that a full pipe never blocks the child.
    fn of(pipe: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let (sender, closed) = mpsc::channel();
        let read = Arc::clone(&bytes);
        std::thread::spawn(move || {
            let mut part = [0; 16_384];
            if let Some(mut pipe) = pipe {
                while let count @ 1.. = pipe.read(&mut part).unwrap() {
                    read.0.lock().unwrap().extend_from_slice(&part[..count]);
                    read.1.notify_all();
                }
            }
            sender.send(())
        });
        Self { bytes, closed }
    }

    fn text(&self) -> String {
        let bytes = self.bytes.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8(bytes.clone()).expect("only UTF-8 is written")
    }

    /// Waits until the text so far fulfils the condition.
    fn wait_until(&self, description: &str, condition: impl Fn(&str) -> bool) {
        let (bytes, changed) = &*self.bytes;
        let is_missing = |bytes: &mut Vec<u8>| !condition(&String::from_utf8_lossy(bytes));
        let (bytes, waited) = changed
            .wait_timeout_while(bytes.lock().unwrap(), WAIT_TIMEOUT, is_missing)
            .unwrap();
        assert!(
            !waited.timed_out(),
            "timed out waiting until {description}: {}",
            String::from_utf8_lossy(&bytes)
        );
    }

    /// Waits until no process can write any more. A program that the process started may outlive
    /// it.
    fn to_the_end(&self) -> String {
        let closed = self.closed.recv_timeout(WAIT_TIMEOUT);
        assert!(
            closed.is_ok(),
            "the output is not closed after the end of the run: {}",
            self.text()
        );
        self.text()
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
