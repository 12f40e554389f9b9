//! What outlives a phase: numbers given out, when it all began, what was spent, how the providers
//! are doing, who plays whom, and what the person is being asked.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::ids::{ModelRef, ProviderId, SeatId};
use crate::domain::money::Cost;
use crate::domain::time::Timestamp;
use crate::stopping::circuit::Circuit;

use super::policy::budget::Purse;
use super::policy::health::HealthStatus;
use super::policy::pacing::Lanes;
use super::protocol::{Question, TimerId};

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Ledger {
    pub(super) events: u64,
    pub(super) calls: u32,
    pub(super) timers: u32,
    pub(super) started_at: Timestamp,
    pub(super) last_event_at: Timestamp,
    /// When nothing ran, because it had been interrupted: such time does not count.
    pub(super) pauses: Vec<Pause>,
    /// Whom to call when.
    pub(super) lanes: Lanes,
    /// Providers that were called, and whether to call them again.
    pub(super) circuits: BTreeMap<ProviderId, Circuit>,
    /// Those that will not have this key, or want to be paid first: they will say the same to
    /// whoever asks next.
    pub(super) refusing: BTreeSet<ProviderId>,
    pub(super) health: BTreeMap<ProviderId, HealthStatus>,
    pub(super) purse: Purse,
    /// The high estimate.
    pub(super) high: Cost,
    /// Calls that are expected: what the quota of hedges is a part of.
    pub(super) expected_calls: usize,
    pub(super) hedges: u32,
    /// Models that have taken an agent over for the rest of the run.
    pub(super) players: BTreeMap<SeatId, ModelRef>,
    pub(super) questions: Questions,
    pub(super) watch: Watch,
}

/// Time in which nothing ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pause {
    pub(super) from: Timestamp,
    pub(super) to: Timestamp,
}

/// The timers of the round that is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Watch {
    pub(super) round_number: u8,
    pub(super) pulse: Option<TimerId>,
    pub(super) deadline: Option<TimerId>,
}

/// What the person is asked, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Questions {
    pub(super) open: Option<Question>,
    pub(super) waiting: VecDeque<Question>,
}

impl Ledger {
    /// Time that has passed since `earlier`, without the pauses.
    pub(super) fn since(&self, earlier: Timestamp, now: Timestamp) -> Duration {
        let paused = self
            .pauses
            .iter()
            .map(|pause| pause.to.min(now).since(pause.from.max(earlier)));
        now.since(earlier).saturating_sub(paused.sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_do_not_count() {
        let pause = |from, to| Pause {
            from: Timestamp(from),
            to: Timestamp(to),
        };
        let ledger = Ledger {
            pauses: vec![pause(100, 1_100), pause(2_000, 2_500)],
            ..Ledger::default()
        };
        let since = |earlier, now| ledger.since(Timestamp(earlier), Timestamp(now)).as_millis();
        assert_eq!(
            (since(0, 50), since(0, 1_200), since(0, 3_000)),
            (50, 200, 1_500)
        );
        assert_eq!(
            (since(600, 1_200), since(1_100, 1_200), since(2_600, 2_700)),
            (100, 100, 100)
        );
    }
}
