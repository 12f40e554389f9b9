//! The bytes that a run writes to its terminal in a second of waiting (Unix): three seats whose
//! answers never come. The limit is 2 KB.
//!
//! The control is the same run while its terminal changes its width ten times a second, after each
//! of which all rows are drawn again.
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
use rustix::termios::{Winsize, tcsetwinsize};

use support::figures;
use support::provider_server::{Answer, On, ProviderServer};

/// The panel, the estimate and the first rows are written by then.
const START: Duration = Duration::from_secs(4);

/// The time between two changes of the width.
const REDRAWN: Duration = Duration::from_millis(100);

const ROWS: u16 = 40;

fn main() {
    let seconds = figures::argument(0).unwrap_or(10.0);
    for columns in [80, 200] {
        let written = bytes_while_waiting(columns, Duration::from_secs_f64(seconds));
        let (waiting, control) = (written.waiting / seconds, written.control / seconds);
        println!(
            "{columns} columns: {waiting:.0} bytes a second; all rows ten times a second: {control:.0} \
             ({:.1} times as many)",
            control / waiting
        );
    }
}

/// The bytes of two equal times.
struct WrittenBytes {
    waiting: f64,
    control: f64,
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a bench writes far fewer than 2^52 bytes"
)]
fn bytes_while_waiting(columns: u16, waiting: Duration) -> WrittenBytes {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::valid().delay(Duration::from_secs(3_600)));
    let home = support::folder();
    let (pty, terminal) = open().unwrap();
    pty.resize(Size::new(ROWS, columns)).unwrap();
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
    let window = File::from(OwnedFd::from(pty));
    let mut screen = window.try_clone().unwrap();
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
    for redrawn in 0..waiting.as_millis() / REDRAWN.as_millis() {
        resize(&window, columns - u16::from(redrawn % 2 == 0));
        std::thread::sleep(REDRAWN);
    }
    let at_end = written.load(Ordering::Relaxed);
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap();
    WrittenBytes {
        waiting: (after - before) as f64,
        control: (at_end - after) as f64,
    }
}

fn resize(window: &File, columns: u16) {
    let size = Winsize {
        ws_row: ROWS,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(window, size).unwrap();
}
