//! Consultations are listed by the names of their journals.

use std::fs;

use conclave::records::lookup::journals_newest_first;

#[test]
fn journals_are_listed_newest_first_without_other_files() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(
        journals_newest_first(&home.path().join("nowhere")).unwrap(),
        []
    );
    for name in [
        "consult-01a.jsonl",
        "consult-01c.jsonl",
        "consult-01b.jsonl",
        "consult-01d.json",
        "notes.jsonl",
        "consult-.jsonl",
    ] {
        fs::write(home.path().join(name), "").unwrap();
    }
    let ids: Vec<String> = journals_newest_first(home.path())
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(ids, ["consult-01c", "consult-01b", "consult-01a"]);
    journals_newest_first(&home.path().join("notes.jsonl")).unwrap_err();
}
