//! The submitting side of a run: cancels it, withdraws its jobs, and follows their journals.

use std::time::Duration;

use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::OrderedConfig;
use futures_util::StreamExt;
use tokio::time::sleep;

use super::job::{RunEntry, RunState};
use super::link::Link;
use super::names::{JobName, subject};
use super::{FleetError, OrRefused};

/// Between two attempts to follow journals.
const AGAIN: Duration = Duration::from_secs(1);

/// Has the workers stop what they do for a run, and takes the rest out of the queues.
pub async fn cancel(link: &Link, run: &str) -> Result<(), FleetError> {
    let mut queues = Vec::new();
    let cancelled = |entry: Option<RunEntry>| {
        let mut entry = entry.filter(|entry| entry.state == RunState::Running)?;
        entry.state = RunState::Cancelled;
        queues = entry.queues.iter().cloned().collect();
        Some(entry)
    };
    link.stores().runs.update(run, cancelled).await?;
    for queue in queues {
        let jobs = format!("{queue}.{run}.>");
        withdraw(link, &subject("jobs", &jobs)).await?;
    }
    Ok(())
}

/// Takes jobs that no worker has begun out of a queue: one, or all of a run. Their subject names the
/// queue, because the server does not subtract from its length what a wider one takes out.
pub async fn withdraw(link: &Link, subject: &str) -> Result<(), FleetError> {
    let purged = link.stores().jobs.purge().filter(subject).await;
    purged.map(drop).or_refused("withdraw a job")
}

/// Follows the journals of a run for ever: names each job whose journal has grown; `None` stands for
/// any, since news may be missing.
pub async fn follow(link: Link, run: String, grown: impl Fn(Option<JobName>)) {
    loop {
        // It ends when the server went away.
        let _failed = follow_once(&link, &run, &grown).await;
        sleep(AGAIN).await;
    }
}

async fn follow_once(
    link: &Link,
    run: &str,
    grown: &impl Fn(Option<JobName>),
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
        grown(JobName::of(&message.or_refused(what)?.subject));
    }
    Ok(())
}
