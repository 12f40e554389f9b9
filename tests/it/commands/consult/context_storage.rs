//! The text of a context in its file: where it is and where it is not, and what resumes, judges and
//! follows up from it.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::Value;
use sha2::{Digest, Sha256};

use conclave::domain::ids::short_id;

use crate::commands::resume::{id_of, stalling_server};
use crate::commands::{moved_to, refused_unasked, succeed};
use crate::support::binary::Conclave;
use crate::support::comparable::comparable;
use crate::support::provider_server::{ProviderServer, RecordedRequest};
use crate::support::saved::log_folder;

/// Words that only the context has.
const MARK: &str = "the gearbox of Zanzibar";

/// Writes a file with the mark, and returns the flags that make it the context.
fn notes(conclave: &Conclave) -> [&'static str; 2] {
    let text = format!("# Notes\n\nConsider {MARK}.\n");
    fs::write(conclave.folder().join("notes.md"), text).unwrap();
    ["-f", "notes.md"]
}

/// Asks a question with the notes as context.
fn asked(server: &ProviderServer) -> Conclave {
    let conclave = Conclave::at(server);
    let [flag, file] = notes(&conclave);
    succeed(&conclave, &["consult", "Shall we?", flag, file]);
    conclave
}

/// Starts a consultation with the notes as context, and ends it during the judge's first call.
fn interrupted(conclave: &Conclave, server: &ProviderServer, signal: Signal) -> String {
    let [flag, file] = notes(conclave);
    let running = conclave.start(&["consult", "Shall we?", flag, file]);
    server.wait_until("the judge is asked", |requests| requests.len() == 4);
    running.signal(signal);
    running.wait().stderr
}

fn has_mark(request: &RecordedRequest) -> bool {
    request.body.to_string().contains(MARK)
}

/// Returns the requests since there were so many.
fn since(server: &ProviderServer, before: usize) -> Vec<RecordedRequest> {
    server.requests().into_iter().skip(before).collect()
}

/// Returns all files below a folder.
fn all_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                all_files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[test]
fn text_is_in_its_private_file_and_nowhere_else() {
    let server = ProviderServer::start();
    let conclave = asked(&server);
    assert!(server.requests().iter().any(has_mark), "it is sent");
    let file = conclave.log("context");
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(
        text,
        format!("### File: notes.md\n\n# Notes\n\nConsider {MARK}.\n\n")
    );
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    for other in all_files(&conclave.home()) {
        let bytes = fs::read(&other).unwrap();
        let is_there = bytes
            .windows(MARK.len())
            .any(|part| part == MARK.as_bytes());
        assert_eq!(is_there, other == file, "{}", other.display());
    }
}

#[test]
fn record_names_sources_size_and_hash() {
    let server = ProviderServer::start();
    let conclave = asked(&server);
    let text = fs::read(conclave.log("context")).unwrap();
    let context = &conclave.record()["context"];
    assert_eq!(context["bytes"], text.len());
    let mut hash = String::new();
    for byte in Sha256::digest(&text) {
        write!(hash, "{byte:02x}").unwrap();
    }
    assert_eq!(context["sha256"], hash);
    assert_eq!(context["storage"], "stored");
    let source = &context["sources"][0];
    assert_eq!(source["kind"], "file");
    assert_eq!(source["name"], "notes.md");
    let read = fs::metadata(conclave.folder().join("notes.md")).unwrap();
    assert_eq!(source["bytes"], read.len());
    let names: Vec<&str> = source
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(names, ["kind", "name", "bytes", "tokens", "sha256"]);
}

#[test]
fn question_without_context_and_no_log_leave_no_file() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let [flag, file] = notes(&conclave);
    let output = conclave
        .run(&["consult", "Shall we?", "--no-log", "--json", flag, file])
        .ends_with(0);
    assert!(!conclave.home().exists());
    assert_eq!(output.json()["context"]["storage"], "off");
    conclave.run(&["consult", "Shall we?"]).ends_with(0);
    assert_eq!(fs::read_dir(log_folder(&conclave)).unwrap().count(), 3);
    assert_eq!(conclave.record()["context"], Value::Null);
}

#[test]
fn setting_switches_the_file_off() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config(r#"{"log_context": false}"#);
    let [flag, file] = notes(&conclave);
    succeed(&conclave, &["consult", "Shall we?", flag, file]);
    assert_eq!(fs::read_dir(log_folder(&conclave)).unwrap().count(), 3);
    let context = &conclave.record()["context"];
    assert_eq!(context["storage"], "off");
    assert_eq!(context["sources"][0]["name"], "notes.md");
}

#[test]
fn file_names_its_consultation_and_goes_with_it() {
    let server = ProviderServer::start();
    let conclave = asked(&server);
    let file = conclave.log("context");
    let shown = conclave
        .run(&["history", "show", "--json", file.to_str().unwrap()])
        .ends_with(0)
        .json();
    assert_eq!(shown["consultation_id"], id_of(&file));
    let rebuilt = succeed(&conclave, &["consult-stats", "--rebuild-index"]);
    let words = format!("{}{}", rebuilt.stdout, rebuilt.stderr);
    assert!(words.contains("[1] consultations indexed"), "{words}");
    assert!(!words.contains("skipped"), "{words}");
    let deleted = succeed(&conclave, &["history", "rm", "--yes", "last"]);
    deleted.assert_stderr_contains("(4 files, ");
    assert_eq!(fs::read_dir(log_folder(&conclave)).unwrap().count(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_costs_the_resume_and_not_the_answer() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    // The text does not fit the limit, and a provider would not cache it.
    let long = format!("{MARK}\n").repeat(130);
    let file = conclave.folder().join("long.md");
    fs::write(&file, long).unwrap();
    let arguments = format!("consult --yes 'Shall we?' -f '{}'", file.display());
    let output = conclave.run_limited("-f 4", &arguments).ends_with(0);
    assert!(output.stdout.starts_with("# Consultation\n"));
    let lines = output.stderr.lines();
    let of_context: Vec<&str> = lines.filter(|line| line.contains(".context`")).collect();
    let [line] = of_context[..] else {
        panic!("{}", output.stderr)
    };
    assert!(
        line.starts_with("Failed to write consultation log: "),
        "{line}"
    );
    assert!(
        line.ends_with("; the consultation cannot be resumed"),
        "{line}"
    );
    for entry in fs::read_dir(log_folder(&conclave)).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name.starts_with("consult-"), "{name}");
    }
}

#[test]
fn exports_name_the_sources_and_hold_no_text() {
    let server = ProviderServer::start();
    let conclave = asked(&server);
    let exported = |format| {
        let arguments = ["history", "export", "last", "--format", format];
        conclave.run(&arguments).ends_with(0).stdout
    };
    for format in ["md", "json", "html"] {
        let text = exported(format);
        assert!(text.contains("notes.md"), "{format}: {text}");
        assert!(!text.contains(MARK), "{format}: {text}");
    }
    let report = exported("md");
    assert!(
        report.contains("\n## Context\n\n- notes.md (16 tokens)\n\n## Cost\n"),
        "{report}"
    );
    let shown = conclave.run(&["history", "show", "last"]).ends_with(0);
    assert_eq!(shown.stdout, report);
    assert!(exported("html").contains("<h2>Context</h2>"));
}

#[test]
fn resume_takes_the_text_from_its_file() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    let stderr = interrupted(&conclave, &server, Signal::INT);
    assert!(
        stderr.contains("resume it with `conclave resume "),
        "{stderr}"
    );
    // The source has changed since, and then gone.
    fs::remove_file(conclave.folder().join("notes.md")).unwrap();
    let before = server.requests().len();
    conclave.run(&["resume"]).ends_with(0);
    let requests = since(&server, before);
    assert_eq!(requests.len(), 6);
    assert!(requests.iter().all(has_mark));

    let uninterrupted = ProviderServer::start();
    let whole = asked(&uninterrupted).record();
    assert_eq!(
        comparable(conclave.record())["context"],
        comparable(whole)["context"]
    );
}

#[test]
fn resume_after_a_journal_line_needs_the_file_and_nothing_else() {
    let server = ProviderServer::start();
    let conclave = asked(&server);
    let expected = comparable(conclave.record());
    let id = id_of(&conclave.log("jsonl"));
    let journal = fs::read_to_string(conclave.log("jsonl")).unwrap();
    let text = fs::read(conclave.log("context")).unwrap();
    let lines: Vec<&str> = journal.split_inclusive('\n').collect();
    // All lines are tried without a context.
    for line_count in [1, lines.len() / 2, lines.len() - 1] {
        let server = ProviderServer::start();
        let conclave = Conclave::at(&server);
        fs::create_dir_all(log_folder(&conclave)).unwrap();
        let beginning = lines[..line_count].concat();
        fs::write(log_folder(&conclave).join(format!("{id}.jsonl")), beginning).unwrap();
        fs::write(log_folder(&conclave).join(format!("{id}.context")), &text).unwrap();
        conclave.run(&["resume", "-q"]).ends_with(0);
        assert_eq!(
            comparable(conclave.record()),
            expected,
            "killed after line {line_count}"
        );
    }
}

#[test]
fn resume_without_the_text_says_why_and_what_to_do() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    interrupted(&conclave, &server, Signal::KILL);
    let (file, id) = (conclave.log("context"), id_of(&conclave.log("jsonl")));
    let text = fs::read_to_string(&file).unwrap();

    fs::remove_file(&file).unwrap();
    let id = short_id(&id);
    let again = format!(
        "hint: put the file back as it was\n\
         hint: ask again with `conclave consult \"…\"` and the same context: notes.md\n\
         hint: see what was answered with `conclave history show {id}`\n"
    );
    let missing = format!(
        "error: cannot resume {id}\n  caused by: the text of its context is missing: there is no \
         `{}`\n{again}",
        file.display()
    );
    assert_eq!(
        refused_unasked(&conclave, &server, &["resume", "last"]),
        missing
    );
    assert_eq!(refused_unasked(&conclave, &server, &["resume"]), missing);

    fs::write(&file, text.replace("gearbox", "glovebox")).unwrap();
    let changed = format!(
        "error: cannot resume {id}\n  caused by: `{}` has changed since the consultation began: its \
         SHA-256 differs\n{again}",
        file.display()
    );
    assert_eq!(
        refused_unasked(&conclave, &server, &["resume", "last"]),
        changed
    );

    fs::write(&file, &text).unwrap();
    conclave.run(&["resume", "last"]).ends_with(0);
}

#[test]
fn run_that_stored_no_text_offers_no_resume() {
    let server = stalling_server();
    let conclave = Conclave::at(&server).variable("CONCLAVE_LOG_CONTEXT", "false");
    let stderr = interrupted(&conclave, &server, Signal::INT);
    assert!(!stderr.contains("conclave resume"), "{stderr}");
    assert_eq!(conclave.record()["resume_token"], Value::Null);
    let listed = conclave.run(&["history", "--json"]).ends_with(0).json();
    assert_eq!(listed["consultations"][0]["resumable"], false);
    let stderr = refused_unasked(&conclave, &server, &["resume", "last"]);
    assert!(
        stderr.contains("was not stored, because `log_context` was off\nhint: ask again with "),
        "{stderr}"
    );
}

#[test]
fn resume_without_an_id_takes_one_whose_text_is_there() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    interrupted(&conclave, &server, Signal::INT);
    let older = id_of(&conclave.log("jsonl"));

    let stalling = stalling_server();
    let conclave = moved_to(&stalling, conclave).variable("CONCLAVE_LOG_CONTEXT", "false");
    interrupted(&conclave, &stalling, Signal::INT);
    let listed = conclave.run(&["history", "--json"]).ends_with(0).json();
    let passed_over = listed["consultations"][0]["consultation_id"].as_str();
    let output = conclave.run(&["resume", "--json"]).ends_with(0);
    assert_eq!(output.json()["consultation_id"], older);
    let warning = format!(
        "Warning: cannot resume {}: the text of its context was not stored, because `log_context` \
         was off\n",
        short_id(passed_over.unwrap())
    );
    assert!(output.stderr.starts_with(&warning), "{}", output.stderr);
}

#[test]
fn killed_process_leaves_nothing_that_hides() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    conclave.run(&["consult", "Before?"]).ends_with(0);
    // Killed between the file and the first event.
    let stem = "consult-01m8000000000000000000000z";
    let [journal, context] =
        ["jsonl", "context"].map(|ending| log_folder(&conclave).join(format!("{stem}.{ending}")));
    fs::write(&journal, "").unwrap();
    fs::write(&context, "### File: a.rs\n\nfn a() {}\n\n").unwrap();
    let stderr = refused_unasked(&conclave, &server, &["resume", stem]);
    assert!(stderr.contains("has no events"), "{stderr}");
    conclave.run(&["history", "rm", "--yes", stem]).ends_with(0);
    assert!(!journal.exists());
    assert!(!context.exists());
}

#[test]
fn rejudge_shows_the_judge_the_same_context() {
    let server = ProviderServer::start();
    let conclave = asked(&server);
    let first = fs::read(conclave.log("context")).unwrap();
    fs::remove_file(conclave.folder().join("notes.md")).unwrap();
    let before = server.requests().len();
    succeed(&conclave, &["history", "rejudge", "last", "--yes"]);
    let requests = since(&server, before);
    assert_eq!(requests.len(), 2);
    assert!(requests.iter().all(has_mark));
    let texts: Vec<Vec<u8>> = all_files(&log_folder(&conclave))
        .iter()
        .filter(|file| file.extension().is_some_and(|ending| ending == "context"))
        .map(|file| fs::read(file).unwrap())
        .collect();
    assert_eq!(texts, [first.clone(), first]);
}

#[test]
fn rejudge_without_the_text_spends_nothing() {
    let server = ProviderServer::start();
    let conclave = asked(&server);
    fs::remove_file(conclave.log("context")).unwrap();
    let stderr = refused_unasked(&conclave, &server, &["history", "rejudge", "last", "--yes"]);
    let id = id_of(&conclave.log("json"));
    let id = short_id(&id);
    assert!(
        stderr.starts_with(&format!(
            "error: cannot judge {id} again\n  caused by: the text of its context is missing: "
        )),
        "{stderr}"
    );
    assert!(stderr.contains("\nhint: "), "{stderr}");
}

#[test]
fn follow_up_carries_earlier_and_new_context() {
    let server = ProviderServer::start();
    let conclave = asked(&server);
    fs::write(conclave.folder().join("more.md"), "the ferry of Pemba\n").unwrap();
    let before = server.requests().len();
    let followed = conclave
        .run(&[
            "consult",
            "--follow-up",
            "And for mobile?",
            "--json",
            "-f",
            "more.md",
            "-f",
            "notes.md",
        ])
        .ends_with(0)
        .json();
    let requests = since(&server, before);
    assert_eq!(requests.len(), 9);
    for request in &requests {
        let body = request.body.to_string();
        assert_eq!(body.matches(MARK).count(), 1, "{body}");
        assert_eq!(body.matches("the ferry of Pemba").count(), 1, "{body}");
    }
    let names: Vec<&str> = followed["context"]["sources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|source| source["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["notes.md", "more.md"]);
}

#[test]
fn follow_up_without_the_earlier_text_says_so() {
    let server = ProviderServer::start();
    let conclave = asked(&server);
    fs::remove_file(conclave.log("context")).unwrap();
    let before = server.requests().len();
    let output = succeed(&conclave, &["consult", "--follow-up", "And for mobile?"]);
    output.assert_stderr_contains(
        " is not sent again: the text of its context is missing: there is no `",
    );
    let requests = since(&server, before);
    assert_eq!(requests.len(), 9);
    assert!(!requests.iter().any(has_mark));
}
