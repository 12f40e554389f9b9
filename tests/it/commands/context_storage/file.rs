//! The file: who can read it, what else holds its text, and what leaves it out.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{MARK, all_files, asked, has_mark, id_of, logs, notes};
use crate::support::binary::Conclave;
use crate::support::provider_server::ProviderServer;

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
fn question_without_context_leaves_no_file() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    conclave.run(&["consult", "Shall we?"]).ends_with(0);
    assert_eq!(fs::read_dir(logs(&conclave)).unwrap().count(), 3);
    assert_eq!(conclave.record()["context"], Value::Null);
}

#[test]
fn no_log_stores_no_text() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let [flag, file] = notes(&conclave);
    let output = conclave
        .run(&["consult", "Shall we?", "--no-log", "--json", flag, file])
        .ends_with(0);
    assert!(!conclave.home().exists());
    assert_eq!(output.json()["context"]["storage"], "off");
}

#[test]
fn setting_switches_the_file_off() {
    for (variable, config) in [
        ("false", "{}"),
        ("", r#"{"log_context": false}"#),
        ("", r#"{"logContext": false}"#),
    ] {
        let server = ProviderServer::start();
        let mut conclave = Conclave::at(&server).config(config);
        if !variable.is_empty() {
            conclave = conclave.variable("CONCLAVE_LOG_CONTEXT", variable);
        }
        let [flag, file] = notes(&conclave);
        conclave
            .run(&["consult", "Shall we?", flag, file])
            .ends_with(0);
        assert_eq!(
            fs::read_dir(logs(&conclave)).unwrap().count(),
            3,
            "{config}"
        );
        assert_eq!(conclave.record()["context"]["storage"], "off");
        assert_eq!(
            conclave.record()["context"]["sources"][0]["name"],
            "notes.md"
        );
    }
}

#[test]
fn rm_deletes_the_text_with_the_consultation() {
    let server = ProviderServer::start();
    let conclave = asked(&server);
    let output = conclave
        .run(&["history", "rm", "--yes", "last"])
        .ends_with(0);
    assert!(output.stderr.contains("(4 files, "), "{}", output.stderr);
    assert_eq!(fs::read_dir(logs(&conclave)).unwrap().count(), 0);
}

#[test]
fn file_names_its_consultation_and_is_none_itself() {
    let server = ProviderServer::start();
    let conclave = asked(&server);
    let file = conclave.log("context");
    let shown = conclave
        .run(&["history", "show", "--json", file.to_str().unwrap()])
        .ends_with(0)
        .json();
    assert_eq!(shown["consultation_id"], id_of(&file));
    let rebuilt = conclave
        .run(&["consult-stats", "--rebuild-index"])
        .ends_with(0);
    let words = format!("{}{}", rebuilt.stdout, rebuilt.stderr);
    assert!(words.contains("[1] consultations indexed"), "{words}");
    assert!(!words.contains("skipped"), "{words}");
}

#[test]
fn journal_is_read_without_the_text() {
    let server = ProviderServer::start();
    let conclave = asked(&server);
    let record = conclave.record();
    for ending in ["context", "json", "md"] {
        fs::remove_file(conclave.log(ending)).unwrap();
    }
    fs::remove_file(conclave.home().join("consult-analytics.db")).unwrap();
    let shown = conclave
        .run(&["history", "show", "last", "--json"])
        .ends_with(0)
        .json();
    assert_eq!(shown["context"], record["context"]);
    conclave
        .run(&["consult-stats", "--rebuild-index"])
        .ends_with(0);
    conclave.run(&["consult-stats", "--json"]).ends_with(0);
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_costs_the_resume_and_not_the_answer() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    // The text does not fit the limit, and a provider would not cache it.
    let long = format!("{MARK}\n").repeat(130);
    fs::write(conclave.folder().join("long.md"), long).unwrap();
    let file = conclave.folder().join("long.md");
    let arguments = format!("consult --yes 'Shall we?' -f '{}'", file.display());
    let output = conclave.run_limited("-f 4", &arguments).ends_with(0);
    assert!(
        output.stdout.starts_with("# Consultation\n"),
        "{}",
        output.stdout
    );
    let of_context = output
        .stderr
        .lines()
        .filter(|line| line.contains(".context`"))
        .collect::<Vec<_>>();
    assert_eq!(of_context.len(), 1, "{}", output.stderr);
    assert!(
        of_context[0].starts_with("Failed to write consultation log: "),
        "{}",
        of_context[0]
    );
    assert!(
        of_context[0].ends_with("; the consultation cannot be resumed"),
        "{}",
        of_context[0]
    );
    let left = fs::read_dir(logs(&conclave)).unwrap();
    let names: Vec<String> = left
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(
        names.iter().all(|name| name.starts_with("consult-")),
        "{names:?}"
    );
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
