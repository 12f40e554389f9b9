//! The machine's state besides its phase: counters, start time, spending, provider state, fallbacks
//! in use, and open questions.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::ids::{AgentId, ModelRef, ProviderId, TimerId};
use crate::domain::money::Cost;
use crate::domain::time::Timestamp;

use crate::consultation::policy::budget::Budget;
use crate::consultation::policy::health::HealthStatus;
use crate::consultation::protocol::Question;
use crate::consultation::protocol::provider::Backoff;

/// The state that outlives a phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::consultation) struct RunState {
    pub(in crate::consultation) events: u64,
    pub(in crate::consultation) calls: u32,
    pub(in crate::consultation) timers: u32,
    pub(in crate::consultation) started_at: Timestamp,
    pub(in crate::consultation) last_event_at: Timestamp,
    /// Pauses while the consultation was interrupted. They do not count as elapsed time.
    pub(in crate::consultation) pauses: Vec<Pause>,
    /// The providers as the process last reported them.
    pub(in crate::consultation) providers: BTreeMap<ProviderId, ProviderView>,
    pub(in crate::consultation) budget: Budget,
    /// Whether the person has agreed to exceed the monthly budget.
    pub(in crate::consultation) beyond_month: bool,
    /// The high estimate.
    pub(in crate::consultation) high: Cost,
    /// The expected number of calls, from which the hedge quota follows.
    pub(in crate::consultation) expected_calls: usize,
    pub(in crate::consultation) hedges: u32,
    /// Fallback models that have taken over, by agent, for the rest of the run.
    pub(in crate::consultation) fallbacks_in_use: BTreeMap<AgentId, ModelRef>,
    pub(in crate::consultation) questions: Questions,
    pub(in crate::consultation) watch: Watch,
}

/// A provider as the process last reported it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::consultation) struct ProviderView {
    pub(in crate::consultation) health: HealthStatus,
    /// The backoff that must pass before the next call.
    pub(in crate::consultation) backoff: Option<Backoff>,
    /// The time until which its circuit is open or being probed.
    pub(in crate::consultation) broken_until: Option<Timestamp>,
    /// Whether the provider refuses the key or asks for payment.
    pub(in crate::consultation) key_refused: bool,
}

/// A time span in which nothing ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::consultation) struct Pause {
    pub(in crate::consultation) from: Timestamp,
    pub(in crate::consultation) to: Timestamp,
}

/// The timers of the current round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::consultation) struct Watch {
    pub(in crate::consultation) round_number: u8,
    pub(in crate::consultation) pulse: Option<TimerId>,
    pub(in crate::consultation) deadline: Option<TimerId>,
}

/// Questions to the person, asked one after the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::consultation) struct Questions {
    pub(in crate::consultation) open: Option<Question>,
    pub(in crate::consultation) waiting: VecDeque<Question>,
}

impl RunState {
    /// Returns the time since `earlier`, without pauses.
    pub(in crate::consultation) fn since(&self, earlier: Timestamp, now: Timestamp) -> Duration {
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
        let run = RunState {
            pauses: vec![pause(100, 1_100), pause(2_000, 2_500)],
            ..RunState::default()
        };
        let since = |earlier, now| run.since(Timestamp(earlier), Timestamp(now)).as_millis();
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
