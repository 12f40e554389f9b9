//! Making the index anew: why, how far it is, and what was left out.

use crate::config::paths::Home;
use crate::error::Error;
use crate::records::files::create_private_dir;
use crate::records::index::rebuild;
use crate::records::index::rebuild::{RebuildError, RebuildProgress, RebuildReport};
use crate::records::index::{Index, OpenError};
use crate::terminal::markdown::escape::one_line;
use crate::terminal::output::format::count;
use crate::terminal::output::printer::Printer;
use crate::terminal::progress::rebuild_bar::RebuildBar;

use super::{logs, path, refused, whole};

/// Files that are named of those that were left out.
const MOST_NAMED: usize = 3;

/// Why the index is made anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    Missing,
    /// It cannot be opened.
    OpenError,
    /// A statement has met damage.
    Damaged,
    Foreign,
    /// The user says so.
    Asked,
}

impl Why {
    pub(crate) fn of(unusable: &OpenError) -> Self {
        match unusable {
            OpenError::Missing(_) => Self::Missing,
            OpenError::Foreign(_) => Self::Foreign,
            OpenError::Damaged { .. }
            | OpenError::Newer { .. }
            | OpenError::Busy(_)
            | OpenError::Failed { .. }
            | OpenError::Unreadable { .. } => Self::OpenError,
        }
    }

    fn told(self) -> Option<&'static str> {
        match self {
            Self::Missing => {
                Some("There is no index of the consultations yet: it is made from their records.")
            }
            Self::OpenError | Self::Damaged => Some(
                "The index of the consultations is damaged: it is made anew from their records.",
            ),
            Self::Foreign => Some(
                "The index of the consultations is another program's: one is made from their records.",
            ),
            Self::Asked => None,
        }
    }
}

/// One making of the index.
#[derive(Debug)]
pub(crate) struct Mending<'a> {
    home: &'a Home,
    printer: &'a Printer,
    why: Why,
    /// With no more consultations than these it is not worth a word.
    unmentioned: usize,
}

impl<'a> Mending<'a> {
    pub(crate) fn of(home: &'a Home, printer: &'a Printer, why: Why) -> Self {
        Self {
            home,
            printer,
            why,
            unmentioned: 0,
        }
    }

    /// The same, in silence where there are no more consultations than these.
    pub(crate) fn silently_up_to(self, unmentioned: usize) -> Self {
        Self {
            unmentioned,
            ..self
        }
    }

    /// Makes and opens it. Where it cannot be kept, what is returned is in memory alone.
    pub(crate) fn open(&self) -> Result<Index, Error> {
        match self.make() {
            Ok(_) => Index::open(&path(self.home)).map_err(refused),
            Err(RebuildError::Open(unusable)) => Err(refused(unusable)),
            Err(error @ (RebuildError::Unwritable { .. } | RebuildError::Failed { .. })) => {
                self.printer.warning(&format!(
                    "{}; the records are read instead",
                    capitalised(&whole(&error))
                ));
                let (index, rebuilt) =
                    rebuild::build_in_memory(&logs(self.home)).map_err(failed)?;
                self.tell(&rebuilt);
                Ok(index)
            }
            Err(error @ (RebuildError::Busy(_) | RebuildError::Folder { .. })) => {
                Err(failed(error))
            }
        }
    }

    /// Makes it, and returns how many consultations are in it. What can be found out by opening it
    /// may have been mended by another process meanwhile: then there is nothing to do.
    pub(crate) fn make(&self) -> Result<usize, RebuildError> {
        let (logs, path) = (logs(self.home), path(self.home));
        let rebuilt = self.watched(|progress| match self.why {
            Why::Missing | Why::OpenError | Why::Foreign => {
                rebuild::rebuild_if_unusable(&logs, &path, progress).map(Option::unwrap_or_default)
            }
            Why::Damaged | Why::Asked => rebuild::rebuild(&logs, &path, progress),
        })?;
        self.tell(&rebuilt);
        Ok(rebuilt.indexed)
    }

    /// Shows how far it is, and before that why it is done, as soon as there is something to do.
    fn watched<T>(
        &self,
        make: impl FnOnce(&mut dyn FnMut(RebuildProgress)) -> Result<T, RebuildError>,
    ) -> Result<T, RebuildError> {
        // Without a home there is nowhere to put it, which the making itself finds out.
        let _ = create_private_dir(self.home.path());
        let mut bar = None;
        make(&mut |RebuildProgress { done, of }| {
            if of <= self.unmentioned {
                return;
            }
            let bar = bar.get_or_insert_with(|| {
                if let Some(why) = self.why.told() {
                    self.printer.note(why);
                }
                RebuildBar::new(self.printer)
            });
            bar.at(done, of);
        })
    }

    fn tell(&self, rebuilt: &RebuildReport) {
        if let Some(kept) = &rebuilt.set_aside {
            self.printer.note(&format!(
                "What was there before is kept in {}",
                kept.display()
            ));
        }
        let skipped = &rebuilt.skipped;
        if skipped.is_empty() {
            return;
        }
        self.printer
            .note(&format!("Skipped {}:", count(skipped.len(), "file")));
        for (name, why) in skipped.iter().take(MOST_NAMED) {
            self.printer
                .note(&format!("  {}: {}", one_line(name), one_line(why)));
        }
        if let more @ 1.. = skipped.len().saturating_sub(MOST_NAMED) {
            self.printer.note(&format!("  and {more} more"));
        }
    }
}

pub(crate) fn failed(error: RebuildError) -> Error {
    match error {
        RebuildError::Open(unusable) => refused(unusable),
        RebuildError::Busy(_) => Error::failed(error).hint("try again when that process has ended"),
        RebuildError::Folder { .. }
        | RebuildError::Unwritable { .. }
        | RebuildError::Failed { .. } => Error::failed(error)
            .hint("the records are unharmed: try again when there is room and permission to write"),
    }
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .chain(characters)
        .collect()
}
