//! The index as users see it: built and repaired on the spot with a note, and never in the way of
//! an answer.

mod crowd;
mod full_disk;
#[cfg(target_os = "linux")]
mod kills;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rustix::process::Signal;
use serde_json::json;

use crate::commands::succeed;
use crate::records::index::open::{foreign, overwrite};
use crate::support::binary::{Conclave, RunOutput};
use crate::support::generated::{self, Length};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};
use crate::support::saved::log_folder;

const REPAIRED: &str = "The index is damaged; building the index from the records\n";

fn database(conclave: &Conclave) -> PathBuf {
    conclave.home().join("consult-analytics.db")
}

/// Returns a home with this many records and no index.
fn with_records(conclave: Conclave, count: usize) -> Conclave {
    fs::create_dir_all(log_folder(&conclave)).unwrap();
    generated::write(&log_folder(&conclave), 1, count, Length::Short);
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
fn missing_index_is_built_from_records_without_a_word() {
    let conclave = with_records(Conclave::new(), 5);
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
fn unusable_index_is_rebuilt_once_with_a_note() {
    let conclave = with_records(Conclave::new(), 12);
    let before = statistics(&conclave).stdout;
    let path = database(&conclave).display().to_string();
    let note = |is: &str| format!("The index `{path}` {is}; building the index from the records\n");
    let cut_in_half = |database: &Path| {
        let half = fs::metadata(database).unwrap().len() / 2;
        let file = fs::File::options().write(true).open(database).unwrap();
        file.set_len(half).unwrap();
    };
    let age = |database: &Path| {
        let connection = Connection::open(database).unwrap();
        connection.pragma_update(None, "user_version", 99).unwrap();
    };
    for (is_cut, note) in [
        (true, note("is damaged")),
        (false, note("was written by another version of conclave")),
    ] {
        checkpoint(&conclave);
        let change: &dyn Fn(&Path) = if is_cut { &cut_in_half } else { &age };
        change(&database(&conclave));
        let ran = statistics(&conclave);
        assert_eq!(ran.stdout, before);
        assert_eq!(ran.stderr, note);
        assert_eq!(statistics(&conclave).stderr, "");
    }
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
        "`{}` is another program's database; building the index from the records\nThe old index \
         is now {}\n",
        database(&conclave).display(),
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

#[test]
fn rebuild_reports_counts_and_omitted_files() {
    let conclave = with_records(Conclave::new(), 7);
    for number in 1..=5 {
        let torn = log_folder(&conclave).join(format!("consult-torn{number}.json"));
        fs::write(torn, "{").unwrap();
    }
    let ran = succeed(&conclave, &["consult-stats", "--rebuild-index"]);
    assert_eq!(
        ran.stdout,
        "✅ Index rebuilt successfully. [7] consultations indexed.\n"
    );
    let torn = |number| format!("  consult-torn{number}.json: it is not JSON\n");
    let named = [1, 2, 3].map(torn).concat();
    let skipped = format!("Skipped 5 files:\n{named}  and 2 more\n");
    assert_eq!(ran.stderr, skipped);
}

#[test]
fn records_are_read_when_the_index_cannot_be_used() {
    let conclave = with_records(Conclave::new(), 1);
    fs::create_dir(database(&conclave)).unwrap();
    let ran = statistics(&conclave);
    assert_eq!(total(&ran), 1);
    ran.assert_stderr_contains(&format!(
        "Cannot read the index `{}`: is a directory; the records are read instead\n",
        database(&conclave).display()
    ));
}

#[test]
fn link_that_leads_to_no_index_is_set_aside() {
    let conclave = with_records(Conclave::new(), 1);
    let victim = conclave.folder().join("victim");
    for (suffix, content) in [("", "some text"), ("-2", "")] {
        fs::write(&victim, content).unwrap();
        symlink(&victim, database(&conclave)).unwrap();
        assert_eq!(total(&statistics(&conclave)), 1);
        assert_eq!(fs::read_to_string(&victim).unwrap(), content);
        let name = format!("consult-analytics.db.before-conclave{suffix}");
        assert_eq!(fs::read_link(conclave.home().join(name)).unwrap(), victim);
        assert!(fs::symlink_metadata(database(&conclave)).unwrap().is_file());
        remove_index(&conclave);
    }
}

#[test]
fn link_to_an_index_is_used() {
    let conclave = with_records(Conclave::new(), 1);
    statistics(&conclave);
    let elsewhere = conclave.folder().join("elsewhere.db");
    fs::copy(database(&conclave), &elsewhere).unwrap();
    remove_index(&conclave);
    symlink(&elsewhere, database(&conclave)).unwrap();
    assert_eq!(total(&statistics(&conclave)), 1);
    assert_eq!(fs::read_link(database(&conclave)).unwrap(), elsewhere);
}

/// Removes the database and the files of `SQLite` beside it.
fn remove_index(conclave: &Conclave) {
    for suffix in ["", "-wal", "-shm"] {
        let name = format!("consult-analytics.db{suffix}");
        let _ = fs::remove_file(conclave.home().join(name));
    }
}

#[test]
fn consultation_clears_temporary_files_of_killed_processes() {
    let server = ProviderServer::start();
    let conclave = with_records(Conclave::at(&server), 1);
    conclave.run(&["history"]).ends_with(0);
    let folders = [conclave.home(), log_folder(&conclave)];
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
fn damaged_index_is_repaired_after_the_answer_is_printed() {
    let server = ProviderServer::start();
    let conclave = with_records(Conclave::at(&server), 3);
    for count in [4, 5] {
        if count == 5 {
            checkpoint(&conclave);
            fs::write(database(&conclave), "dear diary").unwrap();
        }
        let ran = conclave.run(&["consult", "Shall we?"]).ends_with(0);
        assert!(ran.stdout.starts_with("# Consultation\n"));
        let note = "is damaged; building the index from the records\n";
        assert_eq!(ran.stderr.ends_with(note), count == 5, "{}", ran.stderr);
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
    let stalled = Answer::text("never to be finished").stall();
    server.on(On::vendor(Vendor::OpenAi).nth(7), stalled);
    let conclave = Conclave::at(&server);
    conclave.run(&["consult", "Shall we?"]).ends_with(0);
    let running = conclave.start(&["consult", "And then?"]);
    server.wait_until("the judge is asked", |requests| requests.len() >= 9 + 4);
    let assert_states = |completed, unfinished| {
        let states =
            json!({"completed": completed, "aborted": 0, "declined": 0, "unfinished": unfinished});
        assert_eq!(statistics(&conclave).json()["usage"]["by_state"], states);
    };
    let open_consultations = || -> i64 {
        let connection = Connection::open(database(&conclave)).unwrap();
        let sql = "SELECT count(*) FROM open_consultations";
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    assert_states(1, 0);
    assert_eq!(open_consultations(), 1);
    running.signal(Signal::KILL);
    running.wait();
    assert_states(1, 1);
    assert_eq!(open_consultations(), 0);
    conclave.run(&["resume"]).ends_with(0);
    assert_states(2, 0);
}
