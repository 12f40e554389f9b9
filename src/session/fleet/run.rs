//! A run of a fleet: found there or begun, with its accounts in the ledger and its log as it is now,
//! so that any machine can continue it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt;
use jiff::tz::TimeZone;
use tokio::time::timeout;

use super::executor::FleetExecutor;
use super::run_log;
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
use crate::fleet::FleetError;
use crate::fleet::account::Account;
use crate::fleet::job::{FleetJob, JobAccount, RunEntry, RunState, VERSION};
use crate::fleet::journal::StoredJournal;
use crate::fleet::link::Link;
use crate::fleet::names::JobName;
use crate::records::lookup::{LookupError, among};
use crate::records::runs::RunStore;
use crate::records::statistics::calendar::date_of;
use crate::session::batch::RunCeiling;
use crate::session::batch::elsewhere::{Elsewhere, Executor, RunHeld, copy};
use crate::session::batch::take_over::is_finished_here;
use crate::session::index::{IndexQueue, IndexSender, RebuildTime};
use crate::session::month::MonthCeiling;
use crate::stopping::batch::conditions::StopConditions;

/// Characters of the key of a suite and its flags.
const KEY: usize = 40;

/// Characters that tell the homes of a fleet apart.
const HOME: usize = 12;

/// How long the last copy of a log waits for the server.
const MOST_WAIT: Duration = Duration::from_secs(10);

/// Journals that are read at once.
const TOGETHER: usize = 16;

/// The fleet as a place where consultations are held.
#[derive(Debug)]
pub struct Fleet {
    pub link: Link,
    /// Its address, without what is secret.
    pub address: String,
    /// Who submits, for people.
    pub owner: String,
    /// Tells the homes of all machines apart: each has a budget of its own.
    pub home: String,
    pub clock: Clock,
}

impl Fleet {
    /// Sets the limits of the accounts, the run's first.
    async fn accounts(
        &self,
        run: &RunHeld,
        ceiling: RunCeiling,
        month: Option<Month>,
    ) -> Result<Vec<JobAccount>, FleetError> {
        let RunCeiling { name, limit, used } = ceiling;
        let of_run = (account_of(&run.id), name, limit, used);
        let of_month = month.map(|month| {
            let day = date_of(self.clock.now(), &TimeZone::system());
            let home = hash(&self.home, HOME);
            let account = format!("month.{}.{home}", day.strftime("%Y-%m"));
            let (limit, spent) = (Some(month.budget), month.spent.known);
            (account, MonthCeiling::NAME, limit, spent)
        });
        let mut accounts = Vec::new();
        for (key, name, limit, spent) in [of_run].into_iter().chain(of_month) {
            let set = |account: Option<Account>| {
                let mut account = account.unwrap_or_default();
                account.set_limit(limit, spent);
                Some(account)
            };
            self.link.stores().ledger.update(&key, set).await?;
            let name = name.to_owned();
            accounts.push(JobAccount { key, name });
        }
        Ok(accounts)
    }

    /// Writes the files of consultations that have ended on the fleet and have none here.
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
        let missing = ids.filter(|id| !is_finished_here(id, home)).map(Ok);
        let fetched = futures_util::stream::iter(missing).try_for_each_concurrent(TOGETHER, |id| {
            self.copy_consultation(&state.begun.run, id, (home, report, index.sender()))
        });
        let fetched = block_on(fetched);
        index.finish(RebuildTime::Later, face);
        fetched
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

    /// Finds the run that a user names, as those of a home are found.
    pub fn find(&self, name: &str) -> Result<Result<String, LookupError<String>>, Error> {
        let runs = wait(self.link.stores().runs.all())?;
        let newest_first = runs.into_keys().rev().collect();
        Ok(among(newest_first, RunId::PREFIX, name))
    }
}

/// Waits outside of every runtime.
fn wait<T>(asked: impl Future<Output = Result<T, FleetError>>) -> Result<T, Error> {
    block_on(async { asked.await.map_err(Error::failed) })
}

fn block_on<T>(asked: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    host::runtime().map_err(Error::failed)?.block_on(asked)
}

impl Elsewhere for Fleet {
    fn name(&self) -> &str {
        &self.address
    }

    /// Of the worker that can ask the most.
    fn providers(&self) -> Result<BTreeSet<ProviderId>, Error> {
        let workers = wait(self.link.stores().workers.all())?.into_values();
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
        let key = key_of(terms, conditions);
        let (open, _) = wait(self.link.stores().open.get(&key))?;
        Ok(open.and_then(|run| RunId::parse(&run)))
    }

    fn claim(&self, begun: &RunBegun) -> Result<RunId, Error> {
        let key = key_of(&begun.terms, &begun.conditions);
        let event = BenchmarkEventKind::Begun(Box::new(begun.clone()));
        let event = BenchmarkEvent::new(self.clock.now(), event);
        let log = serde_json::to_string(&event).map_err(Error::failed)? + "\n";
        let run = begun.run.as_str();
        let mut other = None;
        wait(async {
            // Who finds the run finds its log.
            self.link.put(&run_log::name(run), log.as_bytes()).await?;
            let claim = |open: Option<String>| {
                other = open;
                other.is_none().then(|| run.to_owned())
            };
            self.link.stores().open.update(&key, claim).await
        })?;
        let other = other.and_then(|run| RunId::parse(&run));
        Ok(other.unwrap_or_else(|| begun.run.clone()))
    }

    fn import(
        &self,
        store: &RunStore,
        name: &str,
        (home, report, face): (&Home, fn(&StoredRecord) -> String, &dyn Face),
    ) -> Result<(), Error> {
        let run = match store.find(name).map_err(Error::usage)? {
            Ok(run) => Some(run),
            Err(_) => (self.find(name)?.ok()).and_then(|run| RunId::parse(&run)),
        };
        // None or several: the error is that of a run which is not here.
        let Some(run) = run else { return Ok(()) };
        if let Some(log) = wait(self.link.get(&run_log::name(run.as_str())))?
            && store.import(&run, &log).map_err(Error::failed)?
        {
            let state = store.load(&run).map_err(Error::failed)?.state;
            self.fetch(&state, home, report, face)?;
        }
        Ok(())
    }

    fn has(&self, run: &str) -> Result<bool, Error> {
        wait(async {
            let has_entry = self.link.stores().runs.all().await?.contains_key(run);
            Ok(has_entry || self.link.get(&run_log::name(run)).await?.is_some())
        })
    }

    fn spent(&self, run: &str) -> Result<MicroUsd, Error> {
        let (account, _) = wait(self.link.stores().ledger.get(&account_of(run)))?;
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
                    done: before.as_ref().map_or(0, |before| before.done),
                    queues: before.map(|before| before.queues).unwrap_or_default(),
                    accounts: accounts.clone(),
                    owner: self.owner.clone(),
                    name: run.name.clone(),
                    total: run.total,
                    at: self.clock.now(),
                })
            };
            self.link.stores().runs.update(&run.id, entry).await?;
            Ok(FleetExecutor::new(&self.link, run, accounts))
        })?;
        Ok(Arc::new(executor))
    }

    fn end(&self, run: &RunHeld, begun: Option<&RunBegun>, is_complete: bool) -> Result<(), Error> {
        wait(async {
            // What the server lacks is found in the journals.
            let _ = timeout(MOST_WAIT, run_log::copied(&self.link, run)).await;
            if !is_complete {
                return Ok(());
            }
            let stores = self.link.stores();
            if let Some(begun) = begun {
                // The same command begins another run.
                let key = key_of(&begun.terms, &begun.conditions);
                stores.open.remove(&key).await?;
            }
            let end = |entry: Option<RunEntry>| {
                let state = RunState::Ended;
                Some(RunEntry { state, ..entry? })
            };
            stores.runs.update(&run.id, end).await
        })
    }
}

fn account_of(run: &str) -> String {
    format!("run.{run}")
}

/// Stands for a suite, the flags of its run, and the version.
fn key_of(terms: &RunTerms, conditions: &StopConditions) -> String {
    let mut terms = terms.clone();
    // The same suite lies elsewhere on another machine.
    terms.suite.path.clear();
    let text = serde_json::to_string(&(terms, conditions)).unwrap_or_default();
    format!("open.{}", hash(&text, KEY))
}

fn hash(of: &str, characters: usize) -> String {
    sha256(of).chars().take(characters).collect()
}
