//! A database of any earlier version migrates to the current one with all its rows.

use conclave::records::index::schema::{APPLICATION_ID, MIGRATIONS, migrate, version};
use rusqlite::Connection;

use super::{check_search, contents, found};

/// Returns the type, name and SQL of all tables and indexes.
pub(crate) fn objects(connection: &Connection) -> Vec<(String, String, Option<String>)> {
    let mut statement = connection
        .prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")
        .unwrap();
    statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

/// Creates a database with the first `steps` migrations.
fn stopped_at(steps: usize) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    for step in &MIGRATIONS[..steps] {
        connection.execute_batch(step).unwrap();
    }
    connection
        .pragma_update(None, "user_version", i64::try_from(steps).unwrap())
        .unwrap();
    connection
}

/// Two consultations in the columns of every version.
const CONSULTATIONS: &str = "
    INSERT INTO consultations(number, id, stem, question, mode, final_recommendation, created_at, state, ended, writer) VALUES
      (1, 'consult-1', 'consult-1', 'Monolith or services?', 'converge', 'A monolith.', '2026-11-20T23:59:59.999Z', 'Complete', 'completed',
       'conclave'),
      (2, 'consult-2', 'consult-2', 'Which queue?', 'explore', NULL, '2026-11-21T00:00:00.000Z', 'Aborted', 'aborted', 'conclave');
    INSERT INTO consultation_agents(number, consultation_id, agent_id, model, provider, role) VALUES
      (1, 'consult-1', 'security', 'gpt-6.1-sol', 'openai', 'expert');
    INSERT INTO consultation_rounds(number, consultation_id, round_number, round_type) VALUES (1, 'consult-1', 1, 'independent');
    INSERT INTO calls(number, call, round_number, agent_id, provider, model, failed, micro_usd, lower_bound, input_tokens, output_tokens)
      VALUES (1, 1, 1, 'security', 'openai', 'gpt-6.1-sol', 0, 5, 0, 6, 7);";

#[test]
fn migrations_from_every_version_preserve_the_rows() {
    let mut fresh = Connection::open_in_memory().unwrap();
    migrate(&mut fresh, 0).unwrap();
    fresh.execute_batch(CONSULTATIONS).unwrap();
    fresh
        .execute_batch("INSERT INTO consultations_text(consultations_text) VALUES ('rebuild')")
        .unwrap();
    for steps in 1..version() {
        let mut old = stopped_at(steps);
        old.execute_batch(CONSULTATIONS).unwrap();
        if steps > 1 {
            old.execute_batch(
                "INSERT INTO consultations_text(consultations_text) VALUES ('rebuild')",
            )
            .unwrap();
        }
        migrate(&mut old, steps).unwrap();
        assert_eq!(objects(&old), objects(&fresh), "from {steps}");
        assert_eq!(contents(&old), contents(&fresh), "from {steps}");
        check_search(&old);
        assert_eq!(found(&old, "monolith"), ["consult-1"]);
        let pragma = |name: &str| {
            old.pragma_query_value(None, name, |row| row.get::<_, i64>(0))
                .unwrap()
        };
        assert_eq!(pragma("user_version"), i64::try_from(version()).unwrap());
        assert_eq!(pragma("application_id"), i64::from(APPLICATION_ID));
    }
}

#[test]
fn migration_separates_declined_from_aborted_consultations() {
    let mut old = stopped_at(5);
    old.execute_batch(CONSULTATIONS).unwrap();
    old.execute_batch(
        "INSERT INTO consultations
           (number, id, stem, question, mode, created_at, state, ended, abort_reason, writer)
         SELECT 3, 'consult-3', 'consult-3', question, mode, created_at, state, ended, 'declined',
           writer FROM consultations WHERE number = 2;",
    )
    .unwrap();
    migrate(&mut old, 5).unwrap();
    let ended = |id: &str| {
        old.query_row(
            "SELECT ended FROM consultations WHERE id = ?",
            [id],
            |row| row.get::<_, String>(0),
        )
        .unwrap()
    };
    assert_eq!(ended("consult-1"), "completed");
    assert_eq!(ended("consult-2"), "aborted");
    assert_eq!(ended("consult-3"), "declined");
}

#[test]
fn current_or_newer_database_is_not_migrated() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection, 0).unwrap();
    let before = objects(&connection);
    // Another process has done it between looking and beginning.
    migrate(&mut connection, 0).unwrap();
    assert_eq!(objects(&connection), before);
    let newer = i64::try_from(version()).unwrap() + 1;
    connection
        .pragma_update(None, "user_version", newer)
        .unwrap();
    migrate(&mut connection, version()).unwrap();
    assert_eq!(
        connection
            .pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))
            .unwrap(),
        newer
    );
}

#[test]
fn failed_migration_leaves_the_database_unchanged() {
    let mut old = stopped_at(1);
    old.execute_batch("CREATE TABLE open_consultations (other INTEGER)")
        .unwrap();
    let before = objects(&old);
    migrate(&mut old, 1).unwrap_err();
    assert_eq!(objects(&old), before);
    assert_eq!(
        old.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))
            .unwrap(),
        1
    );
}

#[test]
fn tables_have_the_promised_columns_and_indexes() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection, 0).unwrap();
    let promised = [
        "SELECT id, question, mode, final_recommendation, confidence, total_cost, total_tokens, duration_ms, created_at, schema_version, state
         FROM consultations",
        "SELECT consultation_id, agent_id, model, provider FROM consultation_agents",
        "SELECT id, consultation_id, round_number, round_type, duration_ms, tokens_used FROM consultation_rounds",
    ];
    for sql in promised {
        connection.prepare(sql).unwrap();
    }
    let objects = objects(&connection);
    for (index, on) in [
        ("created_at", "created_at"),
        ("cost", "total_cost"),
        ("mode", "mode"),
        ("state", "state"),
    ] {
        let sql = format!("CREATE INDEX idx_consultations_{index} ON consultations({on}");
        assert!(
            objects
                .iter()
                .any(|(_, _, made)| made.as_ref().is_some_and(|made| made.starts_with(&sql))),
            "{sql}"
        );
    }
}

#[test]
fn rows_of_a_consultation_are_deleted_with_it() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection, 0).unwrap();
    connection
        .execute_batch("PRAGMA foreign_keys = ON")
        .unwrap();
    connection.execute_batch(CONSULTATIONS).unwrap();
    let orphan = "INSERT INTO consultation_rounds(number, consultation_id, round_number, round_type) VALUES (9, 'consult-9', 1, 'independent')";
    connection.execute(orphan, []).unwrap_err();
    connection.execute("DELETE FROM consultations", []).unwrap();
    let rows = contents(&connection);
    assert!(rows.iter().all(|(_, rows)| rows.is_empty()), "{rows:?}");
}
