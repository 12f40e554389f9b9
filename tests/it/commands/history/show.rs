//! `conclave history show` and `export`.

use std::time::Duration;

use serde_json::{Value, json};

use conclave::domain::ids::short_id;

use crate::commands::{json_of, succeed};
use crate::support::binary::Conclave;
use crate::support::saved::complete_consultation;

use super::{MIDDLE, NEWEST, OLDEST, three};

const START: &str = "2026-03-01T10:00:00Z";

#[test]
fn show_names_a_consultation_that_has_only_just_begun() {
    let conclave = three();
    let id = "consult-01kfa9ddddddddddddddddddd";
    let journal = conclave.home().join(format!("consult-logs/{id}.jsonl"));
    let file = std::fs::File::create(journal).unwrap();
    file.lock().unwrap();
    let ran = conclave.run(&["history", "show", id]).ends_with(1);
    let id = short_id(id);
    assert_eq!(
        ran.stderr,
        format!(
            "error: {id} has only just begun\nhint: show it when it has ended with `conclave \
             history show {id}`\n"
        )
    );
}

#[test]
fn answer_alone_is_plain_text_and_one_that_is_missing_is_an_error() {
    let conclave = three();
    let answer = |id: &str| conclave.run(&["history", "show", id, "--answer"]);
    let record = json_of(&conclave, &["history", "show", OLDEST, "--json"]);
    let recommendation = record["recommendation"].as_str().unwrap();
    let ran = answer(OLDEST).ends_with(0);
    assert_eq!(ran.stdout.trim_end(), recommendation);
    assert_eq!(ran.stderr, "");
    let ran = answer(NEWEST).ends_with(1);
    assert_eq!(ran.stdout, "");
    assert_eq!(
        ran.stderr,
        format!("error: {} has no answer\n", short_id(NEWEST))
    );
    let both = ["history", "show", OLDEST, "--answer", "--json"];
    conclave.run(&both).ends_with(2);
}

#[test]
fn json_of_a_record_is_shown_as_it_is_stored() {
    let conclave = Conclave::new();
    let saved = complete_consultation("01kfa1aaaaaaaaaaaaaaaaaaaa", START, "Is Expert C right?");
    let files = saved.save(&conclave);
    std::fs::remove_file(&files.journal).unwrap();
    let mut stored: Value = serde_json::from_slice(&std::fs::read(&files.record).unwrap()).unwrap();
    stored["recommendation"] = json!("Do as Expert C says.");
    stored["question"] = json!("Is Expert C right?");
    stored["of_a_later_version"] = json!({ "figure": 0.1 });
    std::fs::write(&files.record, stored.to_string()).unwrap();
    let ran = succeed(&conclave, &["history", "show", "last", "--json"]);
    let shown: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(&shown, &stored);
}

#[test]
fn show_prints_the_original_answer() {
    let conclave = three();
    let ran = conclave.run(&["history", "show", OLDEST]).ends_with(0);
    assert_eq!(ran.stderr, "");
    assert!(
        ran.stdout.starts_with("# Consultation\n")
            && ran.stdout.contains("Should I use OAuth or JWT?"),
        "{}",
        ran.stdout
    );
    let record = std::fs::read_to_string(
        conclave
            .home()
            .join(format!("consult-logs/consult-{OLDEST}.json")),
    )
    .unwrap();
    assert_eq!(
        succeed(&conclave, &["history", "show", OLDEST, "--format", "json"]).stdout,
        record
    );
    let both = succeed(&conclave, &["history", "show", OLDEST, "--format", "both"]).stdout;
    assert_eq!(both, format!("{}\n\n---\n{record}", ran.stdout.trim_end()));
}

#[test]
fn show_prints_one_round_or_agent_and_rejects_missing_ones() {
    let conclave = three();
    let show =
        |arguments: &[&str]| conclave.run(&[&["history", "show", OLDEST], arguments].concat());
    let shown = |arguments: &[&str]| show(arguments).ends_with(0).stdout;
    let second = shown(&["--round", "2"]);
    assert!(second.contains("Round 2"), "{second}");
    assert!(!second.contains("Round 1"), "{second}");
    let judge = shown(&["--round", "2", "--agent", "Judge"]);
    assert!(judge.contains("Round 2"), "{judge}");
    let security = shown(&["--agent", "security expert"]);
    assert!(security.contains("Round 1"), "{security}");
    assert!(security.contains("Round 3"), "{security}");
    assert!(!security.contains("### Pragmatist"), "{security}");
    assert_eq!(security, shown(&["--agent", "security"]));

    let refused = |arguments: &[&str]| show(arguments).ends_with(2).stderr;
    assert_eq!(
        refused(&["--round", "7"]),
        format!(
            "error: {} has no round 7\nhint: one of: 1, 2, 3, 4\n",
            short_id(OLDEST)
        )
    );
    let agents =
        "security (Security Expert), architecture (Architect), pragmatic (Pragmatist), judge";
    assert_eq!(
        refused(&["--agent", "lawyer"]),
        format!(
            "error: {} has no agent `lawyer`\nhint: one of: {agents}\n",
            short_id(OLDEST)
        )
    );
    let stderr = refused(&["--round", "1", "--format", "json"]);
    assert!(stderr.contains("shown as Markdown only"), "{stderr}");
    assert!(stderr.contains("jq .responses.round_1"), "{stderr}");
}

#[test]
fn consultation_without_a_record_is_shown_from_its_journal() {
    let conclave = three();
    let ran = conclave.run(&["history", "show", NEWEST]).ends_with(0);
    assert!(
        ran.stdout.contains("größere Datenbank 🦀"),
        "{}",
        ran.stdout
    );
    let json = json_of(&conclave, &["history", "show", NEWEST, "--format", "json"]);
    assert_eq!(json["consultation_id"], format!("consult-{NEWEST}"));
    assert_eq!(json["state"], "Independent");
}

#[test]
fn journal_newer_than_its_record_is_shown() {
    let conclave = three();
    let files =
        complete_consultation(MIDDLE, "2026-01-06T10:00:00Z", "Went on?").save_journal(&conclave);
    let later = files.record.metadata().unwrap().modified().unwrap() + Duration::from_secs(60);
    std::fs::File::options()
        .append(true)
        .open(&files.journal)
        .unwrap()
        .set_modified(later)
        .unwrap();
    let json = json_of(&conclave, &["history", "show", MIDDLE, "--format", "json"]);
    assert_eq!(json["state"], "Complete");
    assert_eq!(json["question"], "Went on?");
}

#[test]
fn missing_and_damaged_files_are_reported() {
    let conclave = three();
    let logs = conclave.home().join("consult-logs");
    std::fs::write(logs.join(format!("consult-{MIDDLE}.json")), "{}").unwrap();
    std::fs::write(logs.join(format!("consult-{MIDDLE}.jsonl")), "nonsense\n").unwrap();
    let stderr = conclave
        .run(&["history", "show", MIDDLE])
        .ends_with(1)
        .stderr;
    let expected = format!(
        "error: cannot read the record of {}\n  \
         caused by: it is not a record of a consultation\n\
         hint: look at the file: ",
        short_id(MIDDLE)
    );
    assert!(stderr.starts_with(&expected), "{stderr}");
    for ending in ["json", "jsonl", "md"] {
        std::fs::remove_file(logs.join(format!("consult-{OLDEST}.{ending}"))).unwrap();
    }
    let stderr = conclave
        .run(&["history", "show", OLDEST])
        .ends_with(1)
        .stderr;
    assert_eq!(
        stderr,
        format!(
            "error: the files of {0} no longer exist\nhint: remove it from the list with `conclave history rm {0}`\n",
            short_id(OLDEST)
        )
    );
}

#[test]
fn export_writes_each_format_to_a_file_or_standard_output() {
    let conclave = three();
    let export = |format: &str, rest: &[&str]| {
        conclave.run(&[&["history", "export", OLDEST, "--format", format], rest].concat())
    };
    let page = export("html", &[]).ends_with(0).stdout;
    assert!(page.to_lowercase().starts_with("<!doctype html>"), "{page}");
    assert!(page.contains("OAuth or JWT?"), "{page}");
    let report = export("md", &[]).ends_with(0).stdout;
    assert!(report.starts_with("# Consultation\n"), "{report}");
    let by_default = succeed(&conclave, &["history", "export", OLDEST]);
    assert_eq!(by_default.stdout, report);
    let record = export("json", &[]).ends_with(0).json();
    assert_eq!(record["consultation_id"], format!("consult-{OLDEST}"));

    let file = conclave.folder().join("answer.html");
    let ran = export("html", &["-o", file.to_str().unwrap()]).ends_with(0);
    assert_eq!(ran.stdout, "");
    assert_eq!(
        ran.stderr,
        format!("consult-{OLDEST} written to {}\n", file.display())
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), page);
    let nowhere = export("html", &["-o", "nowhere/answer.html"]);
    nowhere
        .ends_with(2)
        .assert_stderr_contains("does not exist");
}
