//! The lines of `conclave fleet status`.

use std::time::Duration;

use crate::domain::cost::money::Cost;
use crate::domain::ids::ProviderId;
use crate::fleet::job::{RunState, VERSION, WorkerEntry};
use crate::session::fleet::status::{AccountStatus, FleetStatus, RunStatus};
use crate::terminal::output::format::{dollars, span};
use crate::text::clean::one_line;

pub(super) fn lines(status: &FleetStatus) -> String {
    let shared = status.shared_accounts.iter();
    let accounts = shared.map(|(key, account)| format!("{key}: {}", amounts(account)));
    let workers = status
        .workers
        .iter()
        .map(|(name, entry)| worker(name, entry));
    let waits = status.waits.iter().map(|wait| {
        let left = span(Duration::from_millis(wait.wait_ms));
        let (provider, why, seen_by) = (&wait.provider, wait.why, &wait.seen_by);
        format!("{provider} is not asked for {left}: {why}, seen by {seen_by}")
    });
    let lines: Vec<String> = (status.runs.iter().map(run))
        .chain(accounts)
        .chain(workers)
        .chain(waits)
        .map(|line| one_line(&line) + "\n")
        .collect();
    if lines.is_empty() {
        "The fleet has no runs and no workers.\n".to_owned()
    } else {
        lines.concat()
    }
}

/// `bench-01k…  starter  running  12 of 60  $0.42 of $5.00, $0.30 reserved  me`.
fn run(status: &RunStatus) -> String {
    let RunStatus {
        run,
        entry,
        account,
    } = status;
    let state = match entry.state {
        RunState::Running => "running",
        RunState::Cancelled => "cancelled",
        RunState::Ended => "ended",
    };
    let done = match entry.total {
        0 => String::new(),
        total => format!("  {} of {total}", entry.done),
    };
    let (name, owner, amounts) = (&entry.name, &entry.owner, amounts(account));
    format!("{run}  {name}  {state}{done}  {amounts}  {owner}")
}

fn amounts(account: &AccountStatus) -> String {
    let exactly = |amount| dollars(Cost::exactly(amount));
    let limit = account.limit.map(|limit| format!(" of {}", exactly(limit)));
    let (spent, reserved) = (exactly(account.spent), exactly(account.reserved));
    format!("{spent}{}, {reserved} reserved", limit.unwrap_or_default())
}

fn worker(name: &str, entry: &WorkerEntry) -> String {
    let calls = entry.calls.iter();
    let calls: Vec<String> = calls.map(|(of, calls)| format!("{calls} {of}")).collect();
    let (calls, refused) = (calls.join(", "), names(&entry.refused));
    let notes = [
        (!calls.is_empty(), format!("; calls in flight: {calls}")),
        (
            entry.version != VERSION,
            format!("; conclave {}", entry.version),
        ),
        (
            !refused.is_empty(),
            format!("; its keys are refused: {refused}"),
        ),
        (entry.leaves, "; leaves".to_owned()),
    ];
    let notes = notes.into_iter().filter(|(is_true, _)| *is_true);
    let notes: String = notes.map(|(_, note)| note).collect();
    let (serves, jobs, slots) = (names(&entry.serves), entry.jobs.len(), entry.slots);
    format!("worker {name}: {serves}; {jobs} of {slots} jobs{notes}")
}

fn names<'a>(providers: impl IntoIterator<Item = &'a ProviderId>) -> String {
    let names: Vec<&str> = providers.into_iter().map(ProviderId::as_str).collect();
    names.join(", ")
}
