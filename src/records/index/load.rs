//! Filling a new database from the files: threads read them and work out the rows, one after the
//! other writes them.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::thread;

use rusqlite::{Connection, OptionalExtension, Result};

use crate::domain::time::Timestamp;
use crate::records::outcomes;

use super::bulk::Bulk;
use super::extract;
use super::follow;
use super::rebuild::{Progress, Rebuilt};
use super::rows::Rows;
use super::sources::{self, Files, Stamps, Told, Worth};
use super::store;

/// Consultations that a thread reads before it hands them over.
const BATCH: usize = 64;

/// Batches that wait to be written: enough for the writer never to wait, few enough to need little
/// memory.
const WAITING: usize = 4;

/// The names of consultations, each with its files.
pub(super) type Listed = BTreeMap<String, Files>;

/// What is in the new database, and where from.
#[derive(Debug, Default)]
pub(super) struct Filled {
    /// When the files of each name had been written as they were read.
    read: HashMap<String, Stamps>,
    /// What the rows of each consultation came from, by its id.
    sources: HashMap<String, Source>,
    rebuilt: Rebuilt,
}

/// A file that rows came from: the greater is the better, and which one that is does not depend on
/// what was read first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Source {
    worth: Worth,
    name: String,
}

/// What was read under one name.
#[derive(Debug)]
struct Extracted {
    stem: String,
    files: Files,
    stamps: Stamps,
    rows: Option<std::result::Result<(Rows<'static>, Worth), String>>,
    is_open: bool,
}

impl Extracted {
    fn read(logs: &Path, stem: &str, files: Files) -> Self {
        let stamps = sources::stamps(logs, stem, files);
        let found = sources::find(logs, stem, &stamps);
        let rows = found.told.map(|told| {
            let Told {
                json,
                written_at,
                worth,
            } = told?;
            let rows = extract::rows(&json, stem, written_at).map_err(|error| error.to_string())?;
            Ok((rows.into_owned(), worth))
        });
        Self {
            stem: stem.to_owned(),
            files,
            stamps,
            rows,
            is_open: found.is_open,
        }
    }
}

/// Reads all files into a database that has its tables and nothing else.
pub(super) fn fill(
    connection: &Connection,
    logs: &Path,
    listed: &Listed,
    progress: &mut dyn FnMut(Progress),
) -> Result<Filled> {
    let all: Vec<(&String, &Files)> = listed.iter().collect();
    let next = AtomicUsize::new(0);
    let read = |hand_over: SyncSender<Vec<Extracted>>| {
        while let Some(batch) = all.chunks(BATCH).nth(next.fetch_add(1, Ordering::Relaxed)) {
            let batch = batch
                .iter()
                .map(|(stem, files)| Extracted::read(logs, stem, **files))
                .collect();
            if hand_over.send(batch).is_err() {
                // The writer has failed.
                break;
            }
        }
    };
    let (sender, batches) = mpsc::sync_channel(WAITING);
    let threads = thread::available_parallelism()
        .map_or(1, NonZero::get)
        .clamp(1, 4);
    let mut filled = Filled::default();
    let mut again = Vec::new();
    thread::scope(|scope| {
        for _ in 0..threads {
            let sender = sender.clone();
            scope.spawn(move || read(sender));
        }
        drop(sender);
        let mut done = 0;
        progress(Progress {
            done,
            of: all.len(),
        });
        let mut bulk = Bulk::begin(connection)?;
        for batch in batches {
            done += batch.len();
            for extracted in batch {
                again.extend(filled.add(connection, &mut bulk, logs, extracted)?);
            }
            progress(Progress {
                done,
                of: all.len(),
            });
        }
        bulk.finish()
    })?;
    for extracted in again {
        filled.replace(connection, logs, &extracted)?;
    }
    Ok(filled)
}

impl Filled {
    /// Adds what is new. What should stand in the place of something else is returned: that is for
    /// when all else is there.
    fn add(
        &mut self,
        connection: &Connection,
        bulk: &mut Bulk<'_>,
        logs: &Path,
        extracted: Extracted,
    ) -> Result<Option<Extracted>> {
        self.read.insert(extracted.stem.clone(), extracted.stamps);
        if let Some(Ok((rows, worth))) = &extracted.rows {
            let id = rows.consultation.id.as_ref();
            if self.sources.contains_key(id) {
                return Ok(Some(extracted));
            }
            bulk.put(rows)?;
            let source = Source {
                worth: *worth,
                name: sources::file_name(&extracted.stem, extracted.files),
            };
            self.sources.insert(id.to_owned(), source);
            // An answer of which nothing is known has nothing to be updated, which for very many is
            // a good part of the work.
            if extracted.files.outcome {
                grade(connection, logs, id, extracted.files, &extracted.stem)?;
            }
        }
        self.finish(connection, logs, &extracted)?;
        Ok(None)
    }

    /// Adds what may stand in the place of something else.
    fn replace(
        &mut self,
        connection: &Connection,
        logs: &Path,
        extracted: &Extracted,
    ) -> Result<()> {
        self.read.insert(extracted.stem.clone(), extracted.stamps);
        if let Some(Ok((rows, worth))) = &extracted.rows {
            let id = rows.consultation.id.as_ref();
            let source = Source {
                worth: *worth,
                name: sources::file_name(&extracted.stem, extracted.files),
            };
            match self.sources.get(id) {
                Some(other) if *other > source => {
                    let why = format!("{} tells the same consultation", other.name);
                    self.rebuilt.skipped.push((source.name, why));
                    return Ok(());
                }
                Some(other) => {
                    let why = format!("{} tells the same consultation", source.name);
                    self.rebuilt.skipped.push((other.name.clone(), why));
                }
                None => {}
            }
            store::put(connection, rows)?;
            self.sources.insert(id.to_owned(), source);
            grade(connection, logs, id, extracted.files, &extracted.stem)?;
        }
        self.finish(connection, logs, extracted)
    }

    /// Notes what has no rows, and what is still going on.
    fn finish(
        &mut self,
        connection: &Connection,
        logs: &Path,
        extracted: &Extracted,
    ) -> Result<()> {
        let Extracted {
            stem,
            files,
            rows,
            is_open,
            ..
        } = extracted;
        if let Some(Err(why)) = rows {
            self.rebuilt
                .skipped
                .push((sources::file_name(stem, *files), why.clone()));
        }
        if *is_open {
            follow::mark(
                connection,
                stem,
                follow::began_at(logs, stem).unwrap_or(Timestamp(0)),
            )?;
        }
        Ok(())
    }

    /// Reads again what has come or changed since it was read, and takes out what is gone.
    pub(super) fn catch_up(
        &mut self,
        connection: &Connection,
        logs: &Path,
        listed: &Listed,
    ) -> Result<()> {
        let mut before = std::mem::take(&mut self.read);
        for (stem, files) in listed {
            let stamps = sources::stamps(logs, stem, *files);
            match before.remove(stem) {
                Some(then) if then == stamps => continue,
                Some(_) => self.forget(connection, stem)?,
                None => {}
            }
            self.replace(connection, logs, &Extracted::read(logs, stem, *files))?;
        }
        for stem in before.keys() {
            self.forget(connection, stem)?;
        }
        Ok(())
    }

    /// Takes out what came from files of this name.
    fn forget(&mut self, connection: &Connection, stem: &str) -> Result<()> {
        let names = [".json", ".jsonl"].map(|ending| format!("{stem}{ending}"));
        self.rebuilt
            .skipped
            .retain(|(name, _)| !names.contains(name));
        follow::unmark(connection, stem)?;
        let id: Option<String> = connection
            .query_row(
                "SELECT id FROM consultations WHERE stem = ?1",
                [stem],
                |row| row.get(0),
            )
            .optional()?;
        if let Some(id) = id {
            store::remove(connection, &id)?;
            self.sources.remove(&id);
        }
        Ok(())
    }

    pub(super) fn into_rebuilt(mut self) -> Rebuilt {
        self.rebuilt.indexed = self.sources.len();
        self.rebuilt.skipped.sort_unstable();
        self.rebuilt
    }
}

/// Notes what became of an answer.
fn grade(connection: &Connection, logs: &Path, id: &str, files: Files, stem: &str) -> Result<()> {
    let grade = if files.outcome {
        outcomes::read(logs, stem)
    } else {
        None
    };
    store::set_outcome(connection, id, grade.as_ref())
}
