//! Stored rows: each consultation has its rows and its search text once, and deleting it leaves
//! nothing.

use conclave::domain::ids::ConsultationId;
use conclave::domain::outcome::{AnswerOutcome, Grade, SCHEMA_VERSION};
use conclave::domain::time::Timestamp;
use conclave::records::index::Index;
use conclave::records::index::rebuild::rebuild;
use conclave::records::index::rows::{Rows, first_number, number};
use conclave::records::index::store::{put, remove, set_outcome};
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::json;

use super::{check_search, column, contents, found, rows};
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
fn consultation_inserted_twice_is_there_once() {
    let index = Index::in_memory().unwrap();
    let all = generated(1, 30);
    put_all(&index.connection, &all);
    let once = contents(&index.connection);
    assert_eq!(count(&index.connection, "consultations"), 30);
    for rows in all.iter().rev() {
        put(&index.connection, rows).unwrap();
    }
    assert_eq!(contents(&index.connection), once);
    check_search(&index.connection);
}

#[test]
fn stored_rows_equal_the_extracted_rows() {
    let index = Index::in_memory().unwrap();
    let all = generated(2, 30);
    put_all(&index.connection, &all);
    let sum = |of: fn(&Rows) -> usize| i64::try_from(all.iter().map(of).sum::<usize>()).unwrap();
    assert_eq!(
        count(&index.connection, "consultation_agents"),
        sum(|rows| rows.agents.len())
    );
    assert_eq!(
        count(&index.connection, "consultation_rounds"),
        sum(|rows| rows.rounds.len())
    );
    assert_eq!(
        count(&index.connection, "calls"),
        sum(|rows| rows.calls.len())
    );
    for Rows {
        id, consultation, ..
    } in &all
    {
        let sql = "SELECT question, final_recommendation, confidence, total_micro_usd, \
                   total_cost, created_at, ended FROM consultations WHERE id = ?1";
        let stored: Vec<Value> = index
            .connection
            .query_row(sql, [id], |row| (0..7).map(|at| row.get(at)).collect())
            .unwrap();
        let expected = [
            "question",
            "final_recommendation",
            "confidence",
            "total_micro_usd",
            "total_cost",
            "created_at",
            "ended",
        ]
        .map(|name| column(consultation, name).clone());
        assert_eq!(stored, expected);
    }
}

#[test]
fn newer_rows_replace_older_ones_with_their_text() {
    let index = Index::in_memory().unwrap();
    let connection = index.connection;
    put(
        &connection,
        &asking("consult-1", "Monolith or services?", "2026-11-20T08:00:00Z"),
    )
    .unwrap();
    put(
        &connection,
        &asking("consult-2", "Which database?", "2026-11-19T08:00:00Z"),
    )
    .unwrap();
    put(
        &connection,
        &asking("consult-1", "Größe of shards?", "2026-11-21T08:00:00Z"),
    )
    .unwrap();
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
    let index = Index::in_memory().unwrap();
    let connection = index.connection;
    let [first, second] = ["2026-11-20T08:00:00Z", "2026-11-21T08:00:00Z"]
        .map(|at| asking("consult-1", "Which?", at));
    put(&connection, &first).unwrap();
    set_outcome(
        &connection,
        "consult-1",
        Some(&grade("1", AnswerOutcome::Mixed, Some("half of it"))),
    )
    .unwrap();
    let mixed = [
        Some("mixed"),
        Some("half of it"),
        Some("2026-11-21T09:16:38.042Z"),
    ]
    .map(|text| text.map(ToOwned::to_owned));
    assert_eq!(outcome(&connection, "consult-1"), mixed);
    put(&connection, &first).unwrap();
    put(&connection, &second).unwrap();
    assert_eq!(outcome(&connection, "consult-1"), mixed);
    set_outcome(
        &connection,
        "consult-1",
        Some(&grade("1", AnswerOutcome::Right, None)),
    )
    .unwrap();
    assert_eq!(
        outcome(&connection, "consult-1"),
        [Some("right".to_owned()), None, mixed[2].clone()]
    );
    set_outcome(&connection, "consult-1", None).unwrap();
    assert_eq!(outcome(&connection, "consult-1"), [None, None, None]);
    set_outcome(
        &connection,
        "consult-missing",
        Some(&grade("missing", AnswerOutcome::Wrong, None)),
    )
    .unwrap();
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

#[test]
fn rebuilt_index_equals_the_live_index() {
    let home = tempfile::tempdir().unwrap();
    let logs = home.path().join("consult-logs");
    std::fs::create_dir(&logs).unwrap();
    let live = Index::in_memory().unwrap();
    for generated in consultations(5, 40, Length::Short) {
        generated.write(&logs);
        let record = generated.bytes();
        put(&live.connection, &rows(&record, Timestamp(0)).unwrap()).unwrap();
    }
    let database = home.path().join("consult-analytics.db");
    assert_eq!(rebuild(&logs, &database, &mut |_| ()).unwrap().indexed, 40);
    let rebuilt = Index::open(&database).unwrap();
    let lasting = |connection| {
        let mut contents = contents(connection);
        // A rebuild marks unfinished records as open; the live index does not.
        contents.retain(|(table, _)| table != "open_consultations");
        contents
    };
    assert_eq!(lasting(&rebuilt.connection), lasting(&live.connection));
    check_search(&rebuilt.connection);
}
