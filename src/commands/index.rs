//! The index as commands use it.

use std::path::PathBuf;

use crate::config::paths::Home;
use crate::error::Error;
use crate::records::index::Index;
use crate::terminal::printer::Printer;

/// Where it lies.
pub(crate) fn path(home: &Home) -> PathBuf {
    home.path().join("consult-analytics.db")
}

/// Opens it.
pub(crate) fn open(home: &Home, _printer: &Printer) -> Result<Index, Error> {
    Index::open(&path(home)).map_err(Error::failed)
}
