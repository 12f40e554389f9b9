//! The calls in flight: one task each, which can be dropped and never outlives the run.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::{Ask, Failure, FailureClass, Outcome};
use crate::domain::ids::CallId;

use super::ports::{Delta, Provider};

/// Progress or the end of a call.
#[derive(Debug)]
pub(super) enum CallUpdate {
    Delta(CallId, Delta),
    Finished(CallId, AnswerKind, Outcome),
}

/// Tasks by call.
#[derive(Debug)]
pub(super) struct Calls {
    pub(super) tasks: JoinSet<(CallId, AnswerKind, Outcome)>,
    open: BTreeMap<CallId, AbortHandle>,
    deltas: mpsc::UnboundedSender<(CallId, Delta)>,
    incoming: mpsc::UnboundedReceiver<(CallId, Delta)>,
}

impl Calls {
    pub(super) fn new() -> Self {
        let (deltas, incoming) = mpsc::unbounded_channel();
        Self {
            tasks: JoinSet::new(),
            open: BTreeMap::new(),
            deltas,
            incoming,
        }
    }

    /// Without a provider it fails at once.
    pub(super) fn start(&mut self, provider: Option<Arc<dyn Provider>>, ask: Ask) {
        let (call, answer) = (ask.call, ask.answer);
        let deltas = self.deltas.clone();
        let outcome = async move {
            let Some(provider) = provider else {
                let message = format!("no provider `{}` is set up", ask.model.provider);
                return Err(Failure::new(FailureClass::Internal, message));
            };
            // Without a receiver the run is over, and this task is about to be dropped.
            let mut on = |delta| drop(deltas.send((call, delta)));
            provider.ask(&ask, &mut on).await
        };
        let handle = self.tasks.spawn(async move {
            let outcome = AssertUnwindSafe(outcome).catch_unwind().await;
            let outcome = outcome.unwrap_or_else(|_| {
                let message = "the program failed while handling this call";
                Err(Failure::new(FailureClass::Internal, message))
            });
            (call, answer, outcome)
        });
        self.open.insert(call, handle);
    }

    /// Drops a call: its connection is closed.
    pub(super) fn cancel(&mut self, call: CallId) {
        if let Some(handle) = self.open.remove(&call) {
            handle.abort();
        }
    }

    /// Deltas of a call come before its end.
    pub(super) async fn next(&mut self) -> CallUpdate {
        loop {
            tokio::select! {
                biased;
                Some((call, delta)) = self.incoming.recv() => {
                    if self.open.contains_key(&call) {
                        return CallUpdate::Delta(call, delta);
                    }
                }
                Some(ended) = self.tasks.join_next(), if !self.tasks.is_empty() => {
                    // A cancelled call ends without an outcome, or too late.
                    if let Ok((call, answer, outcome)) = ended
                        && self.open.remove(&call).is_some()
                    {
                        return CallUpdate::Finished(call, answer, outcome);
                    }
                }
                else => std::future::pending().await,
            }
        }
    }
}
