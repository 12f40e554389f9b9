//! Opening a database, and finding out in what state it is.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::schema;

/// An open index.
#[derive(Debug)]
pub struct Index {
    connection: Connection,
}

/// Why a database cannot be used as it is.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// There is none.
    #[error("there is no index `{}`", .0.display())]
    Missing(PathBuf),
    /// It is no database, or one that is broken.
    #[error("the index `{}` is damaged", path.display())]
    Damaged { path: PathBuf, source: Option<rusqlite::Error> },
    /// It is another program's database, such as the original's.
    #[error("`{}` is another program's database", .0.display())]
    Foreign(PathBuf),
    #[error("the index `{}` was written by a newer version of conclave ({found}; this one knows {known})", path.display())]
    Newer { path: PathBuf, found: i64, known: usize },
    #[error("cannot use the index `{}`", path.display())]
    Failed { path: PathBuf, source: rusqlite::Error },
}

impl Index {
    /// Opens the database and brings it up to date.
    pub fn open(path: &Path) -> Result<Self, Unusable> {
        let failed = |source| Unusable::Failed { path: path.to_owned(), source };
        let mut connection = Connection::open(path).map_err(failed)?;
        schema::migrate(&mut connection, 0).map_err(failed)?;
        Ok(Self { connection })
    }

    /// An index of nothing, in memory.
    pub fn in_memory() -> rusqlite::Result<Self> {
        let mut connection = Connection::open_in_memory()?;
        schema::migrate(&mut connection, 0)?;
        Ok(Self { connection })
    }

    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    pub fn connection_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}
