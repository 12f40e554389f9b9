//! What a fleet does now: its runs and their money, its queues and workers, and the providers that
//! they wait for.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::domain::cost::money::MicroUsd;
use crate::domain::ids::ProviderId;
use crate::domain::time::Timestamp;
use crate::fleet::job::{RunEntry, RunState, VERSION, WorkerEntry};
use crate::fleet::ledger::Ledger;
use crate::fleet::limits::{self, SeenChange};
use crate::fleet::link::Link;
use crate::fleet::queue::Queue;
use crate::fleet::{FleetError, names, roll};

/// The state of a fleet, as `conclave fleet status --json` prints it.
#[derive(Clone, Debug, Serialize)]
pub struct FleetStatus {
    pub schema_version: &'static str,
    pub at: Timestamp,
    /// Newest last.
    pub runs: Vec<RunStatus>,
    /// The accounts that runs share.
    pub shared_accounts: BTreeMap<String, AccountStatus>,
    pub queues: Vec<QueueStatus>,
    pub workers: BTreeMap<String, WorkerEntry>,
    /// Why providers may not be asked now, and who saw it.
    pub waits: Vec<SeenChange>,
}

#[derive(Clone, Debug, Serialize)]
pub struct RunStatus {
    pub run: String,
    #[serde(flatten)]
    pub entry: RunEntry,
    pub account: AccountStatus,
}

/// In micro-dollars.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct AccountStatus {
    /// `None` if there is no ceiling.
    pub limit: Option<MicroUsd>,
    pub spent: MicroUsd,
    pub reserved: MicroUsd,
}

/// The jobs that need the same providers.
#[derive(Clone, Debug, Serialize)]
pub struct QueueStatus {
    pub providers: BTreeSet<ProviderId>,
    pub waiting: u64,
    pub in_work: usize,
    /// Whether a worker of this version can do them.
    pub is_served: bool,
}

impl FleetStatus {
    pub async fn read(link: &Link, at: Timestamp) -> Result<Self, FleetError> {
        let (entries, workers) = (roll::runs(link).await?, roll::workers(link).await?);
        let open = entries
            .values()
            .filter(|run| run.state == RunState::Running);
        let open: BTreeSet<&String> = open.flat_map(|run| &run.queues).collect();
        let mut queues = Vec::new();
        for queue in open {
            let length = Queue::open(link, queue).await?.length().await?;
            let providers = names::providers_of(queue).unwrap_or_default();
            queues.push(QueueStatus {
                is_served: workers.values().any(|worker| can_do(worker, &providers)),
                providers,
                waiting: length.waiting,
                in_work: length.in_work,
            });
        }
        let ledger = Ledger::new(link);
        let (mut runs, mut shared_accounts) = (Vec::new(), BTreeMap::new());
        for (run, entry) in entries {
            let mut account = AccountStatus::default();
            for (place, of) in entry.accounts.iter().enumerate() {
                let read = ledger.read(&of.key).await?.unwrap_or_default();
                let amounts = AccountStatus {
                    limit: read.limit,
                    spent: read.spent(),
                    reserved: read.reserved(),
                };
                match place {
                    // The innermost is its own.
                    0 => account = amounts,
                    _ => drop(shared_accounts.insert(of.key.clone(), amounts)),
                }
            }
            runs.push(RunStatus {
                run,
                entry,
                account,
            });
        }
        runs.sort_by_key(|run| run.entry.at);
        let mut waits = limits::read(link).await?;
        waits.retain(|seen| seen.at(at).is_some());
        Ok(Self {
            schema_version: "1.0",
            at,
            runs,
            shared_accounts,
            queues,
            workers,
            waits,
        })
    }
}

/// Whether a worker takes jobs that need these providers.
pub(super) fn can_do(worker: &WorkerEntry, providers: &BTreeSet<ProviderId>) -> bool {
    let is_able = worker.version == VERSION && !worker.leaves;
    is_able && providers.is_subset(&worker.serves) && providers.is_disjoint(&worker.refused)
}
