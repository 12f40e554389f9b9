//! Opens the database and determines its state.

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::schema;

/// An existing database, used by one thread.
pub(super) const FLAGS: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// What a query on the index returns.
pub type QueryResult<T> = rusqlite::Result<T>;

/// An open index.
#[derive(Debug)]
pub struct Index {
    pub connection: Connection,
}

/// The time to wait for another process that is writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitLimit {
    /// Where the user is waiting for something else.
    Moment,
    /// Long enough for another process to rebuild a large index.
    Usual,
}

impl WaitLimit {
    pub(super) fn time(self) -> Duration {
        match self {
            Self::Moment => Duration::from_millis(250),
            Self::Usual => Duration::from_secs(120),
        }
    }
}

/// The reason why the index cannot be used. A failed rebuild leaves the old one unchanged.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error("there is no index `{}`", .0.display())]
    Missing(PathBuf),
    /// The file is not a database, or a broken one.
    #[error("the index `{}` is damaged", path.display())]
    Damaged {
        path: PathBuf,
        source: Option<rusqlite::Error>,
    },
    /// Another program's database, such as the original's.
    #[error("`{}` is another program's database", .0.display())]
    Foreign(PathBuf),
    #[error("the index `{}` was written by another version of conclave", .0.display())]
    OtherVersion(PathBuf),
    #[error("the index `{}` is in use by another process", .0.display())]
    Busy(PathBuf),
    #[error("cannot {what} the index `{}`", path.display())]
    Failed {
        what: &'static str,
        path: PathBuf,
        source: Box<dyn Error + Send + Sync>,
    },
    #[error("cannot read the folder `{}`", path.display())]
    Logs { path: PathBuf, source: io::Error },
}

impl IndexError {
    /// Returns whether a rebuild can replace the database without loss.
    pub fn is_fixed_by_rebuild(&self) -> bool {
        match self {
            Self::Missing(_) | Self::Damaged { .. } | Self::Foreign(_) | Self::OtherVersion(_) => {
                true
            }
            Self::Busy(_) | Self::Failed { .. } | Self::Logs { .. } => false,
        }
    }

    pub fn of(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        if is_damage(&source) {
            Self::Damaged {
                path,
                source: Some(source),
            }
        } else if source.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) {
            Self::Busy(path)
        } else {
            Self::failed("use", &path, source)
        }
    }

    pub(super) fn failed(
        what: &'static str,
        path: &Path,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::Failed {
            what,
            path: path.to_owned(),
            source: source.into(),
        }
    }
}

/// No database, corrupt pages, or values that this program does not write.
pub fn is_damage(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::Utf8Error(..) => true,
        rusqlite::Error::SqliteFailure(failure, message) => match failure.code {
            ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt => true,
            // A header that outlived its tables.
            _ => message
                .as_deref()
                .is_some_and(|message| message.starts_with("no such table")),
        },
        _ => false,
    }
}

impl Index {
    pub fn open(path: &Path) -> Result<Self, IndexError> {
        Self::open_with(path, WaitLimit::Usual)
    }

    /// The wait limit holds for every statement.
    pub fn open_with(path: &Path, limit: WaitLimit) -> Result<Self, IndexError> {
        let connection = open_unchecked(path)?;
        let failed = |error| IndexError::of(path, error);
        connection.busy_timeout(limit.time()).map_err(failed)?;
        check(&connection, path)?;
        set_up(&connection).map_err(failed)?;
        Ok(Self { connection })
    }

    pub fn in_memory() -> rusqlite::Result<Self> {
        let connection = Connection::open_in_memory()?;
        schema::create(&connection)?;
        Ok(Self { connection })
    }
}

/// Opens the file without checking whose it is.
pub(super) fn open_unchecked(path: &Path) -> Result<Connection, IndexError> {
    let unreadable = |error: io::Error| IndexError::failed("read", path, error);
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(IndexError::Missing(path.to_owned()));
        }
        Err(source) => return Err(unreadable(source)),
        Ok(metadata) if metadata.is_dir() => {
            return Err(unreadable(io::ErrorKind::IsADirectory.into()));
        }
        // To SQLite an empty file is a new database. Here it is a truncated one, or one whose
        // first rows another process is about to write.
        Ok(metadata) if metadata.len() == 0 => {
            return Err(IndexError::Damaged {
                path: path.to_owned(),
                source: None,
            });
        }
        Ok(_) => {}
    }
    Connection::open_with_flags(path, FLAGS).map_err(|error| IndexError::of(path, error))
}

/// Checks that the database is ours and of this version.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<(), IndexError> {
    let number = |sql: &str| {
        connection
            .query_row(sql, [], |row| row.get::<_, i64>(0))
            .map_err(|error| IndexError::of(path, error))
    };
    // Reads the schema as well: every statement needs it.
    let objects = number("SELECT count(*) FROM sqlite_schema")?;
    let application = number("PRAGMA application_id")?;
    let version = number("PRAGMA user_version")?;
    if application != i64::from(schema::APPLICATION_ID) {
        let is_empty = (objects, application, version) == (0, 0, 0);
        let path = path.to_owned();
        return Err(if is_empty {
            IndexError::Damaged { path, source: None }
        } else {
            IndexError::Foreign(path)
        });
    }
    if version == i64::from(schema::VERSION) {
        Ok(())
    } else {
        Err(IndexError::OtherVersion(path.to_owned()))
    }
}

fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    // Databases have it already. One that was created without it, because another process was
    // opening it, gets it now, or works without.
    let _ = connection.query_row("PRAGMA journal_mode = wal", [], |_| Ok(()));
    connection.execute_batch(
        "PRAGMA synchronous = normal; PRAGMA foreign_keys = on; PRAGMA cache_size = -2000;",
    )?;
    // The log is checkpointed when it is long, not whenever the last process closes: that would
    // cost each process two more syncs.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(())
}
