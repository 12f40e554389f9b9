//! `--events`: the event stream for another program, one JSON object per line, flushed after each.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use crate::consultation::event::Envelope;
use crate::engine::ports::{Subscriber, SubscriberError};
use crate::files::write::WriteError;
use crate::text::clean::escape_json;

/// Writes every event to a file or stream.
pub struct EventsFile {
    to: Box<dyn Write + Send>,
}

impl EventsFile {
    /// Creates or truncates a file (a named pipe or a device is written to directly).
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        let file = File::create(path).map_err(|error| WriteError::new(path, error))?;
        Ok(Self::new(file))
    }

    /// Writes to an open stream: standard error for `-`.
    pub fn new(to: impl Write + Send + 'static) -> Self {
        Self { to: Box::new(to) }
    }
}

impl std::fmt::Debug for EventsFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventsFile").finish_non_exhaustive()
    }
}

impl Subscriber for EventsFile {
    fn event(&mut self, envelope: &Envelope) -> Result<(), SubscriberError> {
        let mut write = || {
            let line = escape_json(&serde_json::to_string(envelope)?) + "\n";
            self.to.write_all(line.as_bytes())?;
            self.to.flush()
        };
        let written: io::Result<()> = write();
        written.map_err(|error| SubscriberError(format!("Failed to write events: {error}")))
    }
}
