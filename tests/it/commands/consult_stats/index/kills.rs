//! Rebuilds killed at any time.

use std::time::Duration;

use rusqlite::Connection;
use rustix::process::Signal;

use super::{database, statistics, total, with_records};
use crate::commands::succeed;
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
        .map_or(3, |(_, value)| value.parse().unwrap());
    let mut random = fastrand::Rng::with_seed(5);
    let conclave = with_records(Conclave::new(), 150);
    let before = statistics(&conclave).stdout;
    let (mut at_any_time, mut during_rebuild) = (0, 0);
    while at_any_time < times || during_rebuild < times {
        let running = conclave.start(&["consult-stats", "--rebuild-index"]);
        if at_any_time < times {
            at_any_time += 1;
            for _ in 0..random.u32(0..20_000) {
                std::thread::yield_now();
            }
        } else {
            while !is_locked(&conclave) && !running.has_ended() {
                std::thread::yield_now();
            }
            // A process that stands still with the lock is in the middle of it.
            running.signal(Signal::STOP);
            during_rebuild += usize::from(is_locked(&conclave));
        }
        running.signal(Signal::KILL);
        running.wait();
        let ran = statistics(&conclave);
        let kills = format!("kill {at_any_time}, {during_rebuild} during a rebuild");
        assert_eq!(ran.stdout, before, "{kills}");
        assert_eq!(ran.stderr, "", "{kills}");
    }
    let ran = succeed(&conclave, &["consult-stats", "--rebuild-index"]);
    assert_eq!(
        ran.stdout,
        "✅ Index rebuilt successfully. [150] consultations indexed.\n"
    );
    assert_eq!(total(&statistics(&conclave)), 150);
}
