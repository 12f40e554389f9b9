//! What all pages are made from, and what a page is.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use tokio::sync::{Semaphore, watch};

use super::gate::Gate;
use super::running::RunningConsultations;
use super::runs::KnownRuns;
use crate::config::paths::Home;
use crate::domain::record::statistics::{Span, Targets};
use crate::engine::clock::Clock;
use crate::engine::host::run_aside;
use crate::error::Error;
use crate::files::{Stamp, stamp};
use crate::records::index::{Index, QueryResult};
use crate::session::index;
use crate::terminal::document::{Field, Part};
use crate::terminal::output::printer::Printer;

/// Pages that are made at the same time.
const MOST_AT_ONCE: usize = 2;

/// Makes a page. It may read files and the index, in a thread of its own.
pub(super) type Builder = fn(&Site, &Request) -> Result<Reply, Error>;

/// What a page is asked for.
#[derive(Debug)]
pub(super) struct Request {
    /// The last part of the path.
    pub(super) name: String,
    pub(super) query: Vec<(String, String)>,
}

impl Request {
    /// Empty if it is not given.
    pub(super) fn value(&self, name: &str) -> &str {
        let mut pairs = self.query.iter();
        let found = pairs.find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value.trim())
    }
}

#[derive(Debug)]
pub(super) enum Reply {
    Page(Page),
    /// A file, with its type.
    File(&'static str, String),
    NotFound,
}

#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) title: String,
    /// The address in the navigation that it belongs to.
    pub(super) current: &'static str,
    pub(super) form: Vec<Field>,
    pub(super) parts: Vec<Part>,
    /// `None` if it stays as it is.
    pub(super) live: Option<Live>,
}

/// What a page that changes is made of.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// Counts up with all that it is made of.
    pub(super) version: Option<u64>,
    /// It changes at once when one of these files does, else within a second.
    pub(super) files: Vec<PathBuf>,
}

/// The stamps of the index and of its write-ahead log.
pub(super) type IndexState = [Option<Stamp>; 2];

/// The statistics that were made last, and what they were made of.
type KnownStatistics = ((Span, Date, IndexState), Vec<Part>);

/// What all pages are made from.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) home: Home,
    face: Printer,
    pub(super) clock: Clock,
    pub(super) zone: TimeZone,
    /// What the statistics are compared with.
    pub(super) targets: Targets,
    pub(super) gate: Gate,
    pub(super) running: RunningConsultations,
    pub(super) runs: KnownRuns,
    pub(super) statistics: Mutex<Option<KnownStatistics>>,
    /// Bounds the memory that many live pages take while they are made.
    turns: Semaphore,
    /// Changes with everything that a person looks at.
    pub(super) active: watch::Sender<()>,
}

impl Site {
    pub(super) fn new(
        home: Home,
        face: Printer,
        clock: Clock,
        zone: TimeZone,
        targets: Targets,
        gate: Gate,
    ) -> Self {
        Self {
            home,
            face,
            clock,
            zone,
            targets,
            gate,
            running: RunningConsultations::default(),
            runs: KnownRuns::default(),
            statistics: Mutex::default(),
            turns: Semaphore::new(MOST_AT_ONCE),
            active: watch::Sender::new(()),
        }
    }

    /// Makes a page in a thread of its own; `None` if that fails.
    pub(super) async fn build(
        self: Arc<Self>,
        build: Builder,
        request: Arc<Request>,
    ) -> Option<Result<Reply, Error>> {
        let _turn = self.turns.acquire().await.ok()?;
        let site = Arc::clone(&self);
        run_aside("page", move || build(&site, &request)).await
    }

    /// What tells whether the index has changed.
    pub(super) fn index_state(&self) -> IndexState {
        let file = self.home.index_file();
        let log = file.with_extension("db-wal");
        // A process that only reads leaves an empty one.
        [stamp(&file), stamp(&log).filter(|(length, _)| *length > 0)]
    }

    /// Asks the index.
    pub(super) fn ask<T>(
        &self,
        query: impl FnMut(&mut Index) -> QueryResult<T>,
    ) -> Result<T, Error> {
        index::with(&self.home, &self.face, query)
    }
}
