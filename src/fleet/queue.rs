//! The queue of jobs: one subject a job, so that one that is in the queue or in work is not there
//! twice; one consumer for each set of providers, so that a worker takes only what it can do.

use std::time::Duration;

use async_nats::jetstream::{self, AckKind, consumer::PullConsumer};
use futures_util::StreamExt;

use super::job::FleetJob;
use super::link::{Link, is_wrong_sequence};
use super::names::{JobName, queue_of};
use super::{FleetError, OrRefused};

/// The result of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submission {
    Queued,
    /// It is in the queue or in work already.
    Known,
}

/// Puts a job into its queue, and returns the queue's name.
pub async fn submit(link: &Link, job: &FleetJob) -> Result<(String, Submission), FleetError> {
    let queue = queue_of(&job.providers())?;
    let name = JobName::new(&job.run, job.plan.id.as_str())?;
    let payload = serde_json::to_string(job).or_refused("take a job")?;
    let message = link.pack(payload).await?;
    let subject = link.names().job(&queue, &name);
    match link.publish(&subject, message, 0).await {
        Err(error) if is_wrong_sequence(&error) => Ok((queue, Submission::Known)),
        queued => queued
            .map(|_| (queue, Submission::Queued))
            .or_refused("take a job"),
    }
}

/// Takes the jobs of a run that no worker has begun out of the queue.
pub async fn withdraw(link: &Link, run: &str) -> Result<(), FleetError> {
    let subject = link.names().subject("jobs", &format!("*.{run}.>"));
    let purged = link.stores().jobs.purge().filter(subject).await;
    purged.map(drop).or_refused("withdraw jobs")
}

/// One queue, from which jobs are taken.
#[derive(Clone, Debug)]
pub struct Queue {
    link: Link,
    consumer: PullConsumer,
}

/// The jobs of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLength {
    pub waiting: u64,
    /// In work at some worker, or lost with one.
    pub in_work: usize,
}

/// A job that was taken, until it is acknowledged or given back.
#[derive(Debug)]
pub struct Delivery {
    link: Link,
    message: jetstream::Message,
    pub name: JobName,
    /// It was delivered before: to a worker that lost it or gave it back.
    pub is_again: bool,
}

impl Queue {
    /// Opens a queue, also one that has no jobs yet.
    pub async fn open(link: &Link, queue: &str) -> Result<Self, FleetError> {
        Ok(Self {
            link: link.clone(),
            consumer: link.queue(queue).await?,
        })
    }

    pub async fn length(&self) -> Result<QueueLength, FleetError> {
        let info = self.consumer.get_info().await;
        let info = info.or_refused("count jobs")?;
        Ok(QueueLength {
            waiting: info.num_pending,
            in_work: info.num_ack_pending,
        })
    }

    /// Takes the next job. `None` if there is none for this long.
    pub async fn next(&self, wait: Duration) -> Result<Option<Delivery>, FleetError> {
        let jobs = self.consumer.batch().max_messages(1).expires(wait);
        let mut jobs = jobs.messages().await.or_refused("give a job")?;
        let Some(message) = jobs.next().await else {
            return Ok(None);
        };
        let message = message.or_refused("give a job")?;
        let is_again = message.info().is_ok_and(|info| info.delivered > 1);
        let Some(name) = self.link.names().job_of(&message.subject) else {
            // No one could say whose it is.
            let _ = message.ack_with(AckKind::Term).await;
            return Ok(None);
        };
        let link = self.link.clone();
        Ok(Some(Delivery {
            link,
            message,
            name,
            is_again,
        }))
    }
}

impl Delivery {
    /// Returns what was submitted.
    pub async fn payload(&self) -> Result<Vec<u8>, FleetError> {
        let (headers, payload) = (self.message.headers.as_ref(), &self.message.payload);
        self.link.unpack(headers, payload).await
    }

    /// Says that it is still in work.
    pub async fn renew(&self) {
        // Without it, the job is delivered again, and its journal decides.
        let _ = self.message.ack_with(AckKind::Progress).await;
    }

    /// Takes the job out of the queue, and waits until it is.
    pub async fn done(&self) -> Result<(), FleetError> {
        let done = self.message.double_ack().await;
        done.or_refused("take a job out of the queue")
    }

    /// Gives the job to the next worker that asks, after this long.
    pub async fn give_back(&self, after: Duration) {
        let after = Some(after).filter(|after| !after.is_zero());
        // Without it, the job is delivered again when its lease has ended.
        let _ = self.message.ack_with(AckKind::Nak(after)).await;
        let _ = self.link.jetstream().client().flush().await;
    }
}
