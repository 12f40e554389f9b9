//! Many consultations in one process: their rate compared with a bare client that makes the same
//! calls with the same concurrency, and the memory of each.
//!
//! ```text
//! cargo bench --bench many_consultations                     200 consultations, 50 at a time, calls of 100 ms; 5 repetitions
//! cargo bench --bench many_consultations -- 400 20 50 3      400 consultations, 20 at a time, calls of 50 ms; 3 repetitions
//! ```
//!
//! A consultation makes nine calls: three experts, the judge, three experts, the judge twice. Ours
//! share one dispatcher and write journals, records and reports to disk; the bare client only reads
//! the answers. The server runs on its own thread of the same process, so the memory is an upper
//! bound: it includes the server's records.

#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench reads the clock and prints what it found"
)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use conclave::domain::ids::ConsultationId;
use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt};

use support::engine;
use support::figures::{self, Figures, Limit};
use support::provider_server::{Answer, On, ProviderServer, RecordedRequest};

/// Seats of a panel.
const SEATS: usize = 3;
/// The numbers of concurrent calls of a consultation, by stage.
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

/// Returns the consultations per second, and the peak memory in bytes.
fn run_ours(count: usize, at_once: usize, delay: Duration) -> (f64, u64) {
    let server = answering_after(delay);
    let folder = support::folder();
    let providers = engine::providers(&server.url());
    let memory = PeakMemory::watch();
    let began = Instant::now();
    engine::runtime().block_on(async {
        let dispatcher = engine::dispatcher();
        // The templates are read and compiled once for all consultations, as in the process.
        let mut common = engine::plan(SEATS);
        // The provider limit is not what is measured.
        for limit in common.in_flight.values_mut() {
            *limit = u32::try_from(at_once * SEATS).unwrap();
        }
        let run = |number: usize| {
            let mut plan = common.clone();
            plan.id = ConsultationId::from_unique(&format!("BENCH{number}"));
            let (dispatcher, providers, folder) = (dispatcher.clone(), &providers, folder.path());
            async move { engine::run_concurrently(dispatcher, plan, providers, folder).await }
        };
        let runs = stream::iter((0..count).map(run)).buffer_unordered(at_once);
        runs.for_each(|()| async {}).await;
    });
    let rate = figure(count) / began.elapsed().as_secs_f64();
    let peak = memory.peak();
    assert_eq!(server.requests().len(), count * 9, "no call is repeated");
    (rate, peak)
}

/// Returns the consultations per second of a client that only reads the answers.
fn run_bare(posts: &[(String, String)], count: usize, at_once: usize, delay: Duration) -> f64 {
    let server = answering_after(delay);
    let url = server.url();
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

/// Returns the paths and bodies of one consultation's calls in order.
fn recorded_calls() -> Vec<(String, String)> {
    let server = answering_after(Duration::ZERO);
    let folder = support::folder();
    let providers = engine::providers(&server.url());
    let plan = engine::plan(SEATS);
    let run = engine::run_concurrently(engine::dispatcher(), plan, &providers, folder.path());
    engine::runtime().block_on(run);
    let call = |request: RecordedRequest| (request.path_and_query, request.body.to_string());
    server.requests().into_iter().map(call).collect()
}

fn answering_after(delay: Duration) -> ProviderServer {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::valid().delay(delay));
    server
}

#[expect(clippy::cast_precision_loss, reason = "small whole numbers")]
fn figure(number: usize) -> f64 {
    number as f64
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn kilobytes(bytes: u64) -> f64 {
    bytes as f64 / 1e3
}

/// The peak memory of the process, sampled every two milliseconds.
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

/// Returns the resident memory of the process; zero if the system does not report it.
fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split_whitespace().nth(1);
    pages.and_then(|pages| pages.parse().ok()).unwrap_or(0_u64) * 4_096
}
