//! Who takes part: the runs with their state, and the workers that live, each an entry that its
//! owner writes and all others watch.

use std::collections::BTreeMap;
use std::time::Duration;

use async_nats::jetstream::kv::{self, Operation};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use tokio::sync::watch;
use tokio::time::{Instant, interval, sleep};

use crate::domain::ids::ConsultationId;

use super::job::{RunEntry, WorkerEntry};
use super::link::Link;
use super::{FleetError, OrRefused};

/// Between two attempts to watch entries.
const AGAIN: Duration = Duration::from_secs(1);

/// How long a worker has to say whether it still has a job.
const MOST_WAIT: Duration = Duration::from_secs(2);

/// The answer of a worker that has the job.
const YES: &str = "yes";

/// The entries of a bucket, by key.
pub type Entries<T> = watch::Receiver<BTreeMap<String, T>>;

pub async fn write_worker(
    link: &Link,
    worker: &str,
    entry: &WorkerEntry,
) -> Result<(), FleetError> {
    let value = serde_json::to_vec(entry).or_refused("write an entry")?;
    let written = link.stores().workers.put(worker, value.into()).await;
    written.map(drop).or_refused("write an entry")
}

/// Takes a worker off the roll that ends.
pub async fn remove_worker(link: &Link, worker: &str) {
    // Without it, the entry expires.
    let _ = link.stores().workers.delete(worker).await;
}

pub async fn runs(link: &Link) -> Result<BTreeMap<String, RunEntry>, FleetError> {
    all(&link.stores().runs).await
}

pub async fn workers(link: &Link) -> Result<BTreeMap<String, WorkerEntry>, FleetError> {
    all(&link.stores().workers).await
}

/// Follows the runs, until the receiver is dropped.
pub fn watch_runs(link: &Link) -> Entries<RunEntry> {
    watch_entries(link, link.stores().runs.clone(), None)
}

/// Follows the workers: those whose entry was not renewed for a lease are gone.
pub fn watch_workers(link: &Link) -> Entries<WorkerEntry> {
    watch_entries(link, link.stores().workers.clone(), Some(link.lease()))
}

/// Answers whether this process has a job, until `has` does not know any more.
pub async fn answer_for(
    link: &Link,
    worker: &str,
    has: impl Fn(&ConsultationId) -> Option<bool> + Send + 'static,
) -> Result<(), FleetError> {
    let client = link.jetstream().client();
    let subject = link.names().subject("owner", worker);
    let asked = client.subscribe(subject).await;
    let mut asked = asked.or_refused("take questions")?;
    link.spawn(async move {
        while let Some(question) = asked.next().await {
            let id = std::str::from_utf8(&question.payload).unwrap_or_default();
            let answer = ConsultationId::parse(id).map_or(Some(false), |id| has(&id));
            let (Some(answer), Some(reply)) = (answer, question.reply) else {
                return;
            };
            let answer = if answer { YES } else { "no" };
            let _ = client.publish(reply, answer.into()).await;
        }
    });
    Ok(())
}

/// Asks a worker whether it still has a job. One that does not answer has not.
pub async fn has_job(link: &Link, worker: &str, job: &ConsultationId) -> bool {
    let subject = link.names().subject("owner", worker);
    let client = link.jetstream().client();
    let asked = client.request(subject, job.as_str().to_owned().into());
    let answer = tokio::time::timeout(MOST_WAIT, asked).await;
    matches!(answer, Ok(Ok(answer)) if answer.payload == YES)
}

/// Entries that cannot be read, such as those of another version, are left out.
pub(super) async fn all<T: DeserializeOwned>(
    store: &kv::Store,
) -> Result<BTreeMap<String, T>, FleetError> {
    let mut keys = store.keys().await.or_refused("list entries")?;
    let mut entries = BTreeMap::new();
    while let Some(key) = keys.next().await {
        let key = key.or_refused("list entries")?;
        let value = store.get(&key).await.or_refused("list entries")?;
        if let Some(entry) = value.and_then(|value| serde_json::from_slice(&value).ok()) {
            entries.insert(key, entry);
        }
    }
    Ok(entries)
}

pub(super) fn watch_entries<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    link: &Link,
    store: kv::Store,
    lifetime: Option<Duration>,
) -> Entries<T> {
    let (entries, receiver) = watch::channel(BTreeMap::new());
    link.spawn(async move {
        let mut seen: BTreeMap<String, Instant> = BTreeMap::new();
        let mut expiry = interval(lifetime.unwrap_or(AGAIN * 60) / 4);
        while !entries.is_closed() {
            let Ok(mut news) = store.watch_with_history(">").await else {
                sleep(AGAIN).await;
                continue;
            };
            loop {
                tokio::select! {
                    () = entries.closed() => return,
                    _ = expiry.tick() => if let Some(lifetime) = lifetime {
                        seen.retain(|_, at| at.elapsed() < lifetime);
                        entries.send_if_modified(|entries| {
                            let before = entries.len();
                            entries.retain(|key, _| seen.contains_key(key));
                            entries.len() != before
                        });
                    },
                    entry = news.next() => {
                        let Some(Ok(entry)) = entry else { break };
                        let value = serde_json::from_slice(&entry.value).ok();
                        let value = value.filter(|_| entry.operation == Operation::Put);
                        seen.insert(entry.key.clone(), Instant::now());
                        entries.send_modify(|entries| match value {
                            Some(value) => drop(entries.insert(entry.key, value)),
                            None => drop(entries.remove(&entry.key)),
                        });
                    }
                }
            }
            sleep(AGAIN).await;
        }
    });
    receiver
}
