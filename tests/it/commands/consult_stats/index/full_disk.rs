//! A disk that fills at any of the four writes harms neither the earlier files nor the answer.

use std::fs;
use std::path::{Path, PathBuf};

use conclave::records::journal::read_journal;
use serde_json::Value;

use super::{statistics, total, with_records};
use crate::support::binary::{Conclave, RunOutput};
use crate::support::provider_server::ProviderServer;
use crate::support::saved::log_folder;

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
    // In turn the journal, the record, the Markdown, the index and nothing meets the limit.
    for blocks in [1, 40, 96, 160, 200, 240, 300, 800] {
        let server = ProviderServer::start();
        let conclave = Conclave::at(&server);
        let ran = run_with_file_limit(&conclave, blocks, "consult -q 'Shall we?'").ends_with(0);
        assert!(ran.stdout.starts_with("# Consultation\n"), "{blocks}");
        let logs = log_folder(&conclave);
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

#[test]
fn rebuild_on_a_full_disk_leaves_only_the_old_index() {
    let conclave = with_records(Conclave::new(), 40);
    let before = statistics(&conclave).stdout;
    for blocks in [8, 100] {
        let ran =
            run_with_file_limit(&conclave, blocks, "consult-stats --rebuild-index").ends_with(1);
        ran.assert_stderr_contains("hint: the records are intact");
        let ran = statistics(&conclave);
        assert_eq!(ran.stdout, before, "{blocks}");
        assert_eq!(ran.stderr, "", "{blocks}");
    }
}

#[test]
fn history_is_listed_when_no_file_can_grow() {
    let conclave = with_records(Conclave::new(), 2);
    let listed = |state: &str| {
        let ran = run_with_file_limit(&conclave, 0, "history --all --json").ends_with(0);
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
