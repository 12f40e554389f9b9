//! The ledger: accounts of the fleet's money, each one entry of a bucket that is changed by
//! compare-and-set.
//!
//! One task an account makes the changes of this process, those that wait together in one step: a
//! reservation waits for it, since no call goes out before; a settlement does not. What a change
//! sets is absolute ([`super::account`]), so that one whose answer was lost is made again.
//!
//! While the server cannot be asked, nothing is reserved.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc as blocking};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};

use super::FleetError;
use super::account::{Account, Holding, JobEnding, NotHeld};
use super::job::JobAccount;
use super::journal::{Claim, Stop};
use super::link::Link;
use crate::consultation::policy::budget::BudgetCheck;
use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::ids::ConsultationId;
use crate::domain::random::SplitMix64;
use crate::engine::dispatcher::budget::SharedBudget;

/// The most time that a reservation waits for the server. It is asked again.
const MOST_WAIT: Duration = Duration::from_secs(2);

/// How long an account that had no room is taken to have none: requests that wait ask often.
const FULL_FOR: Duration = Duration::from_millis(200);

/// Between two attempts to change an account that others change, at first and at most.
const LEAST_DELAY: Duration = Duration::from_millis(1);
const MOST_DELAY: Duration = Duration::from_millis(64);

/// The most changes that are made in one step.
const TOGETHER: usize = 256;

/// The accounts that this process uses. A clone is another handle to the same.
#[derive(Clone, Debug)]
pub struct Ledger {
    link: Link,
    accounts: Arc<Mutex<BTreeMap<String, OpenAccount>>>,
}

/// The way to the task of an account, and what that saw last.
#[derive(Clone, Debug)]
struct OpenAccount {
    changes: mpsc::UnboundedSender<Change>,
    seen: Arc<Mutex<Seen>>,
    /// That of the connection.
    runtime: Handle,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    limit: Option<MicroUsd>,
    spent: MicroUsd,
    /// When a reservation of this amount had to wait, or had no answer.
    full: Option<(Instant, MicroUsd)>,
}

/// A change of the holding of a job of this process.
#[derive(Debug)]
struct Change {
    job: ConsultationId,
    what: What,
    answer: oneshot::Sender<Verdict>,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Open(Holding),
    /// By this claim.
    Reserve(u64, MicroUsd),
    /// A reserved amount becomes the actual one.
    Settle(u64, MicroUsd, MicroUsd),
    /// Its journal has ended, or this process no longer changes it.
    End(Option<(Holding, JobEnding)>),
}

type Verdict = Result<BudgetCheck, NotHeld>;

/// What the jobs of this process hold.
type Holdings = BTreeMap<ConsultationId, Holding>;

impl Ledger {
    pub fn new(link: &Link) -> Self {
        Self {
            link: link.clone(),
            accounts: Arc::default(),
        }
    }

    /// Begins or takes over a job in its accounts, with what its journal counts, and returns them as
    /// budgets.
    pub async fn open(
        &self,
        accounts: &[JobAccount],
        claim: &Claim,
    ) -> Result<Vec<Arc<dyn SharedBudget>>, NotHeld> {
        let holding = Holding::new(claim.sequence, claim.state().tally.counted());
        let mut budgets: Vec<Arc<dyn SharedBudget>> = Vec::new();
        for JobAccount { key, name } in accounts {
            let account = self.account(key);
            account.ask(&claim.job, What::Open(holding)).await?;
            budgets.push(Arc::new(JobBudget {
                account,
                name: name.clone(),
                claim: claim.clone(),
            }));
        }
        Ok(budgets)
    }

    /// Ends a job whose journal has ended, with what that counts and its last claim, or leaves it to
    /// the next worker that claims it. What was settled is in its accounts then.
    pub async fn end(
        &self,
        accounts: &[JobAccount],
        job: &ConsultationId,
        ended: Option<(Holding, JobEnding)>,
    ) {
        for account in accounts {
            // One that is missing holds nothing.
            let _ = self.account(&account.key).ask(job, What::End(ended)).await;
        }
    }

    fn account(&self, key: &str) -> OpenAccount {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let open = || {
            let (changes, queue) = mpsc::unbounded_channel();
            let seen = Arc::default();
            let keeper = Keeper {
                link: self.link.clone(),
                key: key.to_owned(),
                known: None,
                own: Holdings::new(),
                seen: Arc::clone(&seen),
            };
            self.link.runtime().spawn(keeper.run(queue));
            OpenAccount {
                changes,
                seen,
                runtime: self.link.runtime(),
            }
        };
        accounts.entry(key.to_owned()).or_insert_with(open).clone()
    }
}

impl OpenAccount {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a change. What is returned need not be waited for.
    fn ask(&self, job: &ConsultationId, what: What) -> impl Future<Output = Verdict> + use<> {
        let (answer, verdict) = oneshot::channel();
        let job = job.clone();
        // Without a receiver the process ends, and the answer is dropped.
        let _ = self.changes.send(Change { job, what, answer });
        async { verdict.await.unwrap_or(Err(NotHeld::Lost)) }
    }

    /// Reserves an amount, and blocks until that is decided, or for a while.
    fn reserve(
        &self,
        (job, claim): (&ConsultationId, u64),
        amount: MicroUsd,
        most_wait: Duration,
    ) -> Verdict {
        let is_full = |(since, full): (Instant, _)| full <= amount && since.elapsed() < FULL_FOR;
        if self.seen().full.is_some_and(is_full) {
            return Ok(BudgetCheck::WaitForInFlight);
        }
        let asked = self.ask(job, What::Reserve(claim, amount));
        let (done, verdict) = blocking::channel();
        let (account, job) = (self.clone(), job.clone());
        self.runtime.spawn(async move {
            let verdict = asked.await;
            if done.send(verdict).is_err() && verdict == Ok(BudgetCheck::Allowed) {
                // No one waits for it any more.
                drop(account.ask(&job, What::Settle(claim, amount, MicroUsd::ZERO)));
            }
        });
        let verdict = verdict.recv_timeout(most_wait);
        let verdict = verdict.unwrap_or(Ok(BudgetCheck::WaitForInFlight));
        if verdict == Ok(BudgetCheck::WaitForInFlight) {
            self.seen().full = Some((Instant::now(), amount));
        }
        verdict
    }
}

/// An account as the budget of one job.
#[derive(Debug)]
struct JobBudget {
    account: OpenAccount,
    name: String,
    claim: Claim,
}

impl SharedBudget for JobBudget {
    fn name(&self) -> &str {
        &self.name
    }

    fn limit(&self) -> MicroUsd {
        self.account.seen().limit.unwrap_or(MicroUsd(u64::MAX))
    }

    fn spent(&self) -> MicroUsd {
        self.account.seen().spent
    }

    fn reserve(&self, worst_case: Cost) -> BudgetCheck {
        if worst_case.lower_bound && self.account.seen().limit.is_some() {
            return BudgetCheck::Exceeded;
        }
        let by = (&self.claim.job, self.claim.sequence);
        self.account
            .reserve(by, worst_case.known, MOST_WAIT)
            .unwrap_or_else(|_| {
                self.claim.stop(Stop::Lost);
                BudgetCheck::WaitForInFlight
            })
    }

    /// Settles when the server has the event: the account never counts less than a journal, from
    /// which another worker may take the job over at any moment.
    fn settle(&self, reserved: MicroUsd, actual: MicroUsd) {
        let (account, claim) = (self.account.clone(), self.claim.clone());
        let settle = What::Settle(claim.sequence, reserved, actual);
        let event = claim.state().tally.events + 1;
        self.account.runtime.spawn(async move {
            if claim.has(event).await {
                drop(account.ask(&claim.job, settle));
            }
        });
    }

    fn release(&self, reserved: MicroUsd) {
        let settle = What::Settle(self.claim.sequence, reserved, MicroUsd::ZERO);
        drop(self.account.ask(&self.claim.job, settle));
    }

    fn is_shared_with_others(&self) -> bool {
        true
    }
}

/// Makes the changes of one account.
struct Keeper {
    link: Link,
    key: String,
    /// The account as it was last, and its revision.
    known: Option<(Account, u64)>,
    own: Holdings,
    seen: Arc<Mutex<Seen>>,
}

impl Keeper {
    async fn run(mut self, mut queue: mpsc::UnboundedReceiver<Change>) {
        let (mut changes, mut delay) = (Vec::new(), LEAST_DELAY);
        while !changes.is_empty() || queue.recv_many(&mut changes, TOGETHER).await > 0 {
            match self.make(&changes).await {
                Ok(Some(verdicts)) => {
                    for (change, verdict) in changes.drain(..).zip(verdicts) {
                        let _ = change.answer.send(verdict);
                    }
                    delay = LEAST_DELAY;
                }
                // Another process was faster. Of many, none waits for the same time.
                Ok(None) => {
                    let part = SplitMix64::new(RandomState::new().hash_one(&self.key)).unit();
                    sleep(delay.mul_f64(0.5 + part)).await;
                    delay = (delay * 2).min(MOST_DELAY);
                }
                Err(error) => self.link.rest(&error).await,
            }
        }
    }

    /// Makes changes in the account, or none: an account that is missing takes none. `None` if
    /// another process changed it meanwhile.
    async fn make(&mut self, changes: &[Change]) -> Result<Option<Vec<Verdict>>, FleetError> {
        let ledger = &self.link.stores().ledger;
        let known = match self.known.take() {
            Some((account, revision)) => Ok((Some(account), revision)),
            None => ledger.get(&self.key).await,
        };
        let (before, revision) = match known {
            Ok((Some(account), revision)) => (account, revision),
            Ok((None, _)) | Err(FleetError::Wrong(_)) => {
                return Ok(Some(vec![Err(NotHeld::NoAccount); changes.len()]));
            }
            Err(error) => return Err(error),
        };
        let (mut after, mut own) = (before.clone(), self.own.clone());
        let mut make = |it: &Change| apply(&mut after, &mut own, &it.job, it.what);
        let verdicts: Vec<Verdict> = changes.iter().map(&mut make).collect();
        let mut stored = Some(revision);
        if after != before {
            stored = ledger.set(&self.key, &after, revision).await?;
        }
        let Some(revision) = stored else {
            return Ok(None);
        };
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Seen {
            limit: after.limit,
            spent: after.spent(),
            full: None,
        };
        // What had to wait or did not fit may do so by now.
        let is_allowed = |verdict: &Verdict| *verdict == Ok(BudgetCheck::Allowed);
        self.known = (verdicts.iter().all(is_allowed)).then_some((after, revision));
        self.own = own;
        Ok(Some(verdicts))
    }
}

/// Applies a change. It is repeated until its result is in the account.
fn apply(account: &mut Account, own: &mut Holdings, job: &ConsultationId, what: What) -> Verdict {
    let held = |claim| {
        let held = own.get(job).filter(|held| held.claim == claim);
        held.copied().ok_or(NotHeld::Lost)
    };
    let holding = match what {
        What::Open(holding) => {
            account.open(job, holding)?;
            holding
        }
        What::Reserve(claim, amount) => {
            let held = held(claim)?;
            // What was settled before is in the account, or comes into it now.
            account.hold(job, held)?;
            match account.check(amount) {
                BudgetCheck::Allowed => Holding {
                    reserved: held.reserved + amount,
                    ..held
                },
                check => return Ok(check),
            }
        }
        What::Settle(claim, reserved, actual) => {
            let held = held(claim)?;
            Holding {
                reserved: MicroUsd(held.reserved.0.saturating_sub(reserved.0)),
                spent: held.spent + actual,
                ..held
            }
        }
        What::End(ended) => {
            own.remove(job);
            if let Some((holding, ending)) = ended {
                account.end(job, holding, ending);
            }
            return Ok(BudgetCheck::Allowed);
        }
    };
    own.insert(job.clone(), holding);
    account.hold(job, holding)?;
    Ok(BudgetCheck::Allowed)
}

#[cfg(test)]
mod tests;
