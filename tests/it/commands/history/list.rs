//! `conclave history list`.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use crate::commands::resume::stalling_server;
use crate::commands::{json_of, succeed};
use crate::support::binary::Conclave;
use crate::support::generated::{self, Length};
use crate::support::provider_server::ProviderServer;
use crate::support::saved::{complete_consultation, log_folder};
use crate::support::schema::{self, check};

use super::{MIDDLE, NEWEST, OLDEST, ids, three};

const SCHEMA: &str = include_str!("../../../../schemas/history.schema.json");

#[test]
fn pipe_gets_one_full_line_per_consultation_newest_first() {
    let ran = three().run(&["history"]).ends_with(0);
    assert_eq!(ran.stderr, "");
    let lines: Vec<Vec<&str>> = ran
        .stdout
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let head = |line: &[&str]| {
        line.iter()
            .take(6)
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(
        lines.iter().map(|line| head(line)).collect::<Vec<_>>(),
        [
            format!("consult-{NEWEST} 2026-01-07T10:00:00.000Z unfinished - - unknown"),
            format!("consult-{MIDDLE} 2026-01-06T10:00:00.000Z aborted - 70% ≥$0.05"),
            format!("consult-{OLDEST} 2026-01-05T10:00:00.000Z completed - 85% $0.12"),
        ]
    );
    assert!(
        ran.stdout
            .contains("  Where do we keep [2Jsessions? In Redis?\n"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains(['\t', '\u{1b}']));
}

#[test]
fn runs_without_a_call_are_left_out_and_counted() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    conclave.run(&["consult", "Shall we?"]).ends_with(0);
    // The cost is not agreed to, and the panel has no model that can be asked.
    let ask = ["consult", "Shall we not?"];
    let declining = conclave.variable("CONCLAVE_ALWAYS_ALLOW_UNDER", "0");
    declining.run(&ask).ends_with(3);
    let list = json_of(&declining, &["ls", "--json"]);
    assert_eq!((&list["total"], &list["left_out"]), (&1.into(), &1.into()));
    assert_eq!(ids(&list).len(), 1);
    let all = json_of(&declining, &["ls", "--all", "--json"]);
    assert_eq!((&all["total"], &all["left_out"]), (&2.into(), &0.into()));
    assert_eq!(ids(&all).len(), 2);
    assert_eq!(
        ids(&json_of(
            &declining,
            &["ls", "--state", "declined", "--json"]
        ))
        .len(),
        1
    );
    check(SCHEMA, &all);
    let only_declined = Conclave::at(&server).variable("CONCLAVE_ALWAYS_ALLOW_UNDER", "0");
    only_declined.run(&ask).ends_with(3);
    let ran = only_declined.run(&["ls"]).ends_with(0);
    assert_eq!(
        ran.stderr,
        "No consultations match; list all with `conclave history list --all`\n"
    );
}

#[test]
fn consultation_of_the_embedded_model_is_marked() {
    let conclave = three();
    let files = complete_consultation(OLDEST, "2026-01-05T10:00:00Z", "OAuth or JWT?");
    let path = files.save(&conclave).record;
    let mut record: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    record["judge"]["provider"] = "local".into();
    fs::write(&path, record.to_string()).unwrap();
    succeed(&conclave, &["consult-stats", "--rebuild-index"]);
    let list = conclave.run(&["history", "--json"]).ends_with(0).json();
    schema::check(SCHEMA, &list);
    let demonstration: Vec<&Value> = (0..3)
        .map(|at| &list["consultations"][at]["demonstration"])
        .collect();
    assert_eq!(demonstration, [false, false, true]);
    let lines = conclave.run(&["history"]).ends_with(0).stdout;
    let marked = lines
        .lines()
        .filter(|line| line.ends_with("(local model, demonstration quality)"));
    assert_eq!(marked.count(), 1, "{lines}");
}

#[test]
fn list_json_matches_the_published_schema() {
    let conclave = three();
    let note = ["--note", "half of it"];
    let grade = [&["history", "outcome", OLDEST, "mixed"], &note[..]].concat();
    succeed(&conclave, &grade);
    let json = json_of(&conclave, &["history", "list", "--json"]);
    schema::check(SCHEMA, &json);
    assert_eq!(json["total"], 3);
    let [newest, middle, oldest] = [0, 1, 2].map(|at| &json["consultations"][at]);
    assert_eq!(newest["standing"], "unfinished");
    assert_eq!(newest["resumable"], true);
    assert_eq!(middle["abort_reason"], "interrupted");
    assert_eq!(middle["state"], "Aborted");
    let provisional = "Delegate access with tokens, for now.";
    assert_eq!(middle["recommendation"], provisional);
    assert_eq!(
        oldest["outcome"],
        serde_json::json!({ "outcome": "mixed", "note": "half of it" })
    );
    assert_eq!(oldest["confidence"], 0.85);
    assert_eq!(oldest["cost"]["lower_bound"], false);
    assert_eq!(oldest["resumable"], false);
    assert_eq!(oldest["question"], "Should I use OAuth or JWT?");
    for row in [newest, middle, oldest] {
        let [id, short] = ["consultation_id", "short_id"].map(|name| row[name].as_str().unwrap());
        assert!(id.starts_with(&format!("consult-{short}")), "{row}");
    }
}

#[test]
fn empty_home_yields_a_hint_to_consult() {
    let conclave = Conclave::new();
    let ran = conclave.run(&["history"]).ends_with(0);
    assert_eq!(ran.stdout, "");
    assert_eq!(
        ran.stderr,
        "No consultations found.\n\nRun your first consultation:\n  conclave consult \"Your question here\"\n"
    );
    let json = conclave.run(&["history", "--json"]).ends_with(0).json();
    assert_eq!(
        json,
        serde_json::json!({ "schema_version": "1.0", "total": 0, "left_out": 0, "consultations": [] })
    );
    let ran = three().run(&["history", "--mode", "explore"]).ends_with(0);
    assert_eq!(ran.stdout, "");
    assert_eq!(
        ran.stderr,
        "No consultations match; list all with `conclave history list --all`\n"
    );
}

#[test]
fn states_and_modes_are_shown() {
    let conclave = three();
    let listed = |arguments: &[&str]| {
        let json = conclave
            .run(&[&["history", "list", "--json"], arguments].concat())
            .ends_with(0)
            .json();
        let listed = ids(&json);
        assert_eq!(json["total"], listed.len());
        listed
    };
    for (arguments, expected) in [
        (&["--state", "Complete"][..], &[OLDEST][..]),
        (&["--state", "unfinished"], &[NEWEST]),
        (&["--state", "running"], &[]),
        (&["--mode", "converge", "--state", "aborted"], &[MIDDLE]),
        (&["--mode", "explore"], &[]),
    ] {
        assert_eq!(listed(arguments), expected, "{arguments:?}");
    }
    let ran = conclave.run(&["history", "--state", "done"]).ends_with(2);
    assert!(
        ran.stderr.contains("completed") && ran.stderr.contains("unfinished"),
        "{}",
        ran.stderr
    );
}

#[test]
fn limit_applies_and_every_short_id_is_unique() {
    let conclave = Conclave::new();
    generated::write(&log_folder(&conclave), 11, 60, Length::Short);
    let listed = |arguments: &[&str], count| {
        let json = json_of(&conclave, &[&["history", "--json"], arguments].concat());
        let left_out = if arguments == ["--all"] { 0 } else { 5 };
        assert_eq!(
            (&json["total"], &json["left_out"]),
            (&(60 - left_out).into(), &left_out.into())
        );
        assert_eq!(json["consultations"].as_array().unwrap().len(), count);
        json
    };
    listed(&[], 20);
    listed(&["-n", "7"], 7);
    let all = listed(&["--all"], 60);
    let ids = ids(&all);
    let all = all["consultations"].as_array().unwrap();
    let time = |row: &Value| row["timestamp"].as_str().unwrap().to_owned();
    assert!(all.is_sorted_by(|a, b| time(a) >= time(b)), "{all:?}");
    for row in all {
        let short = row["short_id"].as_str().unwrap();
        let named = ids.iter().filter(|id| id.starts_with(short)).count();
        assert!(short.len() >= 8 && named == 1, "{short}: {ids:?}");
    }
    conclave.run(&["history", "-n", "0"]).ends_with(2);
    conclave.run(&["history", "-n", "3", "--all"]).ends_with(2);
}

#[test]
fn running_and_killed_consultations_are_distinguished() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    succeed(&conclave, &["history"]);
    let running = conclave.start(&["consult", "Shall we?"]);
    server.wait_until("the judge is asked", |requests| requests.len() == 4);
    let listed = |arguments: &[&str]| {
        let arguments = [&["history", "--json"], arguments].concat();
        json_of(&conclave, &arguments)
    };
    let found = [
        "--state", "running", "--search", "SHALL", "--mode", "converge",
    ];
    for filter in [&[][..], &found] {
        let json = listed(filter);
        schema::check(SCHEMA, &json);
        let row = &json["consultations"][0];
        assert_eq!(row["standing"], "running");
        assert_eq!(row["question"], "Shall we?");
        assert_eq!(row["resumable"], false);
    }
    for filter in [
        ["--state", "completed"],
        ["--search", "nothing"],
        ["--mode", "explore"],
    ] {
        assert_eq!(listed(&filter)["total"], 0, "{filter:?}");
    }
    let kept = conclave.run(&["history", "rm", "last", "--yes"]);
    let busy = " was not deleted: another process is writing to it\n";
    kept.ends_with(1).assert_stderr_contains(busy);

    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, None);
    let killed = listed(&[]);
    let row = &killed["consultations"][0];
    assert_eq!(row["standing"], "unfinished");
    assert_eq!(row["resumable"], true);
    assert_eq!(killed["total"], 1);
    succeed(&conclave, &["resume", row["short_id"].as_str().unwrap()]);
    assert_eq!(listed(&[])["consultations"][0]["standing"], "completed");
}
