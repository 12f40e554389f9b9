//! Opening a database, and finding out in what state it is.
//!
//! Invariant: whoever has it open holds a lock with all others that do, so that nobody puts another
//! file in its place meanwhile. Nothing reads the file but `SQLite`: another open and close of it
//! in this process would take away the locks that `SQLite` has on it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::lock::{self, Busy, Held};
use super::schema;

pub use super::lock::Patience;

/// An open index. Not to be kept while something is printed or somebody is waited for: others may
/// want to put a new one in its place.
#[derive(Debug)]
pub struct Index {
    connection: Connection,
    // Let go of after the connection: fields are dropped in this order.
    _in_use: Option<Held>,
}

/// Why a database cannot be used as it is.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// There is none.
    #[error("there is no index `{}`", .0.display())]
    Missing(PathBuf),
    /// It is no database, or one that is broken.
    #[error("the index `{}` is damaged", path.display())]
    Damaged {
        path: PathBuf,
        source: Option<rusqlite::Error>,
    },
    /// It is another program's database, such as the original's.
    #[error("`{}` is another program's database", .0.display())]
    Foreign(PathBuf),
    #[error("the index `{}` was written by a newer version of conclave ({found}; this one knows {known})", path.display())]
    Newer {
        path: PathBuf,
        found: i64,
        known: usize,
    },
    #[error("the index `{}` is in use by another process", .0.display())]
    Busy(PathBuf),
    #[error("cannot use the index `{}`", path.display())]
    Failed {
        path: PathBuf,
        source: rusqlite::Error,
    },
    #[error("cannot look at the index `{}`", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
}

impl Unusable {
    /// Whether a new one, made from the files, can stand in its place without anybody losing
    /// anything.
    pub fn is_mended_by_rebuilding(&self) -> bool {
        match self {
            Self::Missing(_) | Self::Damaged { .. } | Self::Foreign(_) => true,
            Self::Newer { .. } | Self::Busy(_) | Self::Failed { .. } | Self::Unreadable { .. } => {
                false
            }
        }
    }

    fn of(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        if is_damage(&source) {
            Self::Damaged {
                path,
                source: Some(source),
            }
        } else {
            Self::Failed { path, source }
        }
    }
}

/// Whether an error of a statement says that the database is broken: that it is none, that its
/// pages do not fit together, or that what is in it is not what this program writes.
pub fn is_damage(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::Utf8Error(..) => true,
        rusqlite::Error::SqliteFailure(failure, message) => match failure.code {
            ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt => true,
            // A header that has survived its tables.
            _ => message
                .as_deref()
                .is_some_and(|message| message.starts_with("no such table")),
        },
        _ => false,
    }
}

impl Index {
    /// Opens the database and brings it up to date.
    pub fn open(path: &Path) -> Result<Self, Unusable> {
        Self::open_with(path, Patience::Usual)
    }

    /// Opens the database; waits for others as long as told, now and at every statement.
    pub fn open_with(path: &Path, patience: Patience) -> Result<Self, Unusable> {
        if is_missing(path) {
            // Nothing to keep others from, and nothing is made by looking.
            return Err(Unusable::Missing(path.to_owned()));
        }
        let in_use =
            lock::to_use(path, patience).map_err(|Busy| Unusable::Busy(path.to_owned()))?;
        let connection = connect(path, patience)?;
        Ok(Self {
            connection,
            _in_use: Some(in_use),
        })
    }

    /// An index of nothing, in memory.
    pub fn in_memory() -> rusqlite::Result<Self> {
        let mut connection = Connection::open_in_memory()?;
        schema::migrate(&mut connection, 0)?;
        Ok(Self {
            connection,
            _in_use: None,
        })
    }

    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    pub fn connection_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}

fn is_missing(path: &Path) -> bool {
    fs::metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Opens a database that this process holds a lock for.
fn connect(path: &Path, patience: Patience) -> Result<Connection, Unusable> {
    let mut connection = look_at(path)?;
    let failed = |error| Unusable::of(path, error);
    connection.busy_timeout(patience.time()).map_err(failed)?;
    let found = check(&connection, path)?;
    set_up(&connection).map_err(failed)?;
    if found < schema::version() {
        schema::migrate(&mut connection, found).map_err(failed)?;
    }
    Ok(connection)
}

/// Opens what there is, whatever it is.
pub(super) fn look_at(path: &Path) -> Result<Connection, Unusable> {
    let damaged = || Unusable::Damaged {
        path: path.to_owned(),
        source: None,
    };
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Unusable::Missing(path.to_owned()));
        }
        Err(source) => {
            return Err(Unusable::Unreadable {
                path: path.to_owned(),
                source,
            });
        }
        Ok(metadata) if metadata.is_dir() => {
            return Err(Unusable::Unreadable {
                path: path.to_owned(),
                source: io::ErrorKind::IsADirectory.into(),
            });
        }
        // To SQLite this is a new database. Here it is one that somebody has emptied: new ones come
        // whole.
        Ok(metadata) if metadata.len() == 0 => return Err(damaged()),
        Ok(_) => {}
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags).map_err(|error| Unusable::of(path, error))
}

/// Finds out whose database it is; returns how many steps of the tables' making it has.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<usize, Unusable> {
    let number = |sql: &str| {
        connection
            .query_row(sql, [], |row| row.get::<_, i64>(0))
            .map_err(|error| Unusable::of(path, error))
    };
    // The schema is read as well: it is what every statement needs.
    let things = number("SELECT count(*) FROM sqlite_schema")?;
    let application = number("PRAGMA application_id")?;
    let found = number("PRAGMA user_version")?;
    if application != i64::from(schema::APPLICATION_ID) {
        let is_empty = (things, application, found) == (0, 0, 0);
        let path = path.to_owned();
        return Err(if is_empty {
            Unusable::Damaged { path, source: None }
        } else {
            Unusable::Foreign(path)
        });
    }
    match usize::try_from(found) {
        Ok(version) if (1..=schema::version()).contains(&version) => Ok(version),
        Ok(0) | Err(_) => Err(Unusable::Damaged {
            path: path.to_owned(),
            source: None,
        }),
        Ok(_) => Err(Unusable::Newer {
            path: path.to_owned(),
            found,
            known: schema::version(),
        }),
    }
}

fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    // A database has it already. One that an interrupted swap has left without gets it, unless
    // somebody is using it: then it does without.
    let _ = connection.query_row("PRAGMA journal_mode = wal", [], |_| Ok(()));
    connection.execute_batch(
        "PRAGMA synchronous = normal; PRAGMA foreign_keys = on; PRAGMA cache_size = -2000;",
    )?;
    // The log is brought into the database when it is long, not whenever the last process goes:
    // that would cost each two more syncs.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(())
}
