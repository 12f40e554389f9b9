//! The circuit breaker of an agent's loop: opens when turns bring no progress or the same error
//! again and again, and lets one turn probe after a rest.
//!
//! It has the stages of [`crate::stopping::circuit::stage`]. The turn that is recorded while it is
//! half-open is the probe: with progress the circuit closes, without progress it opens again. An
//! unknown outcome holds the permit until the permit expires, so that a lost probe blocks nothing
//! for long.
//!
//! A clock that goes backwards never lengthens a rest: the time that remains stays what it was when
//! the breaker last saw the clock.

#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::time::{Timestamp, milliseconds};
use crate::stopping::circuit::stage::CircuitStage;

use super::evidence::{ErrorSignature, ErrorStreaks};
use super::run::LoopRunId;

/// Conditions under which the breaker opens, and the length of its rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakerRule {
    /// Opens after this many turns in a row without progress.
    pub no_progress_turns: u32,
    /// Opens when the same error occurs in this many turns in a row.
    pub same_error_turns: u32,
    /// The time after which an open breaker lets a turn probe.
    #[serde(rename = "cooldown_ms", with = "milliseconds")]
    pub cooldown: Duration,
    /// The time after which a probe of unknown outcome is given up.
    #[serde(rename = "permit_ms", with = "milliseconds")]
    pub permit: Duration,
}

impl Default for BreakerRule {
    /// 3 turns without progress or 5 with the same error, as in the seeds of this rule; 30 minutes
    /// of rest. A probe counts as lost after an hour: turns of coding agents take minutes.
    fn default() -> Self {
        Self {
            no_progress_turns: 3,
            same_error_turns: 5,
            cooldown: Duration::from_secs(30 * 60),
            permit: Duration::from_secs(60 * 60),
        }
    }
}

/// What a turn changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TurnProgress {
    Made,
    None,
    /// Nothing was measured. It counts neither way.
    #[default]
    Unknown,
}

/// The reason why the breaker opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum TripReason {
    NoProgress {
        turns: u32,
    },
    SameError {
        turns: u32,
        error: ErrorSignature,
    },
    /// The turn after the rest made no progress either.
    ProbeFailed,
}

/// The state of the breaker at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum BreakerState {
    Closed {
        /// `None` before the first turn.
        since: Option<Timestamp>,
        /// Turns in a row without progress.
        no_progress_turns: u32,
        /// Turns in a row with the error that lasts longest.
        same_error_turns: u32,
    },
    Open {
        since: Timestamp,
        /// The time from which a turn may probe.
        until: Timestamp,
        why: TripReason,
    },
    /// After the rest: the next turn is the probe.
    HalfOpen {
        since: Timestamp,
        /// The time until which a turn of unknown outcome holds the permit; absent if none does.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, schemars(with = "Timestamp"))]
        probe_until: Option<Timestamp>,
        why: TripReason,
    },
}

impl BreakerState {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Closed { .. } => "closed",
            Self::Open { .. } => "open",
            Self::HalfOpen { .. } => "half_open",
        }
    }
}

impl Default for BreakerState {
    /// Before the first turn, it is closed.
    fn default() -> Self {
        Self::Closed {
            since: None,
            no_progress_turns: 0,
            same_error_turns: 0,
        }
    }
}

/// The breaker of one run; initially closed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopBreaker {
    pub run: LoopRunId,
    /// The latest reading of the clock. Where the clock is earlier, it went backwards.
    seen: Timestamp,
    #[serde(flatten)]
    stage: CircuitStage<TurnWindow, TripReason>,
}

/// What counts while the breaker is closed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct TurnWindow {
    no_progress_turns: u32,
    /// The errors of the last turn, each with the number of turns in a row that it occurred in.
    #[serde(default, skip_serializing_if = "ErrorStreaks::is_empty")]
    error_turns: ErrorStreaks,
}

impl LoopBreaker {
    pub fn new(run: LoopRunId, now: Timestamp) -> Self {
        Self {
            run,
            seen: now,
            stage: CircuitStage::closed(now),
        }
    }

    /// An open or half-open breaker rests on; a closed one starts from nothing, so that a crashed
    /// run cannot open it for the next.
    pub fn begin_run(&mut self, run: LoopRunId, now: Timestamp) {
        self.observe(now);
        self.run = run;
        if self.is_closed() {
            self.stage = CircuitStage::closed(now);
        }
    }

    /// Closes the breaker and forgets what it counted.
    pub fn reset(&mut self, now: Timestamp) {
        self.seen = now;
        self.stage = CircuitStage::closed(now);
    }

    pub fn record(
        &mut self,
        rule: &BreakerRule,
        progress: TurnProgress,
        errors: &[ErrorSignature],
        now: Timestamp,
    ) {
        self.observe(now);
        if let Some(window) = self.stage.window_at(now) {
            if let Some(why) = window.record(rule, progress, errors) {
                self.stage.open(why, rule.cooldown, now);
            }
            return;
        }
        self.stage.begin(rule.permit, now);
        if !matches!(self.stage, CircuitStage::Probing { .. }) {
            return;
        }
        match progress {
            TurnProgress::Made => self.stage.succeeded(now, now),
            TurnProgress::None => self.stage.open(TripReason::ProbeFailed, rule.cooldown, now),
            TurnProgress::Unknown => {}
        }
    }

    #[cfg(test)]
    pub fn permit(&self, now: Timestamp) -> crate::stopping::circuit::state::Permit {
        self.at(now).stage.permit(now)
    }

    pub fn state(&self, now: Timestamp) -> BreakerState {
        match self.at(now).stage {
            CircuitStage::Closed { since, window } => BreakerState::Closed {
                since: Some(since),
                no_progress_turns: window.no_progress_turns,
                same_error_turns: window.error_turns.longest().map_or(0, |(_, turns)| turns),
            },
            CircuitStage::Open { since, until, why } if now < until => {
                BreakerState::Open { since, until, why }
            }
            CircuitStage::Open { until, why, .. } => BreakerState::HalfOpen {
                since: until,
                probe_until: None,
                why,
            },
            CircuitStage::Probing {
                first, until, why, ..
            } => BreakerState::HalfOpen {
                since: first,
                probe_until: (now < until).then_some(until),
                why,
            },
        }
    }

    pub fn is_closed(&self) -> bool {
        matches!(self.stage, CircuitStage::Closed { .. })
    }

    /// The time that has to pass then stands still until [`Self::observe`] has seen the new time.
    pub fn is_ahead_of(&self, now: Timestamp) -> bool {
        now < self.seen
    }

    /// If it went backwards, all moments move back with it.
    pub fn observe(&mut self, now: Timestamp) {
        let back = self.seen.since(now);
        self.seen = now;
        if !back.is_zero() {
            self.stage.move_back(back);
        }
    }

    fn at(&self, now: Timestamp) -> Self {
        let mut breaker = self.clone();
        breaker.observe(now);
        breaker
    }
}

impl TurnWindow {
    fn record(
        &mut self,
        rule: &BreakerRule,
        progress: TurnProgress,
        errors: &[ErrorSignature],
    ) -> Option<TripReason> {
        match progress {
            TurnProgress::Made => self.no_progress_turns = 0,
            TurnProgress::None => self.no_progress_turns = self.no_progress_turns.saturating_add(1),
            TurnProgress::Unknown => {}
        }
        self.error_turns.observe(errors);
        if self.no_progress_turns >= rule.no_progress_turns {
            return Some(TripReason::NoProgress {
                turns: self.no_progress_turns,
            });
        }
        let (error, turns) = self.error_turns.longest()?;
        (turns >= rule.same_error_turns).then(|| TripReason::SameError {
            turns,
            error: error.clone(),
        })
    }
}

impl fmt::Display for TripReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProgress { turns } => write!(f, "{turns} turns in a row made no progress"),
            Self::SameError { turns, error } => {
                write!(f, "{turns} turns in a row had the same error: {}", error.0)
            }
            Self::ProbeFailed => f.write_str("the probe turn made no progress either"),
        }
    }
}
