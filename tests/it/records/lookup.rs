//! Consultations are listed by the names of their files.

use std::fs;

use conclave::records::files::consultations_newest_first;

#[test]
fn consultations_are_listed_newest_first_without_other_files() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(
        consultations_newest_first(&home.path().join("nowhere")).unwrap(),
        []
    );
    for name in [
        "consult-01a.jsonl",
        "consult-01c.jsonl",
        "consult-01b.jsonl",
        "consult-01d.json",
        "notes.jsonl",
        "consult-.jsonl",
        "consult-01b.outcome.json",
    ] {
        fs::write(home.path().join(name), "").unwrap();
    }
    let ids: Vec<String> = consultations_newest_first(home.path())
        .unwrap()
        .into_iter()
        .map(|stored| stored.to_string())
        .collect();
    assert_eq!(
        ids,
        ["consult-01d", "consult-01c", "consult-01b", "consult-01a"]
    );
    consultations_newest_first(&home.path().join("notes.jsonl")).unwrap_err();
}
