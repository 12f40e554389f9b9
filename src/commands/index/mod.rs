//! The index as commands use it.

use crate::config::paths::Home;
use crate::error::Error;
use crate::records::index::Index;
use crate::records::index::rebuilding;
use crate::terminal::printer::Printer;

/// Asks the index.
pub(crate) fn with<T>(home: &Home, _printer: &Printer, mut ask: impl FnMut(&mut Index) -> rusqlite::Result<T>) -> Result<T, Error> {
    let path = home.path().join("consult-analytics.db");
    let mut index =
        if home.path().exists() { Index::open(&path).map_err(Error::failed)? } else { Index::in_memory().map_err(Error::failed)? };
    ask(&mut index).map_err(Error::failed)
}

/// Makes the index anew.
pub(crate) fn rebuild(home: &Home, _printer: &Printer) -> Result<(), Error> {
    let path = home.path().join("consult-analytics.db");
    rebuilding::rebuild(&home.path().join("consult-logs"), &path, &mut |_| ()).map_err(Error::failed)?;
    Ok(())
}
