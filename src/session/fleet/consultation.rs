//! One job of the fleet in a worker: claims its journal, begins or continues its consultation, and
//! leaves journal and ledger as the next worker has to find them.
//!
//! The journal on the server is the only one: the worker stores no file of it. A call goes out when
//! the server has its start, so a job that another worker claimed makes none.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, interval, sleep, timeout};

use crate::consultation::event::{ConsultationEvent, Event};
use crate::consultation::plan::ResumeTerms;
use crate::consultation::protocol::call::{Ask, Failure, Outcome};
use crate::domain::ids::{ConsultationId, ProviderId};
use crate::engine::clock::Clock;
use crate::engine::dispatcher::Dispatcher;
use crate::engine::dispatcher::budget::SharedBudget;
use crate::engine::ports::{BoxFuture, OnDelta, Provider, Providers};
use crate::error::{Error, whole};
use crate::fleet::FleetError;
use crate::fleet::account::{Holding, JobEnding, NotHeld};
use crate::fleet::bucket::Entries;
use crate::fleet::job::{FleetJob, JournalMessage, RunEntry, RunState};
use crate::fleet::journal::{Claim, JournalWriter, Stop, StoredJournal, append};
use crate::fleet::ledger::Ledger;
use crate::fleet::link::Link;
use crate::fleet::queue::{Delivery, has_job};
use crate::session::batch::{NoPerson, contained};
use crate::session::index::IndexSender;
use crate::session::resume::InterruptedConsultation;
use crate::session::run::{self, MonthRule, Participants, Session, SharedResources};
use crate::session::storage::Storage;

/// The part of a lease for which a connection has to stand before a job of another worker is taken
/// over: all lose a server that restarts at once, and the worker that has the job may be as late.
const STEADY: u32 = 6;

/// How long a job rests that its worker gives back and does not leave.
const AGAIN: Duration = Duration::from_secs(1);

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
    pub(super) clock: Clock,
    pub(super) runs: Entries<RunEntry>,
    /// The interrupts of the worker: after the first, no call goes out any more and those in flight
    /// are waited for; the second drops them.
    pub(super) interrupts: watch::Sender<u32>,
    /// The jobs in work, with their claims when they have one.
    in_work: Mutex<BTreeMap<ConsultationId, Option<Claim>>>,
    ended: mpsc::UnboundedSender<(ConsultationId, JobEnd)>,
}

/// How a job ended here.
#[derive(Debug)]
pub(super) enum JobEnd {
    /// It is out of the queue.
    Done,
    /// No worker does it, for this reason, which its journal has.
    Refused(String),
    /// Another worker has it.
    Lost,
    /// It is in the queue again; here, because of what the server refused.
    GivenBack(Option<FleetError>),
}

impl From<FleetError> for JobEnd {
    fn from(error: FleetError) -> Self {
        Self::GivenBack(Some(error))
    }
}

/// A job is in work until this is dropped, however that ends.
struct InWork<'a>(&'a Bench, &'a ConsultationId);

impl Drop for InWork<'_> {
    fn drop(&mut self) {
        self.0.in_work().remove(self.1);
    }
}

impl Bench {
    /// Returns it with the way by which jobs end.
    pub(super) fn new(
        link: &Link,
        worker: &str,
        (dispatcher, providers): (Dispatcher, Providers),
    ) -> (Self, mpsc::UnboundedReceiver<(ConsultationId, JobEnd)>) {
        let (ended, endings) = mpsc::unbounded_channel();
        let bench = Self {
            link: link.clone(),
            worker: worker.to_owned(),
            ledger: Ledger::new(link),
            clock: *dispatcher.clock(),
            dispatcher,
            providers,
            runs: link.stores().runs.watch(),
            interrupts: watch::Sender::new(0),
            in_work: Mutex::default(),
            ended,
        };
        (bench, endings)
    }

    pub(super) fn in_work(&self) -> MutexGuard<'_, BTreeMap<ConsultationId, Option<Claim>>> {
        self.in_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn leaves(&self) -> bool {
        *self.interrupts.borrow() > 0
    }

    /// Works on a job as long as it has it.
    pub(super) async fn work_on(&self, delivery: Delivery) {
        let id = &delivery.name.id;
        match self.in_work().entry(id.clone()) {
            // Delivered again: what is sent for the first one acknowledges this one too.
            Entry::Occupied(_) => return,
            Entry::Vacant(place) => drop(place.insert(None)),
        }
        let _in_work = InWork(self, id);
        let mut renewal = interval(self.link.lease() / 3);
        let mut work = Box::pin(self.work(&delivery));
        let worked = loop {
            tokio::select! {
                worked = &mut work => break worked,
                _ = renewal.tick() => delivery.renew().await,
            }
        };
        let end = worked.unwrap_or_else(|end| end);
        match &end {
            JobEnd::Done | JobEnd::Refused(_) => {
                // Else it is delivered again, and its journal says that it is over.
                let done = delivery.done().await;
                done.unwrap_or_else(|error| self.link.trouble(&error));
            }
            JobEnd::Lost => {}
            JobEnd::GivenBack(None) => delivery.give_back(Duration::ZERO).await,
            JobEnd::GivenBack(Some(error)) => {
                self.link.trouble(error);
                delivery.give_back(AGAIN).await;
            }
        }
        // Without a receiver, no one counts any more.
        let _ = self.ended.send((id.clone(), end));
    }

    async fn work(&self, delivery: &Delivery) -> Result<JobEnd, JobEnd> {
        let (job, journal, writer) = self.claim(delivery).await?;
        let (accounts, claim) = (job.accounts.clone(), writer.claim.clone());
        let end = match self.ledger.open(&accounts, &claim).await {
            Ok(budgets) => {
                (self.in_work()).insert(claim.job.clone(), Some(claim.clone()));
                self.consult(job, journal, writer, budgets).await
            }
            // Since this claim, an account has closed a job of a later one: the next is later still.
            Err(NotHeld::Lost) => JobEnd::GivenBack(None),
            Err(error @ NotHeld::NoAccount) => JobEnd::Refused(error.to_string()),
        };
        let state = claim.state().clone();
        // Nothing waits for it any more.
        claim.stop(Stop::Lost);
        let ending = match end {
            JobEnd::Done => state.tally.ending.unwrap_or(JobEnding::Final),
            JobEnd::Refused(_) => JobEnding::Final,
            JobEnd::Lost | JobEnd::GivenBack(_) => {
                let left = self.ledger.end(&accounts, &claim.job, None);
                let _ = timeout(MOST_WAIT, left).await;
                return Ok(end);
            }
        };
        let ended = Some((Holding::new(claim.sequence, state.tally.counted()), ending));
        self.ledger.end(&accounts, &claim.job, ended).await;
        match end {
            JobEnd::Refused(reason) => self.refuse(delivery, state.last, reason).await,
            end => Ok(end),
        }
    }

    /// Claims a job, and returns its journal before the claim; or else how it ended.
    async fn claim(
        &self,
        delivery: &Delivery,
    ) -> Result<(FleetJob, StoredJournal, JournalWriter), JobEnd> {
        let (link, name) = (&self.link, &delivery.name);
        let journal = match StoredJournal::read(link, name).await {
            // Nothing can follow what no one can read.
            Err(FleetError::Wrong(why)) => return Err(JobEnd::Refused(why)),
            journal => journal?,
        };
        let job = match delivery.job().await {
            Err(FleetError::Wrong(why)) => {
                return Err(self.refuse(delivery, journal.last, why).await?);
            }
            job => job?,
        };
        let refused = journal.refused.clone().map(JobEnd::Refused);
        let is_done = journal.tally.ending == Some(JobEnding::Final);
        if let Some(end) = refused.or(is_done.then_some(JobEnd::Done)) {
            if let Some((claim, _)) = journal.claim {
                // A worker that was killed may have ended it only in the journal.
                let holding = Holding::new(claim, journal.tally.counted());
                let ended = Some((holding, JobEnding::Final));
                self.ledger.end(&job.accounts, &name.id, ended).await;
            }
            return Err(end);
        }
        if let Some((_, owner)) = journal.claim.as_ref().filter(|it| it.1 != self.worker) {
            self.steady().await;
            if has_job(link, owner, &name.id).await {
                return Err(JobEnd::Lost);
            }
        }
        let worker = self.worker.clone();
        let claim = append(
            link,
            name,
            &JournalMessage::Claimed { worker },
            journal.last,
        )
        .await?;
        let claim = claim.ok_or(JobEnd::Lost)?;
        let writer = JournalWriter::start(link, name, claim, journal.tally.clone());
        Ok((job, journal, writer))
    }

    async fn refuse(
        &self,
        delivery: &Delivery,
        last: u64,
        reason: String,
    ) -> Result<JobEnd, JobEnd> {
        let message = JournalMessage::Refused {
            reason: reason.clone(),
        };
        let appended = append(&self.link, &delivery.name, &message, last).await?;
        Ok(appended.map_or(JobEnd::Lost, |_| JobEnd::Refused(reason)))
    }

    /// Waits until the connection has stood for a while.
    async fn steady(&self) {
        let pause = self.link.lease() / STEADY;
        let is_steady = |since: Instant| since.elapsed() >= pause;
        while !self.link.connection().borrow().is_some_and(is_steady) {
            sleep(pause / 4).await;
        }
    }

    /// Runs a consultation to its end, or as long as the worker has it and stays.
    async fn consult(
        &self,
        job: FleetJob,
        journal: StoredJournal,
        mut writer: JournalWriter,
        budgets: Vec<Arc<dyn SharedBudget>>,
    ) -> JobEnd {
        let (claim, run) = (writer.claim.clone(), job.run.clone());
        let (interrupt, interrupts) = mpsc::unbounded_channel();
        let shared = SharedResources {
            dispatcher: self.dispatcher.clone(),
            budgets,
            month: None,
            month_rule: MonthRule::Limited,
            index: IndexSender::nowhere(),
        };
        let ran = async {
            let providers = gated(&self.providers, &job, &claim);
            let session = session(job, journal, providers, self.clock)?;
            let participants = Participants {
                subscribers: vec![&mut writer],
                person: &NoPerson,
                interrupts,
                report: |_| String::new(),
            };
            let ran = contained(Box::pin(run::run(session, participants, shared))).await;
            claim.passed().await;
            ran.map(drop)
        };
        let cancelled = async {
            let mut runs = self.runs.clone();
            let is_cancelled = |run: &RunEntry| run.state == RunState::Cancelled;
            let _ = runs
                .wait_for(|runs| runs.get(&run).is_some_and(is_cancelled))
                .await;
            // Without a receiver, it has ended.
            let _ = interrupt.send(());
            std::future::pending().await
        };
        let left = async {
            let mut interrupts = self.interrupts.subscribe();
            let _ = interrupts.wait_for(|number| *number > 0).await;
            tokio::select! {
                () = claim.rests() => {}
                _ = interrupts.wait_for(|number| *number > 1) => {}
            }
        };
        let ran = tokio::select! {
            biased;
            ran = ran => ran,
            stop = claim.stopped() => match stop {
                Stop::Lost => return JobEnd::Lost,
                Stop::Failed(why) => Err(Error::failed(why)),
            },
            () = left => return JobEnd::GivenBack(None),
            never = cancelled => never,
        };
        match ran {
            Ok(()) => JobEnd::Done,
            Err(error) => JobEnd::Refused(whole(error.source())),
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
) -> Result<Session, Error> {
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
}

/// Returns the providers that a job may use, each behind its journal.
fn gated(providers: &Providers, job: &FleetJob, claim: &Claim) -> Providers {
    let names = job.providers();
    let gate = |(id, provider): (&ProviderId, &Arc<dyn Provider>)| {
        let gated = GatedProvider {
            provider: Arc::clone(provider),
            claim: claim.clone(),
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
    claim: Claim,
}

impl Provider for GatedProvider {
    fn ask<'a>(&'a self, ask: &'a Ask, on: OnDelta<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            self.claim.passed().await;
            self.provider.ask(ask, on).await
        })
    }

    fn check(&self) -> Option<BoxFuture<'_, Result<(), Failure>>> {
        self.provider.check()
    }
}
