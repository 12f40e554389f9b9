//! A disk that fills at any of the four writes harms neither the earlier files nor the answer.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use conclave::consultation::event::{ConsultationEvent, Event};
use conclave::records::journal::read_journal;
use serde_json::Value;

use super::{logs, statistics, total, with_records};
use crate::support::binary::{Conclave, RunOutput, RunningProcess};
use crate::support::provider_server::ProviderServer;

/// Runs a command whose files are limited to this many blocks of 512 bytes.
fn run_with_file_limit(conclave: &Conclave, blocks: usize, arguments: &str) -> RunOutput {
    conclave.run_limited(&format!("-f {blocks}"), arguments)
}

/// Returns the only file with this extension.
fn only(folder: &Path, ending: &str) -> Option<PathBuf> {
    let mut paths = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == ending)
        });
    let first = paths.next();
    assert_eq!(paths.next(), None);
    first
}

#[test]
fn full_disk_at_any_write_keeps_earlier_files_and_the_answer() {
    let mut seen = std::collections::BTreeSet::new();
    for blocks in [
        1, 8, 32, 40, 64, 96, 128, 160, 180, 200, 220, 240, 260, 300, 400, 800,
    ] {
        let server = ProviderServer::start();
        let conclave = Conclave::at(&server);
        let ran = run_with_file_limit(&conclave, blocks, "consult -q 'Shall we?'").ends_with(0);
        assert!(ran.stdout.starts_with("# Consultation\n"), "{blocks}");
        let logs = logs(&conclave);
        let journal_failed = ran.stderr.contains(".jsonl`");
        let journal = read_journal(&only(&logs, "jsonl").unwrap()).unwrap();
        assert!(
            !journal.is_empty() || journal_failed,
            "{blocks}: {}",
            ran.stderr
        );
        let record: Option<Value> = only(&logs, "json")
            .map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap());
        let markdown = only(&logs, "md").map(|path| fs::read_to_string(path).unwrap());
        if let Some(record) = &record {
            assert_eq!(record["status"], "complete", "{blocks}");
        }
        if let Some(markdown) = &markdown {
            assert_eq!(*markdown, ran.stdout, "{blocks}");
        }
        let index_failed = ran.stderr.contains("Failed to index the consultation: ");
        assert!(
            ran.stderr.lines().count() <= 3 && ran.stderr.matches("Failed to index").count() <= 1,
            "{blocks}: {}",
            ran.stderr
        );
        seen.insert((
            journal_failed,
            record.is_some(),
            markdown.is_some(),
            index_failed,
        ));
        assert!(
            !fs::read_dir(&logs).unwrap().any(|entry| entry
                .unwrap()
                .file_name()
                .to_str()
                .unwrap()
                .starts_with(".conclave-")),
            "{blocks}"
        );
        // With free space, every saved consultation counts.
        let count = total(&statistics(&conclave));
        assert_eq!(
            count,
            u64::from(record.is_some() || !journal.is_empty()),
            "{blocks}: {}",
            ran.stderr
        );
        assert_eq!(only(&logs, "json").is_some(), record.is_some());
    }
    assert!(seen.iter().any(|(journal, ..)| *journal), "{seen:?}");
    assert!(
        seen.contains(&(false, true, true, true)) && seen.contains(&(false, true, true, false)),
        "{seen:?}"
    );
}

/// Runs a consultation in a home on a file system of this size, and copies the files to `copy`.
/// Returns `None` if this system cannot mount one.
fn on_a_small_disk(conclave: &Conclave, kilobytes: u64, copy: &Path) -> Option<RunOutput> {
    let home = conclave.home();
    fs::create_dir_all(&home).unwrap();
    fs::create_dir(copy).unwrap();
    let script = format!(
        "mount -t tmpfs -o size={kilobytes}k none '{0}' || exit 99; \"$0\" consult -q 'Shall we?'; code=$?; cp -r '{0}/.' '{1}'; exit $code",
        home.display(),
        copy.display()
    );
    let mut command = std::process::Command::new("unshare");
    command.args([
        "--map-root-user",
        "--mount",
        "/bin/sh",
        "-c",
        &script,
        env!("CARGO_BIN_EXE_conclave"),
    ]);
    command
        .env_clear()
        .envs(conclave.variables())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let ran = RunningProcess::of(command.spawn().ok()?).wait();
    (ran.code != Some(99) && !ran.stderr.starts_with("unshare")).then_some(ran)
}

/// Returns the size of a file in kilobytes of whole pages.
fn kilobytes(path: Option<PathBuf>) -> u64 {
    fs::metadata(path.unwrap()).unwrap().len().div_ceil(4096) * 4
}

#[test]
fn full_file_system_keeps_everything_written_before() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let copy = |number: u64| conclave.folder().join(format!("copy{number}"));
    let Some(roomy) = on_a_small_disk(&conclave, 8_000, &copy(0)) else {
        return;
    };
    assert_eq!(roomy.code, Some(0));
    assert_eq!(roomy.stderr, "");
    let [journal, record, markdown] = ["jsonl", "json", "md"]
        .map(|ending| kilobytes(only(&copy(0).join("consult-logs"), ending)));
    let mut seen = std::collections::BTreeSet::new();
    let beside = journal + record;
    let expected = [
        (true, false, false, false),
        (true, true, false, false),
        (true, true, true, false),
    ];
    let likely = [
        journal / 2,
        journal + record / 2,
        beside - 4,
        beside,
        beside + 4,
        beside + markdown + 60,
    ];
    // Times take more digits on a busy machine, and so a page more in some of the runs: then others
    // are tried too, several times.
    let others = (0..4).flat_map(|_| (journal..beside + markdown + 60).step_by(4));
    for (number, size) in (1..).zip(likely.into_iter().chain(others)) {
        if number > likely.len() as u64 && expected.iter().all(|kind| seen.contains(kind)) {
            break;
        }
        let copy = copy(number);
        let ran = on_a_small_disk(&conclave, size, &copy)
            .unwrap()
            .ends_with(0);
        assert!(ran.stdout.starts_with("# Consultation\n"), "{size}");
        assert!(ran.stderr.lines().count() <= 2, "{size}: {}", ran.stderr);
        let logs = copy.join("consult-logs");
        let events = read_journal(&only(&logs, "jsonl").unwrap()).unwrap();
        let journal = events.last().is_some_and(|last| {
            matches!(
                last.event,
                Event::Consultation(ConsultationEvent::Completed { .. })
            )
        });
        let record = only(&logs, "json")
            .map(|path| serde_json::from_slice::<Value>(&fs::read(path).unwrap()).unwrap());
        let markdown = only(&logs, "md").map(|path| fs::read_to_string(path).unwrap());
        assert!(
            record
                .as_ref()
                .is_none_or(|record| record["status"] == "complete"),
            "{size}"
        );
        assert!(
            markdown
                .as_ref()
                .is_none_or(|markdown| *markdown == ran.stdout),
            "{size}"
        );
        assert!(ran.stderr.contains("disk"), "{size}: {}", ran.stderr);
        seen.insert((
            journal,
            record.is_some(),
            markdown.is_some(),
            !ran.stderr.contains("Failed to index the consultation: "),
        ));
    }
    // What is cut off a journal can leave room for the record.
    assert!(seen.iter().any(|(journal, ..)| !journal), "{seen:?}");
    for kind in expected {
        assert!(seen.contains(&kind), "{kind:?} is not in {seen:?}");
    }
}

#[test]
fn rebuild_on_a_full_disk_leaves_only_the_old_index() {
    let conclave = with_records(Conclave::new(), 40);
    let before = statistics(&conclave).stdout;
    for blocks in [8, 100] {
        let ran =
            run_with_file_limit(&conclave, blocks, "consult-stats --rebuild-index").ends_with(1);
        assert!(
            ran.stderr.contains("hint: the records are intact"),
            "{}",
            ran.stderr
        );
        let ran = statistics(&conclave);
        assert_eq!(ran.stdout, before, "{blocks}");
        assert_eq!(ran.stderr, "", "{blocks}");
    }
}

#[test]
fn commands_read_records_when_no_index_can_be_written() {
    let conclave = with_records(Conclave::new(), 6);
    let ran = run_with_file_limit(&conclave, 8, "consult-stats --json").ends_with(0);
    assert_eq!(total(&ran), 6);
    assert!(
        ran.stderr.contains("; the records are read instead\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(statistics(&conclave).stdout, ran.stdout);
}

#[test]
fn history_is_listed_when_no_file_can_grow() {
    let conclave = with_records(Conclave::new(), 2);
    let listed = |state: &str| {
        let ran = run_with_file_limit(&conclave, 0, "history --json").ends_with(0);
        assert_eq!(ran.json()["total"], 2, "{state}: {}", ran.stderr);
        ran.stderr
    };
    let stderr = listed("without an index");
    assert!(
        stderr.contains("; the records are read instead\n"),
        "{stderr}"
    );
    conclave.run(&["history"]).ends_with(0);
    listed("with an index");
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(
            conclave
                .home()
                .join(format!("consult-analytics.db{suffix}")),
        );
    }
    listed("with a closed index");
}
