//! Buckets of the server: each has entries of one kind by key, which processes change by
//! compare-and-set and all others watch.

use std::collections::BTreeMap;
use std::error::Error;
use std::marker::PhantomData;
use std::time::Duration;

use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::kv::{Operation, Store, Watch};
use futures_util::StreamExt;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::{Instant, interval, sleep};

use super::{FleetError, OrRefused};

/// Between two attempts to watch entries.
const AGAIN: Duration = Duration::from_secs(1);

/// What cannot be done while the server refuses a change.
const CHANGE: &str = "change an entry";

/// Entries of one kind.
#[derive(Clone, Debug)]
pub struct Bucket<T> {
    store: Store,
    /// That of the connection.
    runtime: Handle,
    /// How long an entry lives that its owner does not renew, if that is less than people notice.
    lifetime: Option<Duration>,
    of: PhantomData<fn() -> T>,
}

/// The entries of a bucket, by key.
pub type Entries<T> = watch::Receiver<BTreeMap<String, T>>;

impl<T: Serialize + DeserializeOwned + Send + Sync + 'static> Bucket<T> {
    pub(super) fn new(store: Store, runtime: &Handle, lifetime: Option<Duration>) -> Self {
        Self {
            store,
            runtime: runtime.clone(),
            lifetime,
            of: PhantomData,
        }
    }

    /// Returns an entry, if there is one, and its revision.
    pub async fn get(&self, key: &str) -> Result<(Option<T>, u64), FleetError> {
        let entry = self.store.entry(key).await.or_refused("read an entry")?;
        let Some(entry) = entry else {
            return Ok((None, 0));
        };
        let value = (entry.operation == Operation::Put).then_some(&entry.value);
        let value = value.map(|value| serde_json::from_slice(value)).transpose();
        let value = value.map_err(|error| FleetError::unreadable("an entry", &error))?;
        Ok((value, entry.revision))
    }

    /// Returns the new revision; `None` if another process changed the entry since `revision`.
    pub async fn set(
        &self,
        key: &str,
        value: &T,
        revision: u64,
    ) -> Result<Option<u64>, FleetError> {
        let value = serde_json::to_vec(value).or_refused(CHANGE)?;
        match self.store.update(key, value.into(), revision).await {
            Err(error) if is_overtaken(&error) => Ok(None),
            set => set.map(Some).or_refused(CHANGE),
        }
    }

    /// Makes an entry of what there is, until no other process was faster. `None` leaves it.
    pub async fn update(
        &self,
        key: &str,
        mut change: impl FnMut(Option<T>) -> Option<T>,
    ) -> Result<(), FleetError> {
        loop {
            let (before, revision) = self.get(key).await?;
            let Some(after) = change(before) else {
                return Ok(());
            };
            if self.set(key, &after, revision).await?.is_some() {
                return Ok(());
            }
        }
    }

    /// Sets an entry that no other process changes.
    pub async fn put(&self, key: &str, value: &T) -> Result<(), FleetError> {
        let value = serde_json::to_vec(value).or_refused(CHANGE)?;
        let put = self.store.put(key, value.into()).await;
        put.map(drop).or_refused(CHANGE)
    }

    pub async fn remove(&self, key: &str) -> Result<(), FleetError> {
        self.store.delete(key).await.or_refused(CHANGE)
    }

    /// Leaves out what is no entry of this kind, as another version may write it.
    pub async fn all(&self) -> Result<BTreeMap<String, T>, FleetError> {
        let (what, prefix) = ("list entries", self.store.prefix.as_str());
        // Without a consumer, for which the server may choose a replica that is away.
        let subjects = self.store.stream.info_with_subjects(format!("{prefix}>"));
        let mut subjects = subjects.await.or_refused(what)?;
        let mut entries = BTreeMap::new();
        while let Some(subject) = subjects.next().await {
            let (subject, _) = subject.or_refused(what)?;
            let key = subject.trim_start_matches(prefix);
            let value = self.store.get(key).await.or_refused(what)?;
            if let Some(entry) = value.and_then(|value| serde_json::from_slice(&value).ok()) {
                entries.insert(key.to_owned(), entry);
            }
        }
        Ok(entries)
    }

    /// Follows the entries, until the receiver is dropped: those that were not renewed for their
    /// lifetime are gone.
    pub fn watch(&self) -> Entries<T> {
        let (entries, receiver) = watch::channel(BTreeMap::new());
        let (store, lifetime) = (self.store.clone(), self.lifetime);
        self.runtime.spawn(async move {
            let mut seen = BTreeMap::new();
            loop {
                if let Ok(news) = store.watch_with_history(">").await {
                    tokio::select! {
                        () = entries.closed() => return,
                        () = follow(news, &entries, (&mut seen, lifetime)) => {}
                    }
                }
                tokio::select! {
                    () = entries.closed() => return,
                    () = sleep(AGAIN) => {}
                }
            }
        });
        receiver
    }
}

/// Whether the server has a later revision, or has begun to make one on its replicas.
fn is_overtaken(error: &(dyn Error + 'static)) -> bool {
    match error.downcast_ref::<async_nats::jetstream::Error>() {
        Some(error) => matches!(
            error.error_code(),
            ErrorCode::STREAM_WRONG_LAST_SEQUENCE | ErrorCode::STREAM_WRONG_LAST_SEQUENCE_CONSTANT
        ),
        None => error.source().is_some_and(is_overtaken),
    }
}

/// Ends when the server went away.
async fn follow<T: DeserializeOwned>(
    mut news: Watch,
    entries: &watch::Sender<BTreeMap<String, T>>,
    (seen, lifetime): (&mut BTreeMap<String, Instant>, Option<Duration>),
) {
    let lifetime = lifetime.unwrap_or(Duration::MAX);
    let mut expiry = interval(lifetime.min(AGAIN * 60) / 4);
    loop {
        tokio::select! {
            _ = expiry.tick() => {
                seen.retain(|_, at| at.elapsed() < lifetime);
                entries.send_if_modified(|entries| {
                    let before = entries.len();
                    entries.retain(|key, _| seen.contains_key(key));
                    entries.len() != before
                });
            }
            entry = news.next() => {
                let Some(Ok(entry)) = entry else { return };
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
}
