//! What a fleet does now: its runs and their money, its workers, and the providers that
//! they wait for.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::consultation::event::ProviderEvent;
use crate::domain::cost::money::MicroUsd;
use crate::domain::ids::ProviderId;
use crate::domain::time::Timestamp;
use crate::fleet::FleetError;
use crate::fleet::job::{JobAccount, RunEntry, SeenChange, WorkerEntry};
use crate::fleet::link::Link;

/// The state of a fleet, as `conclave fleet status --json` prints it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FleetStatus {
    pub schema_version: &'static str,
    pub at: Timestamp,
    /// Newest last.
    pub runs: Vec<RunStatus>,
    /// The accounts that runs share.
    pub shared_accounts: BTreeMap<String, AccountStatus>,
    pub workers: BTreeMap<String, WorkerEntry>,
    pub waits: Vec<WaitStatus>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunStatus {
    pub run: String,
    #[serde(flatten)]
    pub entry: RunEntry,
    pub account: AccountStatus,
}

/// In micro-dollars.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AccountStatus {
    /// `None` if there is no ceiling.
    pub limit: Option<MicroUsd>,
    pub spent: MicroUsd,
    pub reserved: MicroUsd,
}

/// A provider that no worker asks now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WaitStatus {
    pub provider: ProviderId,
    /// Milliseconds until it is asked again.
    pub wait_ms: u64,
    /// `backoff`, which it asked for, or `circuit`, because its calls failed.
    pub why: &'static str,
    /// The worker that learnt it.
    pub seen_by: String,
}

impl FleetStatus {
    pub async fn read(link: &Link, at: Timestamp) -> Result<Self, FleetError> {
        let stores = link.stores();
        let (entries, workers) = (stores.runs.all().await?, stores.workers.all().await?);
        let ledger = stores.ledger.all().await?;
        let account = |JobAccount { key, .. }: &JobAccount| {
            let account = ledger.get(key);
            let account = account.map(|account| AccountStatus {
                limit: account.limit,
                spent: account.spent(),
                reserved: account.reserved(),
            });
            (key.clone(), account.unwrap_or_default())
        };
        let (mut runs, mut shared_accounts) = (Vec::new(), BTreeMap::new());
        for (run, entry) in entries {
            let mut accounts = entry.accounts.iter().map(account);
            // The innermost is its own.
            let account = accounts.next().unwrap_or_default().1;
            shared_accounts.extend(accounts);
            runs.push(RunStatus {
                run,
                entry,
                account,
            });
        }
        runs.sort_by_key(|run| run.entry.at);
        let seen = stores.limits.all().await?;
        Ok(Self {
            schema_version: "1.0",
            at,
            runs,
            shared_accounts,
            workers,
            waits: seen.values().filter_map(|seen| wait(seen, at)).collect(),
        })
    }
}

fn wait(seen: &SeenChange, now: Timestamp) -> Option<WaitStatus> {
    let (why, wait_ms) = match seen.at(now)? {
        ProviderEvent::Held { wait_ms, .. } => ("backoff", wait_ms),
        ProviderEvent::CircuitChanged { wait_ms, .. } => ("circuit", wait_ms?),
        ProviderEvent::KeyChanged { .. } => return None,
    };
    Some(WaitStatus {
        provider: seen.event.provider().clone(),
        wait_ms,
        why,
        seen_by: seen.worker.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stopping::circuit::state::{CircuitState, WhyOpen};

    #[test]
    fn the_schema_is_published() {
        let title = "What `conclave fleet status --json` prints";
        crate::schema::check::<FleetStatus>("fleet_status", title);
    }

    #[test]
    fn provider_waits_for_what_is_left_of_an_open_circuit_and_not_for_a_closed_one() {
        let seen = |circuit, wait_ms| SeenChange {
            worker: "w".to_owned(),
            at: Timestamp(1_000),
            event: ProviderEvent::CircuitChanged {
                provider: ProviderId::new("openai"),
                circuit,
                wait_ms,
            },
        };
        let (until, why) = (Timestamp(9_000), WhyOpen::ProbeFailed);
        let open = seen(CircuitState::Open { until, why }, Some(8_000));
        assert_eq!(wait(&open, Timestamp(8_900)).unwrap().wait_ms, 100);
        assert_eq!(wait(&open, until), None);
        assert_eq!(wait(&seen(CircuitState::Closed, None), Timestamp(1)), None);
    }
}
