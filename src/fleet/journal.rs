//! The journal of a job: the messages of one subject, each appended only if the one before is the
//! last that its writer knows.
//!
//! A worker claims a job by its first message; from then on, the worker that held it before fails
//! to append and learns that it lost the job. Events go out in order, several in a message where they come
//! while one is under way. A call waits until its start is acknowledged ([`JournalState::acked`]).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_nats::header::NATS_MESSAGE_ID;
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;

use crate::consultation::event::{CallEvent, ConsultationEvent, Envelope, Event};
use crate::domain::cost::money::MicroUsd;
use crate::domain::ids::{CallId, ProviderId};
use crate::domain::time::Timestamp;
use crate::engine::ports::{Subscriber, SubscriberError};

use super::account::JobEnding;
use super::job::JournalMessage;
use super::link::{Link, is_unanswered, is_wrong_sequence};
use super::names::JobName;
use super::{FleetError, OrRefused};

/// Bytes of events that go into one message, unless one event has more.
const TOGETHER: usize = 256 << 10;

/// Between two attempts to append what the server did not acknowledge.
const AGAIN: Duration = Duration::from_millis(250);

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
                let is_resumable = abort.reason.is_resumable();
                self.ending = Some(if is_resumable {
                    JobEnding::Resumable
                } else {
                    JobEnding::Final
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

/// The claim of a worker on a job.
#[derive(Clone, Debug)]
pub struct Claim {
    pub job: JobName,
    /// The sequence of its message.
    pub sequence: u64,
}

impl StoredJournal {
    /// Reads a whole journal.
    pub async fn read(link: &Link, job: &JobName) -> Result<Self, FleetError> {
        let mut journal = Self::default();
        journal.refresh(link, job).await?;
        Ok(journal)
    }

    /// Reads on from its last message.
    pub async fn refresh(&mut self, link: &Link, job: &JobName) -> Result<(), FleetError> {
        let subject = link.names().journal(job);
        while let Some((sequence, payload)) = link.next(&subject, self.last).await? {
            self.apply(job, &payload, sequence)?;
        }
        Ok(())
    }

    /// Adds the next message.
    ///
    /// # Errors
    ///
    /// When it is none of a journal, or its events do not follow.
    pub fn apply(
        &mut self,
        job: &JobName,
        payload: &[u8],
        sequence: u64,
    ) -> Result<(), FleetError> {
        let message = serde_json::from_slice(payload);
        match message.map_err(|error| FleetError::unreadable("a journal", &error))? {
            JournalMessage::Claimed { worker, .. } => self.claim = Some((sequence, worker)),
            JournalMessage::Refused { reason } => self.refused = Some(reason),
            JournalMessage::Events(events) => {
                for event in events {
                    let next = self.tally.events + 1;
                    if event.seq != next || next > MOST_EVENTS || event.consultation_id != job.id {
                        let why = format!("event {next} is missing");
                        return Err(FleetError::unreadable("a journal", &why));
                    }
                    self.tally.add(&event);
                    self.events.push(event);
                }
            }
        }
        self.last = sequence;
        Ok(())
    }

    /// Claims the job for a worker. `None` if another one appended meanwhile.
    pub async fn claim(
        &self,
        link: &Link,
        job: &JobName,
        worker: &str,
        at: Timestamp,
    ) -> Result<Option<Claim>, FleetError> {
        let worker = worker.to_owned();
        let message = JournalMessage::Claimed { worker, at };
        let sequence = append(link, job, &message, self.last).await?;
        let job = job.clone();
        Ok(sequence.map(|sequence| Claim { job, sequence }))
    }
}

/// Says behind the last message why a job is not done. False if it was not the last.
pub async fn refuse(
    link: &Link,
    job: &JobName,
    last: u64,
    reason: String,
) -> Result<bool, FleetError> {
    let message = JournalMessage::Refused { reason };
    Ok(append(link, job, &message, last).await?.is_some())
}

async fn append(
    link: &Link,
    job: &JobName,
    message: &JournalMessage,
    last: u64,
) -> Result<Option<u64>, FleetError> {
    let payload = serde_json::to_string(message).or_refused("append to a journal")?;
    let (message, subject) = (link.pack(payload).await?, link.names().journal(job));
    match link.publish(&subject, message, last).await {
        Err(error) if is_wrong_sequence(&error) => Ok(None),
        sequence => sequence.map(Some).or_refused("append to a journal"),
    }
}

/// How far a journal is, and whether its worker still has the job.
#[derive(Clone, Debug, Default)]
pub struct JournalState {
    /// What it comes to with the last event.
    pub tally: Tally,
    /// The number of the last event that the server has.
    pub acked: u64,
    /// The sequence of the last message.
    pub last: u64,
    pub stop: Option<Stop>,
}

/// The reason why nothing more is appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Another worker has the job.
    Lost,
    /// The server does not store it.
    Failed(String),
}

/// The state of a journal, shared by those who write it and those who wait for it.
#[derive(Clone, Debug)]
pub struct Fence(Arc<watch::Sender<JournalState>>);

impl Fence {
    pub fn state(&self) -> watch::Receiver<JournalState> {
        self.0.subscribe()
    }

    /// The first reason stays.
    pub fn stop(&self, stop: Stop) {
        self.0.send_modify(|state| {
            state.stop.get_or_insert(stop);
        });
    }

    /// Waits until the server has all events until now. Does not return if it never
    /// will: what waits is dropped with the job.
    pub async fn passed(&self) {
        let last = self.0.borrow().tally.events;
        self.wait(|state| state.acked >= last && state.stop.is_none())
            .await;
    }

    /// Waits until the server has an event. False if it may never have it.
    pub async fn has(&self, event: u64) -> bool {
        let state = self.wait(|state| state.acked >= event || state.stop.is_some());
        state.await.acked >= event
    }

    /// Waits until the server has all events and no call is in flight.
    pub async fn rests(&self) {
        let is_stored = |state: &JournalState| state.acked >= state.tally.events;
        self.wait(|state| is_stored(state) && state.tally.in_flight().next().is_none())
            .await;
    }

    /// Waits until nothing more is appended.
    pub async fn stopped(&self) -> Stop {
        let state = self.wait(|state| state.stop.is_some()).await;
        state.stop.unwrap_or(Stop::Lost)
    }

    async fn wait(&self, for_what: impl FnMut(&JournalState) -> bool) -> JournalState {
        let mut state = self.state();
        // Its sender is this value.
        let reached = state.wait_for(for_what).await;
        reached.map(|state| state.clone()).unwrap_or_default()
    }
}

/// Appends the events of a consultation to its journal on the server.
#[derive(Debug)]
pub struct JournalWriter {
    events: mpsc::UnboundedSender<(u64, String)>,
    pub fence: Fence,
}

impl JournalWriter {
    /// Writes after the claim, behind earlier events.
    pub fn start(link: &Link, claim: &Claim, tally: Tally) -> Self {
        let (events, queue) = mpsc::unbounded_channel();
        let state = JournalState {
            acked: tally.events,
            tally,
            last: claim.sequence,
            stop: None,
        };
        let fence = Fence(Arc::new(watch::Sender::new(state)));
        let appender = Appender {
            link: link.clone(),
            subject: link.names().journal(&claim.job),
            claim: claim.sequence,
            fence: fence.clone(),
        };
        link.spawn(appender.run(queue));
        Self { events, fence }
    }
}

impl Subscriber for JournalWriter {
    fn event(&mut self, envelope: &Envelope) -> Result<(), SubscriberError> {
        let event = serde_json::to_string(envelope);
        let event = event.map_err(|error| SubscriberError(error.to_string()))?;
        let tally = |state: &mut JournalState| state.tally.add(envelope);
        self.fence.0.send_modify(tally);
        // Without a receiver, the fence says why.
        let _ = self.events.send((envelope.seq, event));
        Ok(())
    }
}

struct Appender {
    link: Link,
    subject: String,
    claim: u64,
    fence: Fence,
}

impl Appender {
    async fn run(self, mut queue: mpsc::UnboundedReceiver<(u64, String)>) {
        while let Some((mut number, mut events)) = queue.recv().await {
            while events.len() < TOGETHER
                && let Ok((next, event)) = queue.try_recv()
            {
                number = next;
                events.push(',');
                events.push_str(&event);
            }
            match self
                .append(number, format!("{{\"events\":[{events}]}}"))
                .await
            {
                Ok(last) => self.fence.0.send_modify(|state| {
                    (state.acked, state.last) = (number, last);
                }),
                Err(stop) => return self.fence.stop(stop),
            }
        }
    }

    /// Waits for a server that does not answer: until then, no call goes out.
    async fn append(&self, number: u64, payload: String) -> Result<u64, Stop> {
        let id = format!("{}-{number}", self.claim);
        let last = self.fence.0.borrow().last;
        loop {
            let is_connected = self.link.connection().borrow().is_some();
            let message = match self.link.pack(payload.clone()).await {
                Ok(message) => message.message_id(&id),
                Err(_) if !is_connected => {
                    sleep(AGAIN).await;
                    continue;
                }
                Err(error) => return Err(Stop::Failed(error.to_string())),
            };
            match self.link.publish(&self.subject, message, last).await {
                Ok(sequence) => return Ok(sequence),
                Err(error) if is_wrong_sequence(&error) => {
                    // It may be this very message, whose acknowledgement was lost.
                    let stream = &self.link.stores().journal;
                    let stored = stream.get_last_raw_message_by_subject(&self.subject).await;
                    if let Ok(stored) = stored {
                        let theirs = stored.headers.get(NATS_MESSAGE_ID);
                        let is_own = theirs.is_some_and(|theirs| theirs.as_str() == id);
                        return is_own.then_some(stored.sequence).ok_or(Stop::Lost);
                    }
                }
                Err(error) if is_unanswered(&error) => {}
                Err(error) => return Err(Stop::Failed(error.to_string())),
            }
            sleep(AGAIN).await;
        }
    }
}
