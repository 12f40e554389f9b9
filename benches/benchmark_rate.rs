//! `conclave benchmark` as a process (Linux): cases per second compared with a bare client that
//! makes the same calls with the same concurrency, peak memory, and the calls in flight at each
//! vendor by the server's count.
//!
//! ```text
//! cargo bench --bench benchmark_rate                    1,000 cases, 50 at a time, calls of 20 ms; 3 repetitions
//! cargo bench --bench benchmark_rate -- 200 20 50 1     200 cases, 20 at a time, calls of 50 ms; once
//! ```
//!
//! A case is one consultation of nine calls: three experts, the judge, three experts, the judge
//! twice. Ours checks the suite, masks secrets, writes a journal, a record, a report and an index
//! entry for each case, grades it, and keeps the run's log; the bare client only reads the answers.
//! The server has a thread in the process of the bench, beside the bare client. Peak memory is
//! `VmHWM`; a megabyte has 1,000,000 bytes.

#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench reads the clock and prints what it found"
)]

mod support;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use conclave::providers::http::Http;
use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt};

use support::engine;
use support::figures::{self, Figures, Limit};
use support::provider_server::{Answer, On, ProviderServer, RecordedRequest, Vendor};

const CONCLAVE: &str = env!("CARGO_BIN_EXE_conclave");

/// The numbers of concurrent calls of a case, by stage.
const STAGES: [usize; 5] = [3, 1, 3, 1, 1];

/// Calls of a case.
const CALLS: usize = 9;

/// What is measured.
#[derive(Clone, Copy)]
struct Load {
    cases: usize,
    at_once: usize,
    delay: Duration,
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small whole numbers of the command line"
)]
fn main() {
    let argument = |nth, usual| figures::argument(nth).unwrap_or(usual) as usize;
    let load = Load {
        cases: argument(0, 1_000.0),
        at_once: argument(1, 50.0),
        delay: Duration::from_millis(argument(2, 20.0) as u64),
    };
    let repetitions = argument(3, 3.0);
    println!(
        "{} cases, {} at a time, nine calls of {:?} each",
        load.cases, load.at_once, load.delay
    );
    let posts = recorded_calls();
    let (mut ours, mut bare) = (Figures::default(), Figures::default());
    let (mut ratio, mut memory) = (Figures::default(), Figures::default());
    for _ in 0..repetitions {
        let measured = run_ours(load);
        let control = run_bare(&posts, load);
        ours.0.push(measured.rate);
        bare.0.push(control);
        ratio.0.push(measured.rate / control);
        memory.0.push(megabytes(measured.peak_memory));
        for (vendor, most) in measured.most_in_flight {
            println!(
                "{vendor:?}: at most {most} calls in flight, limit {}",
                load.at_once
            );
            assert!(most <= load.at_once, "the limit of a vendor holds");
        }
    }
    figures::heading(format!("{} cases", load.cases));
    figures::row("cases a second", &ours, Limit::NONE);
    figures::row("  the bare client's", &bare, Limit::NONE);
    figures::row("ours to the bare client's", &ratio, Limit::NONE);
    figures::row("peak memory, MB", &memory, Limit::NONE);
}

struct Measured {
    /// Cases a second, over the whole life of the process.
    rate: f64,
    /// In bytes.
    peak_memory: u64,
    most_in_flight: Vec<(Vendor, usize)>,
}

fn run_ours(load: Load) -> Measured {
    let server = answering_after(load.delay);
    let home = support::folder();
    let began = Instant::now();
    let mut child = benchmark(&server, home.path(), load);
    let mut peak = 0;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        peak = peak.max(peak_memory(child.id()).unwrap_or_default());
        std::thread::sleep(Duration::from_millis(5));
    };
    let rate = figure(load.cases) / began.elapsed().as_secs_f64();
    assert!(status.success(), "{status}");
    assert_eq!(
        server.requests().len(),
        load.cases * CALLS,
        "no call is left out or repeated"
    );
    let vendors = [Vendor::Anthropic, Vendor::OpenAi, Vendor::Google];
    Measured {
        rate,
        peak_memory: peak,
        most_in_flight: vendors
            .into_iter()
            .map(|vendor| (vendor, most_in_flight(&server.requests_to(vendor))))
            .collect(),
    }
}

/// Returns the cases per second of a client that only reads the answers.
fn run_bare(posts: &[(String, String)], load: Load) -> f64 {
    let server = answering_after(load.delay);
    let url = server.url();
    // Sets up TLS for the process, without which the bare client cannot be built either.
    let tls = Http::default();
    tls.client_for(&url).unwrap();
    let began = Instant::now();
    engine::runtime().block_on(async {
        let client = reqwest::Client::builder()
            .no_proxy()
            .tls_certs_only([])
            .build()
            .unwrap();
        let post = |(path, body): &(String, String)| {
            let request = client.post(format!("{url}{path}")).body(body.clone());
            async move {
                let mut response = request.send().await.unwrap();
                while response.chunk().await.unwrap().is_some() {}
            }
        };
        let answer = |_| async {
            let mut rest = posts;
            for stage in STAGES {
                let (calls, later) = rest.split_at(stage);
                join_all(calls.iter().map(post)).await;
                rest = later;
            }
        };
        let cases = stream::iter((0..load.cases).map(answer)).buffer_unordered(load.at_once);
        cases.for_each(|()| async {}).await;
    });
    figure(load.cases) / began.elapsed().as_secs_f64()
}

/// Returns the paths and bodies of one case's calls in order.
fn recorded_calls() -> Vec<(String, String)> {
    let server = answering_after(Duration::from_millis(5));
    let home = support::folder();
    let one = Load {
        cases: 1,
        at_once: 1,
        delay: Duration::ZERO,
    };
    let mut child = benchmark(&server, home.path(), one);
    assert!(child.wait().unwrap().success());
    let call = |request: RecordedRequest| (request.path_and_query, request.body.to_string());
    let calls: Vec<_> = server.requests().into_iter().map(call).collect();
    assert_eq!(calls.len(), CALLS);
    calls
}

fn answering_after(delay: Duration) -> ProviderServer {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::valid().delay(delay));
    server
}

/// Starts the run of a suite of so many cases, at most so many calls in flight at each vendor.
fn benchmark(server: &ProviderServer, home: &Path, load: Load) -> Child {
    let at_once = load.at_once.max(STAGES[0]);
    let settings = format!(r#"{{"max_in_flight": {at_once}}}"#);
    fs::write(home.join("config.json"), settings).unwrap();
    let case = |number: usize| {
        format!(
            r#"{{"id": "case-{number}", "question": "Should team {number} begin with a monolith?", "expected": "monolith", "match": "contains"}}"#
        )
    };
    let cases: Vec<String> = (0..load.cases).map(case).collect();
    let suite = home.join("suite.jsonl");
    fs::write(&suite, cases.join("\n")).unwrap();
    let mut command = Command::new(CONCLAVE);
    command.arg("benchmark").arg(suite);
    command.args(["--yes", "--quiet", "--jobs", &load.at_once.to_string()]);
    command.args([
        "--panel",
        "security=anthropic:m0,architecture=openai:m1,pragmatic=google:m2",
    ]);
    command.args(["--judge", "openai:judge", "--early-stop", "never"]);
    // No answer is right, and every case is run all the same.
    for condition in ["attempts", "consecutive-fails", "reject-rate", "retry-rate"] {
        command.args([&format!("--max-{condition}"), "off"]);
    }
    command
        .env_clear()
        .envs(server.variables())
        .env("CONCLAVE_HOME", home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Returns the most requests that were open at the same moment.
fn most_in_flight(requests: &[RecordedRequest]) -> usize {
    let mut moments: Vec<(Instant, bool)> = Vec::new();
    for request in requests {
        moments.push((request.arrived, true));
        moments.extend(request.finished.map(|finished| (finished, false)));
    }
    // At one moment, ends come before arrivals.
    moments.sort_unstable();
    let (mut now, mut most) = (0_usize, 0);
    for (_, is_arrival) in moments {
        now = if is_arrival { now + 1 } else { now - 1 };
        most = most.max(now);
    }
    most
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

#[expect(clippy::cast_precision_loss, reason = "small whole numbers")]
fn figure(number: usize) -> f64 {
    number as f64
}

#[expect(clippy::cast_precision_loss, reason = "a size to be read")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
