//! What goes between the provider and the thread that decodes: settings, asks, events and figures.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use crate::consultation::protocol::call::{Ask, Outcome};
use crate::engine::ports::Delta;

/// Tokens of context when nothing else is set.
pub const CONTEXT: u32 = 8_192;
/// Asks that are answered as one batch when nothing else is set.
pub const PARALLEL: NonZeroUsize = NonZeroUsize::new(4).unwrap();

/// Which model, and how much of the machine it may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalSettings {
    /// The model's name, as in `local:NAME`.
    pub name: String,
    /// The model's file.
    pub file: PathBuf,
    /// Most tokens of context; the model's own length where that is less.
    pub context: u32,
    /// `None`: as many as there are physical cores, fewer on a busy machine.
    pub threads: Option<NonZeroUsize>,
    /// Asks that are answered at the same time; more wait.
    pub parallel: NonZeroUsize,
}

impl LocalSettings {
    /// The usual settings for a model file.
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

/// What the engine has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    pub answers: u64,
    /// Prompt tokens that were evaluated.
    pub evaluated: u64,
    /// Prompt tokens that were already in memory.
    pub reused: u64,
    /// Tokens of answers, those that the schema forced included.
    pub written: u64,
    /// Time to load the model.
    pub loading: Duration,
    /// Time of steps that evaluated prompts.
    pub reading: Duration,
    /// Time of steps that only wrote, and the tokens written in them.
    pub writing: Duration,
    pub written_alone: u64,
    /// The part of all steps in which the next tokens were chosen.
    pub choosing: Duration,
}

/// An ask on its way to the thread.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) ask: Ask,
    pub(super) events: UnboundedSender<JobEvent>,
}

/// What the thread says about an ask.
#[derive(Debug)]
pub(super) enum JobEvent {
    Delta(Delta),
    Done(Outcome),
}
