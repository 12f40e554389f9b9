//! The journal of a job: the messages of one subject, each appended only if the one before is the
//! last that its writer knows.
//!
//! A worker claims a job by its first message; from then on, the worker that held it before fails
//! to append and learns that it lost the job. Events go out in order, several in a message where they come
//! while one is under way. A call waits until its start is acknowledged ([`Claim::passed`]).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::OrderedConfig;
use futures_util::StreamExt;
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;

use crate::consultation::event::{AbortReason, CallEvent, ConsultationEvent, Envelope, Event};
use crate::domain::cost::money::MicroUsd;
use crate::domain::ids::{CallId, ConsultationId, ProviderId};
use crate::engine::ports::{Subscriber, SubscriberError};

use super::account::JobEnding;
use super::job::JournalMessage;
use super::link::Link;
use super::names::{JobName, subject};
use super::{FleetError, OrRefused};

/// Bytes of events that go into one message, unless one event has more.
const TOGETHER: usize = 256 << 10;

/// Between two attempts to follow journals.
const AGAIN: Duration = Duration::from_secs(1);

/// The most events of a journal that is read.
const MOST_EVENTS: u64 = 1_000_000;

/// A journal as the server has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredJournal {
    pub events: Vec<Envelope>,
    pub tally: Tally,
    /// The sequence of its last message; zero if it has none.
    pub last: u64,
    /// The last claim: its sequence and its worker.
    pub claim: Option<(u64, String)>,
    /// The reason why the job is not done.
    pub refused: Option<String>,
}

/// What the events of a journal come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// The number of events.
    pub events: u64,
    /// The calls that have not finished: their worst case, and their provider while in flight.
    open: BTreeMap<CallId, (MicroUsd, Option<ProviderId>)>,
    finished: MicroUsd,
    /// `None` while it goes on.
    pub ending: Option<JobEnding>,
}

impl Tally {
    fn add(&mut self, envelope: &Envelope) {
        self.events = envelope.seq;
        match &envelope.event {
            Event::Call(CallEvent::Started(started)) => {
                let provider = started.model.provider.clone();
                let open = (started.worst_case.known, Some(provider));
                self.open.insert(started.call, open);
            }
            Event::Call(CallEvent::Finished(finished)) => {
                self.open.remove(&finished.call);
                self.finished += finished.counted();
            }
            Event::Call(CallEvent::Cancelled { call, .. }) => {
                if let Some((_, provider)) = self.open.get_mut(call) {
                    *provider = None;
                }
            }
            Event::Consultation(ConsultationEvent::Completed { .. }) => {
                self.ending = Some(JobEnding::Final);
            }
            Event::Consultation(ConsultationEvent::Aborted(abort)) => {
                // What failed for another reason is not submitted again.
                self.ending = Some(match abort.reason {
                    AbortReason::Interrupted
                    | AbortReason::CostCeiling
                    | AbortReason::UserCancelled => JobEnding::Resumable,
                    _ => JobEnding::Final,
                });
            }
            Event::Consultation(ConsultationEvent::Resumed(_)) => {
                self.ending = None;
                // They were lost with the worker that made them.
                self.open.values_mut().for_each(|open| open.1 = None);
            }
            _ => {}
        }
    }

    /// Returns what its calls count as: those that finished at what they count, all others at their
    /// worst case.
    pub fn counted(&self) -> MicroUsd {
        self.finished + self.open.values().map(|(worst_case, _)| *worst_case).sum()
    }

    /// Returns the provider of each call in flight.
    pub fn in_flight(&self) -> impl Iterator<Item = &ProviderId> {
        self.open
            .values()
            .filter_map(|(_, provider)| provider.as_ref())
    }
}

impl StoredJournal {
    /// Reads a whole journal.
    pub async fn read(link: &Link, job: &JobName) -> Result<Self, FleetError> {
        let mut journal = Self::default();
        journal.refresh(link, job).await?;
        Ok(journal)
    }

    /// Reads on from its last message.
    ///
    /// # Errors
    ///
    /// When a message is none of a journal, or its events do not follow.
    pub async fn refresh(&mut self, link: &Link, job: &JobName) -> Result<(), FleetError> {
        let subject = job.journal();
        while let Some((sequence, payload)) = link.next(&subject, self.last).await? {
            let message = serde_json::from_slice(&payload);
            match message.map_err(|error| FleetError::unreadable("a journal", &error))? {
                JournalMessage::Claimed { worker } => self.claim = Some((sequence, worker)),
                JournalMessage::Refused { reason } => self.refused = Some(reason),
                JournalMessage::Events(events) => self.add(job, events)?,
            }
            self.last = sequence;
        }
        Ok(())
    }

    fn add(&mut self, job: &JobName, events: Vec<Envelope>) -> Result<(), FleetError> {
        for event in events {
            let next = self.tally.events + 1;
            if event.seq != next || next > MOST_EVENTS || event.consultation_id != job.id {
                let why = format!("event {next} is missing");
                return Err(FleetError::unreadable("a journal", &why));
            }
            self.tally.add(&event);
            self.events.push(event);
        }
        Ok(())
    }
}

/// Appends a message behind the last one that is known, and returns its sequence; `None` if another
/// is the last.
pub async fn append(
    link: &Link,
    job: &JobName,
    message: &JournalMessage,
    last: u64,
) -> Result<Option<u64>, FleetError> {
    let payload = serde_json::to_string(message).or_refused("append to a journal")?;
    link.append(&job.journal(), payload, (last, None)).await
}

/// Follows the journals of a run for ever: names each job whose journal has grown; `None` stands for
/// any, since news may be missing.
pub async fn follow(link: Link, run: String, grown: impl Fn(Option<&JobName>)) {
    loop {
        // It ends when the server went away.
        let _failed = follow_once(&link, &run, &grown).await;
        sleep(AGAIN).await;
    }
}

async fn follow_once(
    link: &Link,
    run: &str,
    grown: &impl Fn(Option<&JobName>),
) -> Result<(), FleetError> {
    let what = "follow journals";
    let config = OrderedConfig {
        filter_subject: subject("journal", &format!("{run}.>")),
        deliver_policy: DeliverPolicy::New,
        headers_only: true,
        ..OrderedConfig::default()
    };
    let consumer = link.stores().journal.create_consumer(config).await;
    let messages = consumer.or_refused(what)?.messages().await;
    let mut messages = messages.or_refused(what)?;
    // What came before is in no message of this consumer.
    grown(None);
    while let Some(message) = messages.next().await {
        let job = JobName::of(&message.or_refused(what)?.subject);
        grown(job.as_ref());
    }
    Ok(())
}

/// The claim of a worker on a job, shared by those who write its journal and those who wait for it.
#[derive(Clone, Debug)]
pub struct Claim {
    pub job: ConsultationId,
    /// The sequence of its message: later claims have higher ones.
    pub sequence: u64,
    state: Arc<watch::Sender<JournalState>>,
}

/// How far a journal is, and whether its worker still has the job.
#[derive(Clone, Debug)]
pub struct JournalState {
    /// What it comes to with the last event.
    pub tally: Tally,
    /// The number of the last event that the server has.
    acked: u64,
    /// The sequence of the last message.
    pub last: u64,
    stop: Option<Stop>,
}

/// The reason why nothing more is appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Another worker has the job, or this one has left it.
    Lost,
    /// What no server stores.
    Failed(String),
}

impl Claim {
    pub fn state(&self) -> watch::Ref<'_, JournalState> {
        self.state.borrow()
    }

    /// The first reason stays.
    pub fn stop(&self, stop: Stop) {
        self.state.send_modify(|state| {
            state.stop.get_or_insert(stop);
        });
    }

    /// Waits until the server has all events until now. Does not return if it never will: what
    /// waits is dropped with the job.
    pub async fn passed(&self) {
        let last = self.state().tally.events;
        self.wait(|state| (state.acked >= last && state.stop.is_none()).then_some(()))
            .await;
    }

    /// Waits until the server has an event. False if it may never have it.
    pub async fn has(&self, event: u64) -> bool {
        self.wait(|state| {
            let is_stored = state.acked >= event;
            (is_stored || state.stop.is_some()).then_some(is_stored)
        })
        .await
    }

    /// Waits until the server has all events and no call is in flight.
    pub async fn rests(&self) {
        self.wait(|JournalState { acked, tally, .. }| {
            (*acked >= tally.events && tally.in_flight().next().is_none()).then_some(())
        })
        .await;
    }

    /// Waits until nothing more is appended.
    pub async fn stopped(&self) -> Stop {
        self.wait(|state| state.stop.clone()).await
    }

    async fn wait<T>(&self, what: impl Fn(&JournalState) -> Option<T>) -> T {
        let mut state = self.state.subscribe();
        loop {
            let reached = what(&state.borrow_and_update());
            if let Some(reached) = reached {
                return reached;
            }
            // Its sender is in this value.
            let _ = state.changed().await;
        }
    }
}

/// Appends the events of a consultation to its journal on the server.
#[derive(Debug)]
pub struct JournalWriter {
    events: mpsc::UnboundedSender<(u64, String)>,
    pub claim: Claim,
}

impl JournalWriter {
    /// Writes after the message of the claim, behind earlier events.
    pub fn start(link: &Link, job: &JobName, sequence: u64, tally: Tally) -> Self {
        let (events, queue) = mpsc::unbounded_channel();
        let state = JournalState {
            acked: tally.events,
            tally,
            last: sequence,
            stop: None,
        };
        let claim = Claim {
            job: job.id.clone(),
            sequence,
            state: Arc::new(watch::Sender::new(state)),
        };
        link.runtime()
            .spawn(write(link.clone(), job.journal(), claim.clone(), queue));
        Self { events, claim }
    }
}

impl Subscriber for JournalWriter {
    fn event(&mut self, envelope: &Envelope) -> Result<(), SubscriberError> {
        let event = serde_json::to_string(envelope);
        let event = event.map_err(|error| SubscriberError(error.to_string()))?;
        let tally = |state: &mut JournalState| state.tally.add(envelope);
        self.claim.state.send_modify(tally);
        // Without a receiver, the claim says why.
        let _ = self.events.send((envelope.seq, event));
        Ok(())
    }
}

/// Waits for a server that is away or has no room: until it stores the events, no call goes out, and
/// the results of those in flight are not lost.
async fn write(
    link: Link,
    subject: String,
    claim: Claim,
    mut queue: mpsc::UnboundedReceiver<(u64, String)>,
) {
    while let Some((mut number, mut events)) = queue.recv().await {
        while events.len() < TOGETHER
            && let Ok((next, event)) = queue.try_recv()
        {
            number = next;
            events.push(',');
            events.push_str(&event);
        }
        let payload = format!("{{\"events\":[{events}]}}");
        let id = format!("{}-{number}", claim.sequence);
        let place = (claim.state().last, Some(id.as_str()));
        while claim.state().stop.is_none() && claim.state().acked < number {
            match link.append(&subject, payload.clone(), place).await {
                Ok(Some(last)) => claim.state.send_modify(|state| {
                    (state.acked, state.last) = (number, last);
                }),
                Ok(None) => claim.stop(Stop::Lost),
                Err(error @ FleetError::Server { .. }) => link.rest(&error).await,
                Err(error) => claim.stop(Stop::Failed(error.to_string())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consultation::event::{Abort, StateName};
    use crate::domain::time::Timestamp;

    #[test]
    fn only_what_is_submitted_again_keeps_its_holding_after_its_end() {
        let ending = |reason| {
            let mut tally = Tally::default();
            tally.add(&Envelope {
                schema_version: String::new(),
                seq: 1,
                at: Timestamp(0),
                consultation_id: ConsultationId::from_unique("01JOB"),
                cause: None,
                waited_for_person_ms: 0,
                event: Event::Consultation(ConsultationEvent::Aborted(Abort {
                    reason,
                    message: String::new(),
                    during: StateName::Synthesis,
                    duration_ms: 0,
                })),
            });
            tally.ending
        };
        for (reason, expected) in [
            (AbortReason::Interrupted, JobEnding::Resumable),
            (AbortReason::CostCeiling, JobEnding::Resumable),
            (AbortReason::UserCancelled, JobEnding::Resumable),
            (AbortReason::Timeout, JobEnding::Final),
            (AbortReason::JudgeFailed, JobEnding::Final),
            (AbortReason::AllAgentsFailed, JobEnding::Final),
            (AbortReason::Internal, JobEnding::Final),
        ] {
            assert_eq!(ending(reason), Some(expected), "{reason:?}");
        }
    }
}
