//! The merge of an iteration's findings into the document, and its writing.

use crate::error::Error;
use crate::records::refinements::SpecFileError;
use crate::refinement::event::{Integrated, RefinementEventKind, StopCause, TextHash};
use crate::refinement::state::Merge;
use crate::session::batch::Batch;
use crate::session::batch::driver::BatchStep;
use crate::session::refinement::request::LoopJob;

use super::{LoopInProgress, StopRequested, WorkingDocument};

impl LoopInProgress<'_> {
    /// An editor may be about to save one that cannot be read.
    pub(super) fn notice_edit(&mut self) {
        let text = self.driver.file().read();
        if !text.is_ok_and(|text| TextHash::of(&text) == self.document.now.read) {
            self.stop_at_edit();
        }
    }

    /// Nothing more starts and nothing is merged, whatever else asked for a stop.
    fn stop_at_edit(&mut self) {
        self.stop = Some(StopRequested {
            cause: StopCause::DocumentChanged,
            message: format!(
                "`{}` was changed while the panel worked",
                self.driver.file().path.display()
            ),
        });
        self.driver.progress.ending();
    }

    pub(super) fn integrate(
        &mut self,
        batch: &Batch<'_, LoopJob>,
    ) -> Result<BatchStep<LoopJob>, Error> {
        if !self.must_not_merge() {
            self.notice_edit();
        }
        if self.must_not_merge() {
            return self.end_or_wait(batch);
        }
        let Merge { event, text } = self.merge()?;
        self.merged = Some(text);
        self.record(RefinementEventKind::Integrated(Box::new(event)))?;
        Ok(BatchStep::Again)
    }

    fn merge(&self) -> Result<Merge, Error> {
        let high_from = self.driver.terms.high_from;
        let merge = self.current().merge(&self.document.read, high_from);
        merge.map_err(Error::failed)
    }

    /// Writes the text of a merge, unless a person has changed the document.
    pub(super) fn write(
        &mut self,
        merge: &Integrated,
        batch: &Batch<'_, LoopJob>,
    ) -> Result<BatchStep<LoopJob>, Error> {
        let text = match self.merged.take() {
            Some(text) => text,
            // An earlier process merged it.
            None => self.merge()?.text,
        };
        if TextHash::of(&text) != merge.after {
            // That process was of another version, or had other terms.
            return self.integrate(batch);
        }
        match self.replace(merge, &text) {
            Ok(()) => self.written(merge.after.clone()).map(|()| BatchStep::Again),
            Err(SpecFileError::Changed(_)) => {
                self.stop_at_edit();
                self.end_or_wait(batch)
            }
            Err(SpecFileError::Exists(path)) => {
                let hint = format!("move `{}` away", path.display());
                Err(Error::failed(SpecFileError::Exists(path)).hint(hint))
            }
            Err(error) => Err(Error::failed(error)),
        }
    }

    fn replace(&self, merge: &Integrated, text: &str) -> Result<(), SpecFileError> {
        let driver = &self.driver;
        let file = driver.file();
        if *file == driver.output {
            return file.replace_if_unchanged(&merge.before, text);
        }
        if TextHash::of(&file.read()?) != merge.before {
            return Err(SpecFileError::Changed(file.path.clone()));
        }
        match driver.refinement.state().last_written() {
            Some(earlier) if driver.output.exists() => {
                driver.output.replace_if_unchanged(earlier, text)
            }
            Some(_) | None => driver.output.create(&driver.source, text),
        }
    }

    /// A failed write ends no loop: the log can be written again.
    pub(super) fn write_changes(&self) {
        let refinement = &self.driver.refinement;
        let markdown = (self.driver.changes)(refinement.state());
        if let Err(error) = refinement.write_changes(&markdown) {
            self.driver
                .batch
                .planner
                .face
                .warning(&format!("Warning: {error}"));
        }
    }

    /// The iteration is over.
    pub(super) fn written(&mut self, document: TextHash) -> Result<(), Error> {
        let merge = self
            .current()
            .open_iteration()
            .and_then(|open| open.decided())
            .cloned();
        self.record(RefinementEventKind::DocumentWritten { document })?;
        if let Some(merge) = merge {
            self.driver.progress.integrated(&merge);
        }
        self.write_changes();
        self.document = WorkingDocument::read(&self.driver)?;
        Ok(())
    }
}
