//! Limits per provider: how many calls may be in flight at once, and how long a backoff lasts.
//!
//! A rate limit delays every call to that provider. Afterwards calls go out one at a time, and one
//! more with each success, so that they do not reach the limit together again.

use std::time::Duration;

use crate::domain::time::Timestamp;

/// A backoff that a provider asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backoff {
    pub until: Timestamp,
    /// The provider's message.
    pub reason: String,
    /// The time since which it has answered only with rate limits.
    pub since: Timestamp,
}

/// The calls in flight at one provider, and their limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConcurrencyLimit {
    in_flight: u32,
    /// The reduced limit after a rate limit; `None` if only the provider's usual limit applies.
    window: Option<u32>,
    backoff: Option<Backoff>,
    /// The number of consecutive rate limits.
    pub refusals: u32,
    /// The time of the first of them.
    refused_since: Option<Timestamp>,
}

impl ConcurrencyLimit {
    /// One call at first, as after a rate limit.
    pub fn alone() -> Self {
        Self {
            window: Some(1),
            ..Self::default()
        }
    }

    /// `limit` is the provider's number of calls in flight.
    pub fn admits(&self, limit: u32, now: Timestamp) -> bool {
        let most = self.window.unwrap_or(limit).min(limit).max(1);
        self.backoff(now).is_none() && self.in_flight < most
    }

    pub fn begin(&mut self) {
        self.in_flight = self.in_flight.saturating_add(1);
    }

    pub fn end(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// An answer to a call that went out before a backoff says nothing about the time after it.
    pub fn answered(&mut self, limit: u32, now: Timestamp) {
        if self.backoff(now).is_none() {
            self.refusals = 0;
            self.refused_since = None;
            let wider = self.window.map(|window| window.saturating_add(1));
            self.window = wider.filter(|window| *window < limit);
        }
    }

    /// Records a backoff that the provider asks for; it never shortens a longer one. Returns the
    /// backoff if it lengthens the wait.
    pub fn back_off(&mut self, until: Timestamp, reason: &str, now: Timestamp) -> Option<Backoff> {
        self.window = Some(1);
        let since = *self.refused_since.get_or_insert(now);
        self.refusals = self.refusals.saturating_add(1);
        let last = self.backoff.as_ref();
        last.is_none_or(|last| last.until < until).then(|| {
            let reason = reason.to_owned();
            let next = Backoff {
                until,
                reason,
                since,
            };
            self.backoff.insert(next).clone()
        })
    }

    pub fn backoff(&self, now: Timestamp) -> Option<&Backoff> {
        self.backoff.as_ref().filter(|backoff| backoff.until > now)
    }

    pub fn refused_for(&self, now: Timestamp) -> Duration {
        self.refused_since
            .map_or(Duration::ZERO, |since| now.since(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: u32 = 3;

    fn admitted(limits: &mut ConcurrencyLimit, now: i64) -> u32 {
        let mut admitted = 0;
        while limits.admits(LIMIT, Timestamp(now)) {
            limits.begin();
            admitted += 1;
        }
        admitted
    }

    fn back_off(limits: &mut ConcurrencyLimit, until: i64, now: i64) -> Option<Backoff> {
        limits.back_off(Timestamp(until), "slow down", Timestamp(now))
    }

    fn backoff(until: i64, since: i64) -> Backoff {
        Backoff {
            until: Timestamp(until),
            reason: "slow down".to_owned(),
            since: Timestamp(since),
        }
    }

    #[test]
    fn a_finished_call_frees_a_place_under_the_limit() {
        let mut limits = ConcurrencyLimit::default();
        assert_eq!(admitted(&mut limits, 0), LIMIT);
        assert!(!limits.admits(LIMIT, Timestamp(0)));
        limits.end();
        assert_eq!(admitted(&mut limits, 0), 1);
    }

    #[test]
    fn a_backoff_admits_one_call_after_its_end() {
        let mut limits = ConcurrencyLimit::default();
        assert_eq!(
            back_off(&mut limits, 1_000, 0),
            Some(backoff(1_000, 0)),
            "the first is in force"
        );
        assert_eq!(limits.backoff(Timestamp(999)), Some(&backoff(1_000, 0)));
        assert!(!limits.admits(LIMIT, Timestamp(999)));
        assert_eq!(admitted(&mut limits, 1_000), 1);
    }

    #[test]
    fn each_success_after_a_backoff_admits_one_more_call() {
        let mut limits = ConcurrencyLimit::default();
        back_off(&mut limits, 1, 0);
        for at_once in [1, 2, 3, 3] {
            assert_eq!(admitted(&mut limits, 1), at_once);
            limits.answered(LIMIT, Timestamp(1));
            for _ in 0..at_once {
                limits.end();
            }
        }
    }

    #[test]
    fn an_answer_during_a_backoff_does_not_end_it() {
        let mut limits = ConcurrencyLimit::default();
        admitted(&mut limits, 0);
        back_off(&mut limits, 1_000, 0);
        for _ in 0..LIMIT {
            limits.end();
            limits.answered(LIMIT, Timestamp(500));
        }
        assert_eq!(limits.refusals, 1);
        assert_eq!(admitted(&mut limits, 1_000), 1);
    }

    #[test]
    fn a_longer_backoff_outweighs_a_shorter_one() {
        let mut limits = ConcurrencyLimit::default();
        assert!(back_off(&mut limits, 2_000, 0).is_some());
        assert_eq!(back_off(&mut limits, 1_000, 0), None);
        assert_eq!(limits.backoff(Timestamp(1_500)), Some(&backoff(2_000, 0)));
        assert_eq!(limits.refusals, 2);
        let refused_for = limits.refused_for(Timestamp(1_500));
        assert_eq!(refused_for.as_millis(), 1_500);
    }

    #[test]
    fn an_answer_after_a_backoff_resets_the_refusals() {
        let mut limits = ConcurrencyLimit::default();
        back_off(&mut limits, 2_000, 0);
        limits.begin();
        limits.end();
        limits.answered(LIMIT, Timestamp(2_000));
        assert_eq!(limits.refusals, 0);
        let refused_for = limits.refused_for(Timestamp(9_000));
        assert_eq!(refused_for, Duration::ZERO);
    }
}
