//! The index of a home.
use crate::config::paths::Home;
use crate::error::Error;
use crate::records::index::Index;
use crate::terminal::printer::Printer;
pub(crate) fn open(home: &Home, _printer: &Printer) -> Result<Index, Error> {
    let path = home.path().join("consult-analytics.db");
    if !home.path().exists() {
        return Index::in_memory().map_err(Error::failed);
    }
    Index::open(&path).map_err(Error::failed)
}
pub(crate) fn rebuild(_home: &Home, _printer: &Printer) -> Result<(), Error> {
    Ok(())
}
