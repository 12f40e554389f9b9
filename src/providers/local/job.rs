//! Messages between the provider and the decoding thread: settings, jobs and events.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use tokio::sync::mpsc::UnboundedSender;

use crate::consultation::protocol::call::{Ask, Failure, FailureClass, Outcome};
use crate::engine::ports::Delta;

/// The default context in tokens.
pub const CONTEXT: u32 = 8_192;
/// The default number of calls in one batch.
pub const PARALLEL: NonZeroUsize = NonZeroUsize::new(4).unwrap();

/// The model, and its share of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalSettings {
    /// The model's name, as in `local:NAME`.
    pub name: String,
    /// The model's file.
    pub file: PathBuf,
    /// The largest context in tokens; the model's own length if that is less.
    pub context: u32,
    /// `None` for the number of physical cores, fewer on a busy machine.
    pub threads: Option<NonZeroUsize>,
    /// The number of concurrent calls; others wait.
    pub parallel: NonZeroUsize,
}

impl LocalSettings {
    pub fn new(name: impl Into<String>, file: impl Into<PathBuf>) -> Self {
        Self {
            name: name.into(),
            file: file.into(),
            context: CONTEXT,
            threads: None,
            parallel: PARALLEL,
        }
    }
}

/// A call on its way to the thread.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) ask: Ask,
    pub(super) events: UnboundedSender<JobEvent>,
}

/// A message of the thread about a call.
#[derive(Debug)]
pub(super) enum JobEvent {
    Delta(Delta),
    Done(Outcome),
}

pub(super) fn internal(message: impl Into<String>) -> Failure {
    Failure::new(FailureClass::Internal, message.into())
}
