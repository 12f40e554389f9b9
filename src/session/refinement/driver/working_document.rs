//! The document that an iteration works on, as it was when the iteration began.

use crate::error::Error;
use crate::records::refinements::SpecFile;
use crate::refinement::document::SpecDocument;
use crate::refinement::event::TextHash;
use crate::refinement::front_matter::FrontMatterError;
use crate::refinement::state::DocumentNow;

use super::RefinementDriver;

/// A document, as it was read.
#[derive(Debug)]
pub(super) struct WorkingDocument {
    /// As it is in its file.
    pub(super) read: SpecDocument,
    /// As the panel gets it: with the sections that were extracted from a plain document.
    pub(super) prepared: SpecDocument,
    pub(super) now: DocumentNow,
}

impl WorkingDocument {
    /// Reads the document as it is now.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or its front matter cannot be understood.
    pub(super) fn read(driver: &RefinementDriver<'_>) -> Result<Self, Error> {
        let file = driver.file();
        let text = file.read().map_err(Error::failed)?;
        let explained = |error: FrontMatterError| {
            let path = file.path.display();
            Error::usage(error).hint(format!("fix the front matter of `{path}`"))
        };
        let read = SpecDocument::parse_masked(&text, driver.mask.clone()).map_err(explained)?;
        let current = driver.current();
        let prepared = current.prepared(&read).map_err(explained)?;
        let output = if driver.source == driver.output {
            Some(TextHash::of(&text))
        } else {
            hash_of(&driver.output)?
        };
        let now = DocumentNow::of(current, &read, output, driver.terms.batch_size);
        Ok(Self {
            prepared: read.with_text(&prepared.text).map_err(explained)?,
            now: now.map_err(explained)?,
            read,
        })
    }
}

impl RefinementDriver<'_> {
    pub(super) fn file(&self) -> &SpecFile {
        if self.current().last_written().is_some() {
            &self.output
        } else {
            &self.source
        }
    }
}

fn hash_of(file: &SpecFile) -> Result<Option<TextHash>, Error> {
    if !file.exists() {
        return Ok(None);
    }
    let text = file.read().map_err(Error::failed)?;
    Ok(Some(TextHash::of(&text)))
}
