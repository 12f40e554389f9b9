//! The worker: takes jobs from the queues whose providers it can ask, works on them side by side,
//! and shares what it learns of providers with all other workers.
//!
//! It has no store of its own. It may end at any moment: what it had in work is continued by others
//! from the journals.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{interval, timeout};

use super::consultation::{Bench, JobEnd};
use crate::domain::ids::{ConsultationId, ProviderId};
use crate::engine::clock::Clock;
use crate::engine::dispatcher::Dispatcher;
use crate::engine::dispatcher::pool::PoolRules;
use crate::error::Error;
use crate::fleet::bucket::Entries;
use crate::fleet::job::{RunEntry, RunState, VERSION, WorkerEntry};
use crate::fleet::link::Link;
use crate::fleet::names::providers_of;
use crate::fleet::queue::{Queue, answer_for};
use crate::fleet::{FleetError, limits};
use crate::setup::plan::Planner;
use crate::text::clean::{count, one_line};

/// How long a worker waits for a job before it looks whether it should go on.
const PULL: Duration = Duration::from_secs(2);

/// The same where the end of the queue ends the worker.
const PULL_TO_END: Duration = Duration::from_millis(300);

/// What a worker is asked to do.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// Unlike that of every other worker: letters and digits.
    pub name: String,
    /// The most jobs at once.
    pub jobs: usize,
    /// It ends when no job is left, in the queues or in work.
    pub drains: bool,
    /// Draws the jitter of backoffs.
    pub seed: u64,
}

/// Works until no job is left or the worker is interrupted: the first interrupt lets the calls in
/// flight end, the second drops them. Either way the jobs in work go back to the queue. Returns what
/// the worker has done, for people.
///
/// # Errors
///
/// When the worker can ask no provider, or the server cannot be asked at the start.
pub async fn work(
    planner: &Planner<'_>,
    link: &Link,
    options: &WorkerOptions,
    clock: Clock,
    mut interrupts: mpsc::UnboundedReceiver<()>,
) -> Result<String, Error> {
    let providers = planner.remote_providers().await;
    if providers.is_empty() {
        return Err(Error::usage("the worker has no key for any provider")
            .hint("see which it would use with `conclave doctor`"));
    }
    let settings = &planner.sources.settings;
    if settings.monthly_budget.is_some() {
        planner.face.warning(
            "Warning: a worker does not keep `monthly_budget`: the budget of the submitter holds",
        );
    }
    let dispatcher = Dispatcher::new(clock, PoolRules::seeded(options.seed));
    let (tell, refused) = watch::channel(BTreeSet::new());
    let (name, seen) = (options.name.clone(), dispatcher.clone());
    let mut sharing = JoinSet::new();
    sharing.spawn(limits::share(link.clone(), name, seen, tell));
    let (bench, ended) = Bench::new(link, &options.name, (dispatcher, providers));
    let mut worker = Worker {
        planner,
        options,
        slots: Arc::new(Semaphore::new(options.jobs.max(1))),
        refused,
        runs: bench.runs.clone(),
        workers: link.stores().workers.watch(),
        bench: Arc::new(bench),
        serving: JoinSet::new(),
        served: BTreeMap::new(),
        report: [0; 4],
    };
    let result = worker.work(&mut interrupts, ended).await;
    // Others give its jobs to no one else as long as it seems to live.
    let _ = link.stores().workers.remove(&options.name).await;
    result.map_err(Error::failed)?;
    let [done, refused, lost, given_back] = worker.report;
    let done = count(done, "consultation");
    Ok(format!(
        "{done} done, {refused} refused, {lost} taken over by others, {given_back} given back"
    ))
}

struct Worker<'a> {
    planner: &'a Planner<'a>,
    options: &'a WorkerOptions,
    slots: Arc<Semaphore>,
    bench: Arc<Bench>,
    /// The providers that refuse the worker's key.
    refused: watch::Receiver<BTreeSet<ProviderId>>,
    runs: Entries<RunEntry>,
    workers: Entries<WorkerEntry>,
    serving: JoinSet<()>,
    /// The queues that jobs are taken from. Dropping the value ends it.
    served: BTreeMap<String, oneshot::Receiver<()>>,
    /// The jobs that are done, refused, taken over by others, and given back.
    report: [u64; 4],
}

impl Worker<'_> {
    async fn work(
        &mut self,
        interrupts: &mut mpsc::UnboundedReceiver<()>,
        mut ended: mpsc::UnboundedReceiver<(ConsultationId, JobEnd)>,
    ) -> Result<(), FleetError> {
        let link = self.bench.link.clone();
        let bench = Arc::downgrade(&self.bench);
        let has = move |id: &_| Some(bench.upgrade()?.in_work().contains_key(id));
        answer_for(&link, &self.options.name, has).await?;
        let (name, workers) = (&self.options.name, &link.stores().workers);
        workers.put(name, &self.entry()).await?;
        // One that drains must not end before it knows the runs that there are.
        let known = link.stores().runs.all().await?;
        let knows_all = |runs: &BTreeMap<_, _>| known.keys().all(|run| runs.contains_key(run));
        let _ = timeout(PULL, self.runs.wait_for(knows_all)).await;
        self.serve();
        let mut connection = link.connection();
        let mut heartbeat = interval(link.lease() / 3);
        while !(self.serving.is_empty() && (self.bench.leaves() || self.options.drains)) {
            tokio::select! {
                biased;
                Some(()) = interrupts.recv() => self.interrupted(),
                Some((id, end)) = ended.recv() => self.ended(&id, end),
                Some(_) = self.serving.join_next() => {}
                Ok(()) = connection.changed() => {
                    let is_away = connection.borrow_and_update().is_none();
                    self.bench.dispatcher.pause(is_away || self.bench.leaves());
                }
                Ok(()) = self.runs.changed() => self.serve(),
                Ok(()) = self.workers.changed() => self.divide(),
                Ok(()) = self.refused.changed() => self.serve(),
                _ = heartbeat.tick() => {
                    // A worker that cannot be heard is taken for dead, and its journals decide.
                    let written = workers.put(name, &self.entry()).await;
                    written.unwrap_or_else(|error| link.trouble(&error));
                }
            }
        }
        while let Ok((id, end)) = ended.try_recv() {
            self.ended(&id, end);
        }
        Ok(())
    }

    fn interrupted(&self) {
        self.planner.face.note(if self.bench.leaves() {
            "Dropping the calls in flight…"
        } else {
            "Leaving: the calls in flight are finished, then the jobs go back to the queue; \
             press Ctrl-C again to drop the calls"
        });
        self.bench.dispatcher.pause(true);
        self.bench.interrupts.send_modify(|number| *number += 1);
    }

    fn ended(&mut self, id: &ConsultationId, end: JobEnd) {
        let (face, id) = (self.planner.face, id.short());
        let [done, refused, lost, given_back] = &mut self.report;
        let (number, what) = match end {
            JobEnd::Done => (done, "is done"),
            JobEnd::Refused(reason) => {
                face.warning(&format!("{id} is refused: {}", one_line(&reason)));
                (refused, "is refused")
            }
            JobEnd::Lost => (lost, "is another worker's now"),
            JobEnd::GivenBack(_) => (given_back, "goes back to the queue"),
        };
        *number += 1;
        face.detail(&format!("{id} {what}"));
    }

    /// Takes jobs from the queues of open runs whose providers it can ask.
    fn serve(&mut self) {
        let (runs, refused) = (
            self.runs.borrow_and_update(),
            self.refused.borrow_and_update(),
        );
        let can_ask =
            |id: &ProviderId| self.bench.providers.contains_key(id) && !refused.contains(id);
        let serves = |queue: &String| {
            let providers = providers_of(queue);
            providers.is_some_and(|providers| providers.iter().all(can_ask))
        };
        self.served.retain(|queue, _| serves(queue));
        let open = runs.values().filter(|run| run.state == RunState::Running);
        for queue in open.flat_map(|run| &run.queues).filter(|it| serves(it)) {
            self.served.entry(queue.clone()).or_insert_with(|| {
                let (end, ended) = oneshot::channel();
                let (bench, slots) = (Arc::clone(&self.bench), Arc::clone(&self.slots));
                let what = (queue.clone(), self.options.drains);
                self.serving.spawn(serve(bench, slots, what, end));
                ended
            });
        }
    }

    /// Divides the limits of each provider among the workers that can ask it.
    fn divide(&mut self) {
        let workers = self.workers.borrow_and_update();
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
        for claim in in_work.values().flatten() {
            for provider in claim.state().tally.in_flight() {
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
            leaves: self.bench.leaves(),
            at: self.bench.clock.now(),
        }
    }
}

/// Works on the jobs of one queue, until `end` is closed, the worker leaves, or, if it drains, no job
/// is left; then waits for those in work.
async fn serve(
    bench: Arc<Bench>,
    slots: Arc<Semaphore>,
    (name, drains): (String, bool),
    mut end: oneshot::Sender<()>,
) {
    let wait = if drains { PULL_TO_END } else { PULL };
    let (mut jobs, mut queue) = (JoinSet::new(), None);
    let mut interrupts = bench.interrupts.subscribe();
    loop {
        // Only waits: the slot is taken when there is a job for it.
        tokio::select! {
            biased;
            _ = interrupts.wait_for(|number| *number > 0) => break,
            () = end.closed() => break,
            slot = slots.acquire() => drop(slot),
        }
        let next = async {
            let open = match queue.take() {
                Some(open) => open,
                None => Queue::open(&bench.link, &name).await?,
            };
            let next = open.next(wait).await?;
            let is_over = drains && next.is_none() && open.length().await? == (0, 0);
            queue = Some(open);
            Ok::<_, FleetError>((next, is_over))
        };
        match next.await {
            Ok((Some(delivery), _)) => match Arc::clone(&slots).try_acquire_owned() {
                Ok(slot) if !bench.leaves() => {
                    let bench = Arc::clone(&bench);
                    jobs.spawn(async move {
                        bench.work_on(delivery).await;
                        drop(slot);
                    });
                }
                Ok(_) | Err(_) => delivery.give_back(Duration::ZERO).await,
            },
            Ok((None, true)) => break,
            Ok((None, false)) => {}
            Err(error) => bench.link.rest(&error).await,
        }
        while jobs.try_join_next().is_some() {}
    }
    while jobs.join_next().await.is_some() {}
}
