//! The bytes that a run writes to its terminal in a second of waiting (Unix): three seats whose answers
//! never come. The limit is 2 KB; a second that redraws all rows ten times is about 4.5 KB at 80
//! columns.
//!
//! ```text
//! cargo bench --bench waiting_bytes          10 seconds at 80 and at 200 columns
//! cargo bench --bench waiting_bytes -- 60
//! ```

#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![expect(clippy::print_stdout, reason = "a bench prints what it found")]

mod support;

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pty_process::Size;
use pty_process::blocking::{Command, open};

use support::figures;
use support::provider_server::{Answer, On, ProviderServer};

/// The panel, the estimate and the first rows are written by then.
const START: Duration = Duration::from_secs(4);

fn main() {
    let seconds = figures::argument(0).unwrap_or(10.0);
    for columns in [80, 200] {
        let bytes = bytes_while_waiting(columns, Duration::from_secs_f64(seconds));
        println!("{columns} columns: {:.0} bytes a second", bytes / seconds);
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a bench writes far fewer than 2^52 bytes"
)]
fn bytes_while_waiting(columns: u16, waiting: Duration) -> f64 {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::valid().delay(Duration::from_secs(3_600)));
    let home = support::folder();
    let (pty, terminal) = open().unwrap();
    pty.resize(Size::new(40, columns)).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_conclave"))
        .args(["consult", "--yes", "Shall we?"])
        .env_clear()
        .envs(server.variables())
        .env("CONCLAVE_HOME", home.path().join("home"))
        .env("CONCLAVE_LOCAL_SERVERS", "none")
        .env("TERM", "xterm-256color")
        .env("LANG", "C.UTF-8")
        .spawn(terminal)
        .unwrap();
    let mut screen = File::from(OwnedFd::from(pty));
    let written = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&written);
    let reader = std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(read @ 1..) = screen.read(&mut bytes) {
            count.fetch_add(read as u64, Ordering::Relaxed);
        }
    });
    std::thread::sleep(START);
    let before = written.load(Ordering::Relaxed);
    std::thread::sleep(waiting);
    let after = written.load(Ordering::Relaxed);
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap();
    (after - before) as f64
}
