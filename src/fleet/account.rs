//! The amounts of an account of the ledger, and what may change them. Pure.
//!
//! A job in work has a [`Holding`]: what its journal counts as spent, and what is reserved for its
//! calls in flight. Both are absolute, so that a change can be made twice; they belong to the claim
//! by which a worker took the job. When the job is done, its holding becomes a part of what is
//! spent; when another worker takes it over, it is replaced by what the journal says.
//!
//! Invariants: as long as calls stay within their worst case, the amounts of all jobs never exceed
//! the limit. A holding changes only by the newest claim, and no claim that is older than that of a
//! job that was closed begins a new one: so a worker that lost a job, however late it comes, changes
//! nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::consultation::policy::budget::BudgetCheck;
use crate::domain::cost::money::MicroUsd;
use crate::domain::ids::ConsultationId;

/// An account of the ledger: a run's, a month's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// `None` if there is none.
    pub limit: Option<MicroUsd>,
    /// What jobs that are done have spent, and what was spent elsewhere.
    pub spent: MicroUsd,
    /// The newest claim of a job that was closed.
    #[serde(default)]
    pub newest_closed: u64,
    /// The jobs in work.
    #[serde(default)]
    pub jobs: BTreeMap<ConsultationId, Holding>,
}

/// The amounts of a job in work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holding {
    /// The sequence of the claim in the stream of journals: later claims have higher ones.
    pub claim: u64,
    #[serde(default, skip_serializing_if = "MicroUsd::is_zero")]
    pub spent: MicroUsd,
    /// The worst case of the calls in flight.
    #[serde(default, skip_serializing_if = "MicroUsd::is_zero")]
    pub reserved: MicroUsd,
}

impl Holding {
    /// Returns what a claim begins with.
    pub fn new(claim: u64, spent: MicroUsd) -> Self {
        let reserved = MicroUsd::ZERO;
        Self {
            claim,
            spent,
            reserved,
        }
    }
}

/// Whether a job whose journal has ended may be continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobEnding {
    Final,
    Resumable,
}

/// Why a claim holds nothing in an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotHeld {
    /// It is no longer the one that counts.
    #[error("another worker has the job")]
    Lost,
    #[error("the ledger has no account for the job")]
    NoAccount,
}

impl Account {
    /// Returns what counts as spent: without reserved amounts, with jobs in work.
    pub fn spent(&self) -> MicroUsd {
        self.spent + self.jobs.values().map(|job| job.spent).sum()
    }

    pub fn reserved(&self) -> MicroUsd {
        self.jobs.values().map(|job| job.reserved).sum()
    }

    /// Counts no less than `spent` from now on.
    pub fn set_limit(&mut self, limit: Option<MicroUsd>, spent: MicroUsd) {
        self.limit = limit;
        self.spent += MicroUsd(spent.0.saturating_sub(self.spent().0));
    }

    /// Begins a job, or takes it over with what its journal counts.
    ///
    /// # Errors
    ///
    /// When a newer claim has it, or had it and closed it.
    pub fn open(&mut self, job: &ConsultationId, holding: Holding) -> Result<(), NotHeld> {
        let newest = self.jobs.get(job).map(|held| held.claim);
        if newest.map_or(holding.claim <= self.newest_closed, |newest| {
            holding.claim < newest
        }) {
            return Err(NotHeld::Lost);
        }
        self.jobs.insert(job.clone(), holding);
        Ok(())
    }

    /// Decides whether a job may hold `amount` more.
    pub fn check(&self, amount: MicroUsd) -> BudgetCheck {
        let Some(limit) = self.limit else {
            return BudgetCheck::Allowed;
        };
        let left = limit.0.saturating_sub(self.spent().0);
        if amount.0 > left {
            BudgetCheck::Exceeded
        } else if amount.0 > left.saturating_sub(self.reserved().0) {
            BudgetCheck::WaitForInFlight
        } else {
            BudgetCheck::Allowed
        }
    }

    /// Sets the amounts of a job that this claim opened.
    pub fn hold(&mut self, job: &ConsultationId, holding: Holding) -> Result<(), NotHeld> {
        let held = self.jobs.get_mut(job);
        let held = held.filter(|held| held.claim == holding.claim);
        *held.ok_or(NotHeld::Lost)? = holding;
        Ok(())
    }

    /// Ends a job whose journal has ended, with what that counts and its last claim. One that may
    /// be continued later keeps its holding, if it has spent anything: it counts once however often
    /// it is taken up. A job that is not there was closed before.
    pub fn end(&mut self, job: &ConsultationId, holding: Holding, ending: JobEnding) {
        let held = self.jobs.get_mut(job);
        let Some(held) = held.filter(|held| held.claim <= holding.claim) else {
            return;
        };
        if ending == JobEnding::Resumable && !holding.spent.is_zero() {
            *held = holding;
        } else {
            self.jobs.remove(job);
            self.spent += holding.spent;
            self.newest_closed = self.newest_closed.max(holding.claim);
        }
    }
}
