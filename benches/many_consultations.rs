//! Many consultations in one process: how many a second, beside a bare client that makes the same
//! calls with the same concurrency, and how much memory each takes.
//!
//! ```text
//! cargo bench --bench many_consultations                     200 consultations, 50 at a time, calls of 100 ms; 5 repetitions
//! cargo bench --bench many_consultations -- 400 20 50 3      400 consultations, 20 at a time, calls of 50 ms; 3 repetitions
//! ```
//!
//! A consultation makes nine calls: three experts, the judge, three experts, the judge twice. Ours
//! keep journals, records and reports on disk, through one dispatcher; the bare client reads the
//! answers and keeps nothing. The server has a thread of its own in the same process, so that memory
//! is an upper bound: it counts what the server records too.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a bench fails by panicking"
)]
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench reads the clock and prints what it found"
)]

#[expect(dead_code, reason = "the other benches use the rest")]
#[path = "support/engine.rs"]
mod engine;
#[expect(
    dead_code,
    unused_imports,
    clippy::panic,
    reason = "the tests use the rest"
)]
#[path = "../tests/it/support/provider_server/mod.rs"]
mod provider_server;
#[expect(dead_code, reason = "the other benches use the rest")]
mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use conclave::domain::ids::ConsultationId;
use conclave::engine::clock::Clock;
use conclave::engine::dispatcher::Dispatcher;
use conclave::engine::dispatcher::pool::PoolRules;
use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt};

use provider_server::{Answer, On, ProviderServer, RecordedRequest};
use support::figures::{self, Figures, Limit};

/// Seats of a panel.
const SEATS: usize = 3;
/// Calls of a consultation that go out together, stage by stage.
const STAGES: [usize; 5] = [SEATS, 1, SEATS, 1, 1];

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small whole numbers of the command line"
)]
fn main() {
    let argument = |nth, usual| figures::argument(nth).unwrap_or(usual) as usize;
    let (count, at_once) = (argument(0, 200.0), argument(1, 50.0));
    let delay = Duration::from_millis(argument(2, 100.0) as u64);
    let repetitions = argument(3, 5.0);
    println!("{count} consultations, {at_once} at a time, nine calls of {delay:?} each");

    let posts = recorded_calls();
    let (mut ours, mut bare, mut ratio) =
        (Figures::default(), Figures::default(), Figures::default());
    for _ in 0..repetitions {
        let own = run_ours(count, at_once, delay).0;
        let control = run_bare(&posts, count, at_once, delay);
        ours.0.push(own);
        bare.0.push(control);
        ratio.0.push(own / control);
    }
    figures::heading(format!("{count} consultations"));
    figures::row("consultations a second", &ours, Limit::NONE);
    figures::row("  the bare client's", &bare, Limit::NONE);
    figures::row(
        "ours to the bare client's, at least 0.8",
        &ratio,
        Limit::NONE,
    );

    let (_, alone) = run_ours(10, 1, delay);
    let (_, together) = run_ours(at_once, at_once, delay);
    let each = kilobytes(together.saturating_sub(alone)) / figure(at_once - 1);
    println!("memory of each of {at_once} at once: {each:.0} KB, at most 1,000");
}

/// Consultations a second, and the most memory in use meanwhile, in bytes.
fn run_ours(count: usize, at_once: usize, delay: Duration) -> (f64, u64) {
    let server = answering_after(delay);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let providers = engine::providers(&server.url());
    let memory = PeakMemory::watch();
    let clock = Clock::system();
    let began = Instant::now();
    runtime().block_on(async {
        let dispatcher = Dispatcher::new(clock, PoolRules::default());
        // The templates are read and compiled once for all, as the process has them.
        let mut common = engine::plan(SEATS);
        // What a crowd of them needs: the limit is not what is measured.
        for limit in common.in_flight.values_mut() {
            *limit = u32::try_from(at_once * SEATS).unwrap();
        }
        let run = |number: usize| {
            let mut plan = common.clone();
            plan.id = ConsultationId::from_unique(&format!("BENCH{number}"));
            let (dispatcher, providers, folder) = (dispatcher.clone(), &providers, folder.path());
            async move { engine::run_beside(dispatcher, clock, plan, providers, folder).await }
        };
        let runs = stream::iter((0..count).map(run)).buffer_unordered(at_once);
        runs.for_each(|()| async {}).await;
    });
    let rate = figure(count) / began.elapsed().as_secs_f64();
    let peak = memory.peak();
    assert_eq!(server.requests().len(), count * 9, "nothing is asked twice");
    (rate, peak)
}

/// Consultations a second by a client that only reads the answers.
fn run_bare(posts: &[(String, String)], count: usize, at_once: usize, delay: Duration) -> f64 {
    let server = answering_after(delay);
    let url = server.url();
    let began = Instant::now();
    runtime().block_on(async {
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
        let consult = |_| async {
            let mut rest = posts;
            for stage in STAGES {
                let (calls, later) = rest.split_at(stage);
                join_all(calls.iter().map(post)).await;
                rest = later;
            }
        };
        let runs = stream::iter((0..count).map(consult)).buffer_unordered(at_once);
        runs.for_each(|()| async {}).await;
    });
    figure(count) / began.elapsed().as_secs_f64()
}

/// The paths and bodies of one consultation's calls, in order.
fn recorded_calls() -> Vec<(String, String)> {
    let server = answering_after(Duration::ZERO);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let providers = engine::providers(&server.url());
    let clock = Clock::system();
    let dispatcher = Dispatcher::new(clock, PoolRules::default());
    let plan = engine::plan(SEATS);
    let run = engine::run_beside(dispatcher, clock, plan, &providers, folder.path());
    runtime().block_on(run);
    let call = |request: RecordedRequest| (request.path_and_query, request.body.to_string());
    server.requests().into_iter().map(call).collect()
}

fn answering_after(delay: Duration) -> ProviderServer {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::valid().delay(delay));
    server
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

#[expect(clippy::cast_precision_loss, reason = "small whole numbers")]
fn figure(number: usize) -> f64 {
    number as f64
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn kilobytes(bytes: u64) -> f64 {
    bytes as f64 / 1e3
}

/// The most memory that the process has in use, looked at every two milliseconds.
struct PeakMemory {
    peak: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
    watcher: std::thread::JoinHandle<()>,
}

impl PeakMemory {
    fn watch() -> Self {
        let (peak, is_over) = (
            Arc::new(AtomicU64::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let (seen, end) = (Arc::clone(&peak), Arc::clone(&is_over));
        let watcher = std::thread::spawn(move || {
            while !end.load(Ordering::Relaxed) {
                seen.fetch_max(resident_bytes(), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        Self {
            peak,
            is_over,
            watcher,
        }
    }

    fn peak(self) -> u64 {
        self.is_over.store(true, Ordering::Relaxed);
        self.watcher.join().unwrap();
        self.peak.load(Ordering::Relaxed)
    }
}

/// The memory in use by the process; zero where the system does not say.
fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split_whitespace().nth(1);
    pages.and_then(|pages| pages.parse().ok()).unwrap_or(0_u64) * 4_096
}
