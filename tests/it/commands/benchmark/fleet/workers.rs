//! Who does which job, and what all workers know of a provider.

use std::time::Duration;

use super::*;

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
    let status = fleet.status();
    assert_eq!(status["queues"][0]["is_served"], false, "{status:#}");
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
    let Some(fleet) = Fleet::of(4, 24) else {
        return;
    };
    let limited = Answer::error(429, "rate_limit_exceeded", "slow down");
    let limited = limited.header("retry-after", "3");
    fleet
        .server
        .on(On::any(), right().delay(Duration::from_millis(30)));
    fleet.server.on(On::any().nth(6), limited);
    let report = fleet.submitter.run(&benchmark(&[])).ends_with(0).json();
    assert_eq!(outcomes(&report).len(), 24);
    let requests = fleet.server.requests();
    let limited = requests
        .iter()
        .filter_map(|it| it.finished)
        .min_by_key(|at| {
            let sixth = requests[5].arrived;
            if *at < sixth {
                Duration::MAX
            } else {
                *at - sixth
            }
        });
    let told = limited.unwrap();
    // Half a second for the news on a busy machine; after that, no worker asks before the end.
    let held = Duration::from_millis(500)..Duration::from_millis(2_950);
    let early = requests.iter().filter(|request| {
        let after = request.arrived.checked_duration_since(told);
        after.is_some_and(|after| held.contains(&after))
    });
    assert_eq!(early.count(), 0, "no worker asks while all wait");
    let after = requests
        .iter()
        .filter(|it| it.arrived >= told + Duration::from_millis(2_950));
    assert!(after.count() > 4, "the rest is asked after it");
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

#[test]
fn job_of_another_version_is_refused_with_a_sentence() {
    use conclave::domain::time::Timestamp;
    use conclave::fleet::job::{FleetJob, RunEntry, RunState};
    use conclave::fleet::journal::StoredJournal;
    use conclave::fleet::link::{FleetAddress, Link};
    use conclave::fleet::names::queue_of;
    use conclave::fleet::{queue, roll};

    let Some(fleet) = Fleet::of(0, 1) else { return };
    let mut fleet = fleet;
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let plan = crate::support::script::plan();
    let (link, name) = runtime.block_on(async {
        let mut address = FleetAddress::new(&fleet.nats.url()).unwrap();
        address.lease = Duration::from_secs(2);
        let link = Link::connect(address).await.unwrap();
        let mut job = FleetJob::new("bench-1", Vec::new(), plan).unwrap();
        job.version = "9.9.9".to_owned();
        let entry = RunEntry {
            version: job.version.clone(),
            state: RunState::Running,
            queues: [queue_of(&job.providers()).unwrap()].into(),
            accounts: Vec::new(),
            owner: String::new(),
            name: "other".to_owned(),
            total: 1,
            done: 0,
            at: Timestamp(0),
        };
        roll::write_run(&link, &job.run, &entry).await.unwrap();
        queue::submit(&link, &job).await.unwrap();
        (link, job.name())
    });
    fleet.hire(&[]);
    until("it is refused", || {
        let journal = runtime.block_on(StoredJournal::read(&link, &name)).unwrap();
        let refused = journal.refused.unwrap_or_default();
        refused.contains("the job is of conclave 9.9.9")
    });
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
