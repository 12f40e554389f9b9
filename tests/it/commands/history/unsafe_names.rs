//! Names of consultations that would lead out of the folder of logs, and links in the place of
//! their files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use rusqlite::Connection;
use serde_json::Value;

use crate::commands::succeed;
use crate::support::binary::Conclave;
use crate::support::saved::log_folder;

use super::{MIDDLE, OLDEST, ids, three};

/// Writes files outside the logs that an id of `../../victim` names.
fn victims(conclave: &Conclave) -> Vec<PathBuf> {
    let files = ["jsonl", "json", "md", "outcome.json"];
    let victims = files.map(|suffix| conclave.folder().join(format!("victim.{suffix}")));
    for victim in &victims {
        fs::write(victim, "mine").unwrap();
    }
    victims.to_vec()
}

fn assert_untouched(victims: &[PathBuf]) {
    for victim in victims {
        let text = fs::read_to_string(victim).ok();
        assert_eq!(text.as_deref(), Some("mine"), "{}", victim.display());
    }
}

#[test]
fn ids_of_the_index_do_not_lead_out_of_the_logs() {
    for arguments in [
        &["rm", OLDEST, "--yes"] as &[&str],
        &["rm", "--older-than", "1h", "--yes"],
        &["outcome", OLDEST, "right"],
        &["outcome", OLDEST, "--clear"],
        &["show", OLDEST],
        &["list"],
    ] {
        let conclave = three();
        let victims = victims(&conclave);
        let index = Connection::open(conclave.home().join("consult-analytics.db")).unwrap();
        let sql = "UPDATE consultations SET id = '../../victim' WHERE id = ?";
        let changed = index.execute(sql, [format!("consult-{OLDEST}")]);
        assert_eq!(changed, Ok(1));
        drop(index);
        conclave
            .run(&[&["history"], arguments].concat())
            .ends_with(0);
        assert_untouched(&victims);
    }
}

#[test]
fn open_consultations_of_the_index_do_not_lead_out_of_the_logs() {
    let conclave = three();
    let victims = victims(&conclave);
    let index = Connection::open(conclave.home().join("consult-analytics.db")).unwrap();
    let sql = "INSERT INTO open_consultations(id, began_at) VALUES ('../../victim', '2027-01-01')";
    index.execute(sql, []).unwrap();
    drop(index);
    let listed = conclave.run(&["history", "--json"]).ends_with(0).json();
    assert_eq!(ids(&listed).len(), 3);
    succeed(&conclave, &["history", "rm", "last", "--yes"]);
    assert_untouched(&victims);
}

#[test]
fn records_with_other_ids_or_names_are_skipped_by_name() {
    let conclave = three();
    let logs = log_folder(&conclave);
    let path = logs.join(format!("consult-{OLDEST}.json"));
    let record = fs::read_to_string(path).unwrap();
    let mut foreign: Value = serde_json::from_str(&record).unwrap();
    foreign["consultation_id"] = "../../victim".into();
    fs::write(logs.join("consult-foreign.json"), foreign.to_string()).unwrap();
    fs::write(logs.join("consult-$(touch PWNED).json"), &record).unwrap();
    let ran = succeed(&conclave, &["consult-stats", "--rebuild-index"]);
    let reason = "its id is not made of letters, digits, `.`, `_` and `-` alone, or is too long";
    let skipped = format!(
        "Skipped 2 files:\n  consult-$(touch PWNED).json: {reason}\n  consult-foreign.json: \
         {reason}\n"
    );
    assert!(ran.stderr.contains(&skipped), "{}", ran.stderr);
    assert_eq!(
        ids(&conclave.run(&["history", "--json"]).ends_with(0).json()).len(),
        3
    );
}

#[test]
fn links_in_the_place_of_records_are_not_followed() {
    let conclave = three();
    let victims = victims(&conclave);
    let logs = log_folder(&conclave);
    let place = |suffix: &str| logs.join(format!("consult-{OLDEST}.{suffix}"));
    symlink(&victims[3], place("outcome.json")).unwrap();
    succeed(&conclave, &["history", "outcome", OLDEST, "right"]);
    let graded = fs::symlink_metadata(place("outcome.json")).unwrap();
    assert!(graded.is_file());
    for (victim, suffix) in victims.iter().zip(["jsonl", "json", "md", "outcome.json"]) {
        fs::remove_file(place(suffix)).unwrap();
        symlink(victim, place(suffix)).unwrap();
    }
    succeed(&conclave, &["history", "rm", OLDEST, "--yes"]);
    assert!(fs::symlink_metadata(place("jsonl")).is_err());
    assert_untouched(&victims);
}

#[test]
fn linked_journals_are_not_continued() {
    let conclave = three();
    let logs = log_folder(&conclave);
    let journal = logs.join(format!("consult-{MIDDLE}.jsonl"));
    let elsewhere = conclave.folder().join("elsewhere.jsonl");
    fs::rename(&journal, &elsewhere).unwrap();
    symlink(&elsewhere, &journal).unwrap();
    let before = fs::read(&elsewhere).unwrap();
    let ran = conclave.run(&["resume", MIDDLE, "--yes"]);
    ran.assert_stderr_contains("it is a symbolic link");
    assert_eq!(fs::read(&elsewhere).unwrap(), before);
}

#[test]
fn linked_home_and_log_folder_are_used() {
    let conclave = three();
    let elsewhere = conclave.folder().join("elsewhere");
    fs::rename(log_folder(&conclave), &elsewhere).unwrap();
    symlink(&elsewhere, conclave.home().join("consult-logs")).unwrap();
    succeed(&conclave, &["history", "outcome", OLDEST, "right"]);
    assert!(
        elsewhere
            .join(format!("consult-{OLDEST}.outcome.json"))
            .is_file()
    );
    succeed(&conclave, &["history", "rm", OLDEST, "--yes"]);
    assert_eq!(
        ids(&conclave.run(&["history", "--json"]).ends_with(0).json()).len(),
        2
    );
}
