//! The submitting side of a run: who has it, its log, and the journals of its jobs as they grow.

use std::time::Duration;

use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::OrderedConfig;
use async_nats::jetstream::kv::{CreateErrorKind, UpdateErrorKind};
use futures_util::StreamExt;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::FleetError;
use super::job::RunEntry;
use super::link::{Link, is_wrong_sequence};
use super::names::JobName;
use crate::domain::ids::ConsultationId;

/// Between two attempts to follow journals.
const AGAIN: Duration = Duration::from_secs(1);

/// The log of a run: one subject, appended to only by a process that knows its last sequence.
#[derive(Debug)]
pub struct RunLog {
    link: Link,
    subject: String,
    last: u64,
}

impl RunLog {
    /// Opens the log of a run, and returns its events.
    pub async fn open<E: DeserializeOwned>(
        link: &Link,
        run: &str,
    ) -> Result<(Self, Vec<E>), FleetError> {
        let mut log = Self {
            link: link.clone(),
            subject: link.names().subject("journal", &format!("{run}.log")),
            last: 0,
        };
        let mut events: Vec<E> = Vec::new();
        while let Some((sequence, payload)) = link.next(&log.subject, log.last).await? {
            log.last = sequence;
            let together: Vec<E> =
                serde_json::from_slice(&payload).map_err(|error| FleetError::Unreadable {
                    what: "the log of a run",
                    why: error.to_string(),
                })?;
            events.extend(together);
        }
        Ok((log, events))
    }

    /// Appends events. False if another process has appended since.
    pub async fn append<E: Serialize>(&mut self, events: &[E]) -> Result<bool, FleetError> {
        let refused = FleetError::server("append to the log of a run");
        let payload = serde_json::to_string(events).map_err(|error| refused(error.into()))?;
        let message = self.link.pack(payload).await?;
        match self.link.publish(&self.subject, message, self.last).await {
            Ok(sequence) => {
                self.last = sequence;
                Ok(true)
            }
            Err(error) if is_wrong_sequence(&error) => Ok(false),
            Err(error) => Err(refused(error.into())),
        }
    }
}

fn open_key(key: &str) -> String {
    format!("open.{key}")
}

/// Returns the run that is open for what `key` stands for.
pub async fn open_run(link: &Link, key: &str) -> Result<Option<String>, FleetError> {
    let read = link.stores().runs.get(open_key(key)).await;
    let read = read.map_err(|error| FleetError::server("find a run")(error.into()))?;
    Ok(read.and_then(|run| String::from_utf8(run.to_vec()).ok()))
}

/// Opens a run for what `key` stands for, and returns it, or the one that is open already.
pub async fn claim_run(link: &Link, key: &str, run: &str) -> Result<String, FleetError> {
    let claimed = link
        .stores()
        .runs
        .create(open_key(key), run.to_owned().into())
        .await;
    match claimed {
        Ok(_) => Ok(run.to_owned()),
        Err(error) if error.kind() == CreateErrorKind::AlreadyExists => {
            let open = open_run(link, key).await?;
            // It ended at this moment.
            Ok(open.unwrap_or_else(|| run.to_owned()))
        }
        Err(error) => Err(FleetError::server("open a run")(error.into())),
    }
}

/// The next command of what `key` stands for begins a run of its own.
pub async fn close_run(link: &Link, key: &str) -> Result<(), FleetError> {
    let deleted = link.stores().runs.delete(open_key(key)).await;
    deleted.map_err(|error| FleetError::server("close a run")(error.into()))
}

/// Changes the entry of a run, or makes it of what `change` leaves of the default. Another process
/// may change it too.
pub async fn update_run(
    link: &Link,
    run: &str,
    mut change: impl FnMut(Option<RunEntry>) -> Option<RunEntry>,
) -> Result<(), FleetError> {
    let refused = FleetError::server("change the entry of a run");
    let runs = &link.stores().runs;
    loop {
        let entry = runs.entry(run).await;
        let entry = entry.map_err(|error| refused(error.into()))?;
        let revision = entry.as_ref().map_or(0, |entry| entry.revision);
        let before = entry.and_then(|entry| serde_json::from_slice(&entry.value).ok());
        let Some(after) = change(before) else {
            return Ok(());
        };
        let after = serde_json::to_vec(&after).map_err(|error| refused(error.into()))?;
        match runs.update(run, after.into(), revision).await {
            Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => {}
            written => return written.map(drop).map_err(|error| refused(error.into())),
        }
    }
}

/// Takes jobs that no worker has begun out of a queue: those of a run, or one of them. The queue is
/// named, because the server does not subtract from its length what a wider subject takes out.
pub async fn withdraw(
    link: &Link,
    queue: &str,
    (run, id): (&str, Option<&ConsultationId>),
) -> Result<(), FleetError> {
    let id = id.map_or(">", ConsultationId::as_str);
    let subject = link.names().subject("jobs", &format!("{queue}.{run}.{id}"));
    let purged = link.stores().jobs.purge().filter(subject).await;
    purged.map_err(|error| FleetError::server("withdraw a job")(error.into()))?;
    Ok(())
}

/// What comes of the journals of a run.
#[derive(Debug)]
pub enum JournalNews {
    Message {
        job: JobName,
        sequence: u64,
        payload: Vec<u8>,
    },
    /// Something may be missing: journals are to be read again.
    Gap,
}

/// Follows the journals of a run from now on, until the receiver is dropped.
pub fn follow(link: &Link, run: &str) -> mpsc::UnboundedReceiver<JournalNews> {
    let (news, receiver) = mpsc::unbounded_channel();
    let (followed, subject) = (link.clone(), link.names().journals(run));
    link.spawn(async move {
        while !news.is_closed() {
            tokio::select! {
                () = news.closed() => return,
                // It ends when the server went away.
                _failed = follow_once(&followed, &subject, &news) => {}
            }
            sleep(AGAIN).await;
        }
    });
    receiver
}

async fn follow_once(
    link: &Link,
    subject: &str,
    news: &mpsc::UnboundedSender<JournalNews>,
) -> Result<(), FleetError> {
    let refused = FleetError::server("follow journals");
    let config = OrderedConfig {
        filter_subject: subject.to_owned(),
        deliver_policy: DeliverPolicy::New,
        ..OrderedConfig::default()
    };
    let consumer = link.stores().journal.create_consumer(config).await;
    let consumer = consumer.map_err(|error| refused(error.into()))?;
    let messages = consumer.messages().await;
    let mut messages = messages.map_err(|error| refused(error.into()))?;
    // What came before is in no message of this consumer.
    let _ = news.send(JournalNews::Gap);
    while let Some(message) = messages.next().await {
        let message = message.map_err(|error| refused(error.into()))?;
        let Some(job) = link.names().job_of(&message.subject) else {
            continue;
        };
        let sequence = message.info().map_err(refused)?.stream_sequence;
        let payload = link.unpack(message.headers.as_ref(), &message.payload);
        let payload = payload.await?;
        let _ = news.send(JournalNews::Message {
            job,
            sequence,
            payload,
        });
    }
    Ok(())
}
