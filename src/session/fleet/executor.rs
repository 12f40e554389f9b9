//! The fleet as the executor of a batch: a consultation becomes a job in the queue, and its journal
//! on the server becomes its events. What was submitted before, here or elsewhere, is met.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};

use crate::consultation::event::{AbortReason, Envelope};
use crate::consultation::plan::Plan;
use crate::domain::ids::{ConsultationId, ProviderId};
use crate::engine::ports::BoxFuture;
use crate::error::Error;
use crate::fleet::FleetError;
use crate::fleet::job::{self, FleetJob, JobAccount, RunEntry, RunState};
use crate::fleet::journal::StoredJournal;
use crate::fleet::link::Link;
use crate::fleet::names::{JobName, queue_of};
use crate::fleet::submission::{JournalNews, follow, update_run, withdraw};
use crate::fleet::{queue, roll};
use crate::records::journal::ends::JournalEnding;
use crate::session::batch::InterruptStage;
use crate::session::batch::elsewhere::{Executor, News};

/// Between two looks at a journal of which no message came.
const LOOK: Duration = Duration::from_secs(20);

/// Between two attempts to reach the server.
const AGAIN: Duration = Duration::from_millis(500);

/// How long the workers have to interrupt the calls of a run that is cancelled.
const MOST_WAIT: Duration = Duration::from_secs(10);

/// How long workers may be missing before people learn of it.
const PATIENCE: Duration = Duration::from_secs(3);

/// Jobs in the queue for each one that a worker can take, so that none waits for the submitter.
const AHEAD: usize = 2;

/// The fewest jobs at once, also while there is no worker.
const LEAST_ROOM: usize = 8;

/// The consultations of a run that the fleet has.
#[derive(Clone, Debug)]
pub struct FleetExecutor(Arc<Submissions>);

#[derive(Debug)]
struct Submissions {
    link: Link,
    run: String,
    accounts: Vec<JobAccount>,
    waiting: Mutex<BTreeMap<ConsultationId, Waiting>>,
    queues: tokio::sync::Mutex<BTreeSet<String>>,
    /// How many jobs the workers take at once.
    slots: AtomicUsize,
    tell: mpsc::UnboundedSender<News>,
    news: tokio::sync::Mutex<mpsc::UnboundedReceiver<News>>,
}

/// A consultation in flight.
#[derive(Debug)]
struct Waiting {
    providers: BTreeSet<ProviderId>,
    messages: mpsc::UnboundedSender<Option<(u64, Vec<u8>)>>,
    is_begun: bool,
}

/// Takes a consultation off the list when its task ends or is dropped.
struct Place<'a>(&'a Submissions, &'a ConsultationId);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.waiting().remove(self.1);
    }
}

impl FleetExecutor {
    /// Submits the jobs of a run, whose entry exists.
    pub fn new(link: &Link, run: &str, accounts: Vec<JobAccount>) -> Self {
        let (tell, news) = mpsc::unbounded_channel();
        let shared = Arc::new(Submissions {
            link: link.clone(),
            run: run.to_owned(),
            accounts,
            waiting: Mutex::default(),
            queues: tokio::sync::Mutex::default(),
            slots: AtomicUsize::new(0),
            tell,
            news: tokio::sync::Mutex::new(news),
        });
        link.spawn(hand_out(Arc::downgrade(&shared), follow(link, run)));
        link.spawn(attend(
            Arc::downgrade(&shared),
            link.clone(),
            run.to_owned(),
        ));
        Self(shared)
    }
}

impl Executor for FleetExecutor {
    fn run<'a>(
        &'a self,
        plan: &'a Plan,
        interrupt: watch::Receiver<Option<InterruptStage>>,
        on: &'a mut (dyn FnMut(Envelope) + Send),
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let job = FleetJob::new(&self.0.run, self.0.accounts.clone(), plan.clone());
            let job = job.map_err(Error::usage)?;
            let (messages, inbox) = mpsc::unbounded_channel();
            let waiting = Waiting {
                providers: job.providers(),
                messages,
                is_begun: false,
            };
            self.0.waiting().insert(plan.id.clone(), waiting);
            let _place = Place(&self.0, &plan.id);
            let following = Following {
                shared: &self.0,
                name: job.name(),
                job,
                journal: StoredJournal::default(),
                handed: 0,
                submitted_at: None,
                interrupt,
                on,
            };
            following.follow(inbox).await.map_err(Error::failed)
        })
    }

    fn running(&self) -> usize {
        let waiting = self.0.waiting();
        waiting.values().filter(|job| job.is_begun).count()
    }

    fn room(&self) -> usize {
        let slots = self.0.slots.load(Ordering::Relaxed);
        slots.saturating_mul(AHEAD).max(LEAST_ROOM)
    }

    fn news(&self) -> BoxFuture<'_, News> {
        Box::pin(async {
            match self.0.news.lock().await.recv().await {
                Some(news) => news,
                None => std::future::pending().await,
            }
        })
    }
}

impl Submissions {
    fn waiting(&self) -> MutexGuard<'_, BTreeMap<ConsultationId, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, news: News) {
        // It lives as long as this.
        let _ = self.tell.send(news);
    }

    /// Workers learn of a queue by the entry of the run, before it has a job.
    async fn open_queue(&self, job: &FleetJob) -> Result<(), FleetError> {
        let queue = queue_of(&job.providers())?;
        let mut queues = self.queues.lock().await;
        if !queues.contains(&queue) {
            let add = |entry: Option<_>| {
                entry.map(|mut entry: RunEntry| {
                    entry.queues.insert(queue.clone());
                    entry
                })
            };
            update_run(&self.link, &self.run, add).await?;
            queues.insert(queue);
        }
        Ok(())
    }

    async fn cancel(&self) -> Result<(), FleetError> {
        cancel(&self.link, &self.run).await
    }
}

/// Has the workers stop what they do for a run, and takes the rest out of the queues.
pub async fn cancel(link: &Link, run: &str) -> Result<(), FleetError> {
    let mut queues = BTreeSet::new();
    let cancelled = |entry: Option<RunEntry>| {
        let mut entry = entry.filter(|entry| entry.state == RunState::Running)?;
        entry.state = RunState::Cancelled;
        queues.clone_from(&entry.queues);
        Some(entry)
    };
    update_run(link, run, cancelled).await?;
    for queue in queues {
        withdraw(link, &queue, (run, None)).await?;
    }
    Ok(())
}

/// A job and its journal.
struct Following<'a> {
    shared: &'a Submissions,
    name: JobName,
    job: FleetJob,
    journal: StoredJournal,
    /// How many events were handed over.
    handed: usize,
    /// The events before the job was submitted: a claim that follows is none.
    submitted_at: Option<usize>,
    interrupt: watch::Receiver<Option<InterruptStage>>,
    on: &'a mut (dyn FnMut(Envelope) + Send),
}

/// Whether a job is still waited for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    Goes,
    Over,
}

impl Following<'_> {
    async fn follow(
        mut self,
        mut inbox: mpsc::UnboundedReceiver<Option<(u64, Vec<u8>)>>,
    ) -> Result<(), FleetError> {
        let shared = self.shared;
        let link = &shared.link;
        let mut must_look = true;
        loop {
            if must_look {
                let looked = self.journal.refresh(link, &self.name).await;
                must_look = is_for_now(looked, link)?;
            }
            if self.hand_over()? == Wait::Over {
                return Ok(());
            }
            if self.submitted_at.is_none() && !must_look && !self.is_interrupted() {
                match self.submit().await {
                    Ok(()) => self.submitted_at = Some(self.journal.events.len()),
                    failed => drop(is_for_now(failed, link)?),
                }
            }
            let pause = if must_look || self.submitted_at.is_none() {
                AGAIN
            } else {
                LOOK
            };
            tokio::select! {
                message = inbox.recv() => match message.flatten() {
                    Some((sequence, _)) if sequence <= self.journal.last => {}
                    Some((sequence, payload)) => {
                        // One that does not follow is read again.
                        let applied = self.journal.apply(&self.name, &payload, sequence);
                        must_look |= applied.is_err();
                    }
                    None => must_look = true,
                },
                Ok(()) = self.interrupt.changed() => {
                    if self.stop().await? == Wait::Over {
                        return Ok(());
                    }
                }
                () = sleep(pause) => must_look = true,
            }
        }
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.borrow().is_some()
    }

    async fn submit(&mut self) -> Result<(), FleetError> {
        self.shared.open_queue(&self.job).await?;
        queue::submit(&self.shared.link, &self.job).await.map(drop)
    }

    /// Hands over new events, and says whether more can follow.
    fn hand_over(&mut self) -> Result<Wait, FleetError> {
        if self.journal.claim.is_some() {
            self.begun();
        }
        let new = self.journal.events.get(self.handed..).unwrap_or_default();
        new.iter().cloned().for_each(&mut *self.on);
        self.handed = self.journal.events.len();
        if let Some(reason) = &self.journal.refused {
            return Err(FleetError::Refused(reason.clone()));
        }
        let ending = self.journal.events.last().map(JournalEnding::with_last);
        let events = self.journal.events.len();
        let is_new = self.submitted_at.is_some_and(|at| events > at);
        Ok(match ending {
            Some(JournalEnding::Complete) => Wait::Over,
            // Another worker continues it, unless the run is cancelled.
            Some(JournalEnding::Aborted(AbortReason::Interrupted)) => {
                match *self.interrupt.borrow() {
                    Some(InterruptStage::Cancel) => Wait::Over,
                    Some(InterruptStage::Drain) | None => Wait::Goes,
                }
            }
            // One of an earlier process is continued under the ceiling of this one.
            Some(JournalEnding::Aborted(AbortReason::CostCeiling)) if !is_new => Wait::Goes,
            Some(JournalEnding::Aborted(_)) => Wait::Over,
            Some(JournalEnding::Empty | JournalEnding::OtherVersion | JournalEnding::Open)
            | None => Wait::Goes,
        })
    }

    fn begun(&self) {
        let mut waiting = self.shared.waiting();
        let job = waiting.get_mut(&self.name.id).filter(|job| !job.is_begun);
        if let Some(job) = job {
            job.is_begun = true;
            self.shared.say(News::Changed);
        }
    }

    /// What no worker has begun is not begun any more. What is begun ends by itself, or is cancelled.
    async fn stop(&mut self) -> Result<Wait, FleetError> {
        let shared = self.shared;
        let link = &shared.link;
        if *self.interrupt.borrow() == Some(InterruptStage::Cancel) {
            let (looked, cancelled) = (&mut self.journal, shared.cancel());
            // Without the server, no worker learns of it.
            let _ = timeout(MOST_WAIT, cancelled).await;
            let ends = async {
                loop {
                    sleep(AGAIN).await;
                    let _ = looked.refresh(link, &self.name).await;
                    let last = looked.events.last().map(JournalEnding::with_last);
                    if last.is_none_or(|ending| ending != JournalEnding::Open) {
                        return;
                    }
                }
            };
            let _ = timeout(MOST_WAIT, ends).await;
            self.hand_over()?;
            return Ok(Wait::Over);
        }
        let is_begun = self.journal.claim.is_some();
        if !is_begun {
            // What a worker took at this moment is finished, and found when the run is resumed.
            let queue = queue_of(&self.job.providers())?;
            let job = (self.name.run.as_str(), Some(&self.name.id));
            let _ = withdraw(link, &queue, job).await;
        }
        Ok(if is_begun { Wait::Goes } else { Wait::Over })
    }
}

/// Returns whether the server is to be asked again: it cannot be reached now.
fn is_for_now(asked: Result<(), FleetError>, link: &Link) -> Result<bool, FleetError> {
    match asked {
        Ok(()) => Ok(false),
        Err(FleetError::Server { .. }) => Ok(true),
        Err(_) if link.connection().borrow().is_none() => Ok(true),
        Err(error) => Err(error),
    }
}

/// Gives each journal's messages to the task that waits for them.
async fn hand_out(shared: Weak<Submissions>, mut news: mpsc::UnboundedReceiver<JournalNews>) {
    while let Some(news) = news.recv().await {
        let Some(shared) = shared.upgrade() else {
            return;
        };
        let waiting = shared.waiting();
        match news {
            JournalNews::Message {
                job,
                sequence,
                payload,
            } => {
                if let Some(job) = waiting.get(&job.id) {
                    // Without a receiver it has ended.
                    let _ = job.messages.send(Some((sequence, payload)));
                }
            }
            JournalNews::Gap => {
                for job in waiting.values() {
                    let _ = job.messages.send(None);
                }
            }
        }
    }
}

/// Watches the run, the workers and the server.
async fn attend(shared: Weak<Submissions>, link: Link, run: String) {
    let (mut workers, mut runs) = (roll::watch_workers(&link), roll::watch_runs(&link));
    let mut connection = link.connection();
    let mut missing = Missing::default();
    let mut was_cancelled = false;
    loop {
        let Some(shared) = shared.upgrade() else {
            return;
        };
        let state = runs.borrow_and_update().get(&run).map(|entry| entry.state);
        if state == Some(RunState::Cancelled) && !was_cancelled {
            was_cancelled = true;
            shared.say(News::Note("The run is cancelled in the fleet".to_owned()));
            shared.say(News::Cancelled);
        }
        let slots = {
            let workers = workers.borrow_and_update();
            let able = workers.values().filter(|worker| !worker.leaves);
            able.map(|worker| worker.slots).sum()
        };
        if shared.slots.swap(slots, Ordering::Relaxed) != slots {
            shared.say(News::Changed);
        }
        let is_connected = connection.borrow_and_update().is_some();
        let now = if is_connected {
            let served: Vec<BTreeSet<ProviderId>> = {
                let workers = workers.borrow();
                let able = workers
                    .values()
                    .filter(|worker| !worker.leaves && worker.version == job::VERSION);
                able.map(|worker| worker.serves.difference(&worker.refused).cloned().collect())
                    .collect()
            };
            unserved(&shared.waiting(), &served)
        } else {
            Some("The NATS server cannot be reached; the run waits for it".to_owned())
        };
        if let Some(note) = missing.lasts(now) {
            shared.say(News::Note(note));
        }
        drop(shared);
        tokio::select! {
            Ok(()) = workers.changed() => {}
            Ok(()) = runs.changed() => {}
            Ok(()) = connection.changed() => {}
            () = sleep(PATIENCE / 3) => {}
        }
    }
}

/// A note that is said once it has been true for a while.
#[derive(Debug, Default)]
struct Missing {
    note: Option<String>,
    times: u32,
}

impl Missing {
    fn lasts(&mut self, now: Option<String>) -> Option<String> {
        if self.note != now {
            *self = Self {
                note: now,
                times: 0,
            };
        }
        self.times = self.times.saturating_add(1);
        self.note.clone().filter(|_| self.times == 4)
    }
}

/// Says which jobs no worker can do: `No worker of the fleet can ask anthropic: 12 jobs wait`.
fn unserved(
    waiting: &BTreeMap<ConsultationId, Waiting>,
    served: &[BTreeSet<ProviderId>],
) -> Option<String> {
    let mut of: BTreeMap<String, usize> = BTreeMap::new();
    for job in waiting.values().filter(|job| !job.is_begun) {
        if !served.iter().any(|serves| job.providers.is_subset(serves)) {
            let known: BTreeSet<&ProviderId> = served.iter().flatten().collect();
            let lacking = job.providers.iter().filter(|one| !known.contains(one));
            let mut names: Vec<&str> = lacking.map(ProviderId::as_str).collect();
            if names.is_empty() {
                names = job.providers.iter().map(ProviderId::as_str).collect();
            }
            *of.entry(names.join(" and ")).or_default() += 1;
        }
    }
    if of.is_empty() {
        return None;
    }
    if served.is_empty() {
        return Some("No worker of this version has joined the fleet: the run waits".to_owned());
    }
    let names: Vec<&str> = of.keys().map(String::as_str).collect();
    Some(format!(
        "No worker of the fleet can ask {}: what needs it waits",
        names.join(", ")
    ))
}
