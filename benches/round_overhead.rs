//! What the engine adds to the answers it waits for: driver, providers and journal against a local server with fixed delays, beside a
//! bare client that makes the same requests, in turns.
//!
//! ```text
//! cargo bench --bench round_overhead                  15 repetitions with 3, 10 and 64 seats; about 4 minutes
//! cargo bench --bench round_overhead -- 100 0.1       100 repetitions with a tenth of the delays
//! ```
//!
//! The server has a thread and a runtime of its own, and its record of when a request arrived and when its answer was sent is what
//! times are compared with. Client and connections are new for each repetition, as they are for each command.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a bench fails by panicking")]
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a bench reads the clock and prints what it found")]

#[expect(dead_code, unused_imports, clippy::panic, reason = "the tests use the rest")]
#[path = "../tests/it/support/provider_server/mod.rs"]
mod provider_server;
mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use conclave::consultation::Consultation;
use conclave::consultation::event::{Envelope, Event};
use conclave::consultation::plan::{Control, Material, Plan};
use conclave::consultation::policy::consent::Standing;
use conclave::consultation::policy::retry::RetryRule;
use conclave::consultation::prompt::Templates;
use conclave::consultation::protocol::{Answer, Question};
use conclave::consultation::transcript::Transcript;
use conclave::domain::ids::{ConsultationId, ModelRef, ProviderId, SeatId};
use conclave::domain::panel::{Panel, Seat};
use conclave::domain::pricing::PriceList;
use conclave::engine::clock::Clock;
use conclave::engine::driver::{Begin, Driver, Providers};
use conclave::engine::ports::{BoxFuture, Person, Provider, Subscriber, SubscriberFailed};
use conclave::providers::catalog::Catalog;
use conclave::providers::http::{Http, Timeouts};
use conclave::providers::remote::Remote;
use conclave::providers::vendors;
use conclave::providers::wire::{Account, Endpoint, Scheme};
use conclave::records::files::ConsultationFiles;
use conclave::records::journal::Journal;
use conclave::terminal::report::report;
use futures_util::future::join_all;

use provider_server::Recorded;
use support::{Figures, critical_path, last_sent, milliseconds, settled, slowest};

/// The vendors of the seats, in turn.
const VENDORS: [&str; 3] = ["anthropic", "openai", "google"];

fn main() {
    let repetitions = support::argument(0).unwrap_or(15.0);
    let scale = support::argument(1).unwrap_or(1.0);
    println!("{repetitions} repetitions; Round 1 takes 1.0, 1.5 and 2.0 s times {scale}; all figures in ms");
    for (seats, limit) in [(3, 3.0), (10, 3.0), (64, 25.0)] {
        measure(seats, limit, repetitions, scale);
    }
}

fn measure(seats: usize, limit: f64, repetitions: f64, scale: f64) {
    // Also makes the requests known that the bare client repeats.
    let (_, asked) = consult(seats, 0.01);
    let mut ours = [const { Figures(Vec::new()) }; 3];
    let mut bare = [const { Figures(Vec::new()) }; 2];
    let mut done = 0.0;
    while done < repetitions {
        let (run, requests) = consult(seats, scale);
        let round_1 = &requests[..seats];
        ours[0].0.push(milliseconds(last_sent(round_1), run.round_ended));
        ours[1].0.push(milliseconds(run.round_began, run.round_ended) - slowest(round_1));
        ours[2].0.push(run.total - critical_path(&requests, seats));
        let (tail, round) = ask_bare(&asked[..seats], scale);
        bare[0].0.push(tail);
        bare[1].0.push(round);
        done += 1.0;
    }
    support::heading(format!("{seats} seats"));
    support::row("Round 1's end after its slowest answer", &ours[0], Some(limit));
    support::row("  the bare client's", &bare[0], None);
    support::row("Round 1 less its slowest answer", &ours[1], (seats <= 10).then_some(bare[1].median() * 1.5));
    support::row("  the bare client's", &bare[1], None);
    support::row("four rounds, journal and record less the critical path", &ours[2], (seats == 3).then_some(30.0));
}

/// Moments of one run.
struct Run {
    round_began: Instant,
    round_ended: Instant,
    /// From the first file to the last, in milliseconds.
    total: f64,
}

/// A whole consultation, as the command runs it.
fn consult(seats: usize, scale: f64) -> (Run, Vec<Recorded>) {
    let server = support::server(seats, scale);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let began = Instant::now();
    let (round_began, round_ended) = run(plan(seats), &providers(&server.url()), folder.path());
    let total = milliseconds(began, Instant::now());
    (Run { round_began, round_ended, total }, settled(&server))
}

fn run(plan: Plan, providers: &Providers, folder: &Path) -> (Instant, Instant) {
    let files = ConsultationFiles::in_folder(folder, &plan.id);
    let mut journal = Journal::create(&files.journal).unwrap();
    let mut stopwatch = Stopwatch::default();
    let mut consultation = Consultation::new(plan);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let history = runtime.block_on(async {
        let subscribers: Vec<&mut dyn Subscriber> = vec![&mut journal, &mut stopwatch];
        let interrupts = tokio::sync::mpsc::unbounded_channel().1;
        Driver { clock: Clock::system(), providers, subscribers, person: &Nobody, interrupts }.run(&mut consultation, Begin::New).await
    });
    let transcript = Transcript::fold(&history).unwrap();
    journal.finish().unwrap();
    files.write_results(&transcript, &report(&transcript)).unwrap();
    stopwatch.round_1.unwrap()
}

fn plan(seats: usize) -> Plan {
    let templates = Templates::builtin();
    let seat = |(at, persona): (usize, _)| Seat {
        id: SeatId::new(format!("seat-{at}")),
        persona,
        model: ModelRef::new(VENDORS[at % VENDORS.len()], format!("m{at}")),
    };
    Plan {
        id: ConsultationId::from_unique("BENCH"),
        question: "Should a small team begin with a monolith?".to_owned(),
        panel: Panel {
            seats: templates.personas().into_iter().cycle().take(seats).enumerate().map(seat).collect(),
            judges: vec![ModelRef::new("openai", "judge")],
        },
        models: BTreeMap::new(),
        prices: PriceList::default(),
        templates,
        seed: 7,
        control: Control::usual(Standing::Granted),
        stand_ins: BTreeMap::new(),
        material: Material::default(),
        learnt_output: BTreeMap::new(),
        retry: RetryRule::default(),
        // All at once, as the bare client asks: what a queue takes is not overhead.
        in_flight: VENDORS.iter().map(|id| (ProviderId::new(*id), 64)).collect(),
        tool_version: "0.0.0".to_owned(),
        notices: Vec::new(),
    }
}

fn providers(url: &str) -> Providers {
    let (catalog, http) = (Arc::new(Catalog::builtin()), Arc::new(Http::new(Timeouts::default())));
    let provider = |id: &str| {
        let vendor = ProviderId::new(id);
        let dialect = vendors::find(&vendor).unwrap().dialect;
        let base_url = if id == "openai" { format!("{url}/v1") } else { url.to_owned() };
        let account = Account { key: Some("bench-key".into()), origin: "`KEY`".to_owned(), scheme: Scheme::Usual };
        let remote: Arc<dyn Provider> =
            Arc::new(Remote::new(dialect, Endpoint { base_url, account }, Arc::clone(&catalog), Arc::clone(&http)));
        (vendor, remote)
    };
    VENDORS.into_iter().map(provider).collect()
}

/// The same requests by a client that does nothing but read the answers: its end after the slowest, and its time less the slowest.
fn ask_bare(asked: &[Recorded], scale: f64) -> (f64, f64) {
    let server = support::server(asked.len(), scale);
    let posts: Vec<_> = asked.iter().map(|request| (server.url() + &request.path_and_query, request.body.to_string())).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (began, ended) = runtime.block_on(async {
        let began = Instant::now();
        let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
        let calls = posts.into_iter().map(|(url, body)| async {
            let mut response = client.post(url).body(body).send().await.unwrap();
            while response.chunk().await.unwrap().is_some() {}
        });
        join_all(calls).await;
        (began, Instant::now())
    });
    let requests = settled(&server);
    (milliseconds(last_sent(&requests), ended), milliseconds(began, ended) - slowest(&requests))
}

/// Notes when Round 1 begins and ends. Told after the journal.
#[derive(Debug, Default)]
struct Stopwatch {
    began: Option<Instant>,
    round_1: Option<(Instant, Instant)>,
}

impl Subscriber for Stopwatch {
    fn name(&self) -> &'static str {
        "stopwatch"
    }

    fn event(&mut self, envelope: &Envelope) -> Result<(), SubscriberFailed> {
        match envelope.event {
            Event::RoundStarted { round_number: 1 } => self.began = Some(Instant::now()),
            Event::RoundCompleted { round_number: 1, .. } => self.round_1 = self.began.map(|began| (began, Instant::now())),
            _ => {}
        }
        Ok(())
    }
}

/// Is never asked: consent stands.
#[derive(Debug)]
struct Nobody;

impl Person for Nobody {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(async { Answer::Gone })
    }
}
