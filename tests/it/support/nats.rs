//! A NATS server with `JetStream` on a free loopback port, with a store of its own.

#![expect(
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a server is another process: where it is, and when it listens"
)]

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Names the program that tests start, in place of `nats-server` of the path.
const VARIABLE: &str = "CONCLAVE_TEST_NATS_SERVER";

/// How long a server may take to begin. It takes some tenths of a second.
const MOST_WAIT: Duration = Duration::from_secs(20);

/// A server that ends with this value.
#[derive(Debug)]
pub(crate) struct NatsServer {
    process: Child,
    port: u16,
    store: TempDir,
    /// What a client says before the host.
    pub(crate) login: &'static str,
}

impl NatsServer {
    /// Returns a server; `None` where there is no program for it, which is said.
    pub(crate) fn start() -> Option<Self> {
        Self::with("")
    }

    /// As [`Self::start`], with lines of a configuration file.
    pub(crate) fn with(config: &str) -> Option<Self> {
        let store = tempfile::tempdir().unwrap();
        std::fs::write(store.path().join("nats.conf"), config).unwrap();
        match launch(store.path(), None) {
            Ok((process, port)) => Some(Self {
                process,
                port,
                store,
                login: "",
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                eprintln!(
                    "skipped: there is no nats-server, neither in {VARIABLE} nor on the path"
                );
                None
            }
            Err(error) => panic!("the NATS server does not begin: {error}"),
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://{}127.0.0.1:{}", self.login, self.port)
    }

    /// Kills the server: what it had acknowledged is in its store.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Begins again after [`Self::kill`], at the same address.
    pub(crate) fn restart(&mut self) {
        (self.process, _) = launch(self.store.path(), Some(self.port)).unwrap();
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn launch(store: &Path, port: Option<u16>) -> io::Result<(Child, u16)> {
    let program = std::env::var_os(VARIABLE).map_or("nats-server".into(), PathBuf::from);
    let ports = store.join("ports");
    std::fs::create_dir_all(&ports)?;
    let process = Command::new(program)
        .args(["--jetstream", "--addr", "127.0.0.1"])
        .args([
            "--port",
            &port.map_or("-1".to_owned(), |port| port.to_string()),
        ])
        .arg("--config")
        .arg(store.join("nats.conf"))
        .arg("--store_dir")
        .arg(store.join("store"))
        .arg("--ports_file_dir")
        .arg(&ports)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // The server writes this file when it listens.
    let file = ports.join(format!("nats-server_{}.ports", process.id()));
    let begun = Instant::now();
    loop {
        let listening = std::fs::read(&file).unwrap_or_default();
        let listening: Value = serde_json::from_slice(&listening).unwrap_or_default();
        let url = listening["nats"][0].as_str().unwrap_or_default();
        if let Some((_, port)) = url.rsplit_once(':') {
            return Ok((process, port.parse().unwrap()));
        }
        assert!(
            begun.elapsed() < MOST_WAIT,
            "the NATS server does not listen"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}
