//! The index as users see it: built and repaired on the spot with a note, and never in the way of
//! an answer.

mod crowd;
mod full_disk;
#[cfg(target_os = "linux")]
mod kills;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use rusqlite::Connection;
use rustix::process::Signal;

use crate::records::index::open::{DAMAGES, foreign, overwrite};
use crate::support::binary::{Conclave, RunOutput};
use crate::support::generated::{self, Length};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

const BUILT: &str = "There is no index of the consultations yet; building it from their records.\n";
const REPAIRED: &str =
    "The index of the consultations is damaged; rebuilding it from their records.\n";

fn logs(conclave: &Conclave) -> PathBuf {
    conclave.home().join("consult-logs")
}

fn database(conclave: &Conclave) -> PathBuf {
    conclave.home().join("consult-analytics.db")
}

/// Returns a home with this many records and no index.
fn with_records(conclave: Conclave, count: usize) -> Conclave {
    fs::create_dir_all(logs(&conclave)).unwrap();
    generated::write(&logs(&conclave), 1, count, Length::Short);
    conclave
}

/// Returns the number of consultations in the statistics, declined ones included.
fn total(ran: &RunOutput) -> u64 {
    let usage = &ran.json()["usage"];
    usage["total"].as_u64().unwrap() + usage["by_state"]["declined"].as_u64().unwrap()
}

fn statistics(conclave: &Conclave) -> RunOutput {
    conclave.run(&["consult-stats", "--json"]).ends_with(0)
}

/// Writes the write-ahead log into the database, so that all of it can be damaged.
fn checkpoint(conclave: &Conclave) {
    let connection = Connection::open(database(conclave)).unwrap();
    connection
        .query_row("PRAGMA wal_checkpoint(truncate)", [], |_| Ok(()))
        .unwrap();
}

#[test]
fn missing_index_is_built_from_records_with_one_note() {
    let conclave = with_records(Conclave::new(), 5);
    let ran = statistics(&conclave);
    assert_eq!(total(&ran), 5);
    assert_eq!(ran.stderr, BUILT);
    let ran = statistics(&conclave);
    assert_eq!(total(&ran), 5);
    assert_eq!(ran.stderr, "");
}

#[test]
fn command_without_records_prints_nothing_and_creates_no_home() {
    let conclave = Conclave::new();
    let ran = statistics(&conclave);
    assert_eq!(total(&ran), 0);
    assert_eq!(ran.stderr, "");
    assert!(!conclave.home().exists());
    fs::create_dir(conclave.home()).unwrap();
    let ran = statistics(&conclave);
    assert_eq!(total(&ran), 0);
    assert_eq!(ran.stderr, "");
    assert!(database(&conclave).exists());
}

#[test]
fn damaged_index_is_rebuilt_by_any_command_without_loss() {
    let conclave = with_records(Conclave::new(), 12);
    let before = statistics(&conclave).stdout;
    for (name, damage) in DAMAGES {
        checkpoint(&conclave);
        damage(&database(&conclave));
        let ran = statistics(&conclave);
        assert_eq!(ran.stdout, before, "{name}");
        assert_eq!(ran.stderr, REPAIRED, "{name}");
    }
    assert_eq!(statistics(&conclave).stderr, "");
}

#[test]
fn damage_found_by_a_query_is_repaired() {
    let conclave = with_records(Conclave::new(), 12);
    let before = statistics(&conclave).stdout;
    checkpoint(&conclave);
    let pages = usize::try_from(fs::metadata(database(&conclave)).unwrap().len() / 4096).unwrap();
    // The first pages hold the names of the tables.
    (8..pages).for_each(|page| overwrite(&database(&conclave), page, 3));
    let ran = statistics(&conclave);
    assert_eq!(ran.stdout, before);
    assert_eq!(ran.stderr, REPAIRED);
    assert_eq!(statistics(&conclave).stderr, "");
}

#[test]
fn foreign_database_is_preserved_and_a_new_index_is_built() {
    let conclave = with_records(Conclave::new(), 4);
    foreign(&database(&conclave));
    let ran = statistics(&conclave);
    let preserved = conclave.home().join("consult-analytics.db.before-conclave");
    let note = format!(
        "The index of the consultations belongs to another program; building one from their records.\nThe old index is now {}\n",
        preserved.display()
    );
    assert_eq!(total(&ran), 4);
    assert_eq!(ran.stderr, note);
    let question: String = Connection::open(preserved)
        .unwrap()
        .query_row("SELECT question FROM consultations", [], |row| row.get(0))
        .unwrap();
    assert_eq!(question, "Why?");
}

/// Builds an index and marks it as written by another version.
fn build_index_of_another_version(conclave: &Conclave) {
    statistics(conclave);
    Connection::open(database(conclave))
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
}

#[test]
fn index_of_another_version_is_rebuilt_with_a_note() {
    let conclave = with_records(Conclave::new().variable("LC_ALL", "C.UTF-8"), 3);
    build_index_of_another_version(&conclave);
    let ran = statistics(&conclave);
    assert_eq!(total(&ran), 3);
    assert_eq!(
        ran.stderr,
        "The index of the consultations was written by another version; rebuilding it from their \
         records.\n"
    );
    assert_eq!(statistics(&conclave).stderr, "");
}

#[test]
fn rebuild_reports_counts_and_omitted_files() {
    let conclave = with_records(Conclave::new(), 7);
    for number in 1..=5 {
        fs::write(
            logs(&conclave).join(format!("consult-torn{number}.json")),
            "{",
        )
        .unwrap();
    }
    let ran = conclave
        .run(&["consult-stats", "--rebuild-index"])
        .ends_with(0);
    assert_eq!(
        ran.stdout,
        "✅ Index rebuilt successfully. [7] consultations indexed.\n"
    );
    assert_eq!(
        ran.stderr,
        "Skipped 5 files:\n  consult-torn1.json: it is not JSON\n  consult-torn2.json: it is not JSON\n  consult-torn3.json: it is not JSON\n  \
         and 2 more\n"
    );
}

#[test]
fn records_are_read_when_the_index_cannot_be_used() {
    let conclave = with_records(Conclave::new(), 1);
    fs::create_dir(database(&conclave)).unwrap();
    let ran = statistics(&conclave);
    assert_eq!(total(&ran), 1);
    assert!(
        ran.stderr.starts_with(&format!(
            "Cannot read the index `{}`: is a directory; the records are read instead\n",
            database(&conclave).display()
        )),
        "{}",
        ran.stderr
    );
}

#[test]
fn link_that_leads_to_no_index_is_set_aside() {
    let conclave = with_records(Conclave::new(), 1);
    let victim = conclave.folder().join("victim");
    for (number, content) in [(1, "some text"), (2, "")] {
        fs::write(&victim, content).unwrap();
        symlink(&victim, database(&conclave)).unwrap();
        let ran = conclave.run(&["history", "--json"]).ends_with(0);
        assert_eq!(ran.json()["total"], 1);
        assert_eq!(fs::read_to_string(&victim).unwrap(), content);
        let suffix = [".before-conclave", ".before-conclave-2"][number - 1];
        let aside = conclave
            .home()
            .join(format!("consult-analytics.db{suffix}"));
        assert_eq!(fs::read_link(aside).unwrap(), victim);
        assert!(fs::symlink_metadata(database(&conclave)).unwrap().is_file());
        remove_index(&conclave);
    }
}

#[test]
fn link_to_an_index_is_used() {
    let conclave = with_records(Conclave::new(), 1);
    conclave.run(&["history"]).ends_with(0);
    let elsewhere = conclave.folder().join("elsewhere.db");
    fs::copy(database(&conclave), &elsewhere).unwrap();
    remove_index(&conclave);
    symlink(&elsewhere, database(&conclave)).unwrap();
    let ran = conclave.run(&["history", "--json"]).ends_with(0);
    assert_eq!(ran.json()["total"], 1);
    assert_eq!(fs::read_link(database(&conclave)).unwrap(), elsewhere);
}

/// Removes the database and the files of `SQLite` beside it.
fn remove_index(conclave: &Conclave) {
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(
            conclave
                .home()
                .join(format!("consult-analytics.db{suffix}")),
        );
    }
}

#[test]
fn finished_consultation_is_indexed() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let ran = conclave.run(&["consult", "Shall we?"]).ends_with(0);
    assert!(!ran.stderr.contains("index"), "{}", ran.stderr);
    conclave
        .run(&["consult", "-q", "Shall we again?"])
        .ends_with(0);
    let connection = Connection::open(database(&conclave)).unwrap();
    let number = |sql: &str| {
        connection
            .query_row(sql, [], |row| row.get::<_, i64>(0))
            .unwrap()
    };
    assert_eq!(
        number("SELECT count(*) FROM consultations WHERE ended = 'completed'"),
        2
    );
    assert_eq!(number("SELECT count(*) FROM calls"), 18);
    assert_eq!(number("SELECT count(*) FROM open_consultations"), 0);
}

#[test]
fn consultation_clears_temporary_files_of_killed_processes() {
    let server = ProviderServer::start();
    let conclave = with_records(Conclave::at(&server), 1);
    conclave.run(&["history"]).ends_with(0);
    let folders = [conclave.home(), logs(&conclave)];
    let old = std::time::UNIX_EPOCH;
    for folder in &folders {
        let leftover = fs::File::create(folder.join(".conclave-aB3xyz")).unwrap();
        leftover.set_modified(old).unwrap();
        fs::write(folder.join(".conclave-new123"), "").unwrap();
    }
    conclave.run(&["consult", "Shall we?"]).ends_with(0);
    for folder in &folders {
        assert!(!folder.join(".conclave-aB3xyz").exists());
        assert!(folder.join(".conclave-new123").exists());
    }
}

#[test]
fn unlogged_consultation_is_not_indexed() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    conclave.run(&["consult", "-n", "Shall we?"]).ends_with(0);
    assert!(!conclave.home().exists());
    conclave.run(&["consult", "Shall we?"]).ends_with(0);
    conclave
        .run(&["consult", "--no-log", "Shall we?"])
        .ends_with(0);
    assert_eq!(total(&statistics(&conclave)), 1);
}

#[test]
fn damaged_index_is_repaired_after_the_answer_is_printed() {
    let server = ProviderServer::start();
    let conclave = with_records(Conclave::at(&server), 3);
    for (count, note) in [(4, BUILT), (5, REPAIRED)] {
        if note == REPAIRED {
            checkpoint(&conclave);
            fs::write(database(&conclave), "dear diary").unwrap();
        }
        let ran = conclave.run(&["consult", "Shall we?"]).ends_with(0);
        assert!(ran.stdout.starts_with("# Consultation\n"));
        assert!(ran.stderr.ends_with(note), "{}", ran.stderr);
        let ran = statistics(&conclave);
        assert_eq!(total(&ran), count);
        assert_eq!(ran.stderr, "");
    }
    checkpoint(&conclave);
    fs::write(database(&conclave), "dear diary").unwrap();
    let ran = conclave.run(&["consult", "-q", "Shall we?"]).ends_with(0);
    assert_eq!(ran.stderr, "");
    assert_eq!(total(&statistics(&conclave)), 6);
}

#[test]
fn unwritable_index_is_reported_once_and_changes_nothing_else() {
    let server = ProviderServer::start();
    let conclave = with_records(Conclave::at(&server), 2);
    fs::create_dir(database(&conclave)).unwrap();
    let ran = conclave.run(&["consult", "-q", "Shall we?"]).ends_with(0);
    assert!(ran.stdout.starts_with("# Consultation\n"));
    let note = format!(
        "Failed to index the consultation: cannot read the index `{}`",
        database(&conclave).display()
    );
    assert!(
        ran.stderr.starts_with(&note) && ran.stderr.lines().count() == 1,
        "{}",
        ran.stderr
    );
}

#[test]
fn killed_consultation_is_counted_before_and_after_resume() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::OpenAi).nth(7),
        Answer::text("never to be finished").stall(),
    );
    let conclave = Conclave::at(&server);
    conclave.run(&["consult", "Shall we?"]).ends_with(0);
    let running = conclave.start(&["consult", "And then?"]);
    server.wait_until("the judge is asked", |requests| requests.len() >= 9 + 4);
    let states = |ran: &RunOutput| ran.json()["usage"]["by_state"].clone();
    let open_consultations = || {
        let connection = Connection::open(database(&conclave)).unwrap();
        connection
            .query_row("SELECT count(*) FROM open_consultations", [], |row| {
                row.get::<_, i64>(0)
            })
            .unwrap()
    };
    assert_eq!(
        states(&statistics(&conclave)),
        serde_json::json!({"completed": 1, "aborted": 0, "declined": 0, "unfinished": 0})
    );
    assert_eq!(open_consultations(), 1);
    running.signal(Signal::KILL);
    running.wait();
    assert_eq!(
        states(&statistics(&conclave)),
        serde_json::json!({"completed": 1, "aborted": 0, "declined": 0, "unfinished": 1})
    );
    assert_eq!(open_consultations(), 0);
    conclave.run(&["resume"]).ends_with(0);
    assert_eq!(
        states(&statistics(&conclave)),
        serde_json::json!({"completed": 2, "aborted": 0, "declined": 0, "unfinished": 0})
    );
}

#[test]
fn dry_run_creates_no_index() {
    let server = ProviderServer::start();
    let conclave = with_records(Conclave::at(&server), 2);
    conclave
        .run(&["consult", "--dry-run", "Shall we?"])
        .ends_with(0);
    assert_eq!(fs::read_dir(conclave.home()).unwrap().count(), 1);
}
