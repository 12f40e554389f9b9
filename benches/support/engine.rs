//! Consultations as the command runs them, in this process: driver, providers over HTTP and
//! journal.

use std::path::Path;
use std::sync::Arc;

use conclave::consultation::Consultation;
use conclave::consultation::event::{Answer, Envelope};
use conclave::consultation::machine::Question;
use conclave::consultation::plan::{Control, Plan};
use conclave::consultation::policy::consent::ConsentMode;
use conclave::consultation::prompt::Templates;
use conclave::consultation::transcript::Transcript;
use conclave::domain::ids::{ConsultationId, ModelRef, ProviderId, SeatId};
use conclave::domain::model::vendors;
use conclave::domain::panel::{Panel, Seat};
use conclave::engine::clock::Clock;
use conclave::engine::dispatcher::Dispatcher;
use conclave::engine::dispatcher::pool::PoolRules;
use conclave::engine::driver::{Driver, RunStart};
use conclave::engine::ports::{BoxFuture, Person, Provider, Providers, Subscriber};
use conclave::providers::catalog::ModelCatalog;
use conclave::providers::http::{Http, Timeouts};
use conclave::providers::remote::Remote;
use conclave::providers::wire::{Account, Endpoint, Scheme};
use conclave::records::files::ConsultationFiles;
use conclave::records::journal::Journal;
use conclave::terminal::report::report;

/// The vendors of the seats, repeated in this order.
const VENDORS: [&str; 3] = ["anthropic", "openai", "google"];

/// Runs a consultation and stores its journal and results in the folder. The watcher runs after the
/// journal.
pub(crate) fn run(plan: Plan, providers: &Providers, folder: &Path, watcher: &mut dyn Subscriber) {
    let files = ConsultationFiles::in_folder(folder, &plan.id);
    let mut journal = Journal::create(&files.journal).unwrap();
    let subscribers = vec![&mut journal as &mut dyn Subscriber, watcher];
    let history = runtime().block_on(drive(dispatcher(), plan, providers, subscribers));
    store(&files, journal, &history);
}

/// Runs a consultation concurrently with others of the process, and stores its journal and results
/// in the folder.
pub(crate) async fn run_concurrently(
    dispatcher: Dispatcher,
    plan: Plan,
    providers: &Providers,
    folder: &Path,
) {
    let files = ConsultationFiles::in_folder(folder, &plan.id);
    let mut journal = Journal::create(&files.journal).unwrap();
    let history = drive(dispatcher, plan, providers, vec![&mut journal]).await;
    let write = move || store(&files, journal, &history);
    tokio::task::spawn_blocking(write).await.unwrap();
}

async fn drive<'a>(
    dispatcher: Dispatcher,
    plan: Plan,
    providers: &'a Providers,
    subscribers: Vec<&'a mut dyn Subscriber>,
) -> Vec<Envelope> {
    let mut consultation = Consultation::new(plan);
    let driver = Driver {
        clock: *dispatcher.clock(),
        providers,
        dispatcher,
        budgets: Vec::new(),
        subscribers,
        person: &NoPerson,
        interrupts: tokio::sync::mpsc::unbounded_channel().1,
    };
    driver.run(&mut consultation, RunStart::New).await
}

fn store(files: &ConsultationFiles, mut journal: Journal, history: &[Envelope]) {
    let record = Transcript::fold(history).unwrap().stored_record();
    journal.finish().unwrap();
    files.write_results(&record, &report(&record)).unwrap();
}

/// Returns a dispatcher with the usual rules, on the system's clock.
pub(crate) fn dispatcher() -> Dispatcher {
    Dispatcher::new(Clock::system(), PoolRules::default())
}

/// Returns a runtime with one thread.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

/// Returns a plan with this many seats, whose models are `m0`, `m1`, …, and the judge
/// `openai:judge`.
pub(crate) fn plan(seats: usize) -> Plan {
    let templates = Templates::builtin();
    let seat = |(at, persona): (usize, _)| Seat {
        id: SeatId::new(format!("seat-{at}")),
        persona,
        model: ModelRef::new(VENDORS[at % VENDORS.len()], format!("m{at}")),
    };
    let panel = Panel {
        seats: templates
            .persona_files()
            .map(|(_, persona)| persona)
            .collect::<Vec<_>>()
            .into_iter()
            .cycle()
            .take(seats)
            .enumerate()
            .map(seat)
            .collect(),
        judges: vec![ModelRef::new("openai", "judge")],
    };
    Plan {
        seed: 7,
        // No call waits for another, as in the bare client: queueing is not overhead.
        in_flight: VENDORS
            .iter()
            .map(|id| (ProviderId::new(*id), 64))
            .collect(),
        tool_version: "0.0.0".to_owned(),
        ..Plan::new(
            ConsultationId::from_unique("BENCH"),
            "Should a small team begin with a monolith?",
            panel,
            Control::usual(ConsentMode::PreApproved),
        )
    }
}

/// Returns the providers of all vendors, at this address.
pub(crate) fn providers(url: &str) -> Providers {
    let (catalog, http) = (
        Arc::new(ModelCatalog::builtin()),
        Arc::new(Http::new(Timeouts::default())),
    );
    let provider = |id: &str| {
        let vendor = ProviderId::new(id);
        let dialect = vendors::find(id).unwrap().dialect;
        let base_url = if id == "openai" {
            format!("{url}/v1")
        } else {
            url.to_owned()
        };
        let account = Account {
            key: Some("bench-key".into()),
            origin: "`KEY`".to_owned(),
            scheme: Scheme::Usual,
            is_word: false,
        };
        let remote: Arc<dyn Provider> = Arc::new(Remote::new(
            dialect,
            Endpoint { base_url, account },
            Arc::clone(&catalog),
            Arc::clone(&http),
        ));
        (vendor, remote)
    };
    VENDORS.into_iter().map(provider).collect()
}

/// A person for runs whose consent is given in advance.
#[derive(Debug)]
struct NoPerson;

impl Person for NoPerson {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(async { Answer::Gone })
    }
}
