//! What may fail at any moment: workers, the server, and its disk.

use std::time::Duration;

use rustix::process::Signal;

use super::workers::jetstream;
use super::*;
use crate::support::provider_server::Hold;

/// Kills of workers in one run.
const KILLS: usize = 20;

#[test]
fn run_outlives_workers_that_are_killed_at_any_moment() {
    let Some(mut fleet) = Fleet::of(4, 80) else {
        return;
    };
    fleet
        .server
        .on(On::any(), right().delay(Duration::from_millis(100)));
    let run = fleet.submitter.start(&benchmark(&["--max-cost", "20"]));
    let mut random = fastrand::Rng::with_seed(7);
    for kill in 0..KILLS {
        // At a random instant of some call.
        let asked = fleet.server.requests().len() + random.usize(1..6);
        let is_over = |requests: usize| requests >= asked || requests >= 80 + kill * 4;
        fleet
            .server
            .wait_until("it asks", |requests| is_over(requests.len()));
        std::thread::sleep(Duration::from_millis(random.u64(0..120)));
        let victim = random.usize(..fleet.workers.len());
        drop(fleet.workers.swap_remove(victim));
        fleet.hire(&[]);
    }
    let report = run.wait().ends_with(0).json();
    assert_eq!(outcomes(&report).len(), 80);
    let paid = paid(&fleet.submitter);
    assert_eq!(paid.len(), 80, "one consultation a case");
    let status = fleet.run_status();
    let (spent, reserved) = (&status["account"]["spent"], &status["account"]["reserved"]);
    // What a killed worker had in flight may have been billed: it counts, and nothing more is held.
    assert!(
        spent.as_u64() >= report["spend"]["cost"]["known"].as_u64(),
        "{status:#}"
    );
    assert!(spent.as_u64().unwrap() <= 20_000_000);
    assert_eq!(*reserved, 0, "{status:#}");
    let calls: usize = paid.values().sum();
    let asked = fleet.server.requests().len();
    // Each worker had four calls in flight at most.
    assert!(
        asked <= calls + KILLS * 4,
        "{asked} requests for {calls} calls"
    );
}

#[test]
fn worker_that_is_stopped_beyond_its_lease_writes_nothing_more() {
    let Some(mut fleet) = Fleet::of(0, 3) else {
        return;
    };
    fleet.hire(&["--verbose"]);
    fleet.join(1);
    let hold = Hold::new();
    fleet.server.on(On::any().nth(1), right().held_by(&hold));
    let run = fleet.submitter.start(&benchmark(&["--jobs", "1"]));
    fleet
        .server
        .wait_until("it asks", |requests| requests.len() == 1);
    fleet.workers[0].process.signal(Signal::STOP);
    fleet.hire(&[]);
    let report = run.wait().ends_with(0).json();
    assert_eq!(outcomes(&report).len(), 3);
    let before = paid(&fleet.submitter);
    assert_eq!(
        before.values().sum::<usize>(),
        3,
        "the call that was lost has no end"
    );
    let account = fleet.run_status()["account"].clone();
    let (runtime, server) = jetstream(&fleet.nats);
    let state = async || {
        let journal = server.get_stream("conclave_journal").await.unwrap();
        journal.get_info().await.unwrap().state.last_sequence
    };
    let stored = runtime.block_on(state());
    // It has its answer now, and has lost the job.
    hold.release();
    fleet.workers[0].process.signal(Signal::CONT);
    let stopped = fleet.workers.swap_remove(0);
    stopped
        .process
        .wait_until("it knows", |stderr| stderr.contains("another worker's now"));
    stopped.process.signal(Signal::INT);
    stopped.process.wait().ends_with(0);
    let now = runtime.block_on(state());
    assert_eq!(now, stored, "it writes in no journal");
    assert_eq!(fleet.run_status()["account"], account);
    assert_eq!(account["reserved"], 0);
}

#[test]
fn run_waits_for_room_on_the_disk_of_the_server_and_loses_nothing() {
    let Some(nats) = NatsServer::with("jetstream { max_file_store: 4MB }") else {
        return;
    };
    let mut fleet = Fleet::on(nats, 0, 12);
    fleet.hire(&["--jobs", "2"]);
    fleet.join(1);
    let hold = Hold::new();
    fleet.server.on(On::any(), right().held_by(&hold));
    let run = fleet.submitter.start(&benchmark(&["--max-cost", "5"]));
    fleet
        .server
        .wait_until("it asks", |requests| requests.len() == 2);
    let (runtime, server) = jetstream(&fleet.nats);
    runtime.block_on(async {
        let filler = async_nats::jetstream::stream::Config {
            name: "filler".to_owned(),
            ..Default::default()
        };
        server.create_stream(filler).await.unwrap();
        for size in [256 << 10, 16 << 10, 1 << 10, 1] {
            let fill = async || {
                let payload = vec![0; size].into();
                server.publish("filler", payload).await.unwrap().await
            };
            while fill().await.is_ok() {}
        }
    });
    hold.release();
    let worker = &fleet.workers[0].process;
    worker.wait_until("it says so", |stderr| {
        stderr.contains("could not store a job or an event")
    });
    let asked = fleet.server.requests().len();
    assert_eq!(
        asked, 2,
        "no call goes out without its start in the journal"
    );
    runtime.block_on(server.delete_stream("filler")).unwrap();
    let report = run.wait().ends_with(0).json();
    assert_eq!(outcomes(&report).len(), 12);
    assert!(fleet.requests().values().all(|requests| *requests == 1));
    assert_eq!(fleet.run_status()["account"]["reserved"], 0);
}

#[test]
fn run_goes_on_when_the_server_is_back() {
    let Some(mut fleet) = Fleet::of(2, 40) else {
        return;
    };
    fleet
        .server
        .on(On::any(), right().delay(Duration::from_millis(50)));
    let run = fleet.submitter.start(&benchmark(&[]));
    for asked in [4, 20] {
        fleet
            .server
            .wait_until("it asks", |requests| requests.len() >= asked);
        fleet.nats.kill();
        fleet.nats.restart();
    }
    let report = run.wait().ends_with(0).json();
    assert_eq!(outcomes(&report).len(), 40);
    assert!(fleet.requests().values().all(|requests| *requests == 1));
    assert_eq!(fleet.run_status()["state"], "ended");
    assert_eq!(paid(&fleet.submitter).len(), 40);
}
