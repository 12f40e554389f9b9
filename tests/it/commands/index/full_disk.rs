//! A disk that fills at whichever of the four writes harms none of the earlier ones, and not the answer.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use conclave::records::journal::read_journal;
use serde_json::Value;

use super::{logs, statistics, total, with_records};
use crate::support::binary::{Conclave, Ran, Running};
use crate::support::provider_server::ProviderServer;

/// Runs where no file can grow beyond so many blocks of 512 bytes.
fn limited(conclave: &Conclave, blocks: usize, arguments: &str) -> Ran {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" {arguments}");
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_conclave")]).env_clear().envs(conclave.variables());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Running::of(command.spawn().unwrap()).wait()
}

fn only(folder: &Path, ending: &str) -> Option<std::path::PathBuf> {
    let mut found =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|it| it == ending));
    let first = found.next();
    assert_eq!(found.next(), None);
    first
}

#[test]
fn whichever_write_finds_no_room_those_before_it_are_whole_and_the_answer_is_given() {
    let mut seen = std::collections::BTreeSet::new();
    for blocks in [1, 8, 32, 40, 64, 96, 128, 160, 200, 400] {
        let server = ProviderServer::start();
        let conclave = Conclave::at(&server);
        let ran = limited(&conclave, blocks, "consult -q 'Shall we?'").ends_with(0);
        assert!(ran.stdout.starts_with("# Consultation Summary\n"), "{blocks}");
        let logs = logs(&conclave);
        let journal_failed = ran.stderr.contains(".jsonl`");
        let journal = read_journal(&only(&logs, "jsonl").unwrap()).unwrap();
        assert!(!journal.events.is_empty() || journal_failed, "{blocks}: {}", ran.stderr);
        let record: Option<Value> = only(&logs, "json").map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap());
        let markdown = only(&logs, "md").map(|path| fs::read_to_string(path).unwrap());
        if let Some(record) = &record {
            assert_eq!(record["status"], "complete", "{blocks}");
        }
        if let Some(markdown) = &markdown {
            assert_eq!(*markdown, ran.stdout, "{blocks}");
        }
        let index_failed = ran.stderr.contains("Failed to index the consultation: ");
        assert!(ran.stderr.lines().count() <= 3 && ran.stderr.matches("Failed to index").count() <= 1, "{blocks}: {}", ran.stderr);
        seen.insert((journal_failed, record.is_some(), markdown.is_some(), index_failed));
        assert!(
            !fs::read_dir(&logs).unwrap().any(|entry| entry.unwrap().file_name().to_str().unwrap().starts_with(".conclave-")),
            "{blocks}"
        );
        // With room again, whatever was kept counts.
        let found = total(&statistics(&conclave));
        assert_eq!(found, u64::from(record.is_some() || !journal.events.is_empty()), "{blocks}: {}", ran.stderr);
        assert_eq!(only(&logs, "json").is_some(), record.is_some());
    }
    assert!(seen.iter().any(|(journal, ..)| *journal), "{seen:?}");
    assert!(seen.iter().any(|(journal, record, ..)| !journal && !record), "{seen:?}");
    assert!(seen.contains(&(false, true, true, true)) && seen.contains(&(false, true, true, false)), "{seen:?}");
}

#[test]
fn a_rebuild_that_finds_no_room_leaves_the_old_index_and_nothing_else() {
    let conclave = with_records(Conclave::new(), 40);
    let whole = statistics(&conclave).stdout;
    for blocks in [8, 100] {
        let ran = limited(&conclave, blocks, "consult-stats --rebuild-index").ends_with(1);
        assert!(ran.stderr.contains("hint: the records are unharmed"), "{}", ran.stderr);
        let ran = statistics(&conclave);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), (whole.as_str(), ""), "{blocks}");
        assert!(
            !fs::read_dir(conclave.home()).unwrap().any(|entry| entry.unwrap().file_name().to_str().unwrap().contains(".new-")),
            "{blocks}"
        );
    }
}

#[test]
fn where_no_index_can_be_kept_questions_are_answered_from_the_records() {
    let conclave = with_records(Conclave::new(), 6);
    let ran = limited(&conclave, 8, "consult-stats --json").ends_with(0);
    assert_eq!(total(&ran), 6);
    assert!(ran.stderr.contains("; the records are read instead\n"), "{}", ran.stderr);
    assert_eq!(statistics(&conclave).stdout, ran.stdout);
}
