//! Loads a new database from the files: threads read them and extract the rows, one writer inserts
//! them.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::thread;

use rusqlite::{Connection, OptionalExtension, Result};

use crate::domain::time::Timestamp;
use crate::records::outcomes;

use super::bulk::Bulk;
use super::extract;
use super::follow;
use super::rows::Rows;
use super::sources::{self, SourceFiles, SourceRank, SourceRecord, WriteTimes};
use super::store;

/// Consultations that a thread reads before it sends them to the writer.
const BATCH: usize = 64;

/// Batches in the queue: enough to keep the writer busy, few enough to need little memory.
const WAITING: usize = 4;

/// The stems of consultations, each with its files.
pub(super) type SourceList = BTreeMap<String, SourceFiles>;

/// The progress of a rebuild, in consultations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RebuildProgress {
    pub done: usize,
    pub of: usize,
}

/// The result of a rebuild.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RebuildReport {
    pub indexed: usize,
    /// Files without rows, by name, each with the reason.
    pub skipped: Vec<(String, String)>,
    /// The new path of another program's database that had the index's name.
    pub set_aside: Option<PathBuf>,
}

/// The contents of the new database, and the files they came from.
#[derive(Debug, Default)]
pub(super) struct NewIndex {
    /// The write times of each stem's files when they were read.
    read: HashMap<String, WriteTimes>,
    /// The source of each consultation's rows, by id.
    sources: HashMap<String, RowSource>,
    report: RebuildReport,
}

/// A file that rows came from. The greater one wins, whichever was read first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RowSource {
    rank: SourceRank,
    name: String,
}

/// The rows read from the files of one stem.
#[derive(Debug)]
struct SourceRows {
    stem: String,
    files: SourceFiles,
    stamps: WriteTimes,
    rows: Option<std::result::Result<(Rows<'static>, SourceRank), String>>,
    is_open: bool,
}

impl SourceRows {
    fn read(logs: &Path, stem: &str, files: SourceFiles) -> Self {
        let stamps = sources::write_times(logs, stem, files);
        let source = sources::find(logs, stem, &stamps);
        let rows = source.record.map(|record| {
            let SourceRecord {
                json,
                written_at,
                rank,
            } = record?;
            let rows = extract::rows(&json, stem, written_at).map_err(|error| error.to_string())?;
            Ok((rows.into_owned(), rank))
        });
        Self {
            stem: stem.to_owned(),
            files,
            stamps,
            rows,
            is_open: source.is_open,
        }
    }
}

/// Reads all files into a database with empty tables.
pub(super) fn load(
    connection: &Connection,
    logs: &Path,
    sources: &SourceList,
    progress: &mut dyn FnMut(RebuildProgress),
) -> Result<NewIndex> {
    let all: Vec<(&String, &SourceFiles)> = sources.iter().collect();
    let next = AtomicUsize::new(0);
    let read = |queue: SyncSender<Vec<SourceRows>>| {
        while let Some(batch) = all.chunks(BATCH).nth(next.fetch_add(1, Ordering::Relaxed)) {
            let batch = batch
                .iter()
                .map(|(stem, files)| SourceRows::read(logs, stem, **files))
                .collect();
            if queue.send(batch).is_err() {
                // The writer has failed.
                break;
            }
        }
    };
    let (sender, batches) = mpsc::sync_channel(WAITING);
    let threads = thread::available_parallelism()
        .map_or(1, NonZero::get)
        .clamp(1, 4);
    let mut new = NewIndex::default();
    let mut duplicates = Vec::new();
    thread::scope(|scope| {
        for _ in 0..threads {
            let sender = sender.clone();
            scope.spawn(move || read(sender));
        }
        drop(sender);
        let mut done = 0;
        progress(RebuildProgress {
            done,
            of: all.len(),
        });
        let mut bulk = Bulk::begin(connection)?;
        for batch in batches {
            done += batch.len();
            for extracted in batch {
                duplicates.extend(new.add(connection, &mut bulk, logs, extracted)?);
            }
            progress(RebuildProgress {
                done,
                of: all.len(),
            });
        }
        bulk.finish()
    })?;
    for extracted in duplicates {
        new.replace(connection, logs, &extracted)?;
    }
    Ok(new)
}

impl NewIndex {
    /// Adds the rows of a new consultation. Rows of one that is already there are returned: they
    /// are compared once everything else is in.
    fn add(
        &mut self,
        connection: &Connection,
        bulk: &mut Bulk<'_>,
        logs: &Path,
        extracted: SourceRows,
    ) -> Result<Option<SourceRows>> {
        self.read.insert(extracted.stem.clone(), extracted.stamps);
        if let Some(Ok((rows, rank))) = &extracted.rows {
            let id = rows.consultation.id.as_ref();
            if self.sources.contains_key(id) {
                return Ok(Some(extracted));
            }
            bulk.put(rows)?;
            let source = RowSource {
                rank: *rank,
                name: sources::file_name(&extracted.stem, extracted.files),
            };
            self.sources.insert(id.to_owned(), source);
            // Most answers have no grade; skipping the update saves much of the time.
            if extracted.files.outcome {
                grade(connection, logs, id, extracted.files, &extracted.stem)?;
            }
        }
        self.finish(connection, logs, &extracted)?;
        Ok(None)
    }

    /// Adds rows that may replace others of the same consultation.
    fn replace(
        &mut self,
        connection: &Connection,
        logs: &Path,
        extracted: &SourceRows,
    ) -> Result<()> {
        self.read.insert(extracted.stem.clone(), extracted.stamps);
        if let Some(Ok((rows, rank))) = &extracted.rows {
            let id = rows.consultation.id.as_ref();
            let source = RowSource {
                rank: *rank,
                name: sources::file_name(&extracted.stem, extracted.files),
            };
            match self.sources.get(id) {
                Some(other) if *other > source => {
                    let why = format!("{} holds the same consultation", other.name);
                    self.report.skipped.push((source.name, why));
                    return Ok(());
                }
                Some(other) => {
                    let why = format!("{} holds the same consultation", source.name);
                    self.report.skipped.push((other.name.clone(), why));
                }
                None => {}
            }
            store::put(connection, rows)?;
            self.sources.insert(id.to_owned(), source);
            grade(connection, logs, id, extracted.files, &extracted.stem)?;
        }
        self.finish(connection, logs, extracted)
    }

    /// Records what has no rows, and what is still running.
    fn finish(
        &mut self,
        connection: &Connection,
        logs: &Path,
        extracted: &SourceRows,
    ) -> Result<()> {
        let SourceRows {
            stem,
            files,
            rows,
            is_open,
            ..
        } = extracted;
        if let Some(Err(why)) = rows {
            self.report
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

    /// Reads files again that are new or changed since they were read, and removes rows of deleted
    /// ones.
    pub(super) fn catch_up(
        &mut self,
        connection: &Connection,
        logs: &Path,
        sources: &SourceList,
    ) -> Result<()> {
        let mut before = std::mem::take(&mut self.read);
        for (stem, files) in sources {
            let stamps = sources::write_times(logs, stem, *files);
            match before.remove(stem) {
                Some(then) if then == stamps => continue,
                Some(_) => self.forget(connection, stem)?,
                None => {}
            }
            self.replace(connection, logs, &SourceRows::read(logs, stem, *files))?;
        }
        for stem in before.keys() {
            self.forget(connection, stem)?;
        }
        Ok(())
    }

    /// Removes the rows that came from the files of a stem.
    fn forget(&mut self, connection: &Connection, stem: &str) -> Result<()> {
        let names = [".json", ".jsonl"].map(|ending| format!("{stem}{ending}"));
        self.report
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

    pub(super) fn into_report(mut self) -> RebuildReport {
        self.report.indexed = self.sources.len();
        self.report.skipped.sort_unstable();
        self.report
    }
}

/// Stores the grade of an answer.
fn grade(
    connection: &Connection,
    logs: &Path,
    id: &str,
    files: SourceFiles,
    stem: &str,
) -> Result<()> {
    let grade = if files.outcome {
        outcomes::read(logs, stem)
    } else {
        None
    };
    store::set_outcome(connection, id, grade.as_ref())
}
