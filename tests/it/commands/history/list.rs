//! `conclave history list`.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::binary::Conclave;
use crate::support::generated::{self, Length};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};
use crate::support::saved::{complete_consultation, log_folder};
use crate::support::schema;

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
            format!("consult-{NEWEST} 2026-01-07T10:00:00.000Z unfinished - - ≥$0.00"),
            format!("consult-{MIDDLE} 2026-01-06T10:00:00.000Z aborted - - ≥$0.05"),
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
fn consultation_of_the_embedded_model_is_marked() {
    let conclave = three();
    let files = complete_consultation(OLDEST, "2026-01-05T10:00:00Z", "OAuth or JWT?");
    let path = files.save(&conclave).record;
    let mut record: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    record["judge"]["provider"] = "local".into();
    fs::write(&path, record.to_string()).unwrap();
    conclave
        .run(&["consult-stats", "--rebuild-index"])
        .ends_with(0);
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
    conclave
        .run(&[
            "history",
            "outcome",
            OLDEST,
            "mixed",
            "--note",
            "half of it",
        ])
        .ends_with(0);
    let json = conclave
        .run(&["history", "list", "--json"])
        .ends_with(0)
        .json();
    schema::check(SCHEMA, &json);
    let [newest, middle, oldest] = json["consultations"].as_array().unwrap().as_slice() else {
        panic!("{json}")
    };
    assert_eq!(json["total"], 3);
    assert_eq!(newest["standing"], "unfinished");
    assert_eq!(newest["resumable"], true);
    assert_eq!(middle["abort_reason"], "interrupted");
    assert_eq!(middle["state"], "Aborted");
    assert_eq!(middle["recommendation"], serde_json::Value::Null);
    assert_eq!(
        oldest["outcome"],
        serde_json::json!({ "outcome": "mixed", "note": "half of it" })
    );
    assert_eq!(oldest["confidence"], 0.85);
    assert_eq!(oldest["cost"]["lower_bound"], false);
    assert_eq!(oldest["resumable"], false);
    assert_eq!(oldest["question"], "Should I use OAuth or JWT?");
    for row in [newest, middle, oldest] {
        let id = row["consultation_id"].as_str().unwrap();
        assert!(
            id.strip_prefix("consult-")
                .unwrap()
                .starts_with(row["short_id"].as_str().unwrap()),
            "{row}"
        );
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
        serde_json::json!({ "schema_version": "1.0", "total": 0, "consultations": [] })
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
    assert_eq!(listed(&["--state", "completed"]), [OLDEST]);
    assert_eq!(listed(&["--state", "Complete"]), [OLDEST]);
    assert_eq!(listed(&["--state", "aborted"]), [MIDDLE]);
    assert_eq!(listed(&["--state", "unfinished"]), [NEWEST]);
    assert_eq!(listed(&["--state", "running"]), [""; 0]);
    assert_eq!(
        listed(&["--mode", "converge", "--state", "aborted"]),
        [MIDDLE]
    );
    assert_eq!(listed(&["--mode", "explore"]), [""; 0]);
    let ran = conclave.run(&["history", "--state", "done"]).ends_with(2);
    assert!(
        ran.stderr.contains("completed") && ran.stderr.contains("unfinished"),
        "{}",
        ran.stderr
    );
}

#[test]
fn limit_applies_and_every_short_id_can_be_shown() {
    let conclave = Conclave::new();
    generated::write(&log_folder(&conclave), 11, 60, Length::Short);
    let listed = |arguments: &[&str]| {
        conclave
            .run(&[&["history", "--json"], arguments].concat())
            .ends_with(0)
            .json()
    };
    let count = |json: &serde_json::Value| {
        (
            json["consultations"].as_array().unwrap().len(),
            json["total"].as_u64().unwrap(),
        )
    };
    assert_eq!(count(&listed(&[])), (20, 60));
    assert_eq!(count(&listed(&["-n", "7"])), (7, 60));
    assert_eq!(count(&listed(&["-n", "60"])), (60, 60));
    let all = listed(&["--all"]);
    assert_eq!(count(&all), (60, 60));
    let ids = ids(&all);
    let all = all["consultations"].as_array().unwrap();
    let times: Vec<&str> = all
        .iter()
        .map(|row| row["timestamp"].as_str().unwrap())
        .collect();
    assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
    for row in all {
        let (id, short) = (
            row["consultation_id"].as_str().unwrap(),
            row["short_id"].as_str().unwrap(),
        );
        assert!(
            short.len() >= 8 && ids.iter().filter(|other| other.starts_with(short)).count() == 1,
            "{short}: {ids:?}"
        );
        // Showing each of them would take too long.
        if id.ends_with(['0', '1']) {
            let shown = conclave
                .run(&["history", "show", short, "--format", "json"])
                .ends_with(0)
                .json();
            assert_eq!(shown["consultation_id"], id);
        }
    }
    conclave.run(&["history", "-n", "0"]).ends_with(2);
    conclave.run(&["history", "-n", "3", "--all"]).ends_with(2);
}

#[test]
fn running_and_killed_consultations_are_distinguished() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::OpenAi).nth(2),
        Answer::text("never to be finished").stall(),
    );
    let conclave = Conclave::at(&server);
    conclave.run(&["history"]).ends_with(0);
    let running = conclave.start(&["consult", "Shall we?"]);
    server.wait_until("the judge is asked", |requests| requests.len() == 4);
    let listed = |arguments: &[&str]| {
        conclave
            .run(&[&["history", "--json"], arguments].concat())
            .ends_with(0)
            .json()
    };
    let json = listed(&[]);
    schema::check(SCHEMA, &json);
    let row = &json["consultations"][0];
    assert_eq!(row["standing"], "running");
    assert_eq!(row["question"], "Shall we?");
    assert_eq!(row["resumable"], false);
    assert_eq!(
        listed(&[
            "--state", "running", "--search", "SHALL", "--mode", "converge"
        ])["consultations"][0]["standing"],
        "running"
    );
    for filter in [
        ["--state", "completed"],
        ["--search", "nothing"],
        ["--mode", "explore"],
    ] {
        assert_eq!(listed(&filter)["total"], 0, "{filter:?}");
    }
    let stderr = conclave
        .run(&["history", "rm", "last", "--yes"])
        .ends_with(1)
        .stderr;
    assert!(
        stderr.ends_with(" was not deleted: another process is writing to it\n"),
        "{stderr}"
    );

    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, None);
    let killed = listed(&[]);
    let row = &killed["consultations"][0];
    assert_eq!(row["standing"], "unfinished");
    assert_eq!(row["resumable"], true);
    assert_eq!(killed["total"], 1);
    conclave
        .run(&["resume", row["short_id"].as_str().unwrap()])
        .ends_with(0);
    assert_eq!(listed(&[])["consultations"][0]["standing"], "completed");
}
