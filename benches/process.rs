//! The program as a process (Linux): start-up compared with a minimal program that parses
//! arguments, size, peak memory of consultations, the time until the first request of one arrives,
//! the time that a whole command adds to the answers, and the delay until unneeded connections are
//! closed.
//!
//! ```text
//! cargo bench --bench process             200 starts and 15 consultations of each kind; about 1 minute
//! cargo bench --bench process -- 1000 50
//! cargo bench --bench process -- 0 50      without the starts
//! ```
//!
//! Peak memory is `VmHWM`, read every millisecond until the process has ended; a megabyte has
//! 1,000,000 bytes.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a bench fails by panicking"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "a bench reads the clock and prints what it found"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use support::figures::{self, Figures, Limit, milliseconds};
use support::provider_server::{Answer, On, ProviderServer};
use support::requests::{self, critical_path, last_sent, settled};

const CONCLAVE: &str = env!("CARGO_BIN_EXE_conclave");

/// The exit code of an interrupted consultation.
const INTERRUPTED: i32 = 130;

fn main() {
    let starts = figures::argument(0).unwrap_or(200.0);
    let repetitions = figures::argument(1).unwrap_or(15.0);
    if starts > 0.0 {
        start_up(starts);
    }
    for (seats, limit) in [(3, 20.0), (64, 30.0)] {
        consultations(seats, limit, repetitions);
    }
    figures::heading("Until the server saw the connections closed, ms");
    interrupts(
        "after Ctrl-C, while answers are arriving",
        &stalling(),
        repetitions,
    );
    interrupts(
        "after Ctrl-C, before any answer",
        &Answer::valid().delay(FOR_EVER),
        repetitions,
    );
    aborts("after the failure that ended the consultation", repetitions);
    lost_hedges("after the answer of a faster fallback", repetitions);
}

/// Starts both programs alternately.
fn start_up(starts: f64) {
    let smallest = smallest_cli();
    let (mut ours, mut theirs) = (Figures::default(), Figures::default());
    let mut done = 0.0;
    while done < starts {
        ours.0.push(start(Path::new(CONCLAVE)));
        theirs.0.push(start(&smallest));
        done += 1.0;
    }
    figures::heading(format!("{starts} times `--version`, ms"));
    figures::row("conclave", &ours, Limit::of_median(theirs.median() + 2.0));
    figures::row("the smallest program", &theirs, Limit::NONE);
    figures::heading("Size, MB");
    figures::single(
        "conclave",
        megabytes(fs::metadata(CONCLAVE).unwrap().len()),
        None,
    );
    figures::single(
        "the smallest program",
        megabytes(fs::metadata(smallest).unwrap().len()),
        None,
    );
}

/// Builds `examples/smallest_cli.rs` with the profile of the benches.
fn smallest_cli() -> PathBuf {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--example", "smallest_cli"])
        .status();
    assert!(built.unwrap().success(), "the example builds");
    Path::new(CONCLAVE)
        .with_file_name("examples")
        .join("smallest_cli")
}

fn start(program: &Path) -> f64 {
    let began = Instant::now();
    let status = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    milliseconds(began, Instant::now())
}

fn consultations(seats: usize, limit: f64, repetitions: f64) {
    let (mut peaks, mut starts) = (Figures::default(), Figures::default());
    let mut added = Figures::default();
    let mut done = 0.0;
    while done < repetitions {
        let server = requests::server(seats, 0.1);
        let home = support::folder();
        let began = Instant::now();
        let mut child = consult(&server, home.path(), seats, &[]);
        let mut peak = 0;
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            peak = peak.max(peak_memory(child.id()).unwrap_or_default());
            std::thread::sleep(Duration::from_millis(1));
        };
        let total = milliseconds(began, Instant::now());
        assert!(status.success());
        let requests = settled(&server);
        let first = requests.iter().map(|request| request.arrived).min();
        peaks.0.push(megabytes(peak));
        starts.0.push(milliseconds(began, first.unwrap()));
        added.0.push(total - critical_path(&requests, seats));
        done += 1.0;
    }
    figures::heading(format!("A consultation of {seats} seats"));
    figures::row(
        "peak memory, MB",
        &peaks,
        Limit {
            median: Some(limit),
            p99: Some(limit),
        },
    );
    figures::row(
        "until the first request arrives, ms",
        &starts,
        if seats == 3 {
            Limit::of_median(8.0)
        } else {
            Limit::NONE
        },
    );
    figures::row(
        "the whole command less the critical path, ms",
        &added,
        if seats == 3 {
            Limit::of_median(30.0)
        } else {
            Limit::NONE
        },
    );
}

const SEATS: usize = 3;

/// Longer than any repetition.
const FOR_EVER: Duration = Duration::from_secs(60);

/// Long enough for data that the server has sent to arrive, and far below the limit.
const A_MOMENT: Duration = Duration::from_millis(20);

const AT_ONCE: Limit = Limit {
    median: Some(100.0),
    p99: Some(100.0),
};

fn stalling() -> Answer {
    Answer::text("an answer of several pieces")
        .pieces(8)
        .stall()
}

fn interrupts(what: &str, answer: &Answer, repetitions: f64) {
    let mut closed = Figures::default();
    let mut done = 0.0;
    while done < repetitions {
        let server = ProviderServer::start();
        server.on(On::any(), answer.clone());
        let home = support::folder();
        let mut child = consult(&server, home.path(), SEATS, &[]);
        while server.requests().len() < SEATS {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(A_MOMENT);
        let interrupted = Instant::now();
        let signalled = Command::new("sh")
            .args(["-c", &format!("kill -INT {}", child.id())])
            .status();
        assert!(signalled.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(INTERRUPTED));
        closed
            .0
            .push(milliseconds(interrupted, last_sent(&settled(&server))));
        done += 1.0;
    }
    figures::row(what, &closed, AT_ONCE);
}

fn aborts(what: &str, repetitions: f64) {
    let mut closed = Figures::default();
    let mut done = 0.0;
    while done < repetitions {
        let server = ProviderServer::start();
        server.on(On::any(), stalling());
        server.on(
            On::model("m0"),
            Answer::error(401, "", "no")
                .after_arrivals(SEATS)
                .delay(A_MOMENT),
        );
        let home = support::folder();
        let status = consult(&server, home.path(), SEATS, &["--on-failure", "fail"])
            .wait()
            .unwrap();
        assert!(!status.success());
        let requests = settled(&server);
        let failed = requests
            .iter()
            .find(|request| request.model == "m0")
            .unwrap();
        closed
            .0
            .push(milliseconds(failed.finished.unwrap(), last_sent(&requests)));
        done += 1.0;
    }
    figures::row(what, &closed, AT_ONCE);
}

/// Measures the losers of the hedges, one in each of Rounds 1 and 3.
fn lost_hedges(what: &str, repetitions: f64) {
    const AFTER: Duration = Duration::from_millis(200);
    let mut closed = Figures::default();
    let mut done = 0.0;
    while done < repetitions {
        let server = ProviderServer::start();
        server.on(On::model("m0"), Answer::valid().delay(FOR_EVER));
        let home = support::folder();
        let status = consult(&server, home.path(), SEATS, &["--hedge-after", "0.2"])
            .wait()
            .unwrap();
        assert!(status.success());
        let requests = settled(&server);
        for loser in requests.iter().filter(|request| !request.complete) {
            // Between a call and its hedge there are only the calls that start together with it.
            let later = requests
                .iter()
                .filter(|request| request.arrived > loser.arrived + AFTER / 2);
            let winner = later.min_by_key(|request| request.arrived).unwrap();
            closed.0.push(milliseconds(
                winner.finished.unwrap(),
                loser.finished.unwrap(),
            ));
        }
        done += 1.0;
    }
    figures::row(what, &closed, AT_ONCE);
}

/// Starts a consultation with this many seats, whose models are `m0`, `m1`, ….
fn consult(server: &ProviderServer, home: &Path, seats: usize, flags: &[&str]) -> Child {
    let seat_vendors = [
        "security=anthropic",
        "architecture=openai",
        "pragmatic=google",
    ];
    let panel: Vec<String> = (0..seats)
        .map(|at| format!("{}:m{at}", seat_vendors[at % seat_vendors.len()]))
        .collect();
    Command::new(CONCLAVE)
        .args([
            "consult",
            "--yes",
            // Nine calls, as the figures of the rounds have them.
            "--no-debate-analysis",
            "--judge",
            "openai:judge",
            "--panel",
            &panel.join(","),
            "Should a small team begin with a monolith?",
        ])
        .args(flags)
        .env_clear()
        .envs(server.variables())
        .env("CONCLAVE_HOME", home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Returns the peak memory of a process in bytes; `None` if it has ended.
fn peak_memory(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let kibibytes: u64 = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?
        .trim()
        .strip_suffix(" kB")?
        .parse()
        .ok()?;
    Some(kibibytes * 1024)
}

#[expect(clippy::cast_precision_loss, reason = "a size to be read")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
