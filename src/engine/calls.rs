//! The calls in flight: one task each, which can be dropped and never outlives the run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::{AbortHandle, Id, JoinSet};

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
    tasks: JoinSet<Outcome>,
    open: BTreeMap<CallId, AbortHandle>,
    by_task: BTreeMap<Id, (CallId, AnswerKind)>,
    cancelled: BTreeSet<CallId>,
    deltas: mpsc::UnboundedSender<(CallId, Delta)>,
    incoming: mpsc::UnboundedReceiver<(CallId, Delta)>,
}

impl Calls {
    pub(super) fn new() -> Self {
        let (deltas, incoming) = mpsc::unbounded_channel();
        Self {
            tasks: JoinSet::new(),
            open: BTreeMap::new(),
            by_task: BTreeMap::new(),
            cancelled: BTreeSet::new(),
            deltas,
            incoming,
        }
    }

    /// Starts a call at its provider; without a provider it fails at once.
    pub(super) fn start(&mut self, provider: Option<Arc<dyn Provider>>, ask: Ask) {
        let (call, answer) = (ask.call, ask.answer);
        let deltas = self.deltas.clone();
        let handle = self.tasks.spawn(async move {
            let Some(provider) = provider else {
                let message = format!("no provider `{}` is set up", ask.model.provider);
                return Err(Failure::new(FailureClass::Internal, message));
            };
            // Without a receiver the run is over, and this task is about to be dropped.
            let mut on = |delta| drop(deltas.send((call, delta)));
            provider.ask(&ask, &mut on).await
        });
        self.by_task.insert(handle.id(), (call, answer));
        self.open.insert(call, handle);
    }

    /// Drops a call: its connection is closed.
    pub(super) fn cancel(&mut self, call: CallId) {
        if let Some(handle) = self.open.remove(&call) {
            handle.abort();
            self.cancelled.insert(call);
        }
    }

    /// Waits for the next update. Deltas of a call come before its end.
    pub(super) async fn next(&mut self) -> CallUpdate {
        loop {
            let update = tokio::select! {
                biased;
                Some((call, delta)) = self.incoming.recv() => CallUpdate::Delta(call, delta),
                Some(ended) = self.tasks.join_next_with_id(), if !self.tasks.is_empty() => {
                    let (task, outcome) = match ended {
                        Ok(ended) => ended,
                        Err(error) => {
                            (error.id(), Err(Failure::new(FailureClass::Internal, "the program failed while handling this call")))
                        }
                    };
                    let Some((call, answer)) = self.by_task.remove(&task) else { continue };
                    CallUpdate::Finished(call, answer, outcome)
                }
                else => std::future::pending().await,
            };
            match update {
                CallUpdate::Delta(call, _) if self.cancelled.contains(&call) => {}
                CallUpdate::Finished(call, ..) if self.cancelled.remove(&call) => {}
                CallUpdate::Finished(call, answer, outcome) => {
                    self.open.remove(&call);
                    return CallUpdate::Finished(call, answer, outcome);
                }
                delta @ CallUpdate::Delta(..) => return delta,
            }
        }
    }

    /// Drops all calls and waits until they are gone.
    pub(super) async fn shut_down(mut self) {
        self.tasks.shutdown().await;
    }
}
