//! Loops that are interrupted at each of their events, and resumed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use super::{Refinement, answer_to, arguments, asking, open, without_ids};
use crate::support::binary::Conclave;
use crate::support::provider_server::Hold;

/// The files of a folder.
type Files = BTreeMap<PathBuf, Vec<u8>>;

fn files(folder: &Path) -> Files {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let files = paths.filter(|path| path.is_file());
    files
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect()
}

/// A loop of two iterations over three questions, one of which stays open.
struct WholeLoop {
    refinement: Refinement,
    log: Vec<Value>,
    /// The document before the loop and after each iteration.
    texts: [String; 3],
    consultations: Files,
}

impl WholeLoop {
    fn run() -> Self {
        let refinement = Refinement::of(3);
        refinement.on(2, open());
        let before = refinement.document();
        let hold = Hold::new();
        refinement
            .server
            .on(asking(2).nth(2), open().held_by(&hold));
        let running = refinement.start(&[]);
        refinement.wait_for_requests(4);
        let between = refinement.document();
        hold.release();
        running.wait().ends_with(0);
        Self {
            texts: [before, between, refinement.document()],
            log: refinement.log(),
            consultations: files(&refinement.conclave.home().join("consult-logs")),
            refinement,
        }
    }

    /// Puts everything back as it was when the log had these events and the document this text.
    /// Returns the number of consultations that had begun.
    fn return_to(&self, events: &[Value], text: &str) -> usize {
        let lines: Vec<String> = events.iter().map(|event| format!("{event}\n")).collect();
        let log = self.refinement.folder().join("log.jsonl");
        std::fs::write(log, lines.concat()).unwrap();
        self.refinement.write(text);
        let begun = events
            .iter()
            .filter(|event| event["event"] == "batch_started");
        let begun: BTreeSet<&str> = begun
            .map(|event| event["consultation"].as_str().unwrap())
            .collect();
        let folder = self.refinement.conclave.home().join("consult-logs");
        for path in files(&folder).into_keys() {
            std::fs::remove_file(path).unwrap();
        }
        for (path, bytes) in &self.consultations {
            let name = path.file_name().unwrap().to_str().unwrap();
            if begun.iter().any(|id| name.starts_with(id)) {
                std::fs::write(path, bytes).unwrap();
            }
        }
        begun.len()
    }

    /// Resumes the loop, and compares its end with that of the uninterrupted one.
    fn resume(&self, events: &[Value], text: &str) {
        let begun = self.return_to(events, text);
        let before = self.refinement.server.requests().len();
        let place = format!("after {}", events.last().unwrap());
        let output = self.refinement.run(&[]);
        assert_eq!(output.code, Some(0), "{place}: {}", output.stderr);
        let asked = self.refinement.server.requests().len() - before;
        assert_eq!(asked, 4 - begun, "{place}");
        let document = without_ids(&self.refinement.document());
        assert_eq!(document, without_ids(&self.texts[2]), "{place}");
    }
}

#[test]
fn loop_killed_after_any_event_ends_as_an_uninterrupted_one() {
    let whole = WholeLoop::run();
    assert_eq!(whole.log.last().unwrap()["event"], "ended");
    let kind = |at: usize| &whole.log[at]["event"];
    for length in 1..whole.log.len() {
        // The last event of each kind: that any prefix of a log resumes is shown without a binary.
        if whole.log[length..]
            .iter()
            .any(|later| later["event"] == *kind(length - 1))
        {
            continue;
        }
        let events = &whole.log[..length];
        let written = events
            .iter()
            .filter(|event| event["event"] == "document_written");
        let written = written.count();
        whole.resume(events, &whole.texts[written]);
        if kind(length - 1) == "integrated" {
            // It was killed after the document was written, before the log had it.
            whole.resume(events, &whole.texts[written + 1]);
        }
    }
}

#[test]
fn loop_that_lacks_only_its_end_needs_no_key_and_no_consent() {
    let refinement = Refinement::of(1);
    let more = ["--max-iterations", "1"];
    refinement.run(&more).ends_with(0);
    for last in ["document_written", "integrated"] {
        refinement.cut_log_after(last);
        let mut arguments = arguments(&more);
        arguments.retain(|argument| *argument != "--yes");
        let keyless = Conclave::new();
        let mut command = keyless.command();
        command
            .current_dir(refinement.conclave.folder())
            .stdin(Stdio::null());
        let output = command.args(arguments).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "after {last}: {stderr}");
        assert_eq!(refinement.events().last().unwrap(), "ended");
    }
    let changes = std::fs::read_to_string(refinement.folder().join("changes.md")).unwrap();
    assert!(changes.contains(&answer_to(1)), "{changes}");
    assert_eq!(refinement.server.requests().len(), 1);
}
