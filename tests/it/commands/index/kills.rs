//! Rebuilds killed at any time.

use std::time::Duration;

use rusqlite::Connection;
use rustix::process::Signal;

use super::{database, statistics, total, with_records};
use crate::support::binary::Conclave;

/// Returns whether a process is writing the index at this moment.
fn is_locked(conclave: &Conclave) -> bool {
    let connection = Connection::open(database(conclave)).unwrap();
    connection.busy_timeout(Duration::ZERO).unwrap();
    connection
        .execute_batch("BEGIN IMMEDIATE; ROLLBACK")
        .is_err()
}

#[test]
fn rebuild_killed_at_any_time_leaves_the_old_index_working() {
    let times = std::env::vars()
        .find(|(name, _)| name == "CONCLAVE_TEST_KILLS")
        .map_or(6, |(_, value)| value.parse().unwrap());
    let mut random = fastrand::Rng::with_seed(5);
    let conclave = with_records(Conclave::new(), 150);
    let before = statistics(&conclave).stdout;
    let mut during_rebuild = 0;
    for number in 0..times {
        let running = conclave.start(&["consult-stats", "--rebuild-index"]);
        if number % 2 == 0 {
            // The kill comes during the rebuild.
            let _started = (0..200_000).find(|_| {
                std::thread::yield_now();
                is_locked(&conclave)
            });
        }
        for _ in 0..random.u32(0..8_000) {
            std::thread::yield_now();
        }
        during_rebuild += usize::from(is_locked(&conclave));
        running.signal(Signal::KILL);
        running.wait();
        let ran = statistics(&conclave);
        assert_eq!(ran.stdout, before, "kill {number}");
        assert_eq!(ran.stderr, "", "kill {number}");
    }
    assert!(during_rebuild > 0, "some kills came during a rebuild");
    let ran = conclave
        .run(&["consult-stats", "--rebuild-index"])
        .ends_with(0);
    assert_eq!(
        ran.stdout,
        "✅ Index rebuilt successfully. [150] consultations indexed.\n"
    );
    assert_eq!(total(&statistics(&conclave)), 150);
}
