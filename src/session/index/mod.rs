//! The index as commands use it: an index that cannot be used is rebuilt from the records at once,
//! with a note of the reason.

mod queue;
mod rebuild;

use crate::config::paths::Home;
use crate::engine::ports::Face;
use crate::error::Error;
use crate::records::index::{Index, IndexError, QueryResult, follow, is_damage};

pub use self::queue::{IndexQueue, IndexSender, RebuildTime};

use self::rebuild::{Rebuild, RebuildReason, failed};

/// Drop it before anything is printed or asked: other processes wait for it.
pub fn open(home: &Home, face: &dyn Face) -> Result<Index, Error> {
    if !home.path().exists() {
        // No file is created before there is something to store.
        return Index::in_memory().map_err(Error::failed);
    }
    let mut index = match Index::open(&home.index_file()) {
        Ok(index) => index,
        Err(unusable) if unusable.is_fixed_by_rebuild() => {
            Rebuild::new(home, face, RebuildReason::of(&unusable)).open()?
        }
        Err(unusable) => {
            return Rebuild::new(home, face, RebuildReason::Damaged).in_place_of(unusable);
        }
    };
    match follow::reconcile(&mut index, &home.logs_folder()) {
        Err(error) if is_damage(&error) => {
            drop(index);
            Rebuild::new(home, face, RebuildReason::Damaged).open()
        }
        // An index that cannot be written can still be read.
        Ok(_) | Err(_) => Ok(index),
    }
}

/// When the index turns out to be damaged, it is rebuilt once and the query runs again.
pub fn with<T>(
    home: &Home,
    face: &dyn Face,
    mut query: impl FnMut(&mut Index) -> QueryResult<T>,
) -> Result<T, Error> {
    let mut index = open(home, face)?;
    let unusable = match query(&mut index) {
        Ok(answer) => return Ok(answer),
        Err(error) => error,
    };
    drop(index);
    let rebuild = Rebuild::new(home, face, RebuildReason::Damaged);
    let failed = |source| IndexError::of(&home.index_file(), source);
    let mut index = if is_damage(&unusable) {
        rebuild.open()?
    } else {
        rebuild.in_place_of(failed(unusable))?
    };
    query(&mut index).map_err(|source| Error::failed(failed(source)))
}

/// Returns how many consultations it holds.
pub fn rebuild(home: &Home, face: &dyn Face) -> Result<usize, Error> {
    let rebuild = Rebuild::new(home, face, RebuildReason::Requested);
    rebuild.run().map_err(failed)
}
