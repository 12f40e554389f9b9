//! The embedded model as a provider: calls go to one thread that owns the model, answers stream
//! back.
//!
//! The model is loaded at the first call. Dropping a call's future closes its channel; the thread
//! notices before its next step.

use std::sync::mpsc;
use std::thread::JoinHandle;

use tokio::sync::mpsc::unbounded_channel;

use crate::consultation::protocol::call::{Ask, Failure, FailureClass, Outcome};
use crate::engine::ports::{BoxFuture, OnDelta, Provider};

use super::job::{Job, JobEvent, LocalSettings};
use super::worker;

/// The embedded model.
#[derive(Debug)]
pub struct LocalProvider {
    name: String,
    /// `None` only during drop.
    asks: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

/// The error for a machine that cannot run the embedded model.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    #[error(transparent)]
    Processor(#[from] super::cpu::ProcessorError),
    #[error("cannot start the local model's thread")]
    Thread(#[source] std::io::Error),
}

impl LocalProvider {
    /// The model is loaded at the first call.
    pub fn new(settings: LocalSettings) -> Result<Self, LocalError> {
        super::cpu::check()?;
        let (asks, jobs) = mpsc::channel();
        let name = settings.name.clone();
        let thread = std::thread::Builder::new()
            .name("local-model".to_owned())
            .spawn(move || worker::run(&settings, &jobs))
            .map_err(LocalError::Thread)?;
        Ok(Self {
            name,
            asks: Some(asks),
            thread: Some(thread),
        })
    }
}

impl Provider for LocalProvider {
    fn ask<'a>(&'a self, ask: &'a Ask, on: OnDelta<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            if ask.model.model != self.name {
                let message = format!(
                    "the local model that is loaded is `{}`, not `{}`",
                    self.name, ask.model.model
                );
                return Err(Failure::new(FailureClass::ModelMissing, message));
            }
            let (events, mut received) = unbounded_channel();
            if let Some(asks) = &self.asks {
                // A thread that has ended drops the job with its sender, which ends the loop below.
                let _ = asks.send(Job {
                    ask: ask.clone(),
                    events,
                });
            }
            while let Some(news) = received.recv().await {
                match news {
                    JobEvent::Delta(delta) => on(delta),
                    JobEvent::Done(outcome) => return outcome,
                }
            }
            Err(Failure::new(
                FailureClass::Internal,
                "the local model's thread ended without an answer",
            ))
        })
    }
}

impl Drop for LocalProvider {
    /// Waits for the thread, at most one decoding step, so that the process does not end in the
    /// middle of C++.
    fn drop(&mut self) {
        self.asks = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
