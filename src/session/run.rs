//! One run of a consultation: from a plan, or from where an earlier run was interrupted, to its
//! files and its outcome.
//!
//! The caller of a run hands it subscribers and a person, and shows what it returns. A run has no
//! global state, so many can share a process and a runtime.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::index::IndexSender;
use super::month::{MonthCeiling, MonthRecorder};
use super::storage::{Storage, StoredFiles};
use crate::config::paths::Home;
use crate::consultation::Consultation;
use crate::consultation::event::Envelope;
use crate::consultation::plan::{Control, Plan};
use crate::consultation::transcript::Transcript;
use crate::domain::record::stored_record::StoredRecord;
use crate::engine::clock::Clock;
use crate::engine::dispatcher::Dispatcher;
use crate::engine::dispatcher::budget::SharedBudget;
use crate::engine::dispatcher::pool::PoolRules;
use crate::engine::driver::{Driver, RunStart};
use crate::engine::host;
use crate::engine::ports::{Person, Providers, Subscriber};
use crate::error::Error;

/// A consultation that is ready to run.
#[derive(Debug)]
pub struct Session {
    pub(super) consultation: Consultation,
    pub(super) start: RunStart,
    /// The events of earlier runs.
    pub earlier: Vec<Envelope>,
    pub(super) providers: Providers,
    pub(super) storage: Storage,
    pub clock: Clock,
}

/// The parties to a run.
#[derive(Debug)]
pub struct Participants<'a> {
    /// Receive every event after the journal, in this order.
    pub subscribers: Vec<&'a mut dyn Subscriber>,
    pub person: &'a dyn Person,
    /// One message for each request to end.
    pub interrupts: mpsc::UnboundedReceiver<()>,
    /// Writes the report that is stored beside the record.
    pub report: fn(&StoredRecord) -> String,
}

/// What the runs of a process share: limits, the budgets above the run's own, and the index.
#[derive(Clone, Debug)]
pub struct SharedResources {
    /// The process's view of the providers.
    pub dispatcher: Dispatcher,
    /// The innermost first.
    pub budgets: Vec<Arc<dyn SharedBudget>>,
    /// The outermost of all.
    pub month: Option<Arc<MonthCeiling>>,
    pub month_rule: MonthRule,
    pub index: IndexSender,
}

impl SharedResources {
    /// Returns what runs with these limits share, without budgets but the month's.
    ///
    /// # Errors
    ///
    /// When the files of the month's budget cannot be used.
    pub fn new(
        home: &Home,
        control: &Control,
        clock: Clock,
        seed: u64,
        index: IndexSender,
    ) -> Result<Self, Error> {
        Ok(Self {
            dispatcher: Dispatcher::new(clock, PoolRules::seeded(seed)),
            budgets: Vec::new(),
            month: MonthCeiling::open(home, control, clock.now())?,
            month_rule: MonthRule::Limited,
            index,
        })
    }
}

/// Whether the month's budget limits the calls of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MonthRule {
    #[default]
    Limited,
    /// The person agreed to exceed it: calls are only recorded.
    MayBeExceeded,
}

/// The result of a run.
#[derive(Debug)]
pub struct RunOutcome {
    pub transcript: Transcript,
    /// The record as it is stored.
    pub record: StoredRecord,
    /// The report as Markdown.
    pub report: String,
    /// The files that hold the results; `None` when nothing is stored.
    pub stored: Option<StoredFiles>,
    /// The first failure to write the files, for the user.
    pub warning: Option<String>,
}

impl Session {
    pub fn new(plan: Plan, providers: Providers, storage: Storage, clock: Clock) -> Self {
        Self {
            consultation: Consultation::new(plan),
            start: RunStart::New,
            earlier: Vec::new(),
            providers,
            storage,
            clock,
        }
    }

    pub fn plan(&self) -> &Plan {
        self.consultation.plan()
    }

    /// Returns the limits of this run, which are not those of the plan if it is resumed.
    pub fn control(&self) -> &Control {
        match &self.start {
            RunStart::New => &self.plan().control,
            RunStart::Resume { terms, .. } => &terms.control,
        }
    }
}

/// Files are written on a thread of their own, so that other runs continue meanwhile.
pub async fn run(
    session: Session,
    participants: Participants<'_>,
    shared: SharedResources,
) -> Result<RunOutcome, Error> {
    let Session {
        mut consultation,
        start,
        earlier,
        providers,
        mut storage,
        clock,
    } = session;
    // An event is in the journal before anything else learns of it.
    let mut subscribers: Vec<&mut dyn Subscriber> = Vec::new();
    let mut recorder = None;
    if let Some(journal) = storage.journal() {
        shared.index.begin(&consultation.plan().id, clock.now());
        subscribers.push(match shared.month.clone() {
            Some(month) => recorder.insert(MonthRecorder::new(month, journal)),
            None => journal,
        });
    }
    for subscriber in participants.subscribers {
        subscribers.push(subscriber);
    }
    let mut budgets = shared.budgets;
    if shared.month_rule == MonthRule::Limited
        && let Some(month) = shared.month.clone()
    {
        budgets.push(month);
    }
    let driver = Driver {
        clock,
        providers: &providers,
        dispatcher: shared.dispatcher,
        budgets,
        subscribers,
        person: participants.person,
        interrupts: participants.interrupts,
    };
    let mut history = earlier;
    history.extend(driver.run(&mut consultation, start).await);
    let beside = (shared.index, shared.month);
    store(&history, storage, participants.report, beside).await
}

/// Writes record and report of what has happened, and enters it in the index.
pub(super) async fn store(
    history: &[Envelope],
    storage: Storage,
    report: fn(&StoredRecord) -> String,
    (index, month): (IndexSender, Option<Arc<MonthCeiling>>),
) -> Result<RunOutcome, Error> {
    let transcript = Transcript::fold(history)
        .ok_or_else(|| Error::failed("the consultation emitted no event"))?;
    let written = host::run_aside("record", move || {
        let record = transcript.stored_record();
        let report = report(&record);
        let is_stored = matches!(storage, Storage::Files(..));
        let (stored, warning) = storage.write(&record, &report);
        let warning = warning.or_else(|| month?.warning());
        if is_stored {
            let began_at = transcript.started_at;
            index.end(&transcript.id, &record, began_at);
        }
        RunOutcome {
            transcript,
            record,
            report,
            stored,
            warning,
        }
    });
    written
        .await
        .ok_or_else(|| Error::failed("the program failed while it wrote the record"))
}
