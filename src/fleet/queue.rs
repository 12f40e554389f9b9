//! The queue of jobs: one subject a job, so that one that is in the queue or in work is not there
//! twice; one consumer for each set of providers, so that a worker takes only what it can do. Jobs of
//! a run are withdrawn from it, and a worker is asked whether it still has one that it took.

use std::time::Duration;

use async_nats::jetstream::consumer::{PullConsumer, pull};
use async_nats::jetstream::{self, AckKind};
use futures_util::StreamExt;

use crate::domain::ids::ConsultationId;

use super::job::{FleetJob, RunEntry, RunState};
use super::link::Link;
use super::names::{self, JobName};
use super::{FleetError, OrRefused};

/// How long a worker has to say whether it still has a job.
const MOST_WAIT: Duration = Duration::from_secs(2);

/// The answer of a worker that has the job.
const YES: &str = "yes";

/// Puts a job into its queue, unless it is there or in work already.
pub async fn submit(link: &Link, job: &FleetJob) -> Result<(), FleetError> {
    let payload = serde_json::to_string(job).or_refused("take a job")?;
    let subject = job.subject()?;
    link.append(&subject, payload, (0, None)).await.map(drop)
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
    link.stores().runs.update(run, cancelled).await?;
    for queue in queues {
        let jobs = format!("{queue}.{run}.>");
        withdraw(link, &names::subject("jobs", &jobs)).await?;
    }
    Ok(())
}

/// Takes jobs that no worker has begun out of a queue: one, or all of a run. Their subject names the
/// queue, because the server does not subtract from its length what a wider one takes out.
pub async fn withdraw(link: &Link, subject: &str) -> Result<(), FleetError> {
    let purged = link.stores().jobs.purge().filter(subject).await;
    purged.map(drop).or_refused("withdraw a job")
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
            filter_subject: names::subject("jobs", &format!("{queue}.>")),
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
        let Some(name) = JobName::of(&message.subject) else {
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
        FleetJob::read(&bytes, &self.name)
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

/// Answers whether this process has a job, until `has` does not know any more.
pub async fn answer_for(
    link: &Link,
    worker: &str,
    has: impl Fn(&ConsultationId) -> Option<bool> + Send + 'static,
) -> Result<(), FleetError> {
    let client = link.jetstream().client();
    let asked = client.subscribe(names::subject("owner", worker)).await;
    let mut asked = asked.or_refused("take questions")?;
    link.runtime().spawn(async move {
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
    let client = link.jetstream().client();
    let asked = client.request(
        names::subject("owner", worker),
        job.as_str().to_owned().into(),
    );
    let answer = tokio::time::timeout(MOST_WAIT, asked).await;
    matches!(answer, Ok(Ok(answer)) if answer.payload == YES)
}
