//! The worker: takes jobs from the queues whose providers it can ask, works on them side by side,
//! and shares what it learns of providers with all other workers.
//!
//! It has no store of its own. It may end at any moment: what it had in work is continued by others
//! from the journals.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{interval, sleep, timeout};

use super::consultation::{Bench, InWork, JobEnd, Leaving};
use crate::consultation::plan::Control;
use crate::consultation::policy::consent::ConsentMode;
use crate::domain::ids::{ConsultationId, ProviderId};
use crate::engine::clock::Clock;
use crate::engine::dispatcher::Dispatcher;
use crate::engine::dispatcher::budget::SharedBudget;
use crate::engine::dispatcher::pool::PoolRules;
use crate::error::Error;
use crate::fleet::job::{RunEntry, RunState, VERSION, WorkerEntry};
use crate::fleet::ledger::Ledger;
use crate::fleet::link::Link;
use crate::fleet::names::{part, providers_of};
use crate::fleet::queue::{Delivery, Queue};
use crate::fleet::{FleetError, limits, roll};
use crate::session::month::MonthCeiling;
use crate::setup::plan::Planner;
use crate::text::clean::{count, one_line};

/// How long a worker waits for a job before it looks whether it should go on.
const PULL: Duration = Duration::from_secs(2);

/// The same where the end of the queue ends the worker.
const PULL_TO_END: Duration = Duration::from_millis(300);

/// Between two attempts to ask a server that refused.
const AGAIN: Duration = Duration::from_secs(1);

/// What a worker is asked to do.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// Its name, of letters, digits, `-` and `_`; unlike that of every other worker.
    pub name: String,
    /// The most jobs at once.
    pub jobs: usize,
    /// It ends when no job is left, in the queues or in work.
    pub drains: bool,
    /// Draws the jitter of backoffs.
    pub seed: u64,
}

/// What a worker has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerReport {
    pub done: u64,
    pub refused: u64,
    /// Another worker took them over.
    pub lost: u64,
    /// They are in the queue again.
    pub given_back: u64,
}

/// Works until no job is left or the worker is interrupted: the first interrupt lets the calls in
/// flight end, the second drops them. Either way the jobs in work go back to the queue.
///
/// # Errors
///
/// When the worker can ask no provider, or the files of its own monthly budget cannot be used.
pub async fn work(
    planner: &Planner<'_>,
    link: &Link,
    options: &WorkerOptions,
    clock: Clock,
    mut interrupts: mpsc::UnboundedReceiver<()>,
) -> Result<WorkerReport, Error> {
    part(&options.name).map_err(Error::usage)?;
    let providers = planner.remote_providers().await;
    if providers.is_empty() {
        return Err(Error::usage("the worker has no key for any provider")
            .hint("see which it would use with `conclave doctor`"));
    }
    let dispatcher = Dispatcher::new(clock, PoolRules::seeded(options.seed));
    let refused = limits::share(link, &options.name, &dispatcher);
    let bench = Arc::new(Bench {
        link: link.clone(),
        worker: options.name.clone(),
        ledger: Ledger::new(link),
        dispatcher,
        providers,
        budgets: own_budgets(planner, clock)?,
        clock,
        leaving: watch::Sender::new(Leaving::Stays),
        in_work: Mutex::default(),
    });
    let (deliveries, delivered) = mpsc::channel(1);
    let mut worker = Worker {
        planner,
        options,
        slots: Arc::new(Semaphore::new(options.jobs.max(1))),
        bench,
        refused,
        runs: roll::watch_runs(link),
        workers: roll::watch_workers(link),
        jobs: JoinSet::new(),
        pulls: JoinSet::new(),
        pulled: BTreeMap::new(),
        deliveries,
        delivered,
        report: WorkerReport::default(),
    };
    let result = worker.work(&mut interrupts).await;
    // Others give its jobs to no one else as long as it seems to live.
    roll::remove_worker(link, &options.name).await;
    result.map_err(Error::failed)?;
    Ok(worker.report)
}

/// The worker's own monthly budget, which no file of a journal makes up for.
fn own_budgets(planner: &Planner<'_>, clock: Clock) -> Result<Vec<Arc<dyn SharedBudget>>, Error> {
    let mut control = Control::usual(ConsentMode::PreApproved);
    control.consent.month = planner.month();
    let month = MonthCeiling::open(&planner.sources.home, &control, clock.now())?;
    let budgets = month.map(|month| -> Arc<dyn SharedBudget> { month });
    Ok(budgets.into_iter().collect())
}

type Delivered = (Delivery, OwnedSemaphorePermit);

struct Worker<'a> {
    planner: &'a Planner<'a>,
    options: &'a WorkerOptions,
    slots: Arc<Semaphore>,
    bench: Arc<Bench>,
    /// The providers that refuse the worker's key.
    refused: watch::Receiver<BTreeSet<ProviderId>>,
    runs: roll::Entries<RunEntry>,
    workers: roll::Entries<WorkerEntry>,
    jobs: JoinSet<(ConsultationId, JobEnd)>,
    pulls: JoinSet<()>,
    /// The queues that jobs are taken from. Dropping the value ends it.
    pulled: BTreeMap<String, oneshot::Receiver<()>>,
    deliveries: mpsc::Sender<Delivered>,
    delivered: mpsc::Receiver<Delivered>,
    report: WorkerReport,
}

impl Worker<'_> {
    async fn work(
        &mut self,
        interrupts: &mut mpsc::UnboundedReceiver<()>,
    ) -> Result<(), FleetError> {
        let link = self.bench.link.clone();
        let bench = Arc::clone(&self.bench);
        let has = Arc::new(move |id: &ConsultationId| bench.in_work().contains_key(id)) as Arc<_>;
        roll::answer_for(&link, &self.options.name, Arc::clone(&has)).await?;
        roll::write_worker(&link, &self.options.name, &self.entry()).await?;
        // One that drains must not end before it knows the runs that there are.
        let known = roll::runs(&link).await?;
        let knows_all = |runs: &BTreeMap<_, _>| known.keys().all(|run| runs.contains_key(run));
        let _ = timeout(PULL, self.runs.wait_for(knows_all)).await;
        self.runs_changed();
        let mut connection = link.connection();
        let mut heartbeat = interval(link.lease() / 3);
        let (mut can_be_interrupted, mut was_connected) = (true, true);
        while !self.is_over() {
            tokio::select! {
                biased;
                interrupt = interrupts.recv(), if can_be_interrupted => match interrupt {
                    Some(()) => self.interrupted(),
                    None => can_be_interrupted = false,
                },
                Some(ended) = self.jobs.join_next() => self.ended(ended),
                Some((delivery, slot)) = self.delivered.recv() => self.begin(delivery, slot),
                _ = self.pulls.join_next(), if !self.pulls.is_empty() => {}
                Ok(()) = connection.changed() => {
                    let is_connected = connection.borrow_and_update().is_some();
                    if is_connected != was_connected {
                        was_connected = is_connected;
                        self.connection_changed(is_connected);
                    }
                }
                Ok(()) = self.runs.changed() => self.runs_changed(),
                Ok(()) = self.workers.changed() => self.workers_changed(),
                Ok(()) = self.refused.changed() => self.runs_changed(),
                _ = heartbeat.tick() => {
                    // A worker that cannot be heard is taken for dead, and its journals decide.
                    let _ = roll::write_worker(&link, &self.options.name, &self.entry()).await;
                }
            }
        }
        Ok(())
    }

    fn leaves(&self) -> bool {
        *self.bench.leaving.borrow() != Leaving::Stays
    }

    fn is_over(&self) -> bool {
        let has_no_jobs = self.jobs.is_empty() && self.delivered.is_empty();
        (self.leaves() || self.options.drains) && has_no_jobs && self.pulls.is_empty()
    }

    fn interrupted(&mut self) {
        let face = self.planner.face;
        let next = if self.leaves() {
            face.note("Dropping the calls in flight…");
            Leaving::Now
        } else {
            face.note(
                "Leaving: the calls in flight are finished, then the jobs go back to the queue; \
                 press Ctrl-C again to drop the calls",
            );
            Leaving::AfterCalls
        };
        self.bench.dispatcher.pause(true);
        self.bench.leaving.send_replace(next);
    }

    fn begin(&mut self, delivery: Delivery, slot: OwnedSemaphorePermit) {
        let (id, run) = (delivery.name.id.clone(), delivery.name.run.clone());
        let (interrupt, interrupts) = mpsc::unbounded_channel();
        let fence = None;
        let job = InWork {
            run,
            interrupt,
            fence,
        };
        if self.bench.in_work().contains_key(&id) {
            // Delivered again to the worker that has it: what that sends acknowledges this one too.
            return;
        }
        self.bench.in_work().insert(id.clone(), job);
        let bench = Arc::clone(&self.bench);
        self.jobs.spawn(async move {
            let end = bench.work_on(&delivery, interrupts).await;
            drop(slot);
            (id, end)
        });
        self.runs_changed();
    }

    fn ended(&mut self, ended: Result<(ConsultationId, JobEnd), JoinError>) {
        // The panics of consultations are caught; that of the rest would be of this program.
        let Ok((id, end)) = ended else { return };
        self.bench.in_work().remove(&id);
        let face = self.planner.face;
        let short = id.short();
        match end {
            JobEnd::Done => {
                self.report.done += 1;
                face.detail(&format!("{short} is done"));
            }
            JobEnd::Refused(reason) => {
                self.report.refused += 1;
                face.warning(&format!("{short} is refused: {}", one_line(&reason)));
            }
            JobEnd::Lost => {
                self.report.lost += 1;
                face.detail(&format!("{short} is another worker's now"));
            }
            JobEnd::GivenBack(why) => {
                self.report.given_back += 1;
                if let Some(why) = why {
                    let why = one_line(&why);
                    face.warning(&format!("{short} goes back to the queue: {why}"));
                }
            }
        }
    }

    fn connection_changed(&self, is_connected: bool) {
        let face = self.planner.face;
        let is_paused = self.leaves() || !is_connected;
        self.bench.dispatcher.pause(is_paused);
        face.note(if is_connected {
            "The fleet's server is back"
        } else {
            "The fleet's server cannot be reached: no call goes out until it is back"
        });
    }

    /// Takes jobs from the queues that it can serve, and interrupts those of cancelled runs.
    fn runs_changed(&mut self) {
        let runs = self.runs.borrow_and_update().clone();
        for job in self.bench.in_work().values() {
            let run = runs.get(&job.run);
            if run.is_some_and(|run| run.state == RunState::Cancelled) {
                // Without a receiver, it has ended.
                let _ = job.interrupt.send(());
            }
        }
        let (leaves, refused) = (self.leaves(), self.refused.borrow_and_update().clone());
        let can_ask =
            |id: &ProviderId| self.bench.providers.contains_key(id) && !refused.contains(id);
        let open = runs.values().filter(|run| run.state == RunState::Running);
        let serves = |queue: &String| {
            let providers = providers_of(queue);
            providers.is_some_and(|providers| providers.iter().all(can_ask))
        };
        self.pulled.retain(|queue, _| serves(queue));
        let queues = open.flat_map(|run| &run.queues).filter(|it| serves(it));
        for queue in queues.filter(|_| !leaves) {
            self.pulled.entry(queue.clone()).or_insert_with(|| {
                let (end, ended) = oneshot::channel();
                self.pulls.spawn(pull(Pull {
                    bench: Arc::clone(&self.bench),
                    queue: queue.clone(),
                    slots: Arc::clone(&self.slots),
                    drains: self.options.drains,
                    end,
                    deliveries: self.deliveries.clone(),
                }));
                ended
            });
        }
    }

    /// Divides the limits of each provider among the workers that can ask it.
    fn workers_changed(&mut self) {
        let workers = self.workers.borrow_and_update().clone();
        for provider in self.bench.providers.keys() {
            let serve = workers
                .iter()
                .filter(|(_, worker)| worker.serves.contains(provider) && !worker.leaves);
            let names: Vec<&String> = serve.map(|(name, _)| name).collect();
            let place = names.iter().position(|name| **name == self.options.name);
            let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
            if let Some(place) = place {
                let part = (number(place), number(names.len()));
                self.bench.dispatcher.divide(provider, part);
            }
        }
    }

    fn entry(&self) -> WorkerEntry {
        let in_work = self.bench.in_work();
        let mut calls = BTreeMap::new();
        for fence in in_work.values().filter_map(|job| job.fence.as_ref()) {
            for provider in fence.state().borrow().tally.in_flight() {
                *calls.entry(provider.clone()).or_default() += 1;
            }
        }
        WorkerEntry {
            version: VERSION.to_owned(),
            serves: self.bench.providers.keys().cloned().collect(),
            refused: self.refused.borrow().clone(),
            slots: self.options.jobs,
            jobs: in_work.keys().cloned().collect(),
            calls,
            leaves: self.leaves(),
            at: self.bench.clock.now(),
        }
    }
}

impl std::fmt::Display for WorkerReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let jobs = |number: u64| count(usize::try_from(number).unwrap_or(usize::MAX), "job");
        write!(f, "{} done", jobs(self.done))?;
        let rest = [
            (self.refused, "refused"),
            (self.lost, "taken over by others"),
            (self.given_back, "given back"),
        ];
        for (number, what) in rest.into_iter().filter(|(number, _)| *number > 0) {
            write!(f, ", {number} {what}")?;
        }
        Ok(())
    }
}

/// Takes the jobs of one queue.
struct Pull {
    bench: Arc<Bench>,
    queue: String,
    slots: Arc<Semaphore>,
    /// It ends when no job is left.
    drains: bool,
    /// Closed when the queue is no longer served.
    end: oneshot::Sender<()>,
    deliveries: mpsc::Sender<Delivered>,
}

async fn pull(mut pull: Pull) {
    let wait = if pull.drains { PULL_TO_END } else { PULL };
    let mut leaving = pull.bench.leaving.subscribe();
    let mut queue = None;
    while !pull.end.is_closed() && *leaving.borrow() == Leaving::Stays {
        let Some(open) = &queue else {
            queue = Queue::open(&pull.bench.link, &pull.queue).await.ok();
            if queue.is_none() {
                sleep(AGAIN).await;
            }
            continue;
        };
        // Only waits: the place is taken when there is a job for it.
        tokio::select! {
            slot = pull.slots.acquire() => drop(slot),
            _ = leaving.changed() => continue,
            () = pull.end.closed() => continue,
        }
        match open.next(wait).await {
            Ok(Some(delivery)) => match Arc::clone(&pull.slots).try_acquire_owned() {
                Ok(slot) if *leaving.borrow() == Leaving::Stays => {
                    // Without a receiver the worker ends, and the job is delivered again.
                    let _ = pull.deliveries.send((delivery, slot)).await;
                }
                Ok(_) | Err(_) => delivery.give_back(Duration::ZERO).await,
            },
            Ok(None) if pull.drains => {
                let length = open.length().await;
                if length.is_ok_and(|it| it.waiting == 0 && it.in_work == 0) {
                    return;
                }
            }
            Ok(None) => {}
            Err(_) => {
                queue = None;
                sleep(AGAIN).await;
            }
        }
    }
}
