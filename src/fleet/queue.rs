//! The queue of jobs: one subject a job, so that one that is in the queue or in work is not there
//! twice; one consumer for each set of providers, so that a worker takes only what it can do.

use std::time::Duration;

use async_nats::jetstream::consumer::{PullConsumer, pull};
use async_nats::jetstream::{self, AckKind};
use futures_util::StreamExt;

use super::job::FleetJob;
use super::link::Link;
use super::names::{JobName, queue_of};
use super::{FleetError, OrRefused};

/// Puts a job into its queue, unless it is there or in work already.
pub async fn submit(link: &Link, job: &FleetJob) -> Result<(), FleetError> {
    let subject = link.names().job(&queue_of(&job.providers())?, &job.name());
    let payload = serde_json::to_string(job).or_refused("take a job")?;
    link.append(&subject, payload, (0, None)).await.map(drop)
}

/// One queue, from which jobs are taken.
#[derive(Clone, Debug)]
pub struct Queue {
    link: Link,
    consumer: PullConsumer,
}

/// A job that was taken, until it is acknowledged or given back.
#[derive(Debug)]
pub struct Delivery {
    link: Link,
    message: jetstream::Message,
    pub name: JobName,
}

impl Queue {
    /// Opens a queue, also one that has no jobs yet.
    pub async fn open(link: &Link, queue: &str) -> Result<Self, FleetError> {
        let config = pull::Config {
            durable_name: Some(queue.to_owned()),
            filter_subject: link.names().subject("jobs", &format!("{queue}.>")),
            ack_wait: link.lease(),
            max_ack_pending: -1,
            ..pull::Config::default()
        };
        let jobs = &link.stores().jobs;
        let consumer = jobs.get_or_create_consumer(queue, config).await;
        let consumer = consumer.or_refused("give access to a queue")?;
        let link = link.clone();
        Ok(Self { link, consumer })
    }

    /// Returns the number of jobs that wait, and of those in work at some worker or lost with one.
    pub async fn length(&self) -> Result<(u64, usize), FleetError> {
        let info = self.consumer.get_info().await.or_refused("count jobs")?;
        Ok((info.num_pending, info.num_ack_pending))
    }

    /// Takes the next job. `None` if there is none for this long.
    pub async fn next(&self, wait: Duration) -> Result<Option<Delivery>, FleetError> {
        let jobs = self.consumer.batch().max_messages(1).expires(wait);
        let mut jobs = jobs.messages().await.or_refused("give a job")?;
        let Some(message) = jobs.next().await else {
            return Ok(None);
        };
        let message = message.or_refused("give a job")?;
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
        }))
    }
}

impl Delivery {
    /// Returns what was submitted.
    pub async fn job(&self) -> Result<FleetJob, FleetError> {
        let (headers, payload) = (self.message.headers.as_ref(), &self.message.payload);
        let bytes = self.link.unpack(headers, payload).await?;
        Ok(FleetJob::read(&bytes, &self.name)?)
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
