//! One job of the fleet in a worker: claims its journal, begins or continues its consultation, and
//! leaves journal and ledger as the next worker has to find them.
//!
//! The journal on the server is the only one: the worker stores no file of it. A call goes out when
//! the server has its start, so a job that another worker claimed makes none.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, interval, sleep_until, timeout};

use crate::consultation::event::{ConsultationEvent, Event};
use crate::consultation::plan::ResumeTerms;
use crate::consultation::protocol::call::{Ask, Failure, Outcome};
use crate::domain::ids::{ConsultationId, ProviderId};
use crate::engine::clock::Clock;
use crate::engine::dispatcher::Dispatcher;
use crate::engine::dispatcher::budget::SharedBudget;
use crate::engine::ports::{BoxFuture, OnDelta, Provider, Providers};
use crate::error::whole;
use crate::fleet::FleetError;
use crate::fleet::account::{Holding, JobEnding, NotHeld};
use crate::fleet::job::FleetJob;
use crate::fleet::journal::{Claim, Fence, JournalWriter, Stop, StoredJournal, refuse};
use crate::fleet::ledger::Ledger;
use crate::fleet::link::Link;
use crate::fleet::queue::Delivery;
use crate::fleet::roll;
use crate::session::batch::NoPerson;
use crate::session::index::IndexSender;
use crate::session::resume::InterruptedConsultation;
use crate::session::run::{self, MonthRule, Participants, Session, SharedResources};
use crate::session::storage::Storage;

/// The part of a lease for which a connection has to stand before a job of another worker is taken
/// over: all lose a server that restarts at once, and the worker that has the job may be as late.
const STEADY: u32 = 6;

/// How long a job that is left waits for the ledger.
const MOST_WAIT: Duration = Duration::from_secs(5);

/// What a worker has for all its jobs.
#[derive(Debug)]
pub(super) struct Bench {
    pub(super) link: Link,
    pub(super) worker: String,
    pub(super) ledger: Ledger,
    pub(super) dispatcher: Dispatcher,
    pub(super) providers: Providers,
    /// The worker's own budgets, above those of the job.
    pub(super) budgets: Vec<Arc<dyn SharedBudget>>,
    pub(super) clock: Clock,
    pub(super) leaving: watch::Sender<Leaving>,
    pub(super) in_work: Mutex<BTreeMap<ConsultationId, InWork>>,
}

/// A job in work.
#[derive(Debug)]
pub(super) struct InWork {
    pub(super) run: String,
    pub(super) interrupt: mpsc::UnboundedSender<()>,
    /// `None` until it is claimed.
    pub(super) fence: Option<Fence>,
}

/// Whether the worker goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Leaving {
    #[default]
    Stays,
    /// No call goes out any more; those in flight are waited for.
    AfterCalls,
    Now,
}

/// How a job ended here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JobEnd {
    /// It is out of the queue.
    Done,
    /// No worker does it, for this reason, which its journal has.
    Refused(String),
    /// Another worker has it.
    Lost,
    /// It is in the queue again; here, because the server does not store its journal.
    GivenBack(Option<String>),
}

/// Why a job ends before its consultation does.
enum Exit {
    End(JobEnd),
    Failed(FleetError),
}

impl From<FleetError> for Exit {
    fn from(error: FleetError) -> Self {
        Self::Failed(error)
    }
}

impl Bench {
    pub(super) fn in_work(&self) -> MutexGuard<'_, BTreeMap<ConsultationId, InWork>> {
        self.in_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works on a job as long as it has it.
    pub(super) async fn work_on(
        &self,
        delivery: &Delivery,
        interrupts: mpsc::UnboundedReceiver<()>,
    ) -> JobEnd {
        let mut renewal = interval(self.link.lease() / 3);
        let mut work = Box::pin(self.work(delivery, interrupts));
        let worked = loop {
            tokio::select! {
                worked = &mut work => break worked,
                _ = renewal.tick() => delivery.renew().await,
            }
        };
        match worked {
            Ok(end) | Err(Exit::End(end)) => end,
            Err(Exit::Failed(error)) => {
                delivery.give_back(self.link.lease()).await;
                JobEnd::GivenBack(Some(whole(&error)))
            }
        }
    }

    async fn work(
        &self,
        delivery: &Delivery,
        interrupts: mpsc::UnboundedReceiver<()>,
    ) -> Result<JobEnd, Exit> {
        let job = match FleetJob::read(&delivery.payload().await?, &delivery.name) {
            Ok(job) => job,
            Err(error) => {
                let journal = StoredJournal::read(&self.link, &delivery.name).await?;
                return self.refuse(delivery, journal.last, error.to_string()).await;
            }
        };
        let (journal, claim) = self.claim(delivery, &job).await?;
        let (accounts, id) = (job.accounts.clone(), claim.job.id.clone());
        let mut writer = JournalWriter::start(&self.link, &claim, journal.tally.clone());
        let fence = writer.fence.clone();
        let spent = journal.tally.counted();
        let budgets = match self.ledger.open(&accounts, &claim, spent, &fence).await {
            Ok(budgets) => budgets,
            Err(NotHeld::Lost) => return Ok(JobEnd::Lost),
            Err(error @ NotHeld::NoAccount) => {
                return self
                    .refuse(delivery, claim.sequence, error.to_string())
                    .await;
            }
        };
        if let Some(job) = self.in_work().get_mut(&id) {
            job.fence = Some(fence.clone());
        }
        let providers = gated(&self.providers, &job, &fence);
        let consult = async {
            let session = session(job, journal, providers, self.clock)?;
            let ran = self
                .consult(session, &mut writer, interrupts, budgets)
                .await;
            fence.passed().await;
            ran
        };
        let mut leaving = self.leaving.subscribe();
        let left = async {
            let _ = leaving.wait_for(|it| *it >= Leaving::AfterCalls).await;
            tokio::select! {
                () = fence.rests() => {}
                _ = leaving.wait_for(|it| *it == Leaving::Now) => {}
            }
        };
        let exit = tokio::select! {
            biased;
            ran = consult => {
                let state = fence.state().borrow().clone();
                fence.stop(Stop::Lost);
                let ending = state.tally.ending.filter(|_| ran.is_ok());
                let ending = ending.unwrap_or(JobEnding::Final);
                let holding = Holding::new(claim.sequence, state.tally.counted());
                self.ledger.end(&accounts, &id, holding, ending).await;
                if let Err(why) = ran {
                    return self.refuse(delivery, state.last, why).await;
                }
                delivery.done().await?;
                return Ok(JobEnd::Done);
            }
            stop = fence.stopped() => match stop {
                Stop::Lost => JobEnd::Lost,
                Stop::Failed(why) => JobEnd::GivenBack(Some(why)),
            },
            () = left => JobEnd::GivenBack(None),
        };
        // Nothing waits for it any more.
        fence.stop(Stop::Lost);
        let _ = timeout(MOST_WAIT, self.ledger.leave(&accounts, &id)).await;
        match &exit {
            JobEnd::GivenBack(None) => delivery.give_back(Duration::ZERO).await,
            JobEnd::GivenBack(Some(_)) => delivery.give_back(self.link.lease()).await,
            JobEnd::Lost | JobEnd::Done | JobEnd::Refused(_) => {}
        }
        Ok(exit)
    }

    /// Claims a job, and returns its journal before the claim.
    async fn claim(
        &self,
        delivery: &Delivery,
        job: &FleetJob,
    ) -> Result<(StoredJournal, Claim), Exit> {
        let (link, name, now) = (&self.link, &delivery.name, self.clock.now());
        if !delivery.is_again {
            // There is hardly ever a journal to read.
            let new = StoredJournal::default();
            if let Some(claim) = new.claim(link, name, &self.worker, now).await? {
                return Ok((new, claim));
            }
        }
        let journal = match StoredJournal::read(link, name).await {
            Err(error @ FleetError::Unreadable { .. }) => {
                // Nothing can follow what no one can read.
                delivery.done().await?;
                return Err(Exit::End(JobEnd::Refused(error.to_string())));
            }
            journal => journal?,
        };
        let is_over = match (&journal.refused, journal.tally.ending) {
            (Some(reason), _) => Some(JobEnd::Refused(reason.clone())),
            (None, Some(JobEnding::Final)) => Some(JobEnd::Done),
            (None, Some(JobEnding::Resumable) | None) => None,
        };
        if let Some(end) = is_over {
            if let Some((claim, _)) = journal.claim {
                // A worker that was killed may have ended it only in the journal.
                let holding = Holding::new(claim, journal.tally.counted());
                let ended = self
                    .ledger
                    .end(&job.accounts, &name.id, holding, JobEnding::Final);
                ended.await;
            }
            delivery.done().await?;
            return Err(Exit::End(end));
        }
        if let Some((_, owner)) = journal.claim.as_ref().filter(|it| it.1 != self.worker) {
            self.steady().await;
            if roll::has_job(link, owner, &name.id).await {
                return Err(Exit::End(JobEnd::Lost));
            }
        }
        let claim = journal.claim(link, name, &self.worker, now).await?;
        Ok((journal, claim.ok_or(Exit::End(JobEnd::Lost))?))
    }

    async fn refuse(&self, delivery: &Delivery, last: u64, reason: String) -> Result<JobEnd, Exit> {
        if !refuse(&self.link, &delivery.name, last, reason.clone()).await? {
            return Ok(JobEnd::Lost);
        }
        delivery.done().await?;
        Ok(JobEnd::Refused(reason))
    }

    /// Waits until the connection has stood for a while.
    async fn steady(&self) {
        let mut connection = self.link.connection();
        loop {
            let since = *connection.borrow_and_update();
            let until = since.map(|since| since + self.link.lease() / STEADY);
            tokio::select! {
                () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => return,
                changed = connection.changed() => if changed.is_err() {
                    return;
                },
            }
        }
    }

    /// Runs a consultation to its end. An error says why no worker can.
    async fn consult(
        &self,
        session: Session,
        writer: &mut JournalWriter,
        interrupts: mpsc::UnboundedReceiver<()>,
        budgets: Vec<Arc<dyn SharedBudget>>,
    ) -> Result<(), String> {
        let participants = Participants {
            subscribers: vec![writer],
            person: &NoPerson,
            interrupts,
            report: |_| String::new(),
        };
        let shared = SharedResources {
            dispatcher: self.dispatcher.clone(),
            budgets: budgets.into_iter().chain(self.budgets.clone()).collect(),
            month: None,
            month_rule: MonthRule::Limited,
            index: IndexSender::nowhere(),
        };
        let ran = AssertUnwindSafe(run::run(session, participants, shared));
        match ran.catch_unwind().await {
            Ok(Ok(_outcome)) => Ok(()),
            Ok(Err(error)) => Err(whole(error.source())),
            Err(_panic) => Err("the program failed during the consultation".to_owned()),
        }
    }
}

/// Begins a consultation, or continues it where its journal ends. An error says why neither can be
/// done.
fn session(
    job: FleetJob,
    journal: StoredJournal,
    providers: Providers,
    clock: Clock,
) -> Result<Session, String> {
    let mut events = journal.events;
    let Some(first) = events.first_mut() else {
        return Ok(Session::new(*job.plan, providers, Storage::Nowhere, clock));
    };
    if let Event::Consultation(ConsultationEvent::Started(started)) = &mut first.event
        && let Some(plan) = started.plan.as_deref_mut()
        && let (Some(context), Some(own)) = (&mut plan.context, job.plan.context)
    {
        context.text = own.text;
    }
    let terms = ResumeTerms::from(job.plan.control);
    InterruptedConsultation::restore(job.plan.id, events, Storage::Nowhere)
        .map(|interrupted| interrupted.session(terms, providers, clock))
        .map_err(|error| whole(error.source()))
}

/// Returns the providers that a job may use, each behind its journal.
fn gated(providers: &Providers, job: &FleetJob, fence: &Fence) -> Providers {
    let names = job.providers();
    let gate = |(id, provider): (&ProviderId, &Arc<dyn Provider>)| {
        let gated = GatedProvider {
            provider: Arc::clone(provider),
            fence: fence.clone(),
        };
        (id.clone(), Arc::new(gated) as Arc<dyn Provider>)
    };
    let asked = providers.iter().filter(|(id, _)| names.contains(id));
    asked.map(gate).collect()
}

/// A provider whose calls go out when their start is in the journal.
#[derive(Debug)]
struct GatedProvider {
    provider: Arc<dyn Provider>,
    fence: Fence,
}

impl Provider for GatedProvider {
    fn ask<'a>(&'a self, ask: &'a Ask, on: OnDelta<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            self.fence.passed().await;
            self.provider.ask(ask, on).await
        })
    }

    fn check(&self) -> Option<BoxFuture<'_, Result<(), Failure>>> {
        self.provider.check()
    }
}
