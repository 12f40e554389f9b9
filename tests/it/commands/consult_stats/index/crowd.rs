//! Concurrent processes in one home: all consultations are indexed, and no process fails.

use std::fs;
use std::thread;

use conclave::records::index::schema;
use rusqlite::{Connection, TransactionBehavior};

use super::{database, statistics, total};
use crate::commands::succeed;
use crate::support::binary::Conclave;
use crate::support::provider_server::ProviderServer;
use crate::support::saved::log_folder;
use crate::support::timeout::until;

const PROCESSES: usize = 8;

#[cfg(target_os = "linux")]
#[test]
fn process_adds_its_rows_to_an_index_created_meanwhile() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    fs::create_dir(conclave.home()).unwrap();
    let mut index = Connection::open(database(&conclave)).unwrap();
    let lock = index
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .unwrap();
    let running = conclave.start(&["consult", "-q", "Shall we?"]);
    // The process has printed its answer, finds an index without tables, and waits for this lock.
    until("the index is open", || {
        running.has_open(&database(&conclave))
    });
    schema::create(&lock).unwrap();
    lock.commit().unwrap();
    drop(index);
    assert_eq!(running.wait().ends_with(0).stderr, "");
    assert_eq!(total(&statistics(&conclave)), 1);
}

#[test]
fn eight_concurrent_processes_index_all_their_consultations() {
    let each = std::env::vars()
        .find(|(name, _)| name == "CONCLAVE_TEST_CROWD")
        .map_or(1, |(_, value)| value.parse().unwrap());
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    thread::scope(|scope| {
        let consult = || {
            for _ in 0..each {
                let ran = conclave.run(&["consult", "-q", "Shall we?"]).ends_with(0);
                assert_eq!(ran.stderr, "");
            }
        };
        for _ in 0..PROCESSES {
            scope.spawn(consult);
        }
    });
    let records = fs::read_dir(log_folder(&conclave))
        .unwrap()
        .filter(|entry| {
            entry
                .as_ref()
                .unwrap()
                .path()
                .extension()
                .is_some_and(|ending| ending == "json")
        });
    assert_eq!(records.count(), PROCESSES * each);
    let connection = Connection::open(database(&conclave)).unwrap();
    let number = |sql: &str| {
        connection
            .query_row(sql, [], |row| row.get::<_, usize>(0))
            .unwrap()
    };
    assert_eq!(
        number("SELECT count(*) FROM consultations WHERE ended = 'completed'"),
        PROCESSES * each
    );
    assert_eq!(number("SELECT count(*) FROM calls"), PROCESSES * each * 9);
    assert_eq!(number("SELECT count(*) FROM open_consultations"), 0);
    drop(connection);
    let before = statistics(&conclave);
    succeed(&conclave, &["consult-stats", "--rebuild-index"]);
    let rebuilt = statistics(&conclave);
    assert_eq!(rebuilt.stdout, before.stdout);
    assert_eq!(total(&rebuilt), u64::try_from(PROCESSES * each).unwrap());
}
