//! Simulated batches of cases, and where the stop conditions stop them. Nothing is timed; what
//! happens to a case is drawn from a seed.

use conclave::domain::random::SplitMix64;
use conclave::stopping::batch::conditions::StopConditions;
use conclave::stopping::batch::reason::{BatchStopReason, StopCondition};
use conclave::stopping::batch::state::{BatchState, Workload};
use conclave::stopping::batch::totals::{CaseOutcome, ItemRole};

/// How cases of a batch go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Health {
    pub(crate) name: &'static str,
    /// The share of cases without a right answer, in percent.
    pub(crate) fails: u64,
    /// The share of cases with a second attempt, in percent.
    pub(crate) retries: u64,
}

pub(crate) const HEALTHY: Health = Health {
    name: "healthy",
    fails: 5,
    retries: 15,
};

/// The batches of the evidence that the defaults rest on.
pub(crate) const HEALTHS: [Health; 5] = [
    HEALTHY,
    Health {
        name: "ok",
        fails: 10,
        retries: 25,
    },
    Health {
        name: "poor",
        fails: 20,
        retries: 40,
    },
    Health {
        name: "bad",
        fails: 45,
        retries: 60,
    },
    BROKEN,
];

pub(crate) const BROKEN: Health = Health {
    name: "broken",
    fails: 100,
    retries: 100,
};

/// The cases of a simulated batch in the evidence.
pub(crate) const CASES: u64 = 40;

/// Where a batch was halted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SimulatedHalt {
    /// The case after which it stopped, from 1.
    pub(crate) case: u64,
    pub(crate) condition: StopCondition,
}

/// The ends of simulated batches.
#[derive(Clone, Debug, Default)]
pub(crate) struct SimulatedHalts {
    pub(crate) batches: u64,
    /// Sorted.
    pub(crate) cases: Vec<u64>,
    pub(crate) consecutive: u64,
    pub(crate) reject_rate: u64,
    pub(crate) retry_rate: u64,
}

impl SimulatedHalts {
    /// Returns the share of batches that were halted.
    #[expect(clippy::cast_precision_loss, reason = "for a table")]
    pub(crate) fn share(&self) -> f64 {
        self.cases.len() as f64 / self.batches as f64
    }

    /// Returns the share of batches that were not halted within these many cases.
    #[expect(clippy::cast_precision_loss, reason = "for a table")]
    pub(crate) fn share_beyond(&self, cases: u64) -> f64 {
        let within = self.cases.partition_point(|case| *case <= cases);
        1.0 - within as f64 / self.batches as f64
    }

    /// Returns the case by which this share of the batches was halted, in percent of all; `None` if
    /// fewer were.
    pub(crate) fn percentile(&self, percent: u64) -> Option<u64> {
        let rank = (self.batches * percent).div_ceil(100).max(1);
        let at = usize::try_from(rank - 1).ok()?;
        self.cases.get(at).copied()
    }
}

/// Returns the default conditions with another minimum, for batches of any size.
pub(crate) fn conditions(min_items: u64) -> StopConditions {
    StopConditions {
        max_attempts: None,
        min_items,
        ..StopConditions::default()
    }
}

/// Plays batches of `cases` cases, each after `before` cases of another health that stop nothing.
pub(crate) fn simulate(
    conditions: StopConditions,
    (before, good): (u64, Health),
    (cases, health): (u64, Health),
    batches: u64,
    seed: u64,
) -> SimulatedHalts {
    let mut halts = SimulatedHalts {
        batches,
        ..SimulatedHalts::default()
    };
    for batch in 0..batches {
        let mut random = SplitMix64::new(seed.wrapping_mul(1_000_003).wrapping_add(batch));
        let mut state = BatchState::new(conditions);
        for _ in 0..before {
            finish(&mut state, good, &mut random);
        }
        let Some(halt) = first_halt(&mut state, cases, health, &mut random) else {
            continue;
        };
        halts.cases.push(halt.case);
        match halt.condition {
            StopCondition::ConsecutiveFails => halts.consecutive += 1,
            StopCondition::RejectRate => halts.reject_rate += 1,
            StopCondition::RetryRate => halts.retry_rate += 1,
            other => panic!("{other:?} does not follow from cases"),
        }
    }
    halts.cases.sort_unstable();
    halts
}

/// Returns the case after which infrastructure failures alone halt a batch.
pub(crate) fn outage_halt(conditions: StopConditions) -> Option<u64> {
    let mut state = BatchState::new(conditions);
    (1..=CASES).find(|_| {
        state.start_attempt();
        state.defer();
        state.evaluate(BUSY).stops()
    })
}

/// More cases wait.
const BUSY: Workload = Workload {
    remaining: 1,
    waiting: 1,
    in_flight: 0,
};

fn first_halt(
    state: &mut BatchState,
    cases: u64,
    health: Health,
    random: &mut SplitMix64,
) -> Option<SimulatedHalt> {
    for case in 1..=cases {
        finish(state, health, random);
        if let Some(reason) = BatchStopReason::of(&state.evaluate(BUSY)) {
            let condition = reason.condition;
            return Some(SimulatedHalt { case, condition });
        }
    }
    None
}

fn finish(state: &mut BatchState, health: Health, random: &mut SplitMix64) {
    let outcome = if random.below(100) < health.fails {
        CaseOutcome::Rejected
    } else {
        CaseOutcome::Approved
    };
    let attempts = if random.below(100) < health.retries {
        2
    } else {
        1
    };
    for _ in 0..attempts {
        state.start_attempt();
    }
    state.finish(ItemRole::Subject, outcome, attempts);
}
