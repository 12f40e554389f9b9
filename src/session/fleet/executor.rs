//! The fleet as the executor of a batch: a consultation becomes a job in the queue, and its journal
//! on the server becomes its events. What was submitted before, here or elsewhere, is met.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::run_log;
use crate::consultation::event::{AbortReason, Envelope};
use crate::consultation::plan::Plan;
use crate::domain::ids::{ConsultationId, ProviderId};
use crate::engine::ports::BoxFuture;
use crate::error::Error;
use crate::fleet::FleetError;
use crate::fleet::job::{FleetJob, JobAccount, RunEntry, RunState, WorkerEntry};
use crate::fleet::journal::{StoredJournal, follow};
use crate::fleet::link::Link;
use crate::fleet::names::{JobName, queue_of};
use crate::fleet::queue::{self, cancel, withdraw};
use crate::records::journal::ends::JournalEnding;
use crate::session::batch::InterruptStage;
use crate::session::batch::elsewhere::{Executor, News, RunHeld};

/// Between two attempts to reach the server.
const AGAIN: Duration = Duration::from_millis(500);

/// How long the workers have to interrupt the calls of a run that is cancelled.
const MOST_WAIT: Duration = Duration::from_secs(10);

/// Between two looks at who takes part.
const PAUSE: Duration = Duration::from_secs(1);

/// How many looks in a row find the same before people learn of it.
const PATIENCE: u32 = 4;

/// Jobs in the queue for each one that a worker can take, so that none waits for the submitter.
const AHEAD: usize = 2;

/// The fewest jobs at once, also while there is no worker.
const LEAST_ROOM: usize = 8;

/// The consultations of a run that the fleet has.
#[derive(Debug)]
pub struct FleetExecutor {
    shared: Arc<Submissions>,
    /// They end with it.
    _tasks: JoinSet<()>,
}

#[derive(Debug)]
struct Submissions {
    link: Link,
    run: String,
    accounts: Vec<JobAccount>,
    waiting: Mutex<BTreeMap<ConsultationId, Arc<Waiting>>>,
    /// How many jobs the workers take at once.
    slots: AtomicUsize,
    tell: mpsc::UnboundedSender<News>,
    news: tokio::sync::Mutex<mpsc::UnboundedReceiver<News>>,
}

/// A consultation in flight.
#[derive(Debug)]
struct Waiting {
    providers: BTreeSet<ProviderId>,
    has_grown: Notify,
    is_begun: AtomicBool,
}

impl Waiting {
    fn is_begun(&self) -> bool {
        self.is_begun.load(Ordering::Relaxed)
    }
}

/// Takes a consultation off the list when its task ends or is dropped.
struct Place<'a>(&'a Submissions, &'a ConsultationId);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.waiting().remove(self.1);
    }
}

impl FleetExecutor {
    /// Submits the jobs of a run, whose entry exists, and stores its log as it grows.
    pub fn new(link: &Link, run: &RunHeld, accounts: Vec<JobAccount>) -> Self {
        let (tell, news) = mpsc::unbounded_channel();
        let shared = Arc::new(Submissions {
            link: link.clone(),
            run: run.id.clone(),
            accounts,
            waiting: Mutex::default(),
            slots: AtomicUsize::new(0),
            tell,
            news: tokio::sync::Mutex::new(news),
        });
        let mut tasks = JoinSet::new();
        let all = Arc::clone(&shared);
        let wake = move |grown: Option<&JobName>| all.wake(grown);
        let runtime = link.runtime();
        tasks.spawn_on(follow(link.clone(), run.id.clone(), wake), &runtime);
        tasks.spawn_on(attend(Arc::clone(&shared)), &runtime);
        tasks.spawn_on(run_log::keep(link.clone(), run.clone()), &runtime);
        Self {
            shared,
            _tasks: tasks,
        }
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
            let job = FleetJob::new(&self.shared.run, self.shared.accounts.clone(), plan.clone());
            let job = job.map_err(Error::usage)?;
            let waiting = Arc::new(Waiting {
                providers: job.providers(),
                has_grown: Notify::new(),
                is_begun: AtomicBool::new(false),
            });
            let place = (plan.id.clone(), Arc::clone(&waiting));
            self.shared.waiting().extend([place]);
            let _place = Place(&self.shared, &plan.id);
            let following = Following {
                shared: &self.shared,
                waiting,
                job,
                journal: StoredJournal::default(),
                handed: 0,
                submitted: None,
                interrupt,
                on,
            };
            following.follow().await.map_err(Error::failed)
        })
    }

    fn running(&self) -> usize {
        let waiting = self.shared.waiting();
        waiting.values().filter(|job| job.is_begun()).count()
    }

    fn room(&self) -> usize {
        let slots = self.shared.slots.load(Ordering::Relaxed);
        slots.saturating_mul(AHEAD).max(LEAST_ROOM)
    }

    fn news(&self) -> BoxFuture<'_, News> {
        Box::pin(async {
            match self.shared.news.lock().await.recv().await {
                Some(news) => news,
                None => std::future::pending().await,
            }
        })
    }
}

impl Submissions {
    fn waiting(&self) -> MutexGuard<'_, BTreeMap<ConsultationId, Arc<Waiting>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the tasks whose journals have grown; all of them, if it is not known which have.
    fn wake(&self, grown: Option<&JobName>) {
        for (id, job) in &*self.waiting() {
            if grown.is_none_or(|grown| grown.id == *id) {
                job.has_grown.notify_one();
            }
        }
    }

    fn tell(&self, news: News) {
        // It lives as long as this.
        let _ = self.tell.send(news);
    }

    /// Puts a job into its queue, unless it is there. Workers learn of a queue by the entry of the
    /// run, before it has a job.
    async fn submit(&self, job: &FleetJob) -> Result<(), FleetError> {
        let queue = queue_of(&job.providers())?;
        let add = |entry: Option<RunEntry>| {
            let mut entry = entry?;
            (entry.queues.insert(queue.clone())).then_some(entry)
        };
        self.link.stores().runs.update(&self.run, add).await?;
        queue::submit(&self.link, job).await
    }

    /// Returns whether it was done. If not, the server is to be asked again.
    fn is_done(&self, asked: Result<(), FleetError>) -> Result<bool, FleetError> {
        match asked {
            Ok(()) => Ok(true),
            Err(_) if self.link.connection().borrow().is_none() => Ok(false),
            Err(error @ FleetError::Server { .. }) => {
                self.link.trouble(&error);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// A job and its journal.
struct Following<'a> {
    shared: &'a Submissions,
    waiting: Arc<Waiting>,
    job: FleetJob,
    journal: StoredJournal,
    /// How many events were handed over.
    handed: usize,
    /// The events, and the last message, before the job was submitted: what they say is of earlier
    /// submissions.
    submitted: Option<(usize, u64)>,
    interrupt: watch::Receiver<Option<InterruptStage>>,
    on: &'a mut (dyn FnMut(Envelope) + Send),
}

impl Following<'_> {
    async fn follow(mut self) -> Result<(), FleetError> {
        let (shared, link) = (self.shared, &self.shared.link);
        // A journal that rests is looked at after this long.
        let rest = link.lease();
        // Another submitter may withdraw a job, so one that rests is submitted again.
        let (mut submit_at, mut cancelled_at) = (Instant::now(), None);
        loop {
            let before = self.journal.last;
            let read = self.journal.refresh(link, &self.job.name()).await;
            let is_current = shared.is_done(read)?;
            if self.journal.last > before && self.submitted.is_some() {
                submit_at = Instant::now() + rest;
            }
            let is_over = self.hand_over()?;
            let stage = *self.interrupt.borrow_and_update();
            match stage {
                _ if is_over => return Ok(()),
                None if is_current && Instant::now() >= submit_at => {
                    if shared.is_done(shared.submit(&self.job).await)? {
                        let read = (self.journal.events.len(), self.journal.last);
                        self.submitted.get_or_insert(read);
                        submit_at = Instant::now() + rest;
                    }
                }
                // What is begun ends by itself. What a worker takes at this moment is finished, and
                // found when the run is resumed.
                Some(InterruptStage::Drain) if !self.is_begun() => {
                    let _ = withdraw(link, &self.job.subject()?).await;
                    return Ok(());
                }
                Some(InterruptStage::Cancel) => match cancelled_at {
                    None => {
                        cancelled_at = Some(Instant::now());
                        // Without the server, no worker learns of it.
                        let _ = timeout(MOST_WAIT, cancel(link, &shared.run)).await;
                        continue;
                    }
                    Some(at) if !self.is_open() || at.elapsed() > MOST_WAIT => return Ok(()),
                    Some(_) => {}
                },
                None | Some(InterruptStage::Drain) => {}
            }
            let is_waited_for = is_current && self.submitted.is_some() && cancelled_at.is_none();
            tokio::select! {
                () = self.waiting.has_grown.notified() => {}
                Ok(()) = self.interrupt.changed() => {}
                () = sleep(if is_waited_for { rest } else { AGAIN }) => {}
            }
        }
    }

    /// Whether a worker has worked on it since it was submitted.
    fn is_begun(&self) -> bool {
        self.submitted
            .is_some_and(|(_, last)| self.journal.last > last)
    }

    fn ending(&self) -> Option<JournalEnding> {
        self.journal.events.last().map(JournalEnding::with_last)
    }

    fn is_open(&self) -> bool {
        self.ending() == Some(JournalEnding::Open)
    }

    /// Hands over new events, and says whether the job is over.
    fn hand_over(&mut self) -> Result<bool, FleetError> {
        let new = self.journal.events.get(self.handed..).unwrap_or_default();
        new.iter().cloned().for_each(&mut *self.on);
        self.handed = self.journal.events.len();
        if let Some(reason) = &self.journal.refused {
            let why = format!("the workers refuse the job: {reason}");
            return Err(FleetError::Wrong(why));
        }
        if self.is_begun() && !self.waiting.is_begun.swap(true, Ordering::Relaxed) {
            self.shared.tell(News::Changed);
        }
        let is_new = self.submitted.is_some_and(|(at, _)| self.handed > at);
        Ok(match self.ending() {
            Some(JournalEnding::Complete) => true,
            // Another worker continues it, unless the run is cancelled.
            Some(JournalEnding::Aborted(AbortReason::Interrupted)) => false,
            // One of an earlier process is continued under the ceiling of this one.
            Some(JournalEnding::Aborted(AbortReason::CostCeiling)) => is_new,
            Some(JournalEnding::Aborted(_)) => true,
            Some(JournalEnding::Empty | JournalEnding::OtherVersion | JournalEnding::Open)
            | None => false,
        })
    }
}

/// Watches the run, the workers and the server.
async fn attend(shared: Arc<Submissions>) {
    let link = &shared.link;
    let (mut workers, mut runs) = (link.stores().workers.watch(), link.stores().runs.watch());
    let (mut missing, mut times, mut was_cancelled) = (None, 0, false);
    loop {
        let run = runs.borrow_and_update().get(&shared.run).cloned();
        let is_cancelled = run.is_some_and(|run| run.state == RunState::Cancelled);
        if is_cancelled && !was_cancelled {
            link.say("The run is cancelled in the fleet");
            shared.tell(News::Cancelled);
        }
        was_cancelled = is_cancelled;
        let able: Vec<WorkerEntry> = {
            let workers = workers.borrow_and_update();
            let able = workers.values().filter(|worker| worker.is_able());
            able.cloned().collect()
        };
        let slots = able.iter().map(|worker| worker.slots).sum();
        if shared.slots.swap(slots, Ordering::Relaxed) != slots {
            shared.tell(News::Changed);
        }
        // While the server is away, workers cannot be heard.
        let is_connected = link.connection().borrow().is_some();
        let now = unserved(&shared.waiting(), &able).filter(|_| is_connected);
        times = if missing == now { times + 1 } else { 0 };
        missing = now;
        if let Some(note) = missing.as_ref().filter(|_| times == PATIENCE) {
            link.say(note);
        }
        tokio::select! {
            Ok(()) = runs.changed() => {}
            () = sleep(PAUSE) => {}
        }
    }
}

/// Says which jobs no worker can do.
fn unserved(
    waiting: &BTreeMap<ConsultationId, Arc<Waiting>>,
    able: &[WorkerEntry],
) -> Option<String> {
    let is_unserved = |job: &&Arc<Waiting>| {
        !job.is_begun() && !able.iter().any(|worker| worker.can_ask(&job.providers))
    };
    let jobs = waiting.values().filter(is_unserved);
    let needed: BTreeSet<&ProviderId> = jobs.flat_map(|job| &job.providers).collect();
    if needed.is_empty() {
        return None;
    }
    if able.is_empty() {
        return Some("No worker of this version has joined the fleet: the run waits".to_owned());
    }
    let known: BTreeSet<&ProviderId> = able.iter().flat_map(|worker| &worker.serves).collect();
    let unknown: BTreeSet<&ProviderId> = needed.difference(&known).copied().collect();
    // Each is known to one worker, and together to none.
    let lacking = if unknown.is_empty() { needed } else { unknown };
    let names: Vec<&str> = lacking.into_iter().map(ProviderId::as_str).collect();
    Some(format!(
        "No worker of the fleet can ask {}: what needs it waits",
        names.join(" and ")
    ))
}
