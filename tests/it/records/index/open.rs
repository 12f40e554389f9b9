//! Opening a database: our own and intact ones open; missing, damaged and foreign ones and those of
//! another version each give their own error.

use std::fs;
use std::path::Path;

use conclave::records::index::{Index, IndexError, is_damage, schema};
use rusqlite::Connection;

use super::Home;

/// Damages the file of a database.
type Damage = fn(&Path);

/// The kinds of damage that opening recognizes, by name.
pub(crate) const DAMAGES: [(&str, Damage); 7] = [
    ("emptied", |database| fs::write(database, "").unwrap()),
    ("zero bytes", |database| {
        let length = usize::try_from(fs::metadata(database).unwrap().len()).unwrap();
        fs::write(database, vec![0; length]).unwrap();
    }),
    ("a text file", |database| {
        fs::write(database, "dear diary\n".repeat(1_000)).unwrap();
    }),
    ("a short text file", |database| {
        fs::write(database, "dear diary\n").unwrap();
    }),
    ("cut in half", |database| {
        cut(database, fs::metadata(database).unwrap().len() / 2);
    }),
    ("cut to its first bytes", |database| cut(database, 60)),
    ("first page overwritten", |database| {
        overwrite(database, 0, 7);
    }),
];

fn cut(database: &Path, length: u64) {
    let file = fs::File::options().write(true).open(database).unwrap();
    file.set_len(length).unwrap();
}

/// Writes random bytes over a page.
pub(crate) fn overwrite(database: &Path, page: usize, seed: u64) {
    let mut bytes = fs::read(database).unwrap();
    fastrand::Rng::with_seed(seed).fill(&mut bytes[page * 4096..(page + 1) * 4096]);
    fs::write(database, bytes).unwrap();
}

/// Moves the write-ahead log into the database and closes it.
fn checkpoint(home: &Home) {
    let index = home.open();
    index
        .connection
        .query_row("PRAGMA wal_checkpoint(truncate)", [], |_| Ok(()))
        .unwrap();
}

#[test]
fn opening_a_missing_index_creates_nothing() {
    let home = Home::with(1, 3);
    assert!(matches!(
        Index::open(&home.database()),
        Err(IndexError::Missing(_))
    ));
    assert_eq!(home.beside(), Vec::<String>::new());
}

#[test]
fn every_damage_is_recognized_and_repaired_without_loss() {
    for (name, damage) in DAMAGES {
        let home = Home::with(2, 12);
        home.rebuild();
        let whole = home.contents();
        checkpoint(&home);
        damage(&home.database());
        let unusable = Index::open(&home.database()).expect_err(name);
        assert!(
            matches!(unusable, IndexError::Damaged { .. }) && unusable.is_fixed_by_rebuild(),
            "{name}: {unusable:?}"
        );
        assert_eq!(home.rebuild().indexed, 12, "{name}");
        assert_eq!(home.contents(), whole, "{name}");
    }
}

#[test]
fn overwritten_pages_are_harmless_or_recognized_as_damage() {
    let home = Home::with(3, 20);
    home.rebuild();
    let whole = home.contents();
    checkpoint(&home);
    let bytes = fs::read(home.database()).unwrap();
    let mut recognized = 0;
    for page in 0..bytes.len() / 4096 {
        fs::write(home.database(), &bytes).unwrap();
        overwrite(&home.database(), page, u64::try_from(page).unwrap());
        let read = match Index::open(&home.database()) {
            Ok(index) => super::read(&index.connection),
            Err(IndexError::Damaged { .. }) => {
                recognized += 1;
                continue;
            }
            Err(other) => panic!("page {page}: {other:?}"),
        };
        match read {
            Ok(contents) => assert_eq!(contents, whole, "page {page}"),
            Err(error) => {
                assert!(is_damage(&error), "page {page}: {error:?}");
                recognized += 1;
            }
        }
    }
    assert!(recognized > 10, "{recognized}");
}

#[test]
fn header_without_tables_is_damage_at_the_first_query() {
    let home = Home::with(4, 1);
    let connection = Connection::open(home.database()).unwrap();
    connection
        .pragma_update(None, "application_id", schema::APPLICATION_ID)
        .unwrap();
    connection
        .pragma_update(None, "user_version", schema::VERSION)
        .unwrap();
    drop(connection);
    let connection = home.open().connection;
    let error = |sql| connection.query_row(sql, [], |_| Ok(())).unwrap_err();
    assert!(is_damage(&error("SELECT count(*) FROM consultations")));
    let wrong = error("SELECT nonsense");
    assert!(!is_damage(&wrong), "a wrong statement is not damage");
}

#[test]
fn database_of_another_version_is_rebuilt() {
    let home = Home::with(5, 2);
    home.rebuild();
    home.open()
        .connection
        .pragma_update(None, "user_version", 99)
        .unwrap();
    let unusable = Index::open(&home.database()).unwrap_err();
    assert!(
        matches!(unusable, IndexError::OtherVersion(_)) && unusable.is_fixed_by_rebuild(),
        "{unusable:?}"
    );
    assert_eq!(home.rebuild().indexed, 2);
    home.open();
}

/// Creates a database as another program does.
pub(crate) fn foreign(database: &Path) {
    let connection = Connection::open(database).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = wal;
             CREATE TABLE consultations (id TEXT PRIMARY KEY, question TEXT);
             INSERT INTO consultations VALUES ('consult-a', 'Why?');",
        )
        .unwrap();
}

#[test]
fn foreign_database_is_recognized_and_renamed() {
    let home = Home::with(6, 2);
    for name in [
        "consult-analytics.db.before-conclave",
        "consult-analytics.db.before-conclave-2",
    ] {
        let _ = fs::remove_file(home.database());
        foreign(&home.database());
        assert!(matches!(
            Index::open(&home.database()),
            Err(IndexError::Foreign(_))
        ));
        let rebuilt = home.rebuild();
        assert_eq!(rebuilt.indexed, 2);
        assert_eq!(rebuilt.set_aside, Some(home.path().join(name)));
        let renamed = Connection::open(home.path().join(name)).unwrap();
        let question: String = renamed
            .query_row("SELECT question FROM consultations", [], |row| row.get(0))
            .unwrap();
        assert_eq!(question, "Why?");
        home.open();
    }
}

#[test]
fn foreign_log_moves_with_its_database() {
    let home = Home::with(7, 2);
    foreign(&home.database());
    // A killed process leaves its log.
    let writer = Connection::open(home.database()).unwrap();
    writer
        .execute_batch("INSERT INTO consultations VALUES ('consult-b', 'How?')")
        .unwrap();
    let killed = Home::new();
    for ending in ["", "-wal"] {
        fs::copy(
            format!("{}{ending}", home.database().display()),
            format!("{}{ending}", killed.database().display()),
        )
        .unwrap();
    }
    killed.rebuild();
    let renamed =
        Connection::open(killed.path().join("consult-analytics.db.before-conclave")).unwrap();
    let questions: i64 = renamed
        .query_row("SELECT count(*) FROM consultations", [], |row| row.get(0))
        .unwrap();
    assert_eq!(questions, 2);
    assert_eq!(killed.indexed(), Vec::<String>::new());
}

#[test]
fn log_of_a_lost_database_stays_out_of_the_new_one() {
    let home = Home::with(8, 5);
    home.rebuild();
    let whole = home.contents();
    // The log stays after the last process closes.
    fs::remove_file(home.database()).unwrap();
    assert!(home.path().join("consult-analytics.db-wal").exists());
    home.rebuild();
    assert_eq!(home.contents(), whole);
}

#[test]
fn folder_in_place_of_the_database_is_not_damage() {
    let home = Home::with(9, 1);
    fs::create_dir(home.database()).unwrap();
    let unusable = Index::open(&home.database()).unwrap_err();
    assert!(
        matches!(unusable, IndexError::Failed { .. }) && !unusable.is_fixed_by_rebuild(),
        "{unusable:?}"
    );
}

#[test]
fn index_files_belong_to_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::with(10, 2);
    home.rebuild();
    let index = home.open();
    index
        .connection
        .execute_batch("DELETE FROM open_consultations")
        .unwrap();
    assert_eq!(
        home.beside(),
        [
            "consult-analytics.db",
            "consult-analytics.db-shm",
            "consult-analytics.db-wal",
        ]
    );
    for name in home.beside() {
        let metadata = fs::metadata(home.path().join(&name)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600, "{name}");
    }
}
