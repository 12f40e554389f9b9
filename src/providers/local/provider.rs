//! The embedded model as a provider like any other: asks go to one thread that owns the model,
//! answers come back as they are written.
//!
//! The model is loaded at the first ask. Dropping an ask's future closes its channel; the thread
//! sees that before its next step.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;

use tokio::sync::mpsc::unbounded_channel;

use crate::consultation::protocol::call::{Ask, Failure, FailureClass, Outcome};
use crate::engine::ports::{BoxFuture, Delta, Provider};

use super::job::{Job, JobEvent, LocalSettings, Statistics};
use super::worker;

/// The embedded model.
#[derive(Debug)]
pub struct LocalProvider {
    name: String,
    /// `None` only while it is dropped.
    asks: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    statistics: Arc<Mutex<Statistics>>,
}

/// The embedded model cannot be used on this machine.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    #[error(transparent)]
    Processor(#[from] super::cpu::ProcessorError),
    #[error("cannot start the local model's thread")]
    Thread(#[source] std::io::Error),
}

impl LocalProvider {
    /// Starts the thread; the model is loaded when it is first asked.
    pub fn new(settings: LocalSettings) -> Result<Self, LocalError> {
        super::cpu::check()?;
        let (asks, jobs) = mpsc::channel();
        let statistics = Arc::new(Mutex::new(Statistics::default()));
        let (name, shared) = (settings.name.clone(), Arc::clone(&statistics));
        let thread = std::thread::Builder::new()
            .name("local-model".to_owned())
            .spawn(move || worker::run(&settings, &jobs, &shared))
            .map_err(LocalError::Thread)?;
        Ok(Self {
            name,
            asks: Some(asks),
            thread: Some(thread),
            statistics,
        })
    }

    /// What it has done so far.
    pub fn statistics(&self) -> Statistics {
        *self
            .statistics
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Provider for LocalProvider {
    fn ask<'a>(
        &'a self,
        ask: &'a Ask,
        on: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Outcome> {
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
                // A thread that has ended drops the job with its sender, and so is heard below.
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
    /// Waits for the thread, at most one step of decoding: a process that ends beneath it would end
    /// in the middle of C++.
    fn drop(&mut self) {
        self.asks = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
