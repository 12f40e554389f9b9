//! The submitting side of a run: who has it, its log, and news of the journals of its jobs.

use std::time::Duration;

use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::OrderedConfig;
use async_nats::jetstream::kv::{CreateErrorKind, UpdateErrorKind};
use futures_util::StreamExt;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::job::{RunEntry, RunState};
use super::link::Link;
use super::names::JobName;
use super::{FleetError, OrRefused};

/// Between two attempts to follow journals.
const AGAIN: Duration = Duration::from_secs(1);

/// Stores the log of a run as it is now.
pub async fn store_log(link: &Link, run: &str, log: &[u8]) -> Result<(), FleetError> {
    link.put(&log_name(run), log).await
}

/// Returns the log of a run as its submitter stored it last; `None` if there is no such run.
pub async fn log_of(link: &Link, run: &str) -> Result<Option<Vec<u8>>, FleetError> {
    link.get(&log_name(run)).await
}

fn log_name(run: &str) -> String {
    format!("log.{run}")
}

fn open_key(key: &str) -> String {
    format!("open.{key}")
}

/// Returns the run that is open for what `key` stands for.
pub async fn open_run(link: &Link, key: &str) -> Result<Option<String>, FleetError> {
    let read = link.stores().runs.get(open_key(key)).await;
    let run = read.or_refused("find a run")?;
    Ok(run.and_then(|run| String::from_utf8(run.to_vec()).ok()))
}

/// Opens a run, whose log is stored, for what `key` stands for, and returns it, or the one that is
/// open already.
pub async fn claim_run(link: &Link, key: &str, run: &str) -> Result<String, FleetError> {
    let (runs, name) = (&link.stores().runs, open_key(key));
    loop {
        match runs.create(&name, run.to_owned().into()).await {
            Err(error) if error.kind() == CreateErrorKind::AlreadyExists => {
                // Without one, it ended at this moment.
                if let Some(open) = open_run(link, key).await? {
                    return Ok(open);
                }
            }
            created => return created.map(|_| run.to_owned()).or_refused("open a run"),
        }
    }
}

/// The next command of what `key` stands for begins a run of its own.
pub async fn close_run(link: &Link, key: &str) -> Result<(), FleetError> {
    let deleted = link.stores().runs.delete(open_key(key)).await;
    deleted.or_refused("close a run")
}

/// Changes the entry of a run, or makes it of what `change` leaves of the default. Another process
/// may change it too.
pub async fn update_run(
    link: &Link,
    run: &str,
    mut change: impl FnMut(Option<RunEntry>) -> Option<RunEntry>,
) -> Result<(), FleetError> {
    let (runs, what) = (&link.stores().runs, "change the entry of a run");
    loop {
        let entry = runs.entry(run).await.or_refused(what)?;
        let revision = entry.as_ref().map_or(0, |entry| entry.revision);
        let before = entry.and_then(|entry| serde_json::from_slice(&entry.value).ok());
        let Some(after) = change(before) else {
            return Ok(());
        };
        let after = serde_json::to_vec(&after).or_refused(what)?;
        match runs.update(run, after.into(), revision).await {
            Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => {}
            written => return written.map(drop).or_refused(what),
        }
    }
}

/// Has the workers stop what they do for a run, and takes the rest out of the queues.
pub async fn cancel(link: &Link, run: &str) -> Result<(), FleetError> {
    let mut queues = Vec::new();
    let cancelled = |entry: Option<RunEntry>| {
        let mut entry = entry.filter(|entry| entry.state == RunState::Running)?;
        entry.state = RunState::Cancelled;
        queues = entry.queues.iter().cloned().collect();
        Some(entry)
    };
    update_run(link, run, cancelled).await?;
    for queue in queues {
        withdraw(link, &queue, &format!("{run}.>")).await?;
    }
    Ok(())
}

/// Takes jobs that no worker has begun out of a queue: `RUN.CONSULTATION`, or `RUN.>` for all of a
/// run. The queue is named, because the server does not subtract from its length what a wider
/// subject takes out.
pub async fn withdraw(link: &Link, queue: &str, jobs: &str) -> Result<(), FleetError> {
    let subject = link.names().subject("jobs", &format!("{queue}.{jobs}"));
    let purged = link.stores().jobs.purge().filter(subject).await;
    purged.map(drop).or_refused("withdraw a job")
}

/// Follows the journals of a run, until the receiver is dropped: names each job whose journal has
/// grown; `None` stands for any, since news may be missing.
pub fn follow(link: &Link, run: &str) -> mpsc::UnboundedReceiver<Option<JobName>> {
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
    news: &mpsc::UnboundedSender<Option<JobName>>,
) -> Result<(), FleetError> {
    let what = "follow journals";
    let config = OrderedConfig {
        filter_subject: subject.to_owned(),
        deliver_policy: DeliverPolicy::New,
        headers_only: true,
        ..OrderedConfig::default()
    };
    let consumer = link.stores().journal.create_consumer(config).await;
    let messages = consumer.or_refused(what)?.messages().await;
    let mut messages = messages.or_refused(what)?;
    // What came before is in no message of this consumer.
    let _ = news.send(None);
    while let Some(message) = messages.next().await {
        let job = link.names().job_of(&message.or_refused(what)?.subject);
        let _ = job.map(|job| news.send(Some(job)));
    }
    Ok(())
}
