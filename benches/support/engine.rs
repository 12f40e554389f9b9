//! Consultations as the command runs them, without its process: driver, providers over HTTP and
//! journal.

use std::path::Path;
use std::sync::Arc;

use conclave::consultation::Consultation;
use conclave::consultation::event::Answer;
use conclave::consultation::plan::{Control, Plan};
use conclave::consultation::policy::consent::ConsentMode;
use conclave::consultation::prompt::Templates;
use conclave::consultation::protocol::Question;
use conclave::consultation::transcript::Transcript;
use conclave::domain::ids::{ConsultationId, ModelRef, ProviderId, SeatId};
use conclave::domain::panel::{Panel, Seat};
use conclave::domain::vendors;
use conclave::engine::clock::Clock;
use conclave::engine::dispatcher::Dispatcher;
use conclave::engine::dispatcher::pool::PoolRules;
use conclave::engine::driver::{Driver, Providers, RunStart};
use conclave::engine::ports::{BoxFuture, Person, Provider, Subscriber};
use conclave::providers::catalog::ModelCatalog;
use conclave::providers::http::{Http, Timeouts};
use conclave::providers::remote::Remote;
use conclave::providers::wire::{Account, Endpoint, Scheme};
use conclave::records::files::ConsultationFiles;
use conclave::records::journal::Journal;
use conclave::terminal::report::report;

/// The vendors of the seats, in turn.
const VENDORS: [&str; 3] = ["anthropic", "openai", "google"];

/// Runs a consultation and stores its journal and results in the folder. The watcher runs after the
/// journal.
pub(crate) fn run(plan: Plan, providers: &Providers, folder: &Path, watcher: &mut dyn Subscriber) {
    let files = ConsultationFiles::in_folder(folder, &plan.id);
    let mut journal = Journal::create(&files.journal).unwrap();
    let mut consultation = Consultation::new(plan);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let history = runtime.block_on(async {
        let subscribers: Vec<&mut dyn Subscriber> = vec![&mut journal, watcher];
        let interrupts = tokio::sync::mpsc::unbounded_channel().1;
        Driver {
            clock: Clock::system(),
            providers,
            dispatcher: Dispatcher::new(Clock::system(), PoolRules::default()),
            budgets: Vec::new(),
            subscribers,
            person: &NoPerson,
            interrupts,
        }
        .run(&mut consultation, RunStart::New)
        .await
    });
    let transcript = Transcript::fold(&history).unwrap();
    journal.finish().unwrap();
    files
        .write_results(&transcript, &report(&transcript))
        .unwrap();
}

/// Runs a consultation beside others of the process, and keeps its journal and results in the
/// folder.
pub(crate) async fn run_beside(
    dispatcher: Dispatcher,
    clock: Clock,
    plan: Plan,
    providers: &Providers,
    folder: &Path,
) {
    let files = ConsultationFiles::in_folder(folder, &plan.id);
    let mut journal = Journal::create(&files.journal).unwrap();
    let mut consultation = Consultation::new(plan);
    let interrupts = tokio::sync::mpsc::unbounded_channel().1;
    let driver = Driver {
        clock,
        providers,
        dispatcher,
        budgets: Vec::new(),
        subscribers: vec![&mut journal],
        person: &NoPerson,
        interrupts,
    };
    let history = driver.run(&mut consultation, RunStart::New).await;
    let write = move || {
        let transcript = Transcript::fold(&history).unwrap();
        journal.finish().unwrap();
        files
            .write_results(&transcript, &report(&transcript))
            .unwrap();
    };
    tokio::task::spawn_blocking(write).await.unwrap();
}

/// A panel of so many seats, whose models are `m0`, `m1`, …, and the judge `openai:judge`.
pub(crate) fn plan(seats: usize) -> Plan {
    let templates = Templates::builtin();
    let seat = |(at, persona): (usize, _)| Seat {
        id: SeatId::new(format!("seat-{at}")),
        persona,
        model: ModelRef::new(VENDORS[at % VENDORS.len()], format!("m{at}")),
    };
    let panel = Panel {
        seats: templates
            .personas()
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
        // All at once, as a bare client asks: what a queue takes is not overhead.
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

/// The vendors, all at this address.
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

/// A person who is never asked: consent is given in advance.
#[derive(Debug)]
struct NoPerson;

impl Person for NoPerson {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(async { Answer::Gone })
    }
}
