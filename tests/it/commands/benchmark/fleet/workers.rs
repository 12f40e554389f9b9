//! Who does which job, and what all workers know of a provider.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use async_nats::jetstream::Context;
use conclave::consultation::event::ProviderEvent;
use conclave::consultation::policy::budget::BudgetCheck;
use conclave::consultation::protocol::request::{CallRequest, RequestKey, RequestOption};
use conclave::domain::cost::money::{Cost, MicroUsd};
use conclave::domain::ids::{AgentId, ProviderId};
use conclave::domain::time::Timestamp;
use conclave::engine::clock::Clock;
use conclave::engine::dispatcher::Dispatcher;
use conclave::engine::dispatcher::budget::SharedBudget;
use conclave::engine::dispatcher::pool::PoolRules;
use conclave::fleet::account::{Account, Holding, JobEnding};
use conclave::fleet::job::{FleetJob, JobAccount, RunEntry, RunState, SeenChange};
use conclave::fleet::journal::{JournalWriter, StoredJournal, Tally};
use conclave::fleet::ledger::Ledger;
use conclave::fleet::limits;
use conclave::fleet::link::{FleetAddress, Link};
use conclave::fleet::names::{JobName, queue_of};
use conclave::fleet::queue;
use rustix::process::Signal;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use super::*;
use crate::support::provider_server::Hold;
use crate::support::script::plan;
use crate::support::timeout::receive;

#[test]
fn job_goes_to_a_worker_that_has_its_keys() {
    let Some(mut fleet) = Fleet::of(0, 4) else {
        return;
    };
    let without = Conclave::at(&fleet.server).without("OPENAI_API_KEY");
    fleet.hire_as(without, &[]);
    fleet.join(1);
    let run = fleet.submitter.start(&benchmark(&[]));
    run.wait_until("it says that nobody can", |stderr| {
        stderr.contains("No worker of the fleet can ask openai")
    });
    assert_eq!(fleet.server.requests().len(), 0);
    fleet.hire(&[]);
    let report = run.wait().ends_with(0).json();
    assert_eq!(outcomes(&report).len(), 4);
    let screen = fleet.submitter.run(&["fleet", "status"]).ends_with(0);
    assert!(screen.stdout.contains("4 of 4"), "{}", screen.stdout);
    assert!(
        screen.stdout.contains("anthropic, google, openai"),
        "{}",
        screen.stdout
    );
}

#[test]
fn backoff_that_one_worker_is_told_holds_all() {
    let Some(fleet) = Fleet::of(4, 40) else {
        return;
    };
    let hold = Hold::new();
    fleet.server.on(On::any(), right().held_by(&hold));
    let limited = Answer::error(429, "rate_limit_exceeded", "slow down");
    let limited = limited.header("retry-after", "3");
    fleet.server.on(On::any().nth(4), limited);
    let run = fleet.submitter.start(&benchmark(&[]));
    // The model takes four calls at once, so each worker has one.
    fleet.server.wait_until("all are busy", |requests| {
        requests.len() == 4 && requests.iter().any(|it| it.finished.is_some())
    });
    until("the fleet knows", || {
        fleet.status()["waits"][0]["why"] == "backoff"
    });
    hold.release();
    run.wait().ends_with(0);
    let requests = fleet.server.requests();
    let limited = requests.iter().filter_map(|it| it.finished).min().unwrap();
    let later = requests.iter().map(|it| it.arrived).skip(4);
    let after = later.min().unwrap().duration_since(limited);
    // The worker that was told counts from its own reading of the answer.
    assert!(after >= Duration::from_millis(2_990), "{after:?}");
    assert!(after < Duration::from_secs(4), "{after:?}");
}

#[test]
fn news_of_a_provider_never_wait_for_a_budget_that_waits_for_the_server() {
    let Some(nats) = NatsServer::start() else {
        return;
    };
    let (runtime, link) = connect(&nats);
    let (_other, server) = jetstream(&nats);
    let dispatcher = Dispatcher::new(Clock::system(), PoolRules::seeded(1));
    let (refused, _refused) = watch::channel(BTreeSet::new());
    let sharing = limits::share(link.clone(), "this".to_owned(), dispatcher.clone(), refused);
    runtime.spawn(sharing);
    let limits = runtime.block_on(server.get_key_value("conclave_limits"));
    let budget = Arc::new(Waits {
        link,
        runtime: runtime.handle().clone(),
        limits: limits.unwrap(),
        answers: AtomicUsize::new(0),
    });
    let provider = ProviderId::new("openai");
    let budgets: Vec<Arc<dyn SharedBudget>> = vec![Arc::clone(&budget) as _];
    let (member, _) = dispatcher.join([(provider.clone(), 1)].into(), &[].into(), budgets);
    let cost = Cost::exactly(MicroUsd(1));
    member.request(CallRequest {
        key: RequestKey::Hedge {
            agent: AgentId::Judge,
        },
        options: vec![RequestOption {
            provider,
            worst_case: cost,
            least: cost,
        }],
        beyond_month: false,
    });
    assert_eq!(budget.answers.load(Ordering::Relaxed), Waits::QUESTIONS);
}

/// A budget that waits for the thread of the connection, while a worker says that it has to wait.
#[derive(Debug)]
struct Waits {
    link: Link,
    runtime: tokio::runtime::Handle,
    limits: async_nats::jetstream::kv::Store,
    answers: AtomicUsize,
}

impl Waits {
    const QUESTIONS: usize = 2_000;
}

impl SharedBudget for Waits {
    fn name(&self) -> &'static str {
        "budget"
    }

    fn limit(&self) -> MicroUsd {
        MicroUsd(1_000)
    }

    fn spent(&self) -> MicroUsd {
        MicroUsd::ZERO
    }

    fn reserve(&self, _: Cost) -> BudgetCheck {
        let change = SeenChange {
            worker: "other".to_owned(),
            at: Clock::system().now(),
            event: ProviderEvent::Held {
                provider: ProviderId::new("openai"),
                wait_ms: 60_000,
                reason: "slow down".to_owned(),
                refused_ms: 0,
            },
        };
        let (limits, change) = (self.limits.clone(), serde_json::to_vec(&change).unwrap());
        let (put, is_put) = mpsc::channel();
        self.runtime.spawn(async move {
            let revision = limits.put("openai.held", change.into()).await;
            put.send(revision).unwrap();
        });
        receive("the change", &is_put).unwrap();
        for _ in 0..Self::QUESTIONS {
            let (done, answer) = mpsc::channel();
            self.link.runtime().spawn(async move { done.send(()) });
            if answer.recv_timeout(Duration::from_secs(1)).is_err() {
                break;
            }
            self.answers.fetch_add(1, Ordering::Relaxed);
        }
        BudgetCheck::Exceeded
    }

    fn settle(&self, _: MicroUsd, _: MicroUsd) {}
}

#[test]
fn worker_that_drains_ends_with_the_queue() {
    let Some(mut fleet) = Fleet::of(0, 6) else {
        return;
    };
    let run = fleet
        .submitter
        .start(&benchmark(&["--panel", "security=openai:gpt-6.1-sol"]));
    run.wait_until("it waits", |stderr| stderr.contains("No worker"));
    fleet.hire(&["--drain", "--jobs", "8"]);
    run.wait().ends_with(0);
    let worker = fleet.workers.remove(0);
    let output = worker.process.wait().ends_with(0);
    output.assert_stderr_contains("6 consultations done, 0 refused");
    assert!(
        !worker.conclave.home().join("consult-logs").exists(),
        "a worker stores nothing"
    );
}

/// Returns the server as another client sees it.
pub(super) fn jetstream(nats: &NatsServer) -> (Runtime, Context) {
    let runtime = Runtime::new().unwrap();
    let server = runtime.block_on(async {
        let client = async_nats::connect(nats.url()).await.unwrap();
        async_nats::jetstream::new(client)
    });
    (runtime, server)
}

/// Returns a connection of the test's own.
fn connect(nats: &NatsServer) -> (Runtime, Link) {
    let runtime = Runtime::new().unwrap();
    let mut address = FleetAddress::new(&nats.url()).unwrap();
    address.lease = Duration::from_secs(2);
    let link = runtime
        .block_on(Link::connect(address, std::sync::Arc::new(|_| {})))
        .unwrap();
    (runtime, link)
}

/// Submits a job, and tells the workers of its queue.
async fn submit(link: &Link, job: &FleetJob) {
    let entry = |_| {
        Some(RunEntry {
            version: job.version.clone(),
            state: RunState::Running,
            queues: [queue_of(&job.providers()).unwrap()].into(),
            accounts: job.accounts.clone(),
            owner: String::new(),
            name: "other".to_owned(),
            total: 1,
            done: 0,
            at: Timestamp(0),
        })
    };
    let runs = &link.stores().runs;
    runs.update(&job.run, entry).await.unwrap();
    queue::submit(link, job).await.unwrap();
}

#[test]
fn job_that_no_worker_can_do_is_refused_with_a_sentence() {
    let Some(mut fleet) = Fleet::of(0, 1) else {
        return;
    };
    let (runtime, link) = connect(&fleet.nats);
    let mut other = FleetJob::new("bench-1", Vec::new(), plan()).unwrap();
    other.version = "9.9.9".to_owned();
    let (_other, server) = jetstream(&fleet.nats);
    // More than a message takes: it goes to the object store, which loses it.
    let mut gone = FleetJob::new("bench-2", Vec::new(), plan()).unwrap();
    gone.plan.question = "Why? ".repeat(200_000);
    runtime.block_on(async {
        for job in [&other, &gone] {
            submit(&link, job).await;
        }
        let objects = server.get_stream("OBJ_conclave_objects").await.unwrap();
        objects.purge().await.unwrap();
    });
    fleet.hire(&[]);
    let refusals = [
        (&other, "the job is of conclave 9.9.9"),
        (
            &gone,
            "a large message on the server cannot be read: it is gone",
        ),
    ];
    for (job, reason) in refusals {
        until("it is refused", || {
            let journal = runtime.block_on(StoredJournal::read(&link, &job.name()));
            let refused = journal.unwrap().refused.unwrap_or_default();
            refused.contains(reason)
        });
    }
}

/// The claim of a job that was closed. Other jobs have as many claims before one counts, and less time
/// than leases for them.
const CLOSED: u64 = 60;

#[test]
fn job_whose_claim_is_older_than_one_that_was_closed_is_claimed_again_at_once() {
    let Some(mut fleet) = Fleet::of(0, 1) else {
        return;
    };
    let (runtime, link) = connect(&fleet.nats);
    let accounts = vec![JobAccount {
        key: "run.bench-1".to_owned(),
        name: "suite".to_owned(),
    }];
    let ledger = Ledger::new(&link);
    let earlier = JobName::new("bench-1", "consult-earlier").unwrap();
    let job = FleetJob::new("bench-1", accounts.clone(), plan()).unwrap();
    runtime.block_on(async {
        let key = &accounts[0].key;
        let begin = |_| Some(Account::default());
        link.stores().ledger.update(key, begin).await.unwrap();
        let writer = JournalWriter::start(&link, &earlier, CLOSED, Tally::default());
        ledger.open(&accounts, &writer.claim).await.unwrap();
        let ended = Some((Holding::new(CLOSED, MicroUsd(7)), JobEnding::Final));
        ledger.end(&accounts, &earlier.id, ended).await;
        submit(&link, &job).await;
    });
    fleet.hire(&["--drain"]);
    let output = fleet.workers.remove(0).process.wait().ends_with(0);
    output.assert_stderr_contains("1 consultation done, 0 refused");
    let account = runtime.block_on(link.stores().ledger.get(&accounts[0].key));
    let account = account.unwrap().0.unwrap();
    assert!(account.jobs.is_empty(), "{account:?}");
    assert!(account.spent > MicroUsd(7), "{account:?}");
}

#[test]
fn job_that_takes_longer_than_a_lease_stays_with_its_worker() {
    let Some(fleet) = Fleet::of(2, 2) else {
        return;
    };
    let slow = right().delay(Duration::from_secs(3));
    fleet.server.on(On::any(), slow);
    fleet.submitter.run(&benchmark(&[])).ends_with(0);
    assert_eq!(fleet.server.requests().len(), 2);
}

#[test]
fn run_needs_no_other_rights_than_those_of_the_manual() {
    let manual = include_str!("../../../../../docs/fleet.md");
    let (_, rights) = manual.split_once("authorization").unwrap();
    let (rights, _) = rights.split_once("```").unwrap();
    let config = format!("authorization{rights}");
    let Some(mut nats) = NatsServer::with(&config) else {
        return;
    };
    nats.login = "fleet:CHANGE-ME@";
    let url = nats.url();
    let fleet = Fleet::on(nats, 2, 12);
    let report = fleet.submitter.run(&benchmark(&["--max-cost", "5"]));
    assert_eq!(outcomes(&report.ends_with(0).json()).len(), 12);
    assert_eq!(fleet.run_status()["state"], "ended");
    let (_, place) = url.split_once('@').unwrap();
    let refused = fleet
        .submitter
        .run(&["fleet", "status", &format!("nats://{place}")]);
    (refused.ends_with(1)).assert_stderr_contains("cannot connect");
}

#[test]
fn monthly_budget_of_a_worker_is_not_kept_which_it_says() {
    let Some(mut fleet) = Fleet::of(0, 4) else {
        return;
    };
    let frugal = Conclave::at(&fleet.server).config(r#"{"monthly_budget": 0}"#);
    fleet.hire_as(frugal, &[]);
    fleet.join(1);
    let report = fleet.submitter.run(&benchmark(&[])).ends_with(0).json();
    assert_eq!(outcomes(&report).len(), 4);
    let worker = fleet.workers.remove(0);
    worker.process.signal(Signal::INT);
    let output = worker.process.wait().ends_with(0);
    output.assert_stderr_contains("a worker does not keep `monthly_budget`");
}

#[test]
fn fleet_that_is_not_there_is_named_without_its_password() {
    let conclave = Conclave::new();
    let address = "nats://me:pass@127.0.0.1:9";
    let output = conclave.run(&["fleet", "status", address]).ends_with(1);
    output.assert_stderr_contains("cannot connect to the NATS server at nats://127.0.0.1:9");
    assert!(!output.stderr.contains("pass"), "{}", output.stderr);
    let unnamed = conclave.run(&["worker"]).ends_with(2);
    unnamed.assert_stderr_contains("no fleet is named");
    let wrong = conclave.run(&["worker", "http://host"]).ends_with(2);
    wrong.assert_stderr_contains("is `nats://HOST:PORT` or `tls://HOST:PORT`");
}
