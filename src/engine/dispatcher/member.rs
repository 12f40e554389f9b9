//! One consultation's place in the dispatcher.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::consultation::machine::Input;
use crate::consultation::protocol::request::{CallRequest, NotAdmitted};
use crate::domain::ids::ProviderId;

use super::budget::SharedBudget;
use super::permit::CallPermit;
use super::pool::{MemberId, QueuedRequest};
use super::{Dispatcher, MemberEntry, Notice};

/// The interval at which a request that waits for an amount reserved by another process is tried
/// again.
const RETRY_INTERVAL: Duration = Duration::from_millis(250);

/// One consultation's place in the dispatcher.
#[derive(Debug)]
pub struct Member {
    id: MemberId,
    dispatcher: Dispatcher,
    notices: mpsc::UnboundedReceiver<Notice>,
    limits: BTreeMap<ProviderId, u32>,
    budgets: Vec<Arc<dyn SharedBudget>>,
}

impl Dispatcher {
    /// Adds a consultation that may call these providers, each with its most concurrent calls,
    /// under these ceilings. Returns the member, and the state of these providers as inputs.
    pub fn join(
        &self,
        limits: BTreeMap<ProviderId, u32>,
        by_plan: &BTreeSet<ProviderId>,
        budgets: Vec<Arc<dyn SharedBudget>>,
    ) -> (Member, Vec<Input>) {
        let (sender, notices) = mpsc::unbounded_channel();
        let providers: BTreeSet<ProviderId> = limits.keys().cloned().collect();
        let (id, known) = self.with(|state| {
            state.joined += 1;
            state.pool.begin_alone(by_plan);
            let id = MemberId(state.joined);
            let entry = MemberEntry {
                notices: sender,
                providers,
            };
            let known = state.snapshot(&entry, &self.0.clock);
            state.members.insert(id, entry);
            (id, known)
        });
        let member = Member {
            id,
            dispatcher: self.clone(),
            notices,
            limits,
            budgets,
        };
        (member, known)
    }
}

impl Member {
    /// Requests a call. If `None`, the decision comes by [`Self::next`].
    pub fn request(&self, request: CallRequest) -> Option<RequestAnswer> {
        let budgets = self.budgets.iter();
        let budgets = budgets.filter(|budget| !(request.beyond_month && budget.may_be_overrun()));
        let queued = QueuedRequest {
            member: self.id,
            limits: self.limits.clone(),
            budgets: budgets.cloned().collect(),
            request,
        };
        let clock = &self.dispatcher.0.clock;
        let decision = self.dispatcher.with(|state| {
            let decision = state.pool.request(queued, clock.now());
            state.publish(None);
            decision
        });
        decision.map(|decision| self.dispatcher.answer(decision))
    }

    pub async fn next(&mut self) -> Notice {
        loop {
            let moment = self.decide_waiting();
            tokio::select! {
                biased;
                Some(notice) = self.notices.recv() => return notice,
                () = wait_until(moment) => {}
            }
        }
    }

    /// The last member stops the health checks, and waits until they have ended.
    pub async fn leave(mut self) {
        self.notices.close();
        let checks = self.take_leave();
        drop(self);
        if let Some(mut checks) = checks {
            checks.shutdown().await;
        }
    }

    /// Returns the health checks if it was the last one.
    fn take_leave(&self) -> Option<JoinSet<()>> {
        self.dispatcher.with(|state| {
            state.pool.leave(self.id);
            let was_member = state.members.remove(&self.id).is_some();
            let is_last = was_member && state.members.is_empty();
            is_last.then(|| state.checks.stop())
        })
    }

    /// Decides on the queued requests, and returns the time at which to do so again.
    ///
    /// Both follow one reading of the clock: a backoff that ends in between would be missed.
    fn decide_waiting(&self) -> Option<Instant> {
        let clock = &self.dispatcher.0.clock;
        let now = clock.now();
        self.dispatcher.answer_waiting_at(now);
        self.dispatcher.with(|state| {
            let backoff = state.pool.next_moment(self.id, now);
            let backoff = backoff.map(|moment| clock.instant(moment));
            let poll = state.pool.waits_for_other_processes(self.id);
            let poll = poll.then(|| clock.instant(now) + RETRY_INTERVAL);
            backoff.into_iter().chain(poll).min()
        })
    }
}

impl Drop for Member {
    /// A member that is dropped with its consultation leaves, too.
    fn drop(&mut self) {
        drop(self.take_leave());
    }
}

/// The answer to a request: a permit if the call may go out now, else the reason against it; the
/// request does not wait.
pub type RequestAnswer = Result<CallPermit, NotAdmitted>;

async fn wait_until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
