//! The time that the engine adds to the answers: driver, providers and journal against a local
//! server with fixed delays, alternating with a bare client that makes the same requests.
//!
//! ```text
//! cargo bench --bench round_overhead                  15 repetitions with 3, 10 and 64 seats; about 4 minutes
//! cargo bench --bench round_overhead -- 100 0.1       100 repetitions with a tenth of the delays
//! cargo bench --bench round_overhead -- 100 0.1 3     the same with 3 seats only
//! ```
//!
//! The server has its own thread and runtime. Times are compared with its record of each request's
//! arrival and the end of its answer. Client and connections are new for each repetition, as they
//! are for each command.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a bench fails by panicking"
)]
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench reads the clock and prints what it found"
)]

mod support;

use std::time::Instant;

use conclave::consultation::event::{Envelope, Event, RoundEvent};
use conclave::engine::ports::{Subscriber, SubscriberError};
use futures_util::future::join_all;

use support::engine;
use support::figures::{self, Figures, Limit, milliseconds};
use support::provider_server::RecordedRequest;
use support::requests::{self, critical_path, last_sent, settled, slowest};

fn main() {
    let repetitions = figures::argument(0).unwrap_or(15.0);
    let scale = figures::argument(1).unwrap_or(1.0);
    println!(
        "{repetitions} repetitions; Round 1 takes 1.0, 1.5 and 2.0 s times {scale}; all figures in ms"
    );
    let only: Option<f64> = figures::argument(2);
    let few = Limit {
        median: Some(3.0),
        p99: Some(10.0),
    };
    for (seats, limit) in [(3_u8, few), (10, few), (64, Limit::of_median(25.0))] {
        if only.is_none_or(|only| only.total_cmp(&f64::from(seats)).is_eq()) {
            measure(usize::from(seats), limit, repetitions, scale);
        }
    }
}

fn measure(seats: usize, limit: Limit, repetitions: f64, scale: f64) {
    // This run also provides the requests that the bare client repeats.
    let (_, asked) = consult(seats, 0.01);
    let mut ours = [const { Figures(Vec::new()) }; 3];
    let mut bare = [const { Figures(Vec::new()) }; 2];
    let mut done = 0.0;
    while done < repetitions {
        let (times, requests) = consult(seats, scale);
        let round_1 = &requests[..seats];
        ours[0]
            .0
            .push(milliseconds(last_sent(round_1), times.round_ended));
        ours[1]
            .0
            .push(milliseconds(times.round_began, times.round_ended) - slowest(round_1));
        ours[2]
            .0
            .push(times.total - critical_path(&requests, seats));
        let (tail, round) = ask_bare(&asked[..seats], scale);
        bare[0].0.push(tail);
        bare[1].0.push(round);
        done += 1.0;
    }
    figures::heading(format!("{seats} seats"));
    let (round_1_limit, run_limit) = match seats {
        3 => (
            Limit::of_median(bare[1].median() * 1.5),
            Limit::of_median(30.0),
        ),
        10 => (Limit::of_median(bare[1].median() * 1.5), Limit::NONE),
        _ => (Limit::NONE, Limit::NONE),
    };
    figures::row("Round 1's end after its slowest answer", &ours[0], limit);
    figures::row("  the bare client's", &bare[0], Limit::NONE);
    figures::row("Round 1 less its slowest answer", &ours[1], round_1_limit);
    figures::row("  the bare client's", &bare[1], Limit::NONE);
    figures::row(
        "four rounds and the record less the critical path",
        &ours[2],
        run_limit,
    );
}

/// The times of one run.
struct RunTimes {
    round_began: Instant,
    round_ended: Instant,
    /// From the first file to the last, in milliseconds.
    total: f64,
}

/// Runs a whole consultation as the command does.
fn consult(seats: usize, scale: f64) -> (RunTimes, Vec<RecordedRequest>) {
    let server = requests::server(seats, scale);
    let folder = support::folder();
    let mut stopwatch = Stopwatch::default();
    let began = Instant::now();
    engine::run(
        engine::plan(seats),
        &engine::providers(&server.url()),
        folder.path(),
        &mut stopwatch,
    );
    let total = milliseconds(began, Instant::now());
    let (round_began, round_ended) = stopwatch.round_1.unwrap();
    (
        RunTimes {
            round_began,
            round_ended,
            total,
        },
        settled(&server),
    )
}

/// Makes the same requests with a client that only reads the answers. Returns its end after the
/// slowest answer, and its time less the slowest, in milliseconds.
fn ask_bare(asked: &[RecordedRequest], scale: f64) -> (f64, f64) {
    let server = requests::server(asked.len(), scale);
    let posts: Vec<_> = asked
        .iter()
        .map(|request| {
            (
                server.url() + &request.path_and_query,
                request.body.to_string(),
            )
        })
        .collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (began, ended) = runtime.block_on(async {
        let began = Instant::now();
        let client = reqwest::Client::builder()
            .no_proxy()
            .tls_certs_only([])
            .build()
            .unwrap();
        let calls = posts.into_iter().map(|(url, body)| async {
            let mut response = client.post(url).body(body).send().await.unwrap();
            while response.chunk().await.unwrap().is_some() {}
        });
        join_all(calls).await;
        (began, Instant::now())
    });
    let requests = settled(&server);
    (
        milliseconds(last_sent(&requests), ended),
        milliseconds(began, ended) - slowest(&requests),
    )
}

/// Records the start and end of Round 1. Runs after the journal.
#[derive(Debug, Default)]
struct Stopwatch {
    began: Option<Instant>,
    round_1: Option<(Instant, Instant)>,
}

impl Subscriber for Stopwatch {
    fn event(&mut self, envelope: &Envelope) -> Result<(), SubscriberError> {
        match envelope.event {
            Event::Round(RoundEvent::Started { round_number: 1 }) => {
                self.began = Some(Instant::now());
            }
            Event::Round(RoundEvent::Completed {
                round_number: 1, ..
            }) => self.round_1 = self.began.map(|began| (began, Instant::now())),
            _ => {}
        }
        Ok(())
    }
}
