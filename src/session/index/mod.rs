//! The index as commands use it: one that cannot be used as it is, is made anew from the files on
//! the spot, with a word about why.

mod entry;
mod rebuild;

use std::path::PathBuf;

use crate::config::paths::Home;
use crate::error::{Error, whole};
use crate::records::index::{Index, OpenError, follow, is_damage};
use crate::terminal::output::printer::Printer;
use crate::terminal::tables::dashboard::charset::Charset;

pub(crate) use self::entry::{Entry, Unfit};

use self::rebuild::{Mending, Why, failed};

/// The database.
pub(crate) fn path(home: &Home) -> PathBuf {
    home.path().join("consult-analytics.db")
}

/// The folder of journals, records and Markdown.
pub(crate) fn logs(home: &Home) -> PathBuf {
    home.path().join("consult-logs")
}

/// Opens the index, with all consultations in it that are over. Let go of it before anything is
/// printed and anybody is waited for.
pub(crate) fn open(home: &Home, printer: &Printer) -> Result<Index, Error> {
    if !home.path().exists() {
        // Nothing is made before there is something to be kept.
        return Index::in_memory().map_err(Error::failed);
    }
    let mut index = match Index::open(&path(home)) {
        Ok(index) => index,
        Err(unusable) if unusable.is_fixed_by_rebuild() => {
            Mending::of(home, printer, Why::of(&unusable)).open()?
        }
        Err(unusable) => return Err(refused(unusable)),
    };
    match follow::reconcile(&mut index, &logs(home)) {
        Err(error) if is_damage(&error) => {
            drop(index);
            Mending::of(home, printer, Why::Damaged).open()
        }
        // What cannot be written cannot be mended by it either; what is there can be read.
        Ok(_) | Err(_) => Ok(index),
    }
}

/// Asks the index. When it turns out to be damaged, it is made anew once and asked again.
pub(crate) fn with<T>(
    home: &Home,
    printer: &Printer,
    mut ask: impl FnMut(&mut Index) -> rusqlite::Result<T>,
) -> Result<T, Error> {
    let mut index = open(home, printer)?;
    let answer = match ask(&mut index) {
        Err(error) if is_damage(&error) => {
            drop(index);
            ask(&mut Mending::of(home, printer, Why::Damaged).open()?)
        }
        answer => answer,
    };
    answer.map_err(|source| {
        Error::failed(OpenError::Failed {
            path: path(home),
            source,
        })
    })
}

/// Makes the index anew because the user says so; the result goes to standard output.
pub(crate) fn rebuild(home: &Home, printer: &Printer, charset: Charset) -> Result<(), Error> {
    let indexed = Mending::of(home, printer, Why::Asked)
        .make()
        .map_err(failed)?;
    let sign = charset.before("✅", "");
    let result = format!("{sign}Index rebuilt successfully. [{indexed}] consultations indexed.\n");
    printer.result(&result).map_err(Error::failed)
}

/// The index cannot be used, and making it anew is not for this program to decide, or would not
/// help.
fn refused(unusable: OpenError) -> Error {
    match unusable {
        OpenError::Newer { .. } => Error::usage(unusable)
            .hint("use that version, or make an index for this one from the records: conclave consult-stats --rebuild-index"),
        OpenError::Busy(_) => Error::failed(unusable).hint("try again when that process has ended"),
        OpenError::Missing(_) | OpenError::Damaged { .. } | OpenError::Foreign(_) | OpenError::Failed { .. } | OpenError::Unreadable { .. } => {
            Error::failed(unusable)
        }
    }
}
