//! Stored rows: each consultation has its rows and its search text once, and deleting it leaves
//! nothing.

use conclave::domain::ids::ConsultationId;
use conclave::domain::record::outcome::{AnswerOutcome, Grade, SCHEMA_VERSION};
use conclave::domain::time::Timestamp;
use conclave::records::index::Index;
use conclave::records::index::rows::{Rows, first_number, number};
use conclave::records::index::store::{put, remove, set_outcome};
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::json;

use super::{check_search, contents, found, rows};
use crate::support::generated::{Length, consultations};

fn read(record: &serde_json::Value) -> Rows {
    let record = serde_json::to_vec(record).unwrap();
    rows(&record, Timestamp(0)).unwrap()
}

fn generated(seed: u64, count: usize) -> Vec<Rows> {
    consultations(seed, count, Length::Usual)
        .map(|generated| read(&generated.record))
        .collect()
}

fn put_all(connection: &Connection, all: &[Rows]) {
    for rows in all {
        put(connection, rows).unwrap();
    }
}

/// A record with this question.
fn asking(id: &str, question: &str, timestamp: &str) -> Rows {
    read(&json!({
        "tool_version": "0.1.0",
        "consultation_id": id,
        "timestamp": timestamp,
        "question": question,
        "recommendation": "Use sessions.",
        "state": "Complete",
    }))
}

fn grade(id: &str, outcome: AnswerOutcome, note: Option<&str>) -> Grade {
    Grade {
        schema_version: SCHEMA_VERSION.to_owned(),
        consultation_id: ConsultationId::from_unique(id),
        outcome,
        note: note.map(ToOwned::to_owned),
        at: Timestamp(1_795_252_598_042),
    }
}

fn count(connection: &Connection, table: &str) -> i64 {
    connection
        .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
            row.get(0)
        })
        .unwrap()
}

fn outcome(connection: &Connection, id: &str) -> [Option<String>; 3] {
    let sql = "SELECT outcome, outcome_note, outcome_at FROM consultations WHERE id = ?1";
    connection
        .query_row(sql, [id], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))
        .unwrap()
}

#[test]
fn rows_inserted_twice_are_there_once() {
    let connection = Index::in_memory().unwrap().connection;
    let all = generated(1, 30);
    put_all(&connection, &all);
    let once = contents(&connection);
    let sum = |of: fn(&Rows) -> usize| i64::try_from(all.iter().map(of).sum::<usize>()).unwrap();
    for (table, rows) in [
        ("consultations", 30),
        ("consultation_agents", sum(|rows| rows.agents.len())),
        ("consultation_rounds", sum(|rows| rows.rounds.len())),
        ("calls", sum(|rows| rows.calls.len())),
    ] {
        assert_eq!(count(&connection, table), rows, "{table}");
    }
    for Rows {
        id, consultation, ..
    } in &all
    {
        let names: Vec<&str> = consultation.iter().map(|(name, _)| *name).collect();
        let sql = format!(
            "SELECT {} FROM consultations WHERE id = ?1",
            names.join(", ")
        );
        let columns = |row: &rusqlite::Row<'_>| (0..names.len()).map(|at| row.get(at)).collect();
        let stored: Vec<Value> = connection.query_row(&sql, [id], columns).unwrap();
        let expected = consultation.iter().map(|(_, value)| value);
        assert!(stored.iter().eq(expected), "{id}");
    }
    for rows in all.iter().rev() {
        put(&connection, rows).unwrap();
    }
    assert_eq!(contents(&connection), once);
    check_search(&connection);
}

#[test]
fn newer_rows_replace_older_ones_with_their_text() {
    let connection = Index::in_memory().unwrap().connection;
    for (id, question, day) in [
        ("consult-1", "Monolith or services?", 20),
        ("consult-2", "Which database?", 19),
        ("consult-1", "Größe of shards?", 21),
    ] {
        let rows = asking(id, question, &format!("2026-11-{day}T08:00:00Z"));
        put(&connection, &rows).unwrap();
    }
    assert_eq!(count(&connection, "consultations"), 2);
    check_search(&connection);
    assert_eq!(found(&connection, "monolith"), [""; 0]);
    assert_eq!(found(&connection, "GRÖßE"), ["consult-1"]);
    assert_eq!(found(&connection, "\"which database\""), ["consult-2"]);
    assert_eq!(found(&connection, "session*"), ["consult-2", "consult-1"]);
}

#[test]
fn deleted_consultation_leaves_nothing() {
    let index = Index::in_memory().unwrap();
    let connection = index.connection;
    let all = generated(3, 20);
    put_all(&connection, &all);
    connection
        .execute(
            "INSERT INTO open_consultations(id, began_at) VALUES (?1, 'now')",
            [&all[0].id],
        )
        .unwrap();
    for rows in &all {
        assert!(remove(&connection, &rows.id).unwrap());
        assert!(!remove(&connection, &rows.id).unwrap());
        check_search(&connection);
    }
    connection
        .execute_batch(
            "CREATE VIRTUAL TABLE temp.words USING fts5vocab('main', 'consultations_text', 'row')",
        )
        .unwrap();
    assert_eq!(count(&connection, "temp.words"), 0, "no word of it is left");
    let mut left = contents(&connection);
    left.retain(|(_, rows)| !rows.is_empty());
    assert_eq!(left, []);
}

#[test]
fn grade_survives_new_rows_until_it_is_removed() {
    let connection = Index::in_memory().unwrap().connection;
    let [first, second] = ["2026-11-20T08:00:00Z", "2026-11-21T08:00:00Z"]
        .map(|at| asking("consult-1", "Which?", at));
    put(&connection, &first).unwrap();
    let set = |id: &str, grade: Option<&Grade>| set_outcome(&connection, id, grade).unwrap();
    let stored = || outcome(&connection, "consult-1").map(Option::unwrap_or_default);
    let mixed = grade("1", AnswerOutcome::Mixed, Some("half of it"));
    set("consult-1", Some(&mixed));
    for rows in [&first, &second] {
        put(&connection, rows).unwrap();
        assert_eq!(
            stored(),
            ["mixed", "half of it", "2026-11-21T09:16:38.042Z"]
        );
    }
    set("consult-1", Some(&grade("1", AnswerOutcome::Right, None)));
    assert_eq!(stored(), ["right", "", "2026-11-21T09:16:38.042Z"]);
    set("consult-1", None);
    assert_eq!(outcome(&connection, "consult-1"), [None, None, None]);
    set(
        "consult-missing",
        Some(&grade("missing", AnswerOutcome::Wrong, None)),
    );
    assert_eq!(count(&connection, "consultations"), 1);
}

#[test]
fn consultations_with_equal_keys_do_not_replace_each_other() {
    let at = Timestamp(1_795_252_598_042);
    let mut seen = std::collections::BTreeMap::new();
    let (one, other) = (0..)
        .map(|nth| format!("consult-{nth}"))
        .find_map(|id| Some((seen.insert(number(at, &id), id.clone())?, id)))
        .unwrap();
    let index = Index::in_memory().unwrap();
    for id in [&one, &other, &one] {
        put(&index.connection, &asking(id, "Which?", &at.to_string())).unwrap();
    }
    assert_eq!(count(&index.connection, "consultations"), 2);
    check_search(&index.connection);
    assert!(remove(&index.connection, &one).unwrap());
    assert_eq!(found(&index.connection, "which"), [other]);
}

#[test]
fn keys_sort_by_time() {
    let [early, late] = [Timestamp(1_795_252_598_042), Timestamp(1_795_252_598_043)];
    assert!(
        number(early, "consult-z") < first_number(late)
            && first_number(late) <= number(late, "consult-a")
    );
    assert!(
        number(Timestamp(i64::MIN), "a") >= 0
            && number(Timestamp(i64::MAX), "a") > number(late, "a")
    );
}
