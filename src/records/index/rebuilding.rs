//! Making the index anew from the files, beside the old one, and putting it in its place when it is complete.
//!
//! Threads take turns at the one database: while one of them writes what it has read, the others read. Consultations go on meanwhile and
//! write to the old index; what has come or changed since its file was read is read again before the swap, when nobody else has either
//! database open.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

use rusqlite::{Connection, OptionalExtension};

use crate::domain::time::Timestamp;
use crate::records::outcomes;

use super::extracting;
use super::following;
use super::locking::{self, Building, Busy, Patience};
use super::opening::{Index, Unusable};
use super::rows::Rows;
use super::schema;
use super::sources::{self, Files, Found, Stamps, Told, Worth};
use super::storing;
use super::swapping::{self, NotSwapped};

/// Consultations that a thread reads before it takes its turn at the database.
const BATCH: usize = 64;

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub done: usize,
    pub of: usize,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rebuilt {
    pub indexed: usize,
    /// Files that have no rows, by name, each with why.
    pub skipped: Vec<(String, String)>,
}

/// Why there is no new index. The old one is as it was.
#[derive(Debug, thiserror::Error)]
pub enum CannotRebuild {
    #[error("the index `{}` is in use by another process", .0.display())]
    Busy(PathBuf),
    #[error("cannot read the folder `{}`", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("cannot write the index `{}`", path.display())]
    Unwritable { path: PathBuf, source: io::Error },
    #[error("cannot make the index `{}`", path.display())]
    Failed { path: PathBuf, source: rusqlite::Error },
}

/// Makes the index of a folder of logs anew.
pub fn rebuild(logs: &Path, database: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Rebuilt, CannotRebuild> {
    let building = building(database)?;
    build(&building, logs, database, progress)
}

/// Makes the index anew, unless another process has done it when its turn comes.
pub fn rebuild_unusable(logs: &Path, database: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Option<Rebuilt>, CannotRebuild> {
    let building = building(database)?;
    match Index::open(database) {
        Ok(_) => Ok(None),
        Err(_) => build(&building, logs, database, progress).map(Some),
    }
}

fn building(database: &Path) -> Result<Building, CannotRebuild> {
    locking::to_build(database, Patience::Long).map_err(|Busy| CannotRebuild::Busy(database.to_owned()))
}

fn build(building: &Building, logs: &Path, database: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Rebuilt, CannotRebuild> {
    let unwritable = |source| CannotRebuild::Unwritable { path: database.to_owned(), source };
    let failed = |source: rusqlite::Error| CannotRebuild::Failed { path: database.to_owned(), source };
    if building.is_alone() {
        swapping::remove_leftovers(database);
    }
    let new = swapping::temporary(database).map_err(unwritable)?;
    let connection = begin(&new).map_err(failed)?;
    let listed = list(logs)?;
    let (mut writer, mut stamps) = fill(connection, logs, &listed, progress).map_err(failed)?;
    writer.pause().map_err(failed)?;
    // The bulk of it, while others still use the old one.
    swapping::sync(&new).map_err(unwritable)?;

    let _alone = building.alone(Patience::Usual).map_err(|Busy| CannotRebuild::Busy(database.to_owned()))?;
    writer.go_on().and_then(|()| catch_up(&mut writer, logs, &list(logs).unwrap_or(listed), &mut stamps)).map_err(failed)?;
    let rebuilt = writer.end().map_err(failed)?;
    swapping::sync(&new).map_err(unwritable)?;
    swapping::put_in_place(new, database).map_err(|error| match error {
        NotSwapped::Busy => CannotRebuild::Busy(database.to_owned()),
        NotSwapped::Failed(source) => unwritable(source),
    })?;
    Ok(rebuilt)
}

fn list(logs: &Path) -> Result<BTreeMap<String, Files>, CannotRebuild> {
    sources::list(logs).map_err(|source| CannotRebuild::Folder { path: logs.to_owned(), source })
}

/// Opens the new database. Until it is in its place nothing of it needs to last, and nobody else looks at it.
fn begin(new: &Path) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open(new)?;
    connection.execute_batch("PRAGMA journal_mode = off; PRAGMA synchronous = off; PRAGMA cache_size = -8000; PRAGMA locking_mode = exclusive;")?;
    schema::migrate(&mut connection, 0)?;
    connection.execute_batch("BEGIN")?;
    Ok(connection)
}

/// When each name's files had been written when they were read.
type Read = HashMap<String, Stamps>;

/// Reads all files, on as many threads as there are cores.
fn fill(
    connection: Connection,
    logs: &Path,
    listed: &BTreeMap<String, Files>,
    progress: &mut dyn FnMut(Progress),
) -> rusqlite::Result<(Writer, Read)> {
    let all: Vec<(&String, &Files)> = listed.iter().collect();
    let writer = Mutex::new(Writer { connection, put: HashMap::new(), rebuilt: Rebuilt::default() });
    let (next, has_failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (tell, told) = mpsc::channel();
    let work = |tell: mpsc::Sender<usize>| -> rusqlite::Result<Vec<(String, Stamps)>> {
        let mut read = Vec::new();
        while !has_failed.load(Ordering::Relaxed) {
            let Some(batch) = all.chunks(BATCH).nth(next.fetch_add(1, Ordering::Relaxed)) else { break };
            let stamped = batch.iter().map(|(stem, files)| (*stem, **files, sources::stamps(logs, stem, **files)));
            let stamped: Vec<_> = stamped.collect();
            let found: Vec<Found> = stamped.iter().map(|(stem, _, stamps)| sources::find(logs, stem, stamps)).collect();
            let extracted: Vec<Extracted<'_>> =
                stamped.iter().zip(&found).map(|((stem, files, _), found)| Extracted::of(stem, *files, found)).collect();
            {
                let mut writer = lock(&writer);
                for one in &extracted {
                    writer.take(logs, one).inspect_err(|_| has_failed.store(true, Ordering::Relaxed))?;
                }
            }
            read.extend(stamped.into_iter().map(|(stem, _, stamps)| (stem.clone(), stamps)));
            // Nobody to tell is no failure.
            let _ = tell.send(batch.len());
        }
        Ok(read)
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get).clamp(1, 4);
    let read = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| tell.clone()).map(|tell| scope.spawn(|| work(tell))).collect();
        drop(tell);
        let mut done = 0;
        progress(Progress { done, of: all.len() });
        for more in told {
            done += more;
            progress(Progress { done, of: all.len() });
        }
        let mut read = Read::new();
        for worker in workers {
            // A thread that panics has told so itself; what it had not read counts as changed.
            read.extend(worker.join().unwrap_or_else(|_| Ok(Vec::new()))?);
        }
        Ok::<_, rusqlite::Error>(read)
    })?;
    Ok((writer.into_inner().unwrap_or_else(PoisonError::into_inner), read))
}

/// Reads again what has come or changed since, and takes out what is gone.
fn catch_up(writer: &mut Writer, logs: &Path, listed: &BTreeMap<String, Files>, read: &mut Read) -> rusqlite::Result<()> {
    for (stem, files) in listed {
        let stamps = sources::stamps(logs, stem, *files);
        if read.remove(stem) == Some(stamps) {
            continue;
        }
        let found = sources::find(logs, stem, &stamps);
        writer.take_again(logs, &Extracted::of(stem, *files, &found))?;
    }
    for stem in std::mem::take(read).into_keys() {
        writer.forget(&stem)?;
    }
    Ok(())
}

/// What a thread has read under one name.
#[derive(Debug)]
struct Extracted<'a> {
    stem: &'a str,
    files: Files,
    rows: Option<Result<(Rows<'a>, Worth), String>>,
    is_open: bool,
}

impl<'a> Extracted<'a> {
    fn of(stem: &'a str, files: Files, found: &'a Found) -> Self {
        let rows = found.told.as_ref().map(|told| match told {
            Ok(Told { json, written_at, worth }) => {
                extracting::rows(json, stem, *written_at).map(|rows| (rows, *worth)).map_err(|error| error.to_string())
            }
            Err(why) => Err(why.clone()),
        });
        Self { stem, files, rows, is_open: found.is_open }
    }
}

/// Whoever's turn it is at the new database.
#[derive(Debug)]
struct Writer {
    connection: Connection,
    /// What the rows of each consultation came from, by its id.
    put: HashMap<String, (Worth, String)>,
    rebuilt: Rebuilt,
}

impl Writer {
    fn take(&mut self, logs: &Path, extracted: &Extracted<'_>) -> rusqlite::Result<()> {
        let Extracted { stem, files, rows, is_open } = extracted;
        if *is_open {
            following::mark(&self.connection, stem, following::began_at(logs, stem).unwrap_or(Timestamp(0)))?;
        }
        match rows {
            None => Ok(()),
            Some(Err(why)) => {
                self.rebuilt.skipped.push((sources::file_name(stem, *files), why.clone()));
                Ok(())
            }
            Some(Ok((rows, worth))) => self.put(logs, rows, *worth, *files),
        }
    }

    /// Puts the rows, unless a better file has told the same consultation: which one is does not depend on the order.
    fn put(&mut self, logs: &Path, rows: &Rows<'_>, worth: Worth, files: Files) -> rusqlite::Result<()> {
        let (id, stem) = (rows.consultation.id.as_ref(), rows.consultation.stem.as_ref());
        let name = sources::file_name(stem, files);
        let twice = |name: String, better: &str| (name, format!("{better} tells the same consultation"));
        match self.put.get(id) {
            Some((other_worth, other)) if (worth, other.as_str()) < (*other_worth, name.as_str()) => {
                self.rebuilt.skipped.push(twice(name, other));
                return Ok(());
            }
            Some((_, other)) => self.rebuilt.skipped.push(twice(other.clone(), &name)),
            None => self.rebuilt.indexed += 1,
        }
        storing::put(&self.connection, rows)?;
        if files.outcome
            && let Some(grade) = outcomes::read(logs, stem)
        {
            storing::set_outcome(&self.connection, id, Some(&grade))?;
        }
        self.put.insert(id.to_owned(), (worth, name));
        Ok(())
    }

    /// Takes what has changed since it was taken, or is new.
    fn take_again(&mut self, logs: &Path, extracted: &Extracted<'_>) -> rusqlite::Result<()> {
        self.forget(extracted.stem)?;
        self.take(logs, extracted)
    }

    /// Takes out what came from files that are gone or have changed.
    fn forget(&mut self, stem: &str) -> rusqlite::Result<()> {
        let names = [".json", ".jsonl"].map(|ending| format!("{stem}{ending}"));
        self.rebuilt.skipped.retain(|(name, _)| !names.contains(name));
        following::unmark(&self.connection, stem)?;
        let sql = "SELECT id FROM consultations WHERE stem = ?1";
        let id: Option<String> = self.connection.query_row(sql, [stem], |row| row.get(0)).optional()?;
        if let Some(id) = id {
            storing::remove(&self.connection, &id)?;
            self.put.remove(&id);
            self.rebuilt.indexed = self.rebuilt.indexed.saturating_sub(1);
        }
        Ok(())
    }

    /// Lets the file be brought to the disk.
    fn pause(&mut self) -> rusqlite::Result<()> {
        self.connection.execute_batch("COMMIT")
    }

    fn go_on(&mut self) -> rusqlite::Result<()> {
        self.connection.execute_batch("BEGIN")
    }

    /// Closes the database as it is used from now on.
    fn end(mut self) -> rusqlite::Result<Rebuilt> {
        self.connection.execute_batch("COMMIT; PRAGMA locking_mode = normal;")?;
        self.connection.query_row("PRAGMA journal_mode = wal", [], |_| Ok(()))?;
        self.connection.close().map_err(|(_, error)| error)?;
        self.rebuilt.skipped.sort_unstable();
        Ok(self.rebuilt)
    }
}

fn lock(writer: &Mutex<Writer>) -> MutexGuard<'_, Writer> {
    writer.lock().unwrap_or_else(PoisonError::into_inner)
}
