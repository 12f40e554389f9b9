//! A run of a fleet: found there or begun, with its accounts in the ledger and a copy of its log, so
//! that any machine can continue it.

use std::collections::BTreeSet;
use std::fs;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use jiff::tz::TimeZone;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::executor::FleetExecutor;
use crate::benchmark::event::{BenchmarkEvent, BenchmarkEventKind, RunBegun};
use crate::benchmark::run::{RunId, RunTerms};
use crate::benchmark::state::BenchmarkState;
use crate::config::paths::Home;
use crate::consultation::event::{ConsultationEvent, Event};
use crate::consultation::plan::Plan;
use crate::consultation::policy::consent::Month;
use crate::domain::cost::money::MicroUsd;
use crate::domain::hash::sha256;
use crate::domain::ids::{ConsultationId, ProviderId};
use crate::domain::record::stored_record::StoredRecord;
use crate::engine::clock::Clock;
use crate::engine::host;
use crate::engine::ports::Face;
use crate::error::Error;
use crate::fleet::job::{FleetJob, JobAccount, RunEntry, RunState, VERSION};
use crate::fleet::journal::StoredJournal;
use crate::fleet::ledger::Ledger;
use crate::fleet::link::{FleetAddress, Link};
use crate::fleet::names::JobName;
use crate::fleet::submission::{RunLog, claim_run, close_run, open_run, update_run};
use crate::fleet::{FleetError, roll};
use crate::records::lookup::LookupError;
use crate::records::runs::{LockedRun, RunStore};
use crate::records::statistics::calendar::date_of;
use crate::session::batch::RunCeiling;
use crate::session::batch::elsewhere::{Elsewhere, Executor, RunHeld, copy};
use crate::session::batch::take_over::is_finished_here;
use crate::session::index::{IndexQueue, IndexSender, RebuildTime};
use crate::session::month::MonthCeiling;
use crate::stopping::batch::conditions::StopConditions;

/// Characters of the key of a suite and its flags.
const KEY: usize = 40;

/// Events within this time are copied together.
const PAUSE: Duration = Duration::from_secs(1);

/// How long the last events of a log wait for the server.
const MOST_WAIT: Duration = Duration::from_secs(10);

/// Journals that are read at once.
const TOGETHER: usize = 16;

/// The fleet as a place where consultations are held.
#[derive(Debug)]
pub struct Fleet {
    pub link: Link,
    /// Its address, without what is secret.
    pub address: String,
    /// Who submits.
    owner: String,
    clock: Clock,
    copy: Mutex<Option<JoinHandle<bool>>>,
}

impl Fleet {
    pub async fn connect(
        address: FleetAddress,
        owner: String,
        clock: Clock,
    ) -> Result<Self, FleetError> {
        Ok(Self {
            address: address.shown(),
            link: Link::connect(address).await?,
            owner,
            clock,
            copy: Mutex::default(),
        })
    }

    fn copy(&self) -> MutexGuard<'_, Option<JoinHandle<bool>>> {
        self.copy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the limits of the accounts, the run's first.
    async fn accounts(
        &self,
        run: &RunHeld,
        ceiling: RunCeiling,
        month: Option<Month>,
    ) -> Result<Vec<JobAccount>, FleetError> {
        let day = date_of(self.clock.now(), &TimeZone::system());
        let of_month = month.map(|month| {
            let key = format!("month.{}", day.strftime("%Y-%m"));
            (
                key,
                MonthCeiling::NAME,
                Some(month.budget),
                month.spent.known,
            )
        });
        let of_run = (
            account_of(&run.id),
            ceiling.name,
            ceiling.limit,
            ceiling.used,
        );
        let ledger = Ledger::new(&self.link);
        let mut accounts = Vec::new();
        for (key, name, limit, spent) in [of_run].into_iter().chain(of_month) {
            ledger.set_limit(&key, limit, spent).await?;
            let name = name.to_owned();
            accounts.push(JobAccount { key, name });
        }
        Ok(accounts)
    }

    async fn copy_consultation(
        &self,
        run: &RunId,
        id: &ConsultationId,
        (home, report, index): (&Home, fn(&StoredRecord) -> String, IndexSender),
    ) -> Result<(), Error> {
        let name = JobName::new(run.as_str(), id.as_str()).map_err(Error::failed)?;
        let journal = StoredJournal::read(&self.link, &name).await;
        let events = journal.map_err(Error::failed)?.events;
        let started = events.first().map(|first| &first.event);
        if let Some(Event::Consultation(ConsultationEvent::Started(started))) = started
            && let Some(plan) = started.plan.as_deref().cloned()
        {
            // Nothing of it is asked again, which would need the text.
            let context = None;
            let plan = Plan { context, ..plan };
            copy(home, plan, &events, report, (index, None)).await?;
        }
        Ok(())
    }

    async fn end_entry(&self, run: &str, done: u64) -> Result<(), FleetError> {
        let end = |entry: Option<RunEntry>| {
            let entry = entry?;
            let state = RunState::Ended;
            Some(RunEntry {
                state,
                done,
                ..entry
            })
        };
        update_run(&self.link, run, end).await
    }
}

/// Waits outside of every runtime.
fn wait<T>(asked: impl Future<Output = Result<T, FleetError>>) -> Result<T, Error> {
    host::runtime()
        .map_err(Error::failed)?
        .block_on(asked)
        .map_err(Error::failed)
}

impl Elsewhere for Fleet {
    fn name(&self) -> &str {
        &self.address
    }

    /// Of the worker that can ask the most.
    fn providers(&self) -> Result<BTreeSet<ProviderId>, Error> {
        let workers = wait(roll::workers(&self.link))?.into_values();
        let most = workers
            .map(|worker| worker.serves)
            .max_by_key(BTreeSet::len);
        Ok(most.unwrap_or_default())
    }

    fn open_run(
        &self,
        terms: &RunTerms,
        conditions: &StopConditions,
    ) -> Result<Option<RunId>, Error> {
        let key = key(terms, conditions);
        wait(async {
            let run = open_run(&self.link, &key).await?;
            let Some(run) = run.as_deref().and_then(RunId::parse) else {
                return Ok(None);
            };
            let (_, events) = RunLog::open::<Value>(&self.link, run.as_str()).await?;
            if events.is_empty() {
                // The process that opened it ended before it began.
                close_run(&self.link, &key).await?;
                return Ok(None);
            }
            Ok(Some(run))
        })
    }

    fn claim(&self, begun: &RunBegun) -> Result<RunId, Error> {
        let key = key(&begun.terms, &begun.conditions);
        let open = wait(claim_run(&self.link, &key, begun.run.as_str()))?;
        Ok(RunId::parse(&open).unwrap_or_else(|| begun.run.clone()))
    }

    fn import(&self, store: &RunStore, name: &str) -> Result<(), Error> {
        let run = match store.find(name).map_err(Error::usage)? {
            Ok(run) => run,
            Err(LookupError::Ambiguous(_)) => return Ok(()),
            Err(LookupError::NotFound) => {
                let runs = wait(roll::runs(&self.link))?;
                let prefixes = [name.to_owned(), format!("{}{name}", RunId::PREFIX)];
                let is_meant = |run: &&String| prefixes.iter().any(|it| run.starts_with(it));
                let mut meant = runs.keys().filter(is_meant);
                // None or several: the error is that of a run which is not here.
                match (meant.next().and_then(|run| RunId::parse(run)), meant.next()) {
                    (Some(run), None) => run,
                    _ => return Ok(()),
                }
            }
        };
        let (_, events) = wait(RunLog::open(&self.link, run.as_str()))?;
        store.import(&run, &events).map_err(Error::failed)
    }

    fn fetch(
        &self,
        state: &BenchmarkState,
        home: &Home,
        report: fn(&StoredRecord) -> String,
        face: &dyn Face,
    ) -> Result<(), Error> {
        let index = IndexQueue::start(home, self.clock.now());
        let results = state.results.iter();
        let ids = results.flat_map(|result| result.consultations.iter().chain(&result.grading));
        let copies = ids.filter(|id| !is_finished_here(id, home)).map(|id| {
            let files = (home, report, index.sender());
            self.copy_consultation(&state.begun.run, id, files)
        });
        let runtime = host::runtime().map_err(Error::failed)?;
        let fetched = runtime.block_on(async {
            let mut copies = futures_util::stream::iter(copies).buffer_unordered(TOGETHER);
            while let Some(copied) = copies.next().await {
                copied?;
            }
            Ok(())
        });
        index.finish(RebuildTime::Later, face);
        fetched
    }

    fn spent(&self, run: &str) -> Result<MicroUsd, Error> {
        let ledger = Ledger::new(&self.link);
        let account = wait(ledger.read(&account_of(run)))?;
        Ok(account.map(|account| account.spent()).unwrap_or_default())
    }

    fn executor(
        &self,
        run: &RunHeld,
        plans: &mut dyn Iterator<Item = &Plan>,
        ceiling: RunCeiling,
        month: Option<Month>,
    ) -> Result<Arc<dyn Executor>, Error> {
        for plan in plans {
            FleetJob::new(&run.id, Vec::new(), plan.clone()).map_err(Error::usage)?;
        }
        let executor = wait(async {
            let accounts = self.accounts(run, ceiling, month).await?;
            let entry = |before: Option<RunEntry>| {
                Some(RunEntry {
                    version: VERSION.to_owned(),
                    state: RunState::Running,
                    queues: before.map(|before| before.queues).unwrap_or_default(),
                    accounts: accounts.clone(),
                    owner: self.owner.clone(),
                    name: run.name.clone(),
                    total: run.total,
                    done: run.done,
                    at: self.clock.now(),
                })
            };
            update_run(&self.link, &run.id, entry).await?;
            Ok(FleetExecutor::new(&self.link, &run.id, accounts))
        });
        Ok(Arc::new(executor?))
    }

    /// Where another process continues the run, that process's log stays: it leads to the same
    /// consultations.
    fn copy_log(&self, run: &mut LockedRun) -> Result<(), Error> {
        let (copies, events) = mpsc::unbounded_channel();
        run.copies = Some(copies);
        let before = fs::read_to_string(&run.files.log).unwrap_or_default();
        let own = before.lines().map(serde_json::from_str);
        let mut copying = Copying {
            link: self.link.clone(),
            run: run.state().begun.run.to_string(),
            events,
            own: own.map_while(Result::ok).collect(),
            log: None,
            done: run.state().results.len() as u64,
        };
        let is_ours = wait(copying.append())?;
        *self.copy() = Some(self.link.spawn(copying.run(is_ours)));
        Ok(())
    }

    fn copied(&self, state: &BenchmarkState) -> Result<bool, Error> {
        let (copy, begun) = (self.copy().take(), &state.begun);
        wait(async {
            let is_copied = match copy {
                Some(copy) => copy.await.unwrap_or(false),
                None => true,
            };
            if state.is_complete() {
                // The same command begins another run.
                close_run(&self.link, &key(&begun.terms, &begun.conditions)).await?;
                let done = state.results.len() as u64;
                self.end_entry(begun.run.as_str(), done).await?;
            }
            Ok(is_copied)
        })
    }

    fn end(&self, run: &str) -> Result<(), Error> {
        wait(self.end_entry(run, 0))
    }
}

fn account_of(run: &str) -> String {
    format!("run.{run}")
}

/// Copies the log of a run. True at the end if the copy is that log.
struct Copying {
    link: Link,
    run: String,
    events: mpsc::UnboundedReceiver<BenchmarkEvent>,
    /// The log of this process.
    own: Vec<Value>,
    /// The log on the server, and how many events it has; `None` before it is read.
    log: Option<(RunLog, usize)>,
    done: u64,
}

impl Copying {
    async fn run(mut self, mut is_ours: bool) -> bool {
        loop {
            let is_over = self.collect().await;
            let give_up = Instant::now() + MOST_WAIT;
            is_ours = is_ours
                && loop {
                    match self.append().await {
                        Ok(is_ours) => break is_ours,
                        // Its own message may be there, and its answer lost.
                        Err(_) if is_over && Instant::now() < give_up => sleep(PAUSE / 4).await,
                        Err(_) => break true,
                    }
                };
            let done = |entry: Option<RunEntry>| {
                let entry = entry.filter(|entry| entry.done < self.done)?;
                let done = self.done;
                Some(RunEntry { done, ..entry })
            };
            // It is only for people.
            let _ = timeout(PAUSE, update_run(&self.link, &self.run, done)).await;
            if is_over {
                return is_ours;
            }
        }
    }

    /// Waits for events, and for those that come soon after. True when no more come.
    async fn collect(&mut self) -> bool {
        let until = Instant::now() + PAUSE;
        loop {
            let Ok(event) = timeout_at(until, self.events.recv()).await else {
                return false;
            };
            let Some(event) = event else {
                return true;
            };
            if matches!(event.kind, BenchmarkEventKind::CaseRunFinished { .. }) {
                self.done += 1;
            }
            self.own.extend(serde_json::to_value(&event));
        }
    }

    /// Appends what the server lacks. False if its log is that of another process.
    async fn append(&mut self) -> Result<bool, FleetError> {
        let (log, has) = match &mut self.log {
            Some(log) => log,
            log @ None => {
                let (opened, theirs) = RunLog::open::<Value>(&self.link, &self.run).await?;
                if !self.own.starts_with(&theirs) {
                    return Ok(false);
                }
                log.insert((opened, theirs.len()))
            }
        };
        let missing = self.own.get(*has..).unwrap_or_default();
        if missing.is_empty() {
            return Ok(true);
        }
        let appended = log.append(missing).await;
        *has = self.own.len();
        if !matches!(appended, Ok(true)) {
            self.log = None;
        }
        appended
    }
}

/// Stands for a suite, the flags of its run, and the version.
fn key(terms: &RunTerms, conditions: &StopConditions) -> String {
    let mut terms = terms.clone();
    // The same suite lies elsewhere on another machine.
    terms.suite.path.clear();
    let text = serde_json::to_string(&(terms, conditions)).unwrap_or_default();
    sha256(&text).chars().take(KEY).collect()
}
